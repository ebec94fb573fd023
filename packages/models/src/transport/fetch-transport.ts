// The transport for browsers, edge workers and other environments without undici: the global `fetch`, or a given one.
import type { AbortSignalLike, HttpHead, HttpRequest, Transport } from '@baton/core/internal'
import type { Time } from './deadlines.ts'
import { REFUSAL_MS, SYSTEM_TIME, isRefused, startDeadlines } from './deadlines.ts'
import type { CheckRequest } from './transport-errors.ts'
import { cancelledError, createRequestCheck, networkError } from './transport-errors.ts'

/** The subset of the web's `fetch` that is used. */
export type FetchLike = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Record<string, string>
    readonly body: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<FetchedLike>

export interface FetchedLike {
  readonly status: number
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  readonly body: { getReader(): ReaderLike } | null
}

export interface ReaderLike {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

export interface FetchTransportOptions {
  readonly fetch?: FetchLike
  readonly time?: Time
}

/** HTTP for models over `fetch`, for browsers and runtimes without undici. */
export function createFetchTransport(options: FetchTransportOptions = {}): Transport {
  const time = options.time ?? SYSTEM_TIME
  const fetch: FetchLike = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const check = createRequestCheck()
  return { post: (request, signal, onBytes) => runPost({ fetch, time, check, request, signal }, onBytes) }
}

interface Post {
  readonly fetch: FetchLike
  readonly time: Time
  readonly check: CheckRequest
  readonly request: HttpRequest
  readonly signal: AbortSignalLike
}

async function runPost(post: Post, onBytes: (bytes: Uint8Array, head: HttpHead) => void): Promise<HttpHead> {
  const { time, check, request, signal } = post
  if (signal.aborted) throw cancelledError(signal)
  const wrong = check(request)
  if (wrong) throw wrong
  const aborter = new AbortController()
  let stop: (error: Error) => void = () => undefined
  let noteHead: (head: HttpHead) => void = () => undefined
  // Not every fetch settles when aborted while waiting, so its promise is raced with the abort itself.
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = (error) => {
      aborter.abort(error)
      reject(error)
    }
  })
  stopped.catch(() => undefined)
  let stopRefusal = () => {}
  const refused = new Promise<HttpHead>((resolve) => {
    noteHead = (head) => {
      if (!isRefused(head.status)) return
      stopRefusal = time.timers.start(REFUSAL_MS, () => {
        resolve(head)
        aborter.abort(new Error('the error response did not end in time'))
      })
    }
  })
  const onAbort = () => stop(cancelledError(signal))
  const deadlines = startDeadlines(request, time, (error) => stop(error))
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([
      stopped,
      refused,
      readAnswer(post, aborter.signal, { onBytes, noteHead, noteBytes: () => deadlines.noteBytes() }),
    ])
  } catch (thrown) {
    aborter.abort(thrown)
    throw thrown
  } finally {
    stopRefusal()
    deadlines.stop()
    signal.removeEventListener('abort', onAbort)
  }
}

interface Listeners {
  readonly onBytes: (bytes: Uint8Array, head: HttpHead) => void
  readonly noteHead: (head: HttpHead) => void
  readonly noteBytes: () => void
}

async function readAnswer(post: Post, signal: AbortSignal, listeners: Listeners): Promise<HttpHead> {
  const { request } = post
  const headers = { ...request.headers }
  const answer = await guarded(request, () =>
    post.fetch(request.url, { method: 'POST', headers, body: request.body, redirect: 'manual', signal }),
  )
  if (signal.aborted) throw signal.reason
  listeners.noteBytes()
  // Browsers hide a redirect behind status 0.
  if (answer.status === 0) throw networkError(request, new Error('the response is a redirect'))
  const head: HttpHead = { status: answer.status, headers: plainHeaders(answer) }
  listeners.noteHead(head)
  const reader = answer.body?.getReader()
  while (reader) {
    const piece = await guarded(request, () => reader.read())
    if (signal.aborted) throw signal.reason
    if (piece.done) break
    listeners.noteBytes()
    if (piece.value) listeners.onBytes(piece.value, head)
  }
  return head
}

/** Wraps network failures in typed errors. Errors thrown by `onBytes` are not network failures and pass through. */
async function guarded<T>(request: HttpRequest, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    throw networkError(request, thrown)
  }
}

function plainHeaders(answer: FetchedLike): Record<string, string> {
  const plain: Record<string, string> = {}
  answer.headers.forEach((value, name) => {
    plain[name.toLowerCase()] = value
  })
  return plain
}
