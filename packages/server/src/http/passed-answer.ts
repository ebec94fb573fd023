// The answer of a peer to a chat's request, for a front that does not pass its bytes on: the chunks that stand in its events.
import type { JsonValue } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'

/**
 * Gives each chunk to `write`, and waits where that gives a promise. Resolves at the end of the answer: true where the peer has
 * told it whole.
 * @throws BatonError `session_held` for what no server of Baton writes, or an event of more than `eventBytesMax`; what the body throws
 */
export async function readPassedChunks(
  body: ReadableStream<Uint8Array>,
  eventBytesMax: number,
  write: (chunk: JsonValue) => Promise<void> | undefined,
): Promise<boolean> {
  const decoder = new TextDecoder()
  let rest = ''
  // A stream of bytes in every runtime. It is left when this function is.
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const events = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    if (rest.length > eventBytesMax) throw createGarbled(`an event has more than ${eventBytesMax} bytes`)
    for (const event of events) {
      if (event.startsWith(':')) continue // it only says that the peer lives
      if (event === 'data: [DONE]') return true
      const parsed = event.startsWith('data: ') ? parseJson(event.slice('data: '.length)) : undefined
      if (!parsed?.ok) throw createGarbled('an event is no JSON')
      const room = write(parsed.value)
      if (room) await room
    }
  }
  return false
}

function createGarbled(message: string): BatonError {
  return new BatonError({
    code: 'session_held',
    message: `the server that holds the session cannot be read: ${message}`,
  })
}
