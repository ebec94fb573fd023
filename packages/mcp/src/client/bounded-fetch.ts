// A fetch that limits the size of answers: the SDK reads whole answers, and whole events of a stream, into memory.
import { BatonError } from '@baton/core'
import type { FetchLike } from '@modelcontextprotocol/client'

/**
 * The body of an answer, or of one event of an event stream, fails with `api_malformed` after `maxBytes`. A stream as a whole has no
 * limit.
 */
export function createBoundedFetch(maxBytes: number, fetcher: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    const response = await fetcher(url, init)
    if (!response.body) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const body = response.body.pipeThrough(createLimit(maxBytes, isStream))
    const { status, statusText, headers } = response
    const bounded = new Response(body, { status, statusText, headers })
    // The constructor does not take an address. The SDK resolves others against it.
    Object.defineProperty(bounded, 'url', { value: response.url })
    Object.defineProperty(bounded, 'redirected', { value: response.redirected })
    return bounded
  }
}

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

function createLimit(
  maxBytes: number,
  isStream: boolean,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0
  let isLineEmpty = true
  /** An empty line ends an event. */
  const count = (byte: number): void => {
    bytes += 1
    if (byte === LINE_FEED) {
      if (isLineEmpty) bytes = 0
      isLineEmpty = true
    } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false
  }
  return new TransformStream({
    transform: (chunk, controller) => {
      let isTooMuch = false
      if (isStream)
        for (const byte of chunk) {
          count(byte)
          isTooMuch ||= bytes > maxBytes
        }
      else isTooMuch = (bytes += chunk.length) > maxBytes
      if (!isTooMuch) return controller.enqueue(chunk)
      const message = `the MCP server sent more than ${maxBytes} bytes in one ${isStream ? 'event' : 'answer'}`
      controller.error(new BatonError({ code: 'api_malformed', message }))
    },
  })
}
