// The transport for Node: undici's `dispatch`, which costs half of `fetch` per streamed piece. Only this file uses
// undici, and loads it for the first request, because it is the largest part of a start. HTTP/1.1 only, because aborting
// then closes the socket, which stops a provider from generating and billing.
import type { AbortSignalLike, HttpHead, HttpRequest, Transport } from '@baton/core/internal'
import { BatonError, loadOnce } from '@baton/core/internal'
import type { Dispatcher } from 'undici'
import type { Time } from './deadlines.ts'
import { REFUSAL_MS, SYSTEM_TIME, isRefused, startDeadlines } from './deadlines.ts'
import type { CheckRequest } from './transport-errors.ts'
import { cancelledError, closedError, createRequestCheck, loadError, networkError } from './transport-errors.ts'

/** Options of `createUndiciTransport`. */
export interface UndiciTransportOptions {
  readonly time?: Time
  /** Variables with HTTP_PROXY, HTTPS_PROXY and NO_PROXY (or lower case); the process's environment by default. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /**
   * Milliseconds to keep an idle connection open, at least 1; 30 s by default. A shorter `Keep-Alive: timeout` from the
   * server takes precedence.
   */
  readonly keepAliveMs?: number
}

/** HTTP for models over undici. Call `close` when the program ends. */
export interface UndiciTransport extends Transport {
  /** Waits for running requests, then closes all connections. Later requests fail; closing again waits for the same end. */
  close(): Promise<void>
}

/**
 * @throws BatonError `invalid_option` if HTTP_PROXY or HTTPS_PROXY is not a proxy address, or `keepAliveMs` is below 1
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): UndiciTransport {
  const settings = readSettings(options)
  const time = options.time ?? SYSTEM_TIME
  const check = createRequestCheck()
  const findPlace = createPlaces()
  let dispatcher: Dispatcher | undefined
  let opening: Promise<Dispatcher> | undefined
  let closing: Promise<void> | undefined
  const open = loadOnce(async () => (dispatcher = await openDispatcher(settings)))
  const close = async (): Promise<void> => {
    // Who asked for a connection has the reason why it could not be opened.
    const opened = await opening?.catch(() => undefined)
    await opened?.close()
  }
  return {
    post: (request, signal, onBytes) => {
      const run = (opened: Dispatcher): Promise<HttpHead> =>
        runPost({ dispatcher: opened, time, check, findPlace, request, signal }, onBytes)
      if (closing) return Promise.reject(closedError())
      if (dispatcher) return run(dispatcher)
      opening = open()
      return opening.then(run)
    },
    close: () => (closing ??= close()),
  }
}

type Settings = ReturnType<typeof readSettings>

/** @throws BatonError `invalid_option` */
function readSettings(options: UndiciTransportOptions) {
  const variables = options.variables ?? process.env
  const httpProxy = findProxy(variables, 'HTTP_PROXY')
  const httpsProxy = findProxy(variables, 'HTTPS_PROXY')
  const keepAliveMs = options.keepAliveMs ?? 30_000
  if (!Number.isFinite(keepAliveMs) || keepAliveMs < 1) {
    const message = `keepAliveMs must be at least 1 millisecond, not ${String(keepAliveMs)}`
    throw new BatonError({ code: 'invalid_option', message })
  }
  // Our own deadlines apply; undici's are coarse (one second) and would interfere.
  const connection = {
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    // Otherwise a server's own `Keep-Alive` could hold a connection for ten minutes.
    keepAliveMaxTimeout: keepAliveMs,
  }
  if (!httpProxy && !httpsProxy) return { connection }
  // Empty strings rather than `undefined`, because the agent would read absent values from the process's environment.
  const noProxy = variables[nameIn(variables, 'NO_PROXY')] ?? ''
  return { connection, proxies: { httpProxy: httpProxy ?? '', httpsProxy: httpsProxy ?? '', noProxy } }
}

/** @throws BatonError `model_network_failed` if undici cannot be loaded */
async function openDispatcher({ connection, proxies }: Settings): Promise<Dispatcher> {
  const { Agent, EnvHttpProxyAgent } = await import('undici').catch((cause: unknown) => {
    throw loadError('undici', cause)
  })
  return proxies ? new EnvHttpProxyAgent({ ...connection, ...proxies }) : new Agent(connection)
}

type Variables = NonNullable<UndiciTransportOptions['variables']>

/** The name of the variable that is set; lower case takes precedence. */
function nameIn(variables: Variables, name: string): string {
  const lower = name.toLowerCase()
  return variables[lower] === undefined ? name : lower
}

function findProxy(variables: Variables, upperName: string): string | undefined {
  const name = nameIn(variables, upperName)
  const address = variables[name]
  if (!address || isProxyAddress(address)) return address
  // The value is not shown: it may contain a password.
  const message = `${name} must be the address of a proxy, such as http://127.0.0.1:3128`
  throw new BatonError({ code: 'invalid_option', message })
}

/** Whether undici's agent accepts the address. */
function isProxyAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^(?:https?|socks5?):$/.test(url.protocol)) return false
  try {
    decodeURIComponent(`${url.username}:${url.password}`)
    return true
  } catch {
    return false
  }
}

interface Post {
  readonly dispatcher: Dispatcher
  readonly time: Time
  readonly check: CheckRequest
  readonly findPlace: FindPlace
  readonly request: HttpRequest
  readonly signal: AbortSignalLike
}

function runPost(post: Post, onBytes: (bytes: Uint8Array, head: HttpHead) => void): Promise<HttpHead> {
  const { dispatcher, time, check, findPlace, request, signal } = post
  return new Promise((resolve, reject) => {
    const wrong = signal.aborted ? cancelledError(signal) : check(request)
    if (wrong) {
      reject(wrong)
      return
    }
    let controller: Dispatcher.DispatchController | undefined
    let head: HttpHead | undefined
    let settled = false
    let stopRefusal = () => {}
    const settle = () => {
      settled = true
      stopRefusal()
      deadlines.stop()
      signal.removeEventListener('abort', onAbort)
    }
    const fail = (error: Error) => {
      if (settled) return
      settle()
      // Before the connection is established there is no controller, so `onRequestStart` aborts.
      controller?.abort(error)
      reject(error)
    }
    const onAbort = () => fail(cancelledError(signal))
    const deadlines = startDeadlines(request, time, fail)
    signal.addEventListener('abort', onAbort, { once: true })
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        controller = started
        if (settled) started.abort(new Error('the request was cancelled before the connection was established'))
      },
      onResponseStart(_controller, status, headers) {
        if (settled) return
        deadlines.noteBytes()
        // 1xx responses precede the real one.
        if (status < 200) return
        head = { status, headers: plainHeaders(headers) }
        const refusal = head
        if (!isRefused(status)) return
        stopRefusal = time.timers.start(REFUSAL_MS, () => {
          settle()
          resolve(refusal)
          controller?.abort(new Error('the error response did not end in time'))
        })
      },
      onResponseData(_controller, chunk) {
        if (settled || !head) return
        deadlines.noteBytes()
        try {
          onBytes(chunk, head)
        } catch (thrown) {
          fail(thrown instanceof Error ? thrown : new Error(String(thrown)))
        }
      },
      onResponseEnd() {
        if (settled || !head) return
        settle()
        resolve(head)
      },
      onResponseError: (_controller, error) => fail(networkError(request, error)),
    }
    try {
      dispatcher.dispatch({ ...findPlace(request), method: 'POST', body: request.body }, handler)
    } catch (thrown) {
      fail(networkError(request, thrown))
    }
  })
}

/** The target of requests and their headers, created once for a model's requests, which share a headers object. */
function createPlaces(): FindPlace {
  const places = new WeakMap<HttpRequest['headers'], Place & { readonly url: string }>()
  return ({ url, headers }) => {
    const known = places.get(headers)
    if (known?.url === url) return known.options
    const { origin, pathname, search } = new URL(url)
    // Nothing here decompresses.
    const options = { origin, path: pathname + search, headers: { 'accept-encoding': 'identity', ...headers } }
    places.set(headers, { url, options })
    return options
  }
}

type FindPlace = (request: HttpRequest) => Place['options']

interface Place {
  readonly options: Pick<Dispatcher.DispatchOptions, 'origin' | 'path' | 'headers'>
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const plain: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name]
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }
  return plain
}
