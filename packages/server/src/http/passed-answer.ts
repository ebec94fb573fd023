// Reads the chunks from a peer's answer to a chat request, for a front that writes them in its own frames.
import type { JsonValue } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'

/**
 * Gives each chunk to `write`, and waits if that returns a promise. Resolves at the end of the answer: true if the answer is
 * complete, false if the stream ended early.
 * @throws BatonError `session_held` for an event that is not JSON, or has more than `eventCharsMax` UTF-16 units; what the body throws
 */
export async function readPassedChunks(
  body: ReadableStream<Uint8Array>,
  eventCharsMax: number,
  write: (chunk: JsonValue) => Promise<void> | undefined,
): Promise<boolean> {
  const decoder = new TextDecoder()
  let rest = ''
  // The type may lack the iterator, which every server runtime has. Leaving the loop cancels the stream.
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const events = (rest + decoder.decode(piece, { stream: true })).split('\n\n')
    rest = events.pop() ?? ''
    if (rest.length > eventCharsMax) throw createGarbled(`an event has more than ${eventCharsMax} characters`)
    for (const event of events) {
      if (event.startsWith(':')) continue // a keep-alive comment
      if (event === 'data: [DONE]') return true
      const parsed = event.startsWith('data: ') ? parseJson(event.slice('data: '.length)) : undefined
      if (!parsed?.ok) throw createGarbled('an event is not JSON')
      const room = write(parsed.value)
      if (room) await room
    }
  }
  return false
}

function createGarbled(message: string): BatonError {
  return new BatonError({
    code: 'session_held',
    message: `the answer of the server that holds the session cannot be read: ${message}`,
  })
}
