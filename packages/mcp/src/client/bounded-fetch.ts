// A fetch whose answers end at a limit: the SDK reads whole answers and whole events of a stream into memory.
import { BatonError } from '@baton/core'
import type { FetchLike } from '@modelcontextprotocol/client'

/**
 * An answer, or one event of an event stream, may have `maxBytes`; then its body fails with `api_malformed`.
 * A stream as a whole has no limit.
 */
export function createBoundedFetch(maxBytes: number, fetcher: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    const response = await fetcher(url, init)
    if (!response.body) return response
    const isStream = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')
    const body = response.body.pipeThrough(createLimit(maxBytes, isStream))
    const { status, statusText, headers } = response
    const bounded = new Response(body, { status, statusText, headers })
    // What a made response cannot be told: the SDK resolves addresses against it.
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
  return new TransformStream({
    transform: (chunk, controller) => {
      const end = isStream ? findEventEnd(chunk) : -1
      const first = end < 0 ? chunk.length : end
      if (bytes + first > maxBytes) {
        const message = `the MCP server sent more than ${maxBytes} bytes in one ${isStream ? 'event' : 'answer'}`
        controller.error(new BatonError({ code: 'api_malformed', message }))
        return
      }
      bytes = end < 0 ? bytes + chunk.length : chunk.length - end
      controller.enqueue(chunk)
    },
  })
}

/** Where the last event in the chunk ends, which is behind an empty line; -1 where none does. A line break cut by the chunk counts later. */
function findEventEnd(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at > 0; at -= 1) {
    if (chunk[at] !== LINE_FEED && chunk[at] !== CARRIAGE_RETURN) continue
    const before = chunk[at - 1]
    if (before === chunk[at]) return at + 1
    if (chunk[at] === LINE_FEED && before === CARRIAGE_RETURN && chunk[at - 2] === LINE_FEED) return at + 1
  }
  return -1
}
