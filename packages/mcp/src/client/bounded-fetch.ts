// A fetch that limits response sizes: the SDK reads whole responses, and whole stream events, into memory.
import { BatonError } from '@baton/core'
import type { FetchLike } from '@modelcontextprotocol/client'

/** The largest status that can be constructed. Some servers answer programs with 999. */
const STATUS_MAX = 599

/**
 * The body of a response, or of one event in an event stream, fails with `api_malformed` after `maxBytes`. The stream
 * as a whole is unlimited.
 */
export function createBoundedFetch(maxBytes: number, fetcher: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    const response = await fetcher(url, init)
    if (!response.body) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const body = response.body.pipeThrough(createLimit(maxBytes, isStream))
    const { status, statusText, headers, url: place, redirected } = response
    const bounded = new Response(body, { status: Math.min(status, STATUS_MAX), headers })
    // The constructor refuses some statuses and reasons, and accepts no URL, against which the SDK resolves other URLs.
    const kept = { status, statusText, url: place, redirected }
    for (const [name, value] of Object.entries(kept)) Object.defineProperty(bounded, name, { value })
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
      const message = `the MCP server sent more than ${maxBytes} bytes in one ${isStream ? 'event' : 'response'}`
      controller.error(new BatonError({ code: 'api_malformed', message }))
    },
  })
}
