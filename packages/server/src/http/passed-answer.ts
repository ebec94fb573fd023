// Reads the chunks of a peer's answer to a chat request, for a front that writes them in its own frames.
import type { JsonValue } from '@baton/core/internal'
import { BatonError, parseJson } from '@baton/core/internal'

/**
 * Passes each chunk to `write`, and awaits any promise it returns. Resolves with true at the end of a complete answer,
 * or false if the stream ended early.
 * @throws BatonError `session_held` for an event that is not JSON or has more than `eventCharsMax` UTF-16 units; errors
 * of the body
 */
export async function readPassedChunks(
  body: ReadableStream<Uint8Array>,
  eventCharsMax: number,
  write: (chunk: JsonValue) => Promise<void> | undefined,
): Promise<boolean> {
  const decoder = new TextDecoder()
  const splitter = new EventSplitter()
  // The type may lack the iterator, which every server runtime has. Leaving the loop cancels the stream.
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    const events = splitter.split(decoder.decode(piece, { stream: true }))
    if (splitter.restChars > eventCharsMax) throw createGarbled(`an event has more than ${eventCharsMax} characters`)
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

/** Splits a stream into events. An event of n characters costs n log n steps, however small its pieces are. */
class EventSplitter {
  /** The unfinished event. Each part is longer than the next, so there are few. */
  #parts: string[] = []
  /** UTF-16 units of the unfinished event. */
  restChars = 0
  /** A line end may be the first half of the end of an event. */
  #lineEnd = ''

  /** Returns the events completed by this text. */
  split(text: string): readonly string[] {
    const events = (this.#lineEnd + text).split('\n\n')
    const rest = events.pop() ?? ''
    if (events.length > 0) events[0] = this.#take() + (events[0] ?? '')
    this.#lineEnd = rest.endsWith('\n') ? '\n' : ''
    this.#add(rest.slice(0, rest.length - this.#lineEnd.length))
    return events
  }

  #add(text: string): void {
    let last = text
    this.restChars += text.length
    for (let before = this.#parts.pop(); before !== undefined; before = this.#parts.pop()) {
      if (before.length > last.length) {
        this.#parts.push(before)
        break
      }
      last = [before, last].join('') // copied at once: `+` would retain every piece
    }
    this.#parts.push(last)
  }

  #take(): string {
    const text = this.#parts.join('')
    this.#parts = []
    this.restChars = 0
    return text
  }
}

function createGarbled(message: string): BatonError {
  return new BatonError({
    code: 'session_held',
    message: `the answer of the server that holds the session cannot be read: ${message}`,
  })
}
