// Server-sent events from bytes: decodes UTF-8 across pieces and hands each event to one synchronous callback.
// It knows nothing of what the events mean.
import { BatonError } from '@baton/core'
import { parseWireJson } from './wire-json.ts'
import { createParser } from 'eventsource-parser'

/** The slice of an event that providers use. */
export interface SseEvent {
  readonly event?: string | undefined
  readonly data: string
}

export interface SseReader {
  /** @throws BatonError `model_malformed_answer` when one event is larger than the bound */
  push(bytes: Uint8Array): void
  /** Hands on the last event where the body ended without its blank line, if its data is whole JSON or `[DONE]`. */
  end(): void
}

/**
 * Reads whole events of `text` from `at` on without the parser, as many as it knows, and answers where it stopped. It is
 * asked only between two events.
 */
export type ReadAhead = (text: string, at: number) => number

/** The largest event that is read, in UTF-16 units: 4 MiB. A web search result with its encrypted content has 100 KiB. */
const EVENT_LENGTH_MAX = 4 * 1024 * 1024

/**
 * An event that is cut off at the end of the body is dropped, as the HTML standard asks (9.2.6). Some servers leave the last blank line
 * out, so `end` takes an event whose data shows that it is whole.
 */
export function createSseReader(
  onEvent: (event: SseEvent) => void,
  eventLengthMax = EVENT_LENGTH_MAX,
  readAhead?: ReadAhead,
): SseReader {
  const decoder = new TextDecoder()
  /** The parser has read a blank line last; before the first one there may be a byte order mark. */
  let isBetweenEvents = false
  let overflowed = false
  let isOver = false
  const parser = createParser({
    onEvent(event) {
      if (!isOver || isWhole(event.data)) onEvent(event)
    },
    maxBufferSize: eventLengthMax,
    onError(error) {
      // Unknown fields and bad retry times are reported here too; the standard says to ignore those.
      if (error.type === 'max-buffer-size-exceeded') overflowed = true
      // llama-box writes its errors as lines `error: {…}` (gpustack/llama-box).
      else if (error.type === 'unknown-field' && error.field === 'error')
        onEvent({ event: 'error', data: error.value ?? '' })
    },
  })
  const feed = (text: string): void => {
    if (!readAhead || text.length > eventLengthMax) {
      isBetweenEvents = false
      parser.feed(text)
      return
    }
    for (let at = 0; at < text.length && !overflowed;) {
      if (isBetweenEvents) at = readAhead(text, at)
      if (at >= text.length) return
      const blank = text.indexOf('\n\n', at)
      isBetweenEvents = blank >= 0
      const end = blank >= 0 ? blank + 2 : text.length
      parser.feed(text.slice(at, end))
      at = end
    }
  }
  return {
    push(bytes) {
      if (!overflowed) feed(decoder.decode(bytes, { stream: true }))
      if (overflowed)
        throw new BatonError({
          code: 'model_malformed_answer',
          message: `one event of the stream is longer than ${eventLengthMax} characters`,
        })
    },
    end() {
      if (isOver || overflowed) return
      isOver = true
      parser.feed('\n\n')
    },
  }
}

function isWhole(data: string): boolean {
  return data.split('\n').every((line) => line.trim() === '[DONE]' || (/^\s*[[{]/.test(line) && parseWireJson(line).ok))
}
