// A request as it is sent, and the request that follows a redirect. Sends nothing.
import { BatonError } from '@baton/core'
import type { UrlRules } from './url-rules.ts'
import { checkUrl, refuseUrl } from './url-rules.ts'

export interface Asked {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  /** Buffered, so that it can be sent again. */
  readonly body: Uint8Array<ArrayBuffer> | undefined
  readonly redirect: Request['redirect']
}

export interface RequestBounds extends UrlRules {
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** Headers that name the server or frame the bytes; the connection sets both. */
const REFUSED_HEADERS = ['host', 'transfer-encoding', 'connection', 'upgrade', 'proxy-authorization', 'te', 'trailer']

/** Headers that may go to another origin. Any other may carry a key, whatever its name. */
const OPEN_HEADERS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'content-type', 'range', 'user-agent'])

/** @throws BatonError `url_refused`, `invalid_option` for a forbidden header or a body over the limit */
export async function readRequest(
  input: string | URL | Request,
  init: RequestInit,
  bounds: RequestBounds,
): Promise<Asked> {
  const given = input instanceof Request ? input.url : String(input)
  const url = checkUrl(given, bounds)
  const { signal: _, ...rest } = init
  const request = new Request(input instanceof Request ? input : url, { ...rest, ...(rest.body && { duplex: 'half' }) })
  const refused = REFUSED_HEADERS.find((name) => request.headers.has(name))
  if (refused !== undefined)
    throw new BatonError({ code: 'invalid_option', message: `a guarded request may not set the header "${refused}"` })
  const { method, headers, redirect } = request
  const body = request.body ? await readBody(request.body.getReader(), bounds) : undefined
  return { url, method, headers, body, redirect }
}

async function readBody(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>,
  { maxBytes, signal }: RequestBounds,
): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const stop = (): void => {
    reader.cancel(signal.reason).catch(() => {
      // The caller aborted.
    })
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return new Uint8Array(Buffer.concat(pieces))
      bytes += value.length
      if (bytes > maxBytes) {
        stop()
        const message = `the body of a guarded request has more than ${maxBytes} bytes`
        throw new BatonError({ code: 'invalid_option', message, hint: 'Send less, or raise maxBytes.' })
      }
      pieces.push(value)
    }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

/**
 * Follows the fetch standard, except that nothing secret goes to another origin: neither headers nor a body.
 * @throws BatonError `url_refused`
 */
export function nextRequest(asked: Asked, status: number, url: URL): Asked {
  const { method, headers, body, redirect } = asked
  const isOther = url.origin !== asked.url.origin
  const dropsBody = (status === 303 && method !== 'HEAD') || (status <= 302 && method === 'POST')
  if (isOther && !dropsBody && body)
    throw refuseUrl(url, 'its body would go to a different origin than intended', asked.url)
  const kept = [...headers].filter(([name]) => {
    if (dropsBody && name.startsWith('content-')) return false
    return !isOther || OPEN_HEADERS.has(name)
  })
  return {
    url,
    method: dropsBody ? 'GET' : method,
    headers: new Headers(kept),
    body: dropsBody ? undefined : body,
    redirect,
  }
}
