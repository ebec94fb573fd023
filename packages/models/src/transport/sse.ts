// Server-sent events from bytes: decodes UTF-8 across pieces and hands each event to one synchronous callback.
// It knows nothing of what the events mean.
import { BatonError } from '@baton/core'
import { createParser } from 'eventsource-parser'

/** The slice of an event that providers use. */
export interface SseEvent {
  readonly event?: string | undefined
  readonly data: string
}

export interface SseReader {
  /** @throws BatonError `model_malformed_answer` when one event is larger than the bound */
  push(bytes: Uint8Array): void
}

/** The largest event that is read, in UTF-16 units: 4 MiB. A web search result with its encrypted content has 100 KiB. */
const EVENT_LENGTH_MAX = 4 * 1024 * 1024

/** An event that is cut off at the end of the body is dropped, as the HTML standard asks (9.2.6). */
export function createSseReader(onEvent: (event: SseEvent) => void, eventLengthMax = EVENT_LENGTH_MAX): SseReader {
  const decoder = new TextDecoder()
  let overflowed = false
  const parser = createParser({
    onEvent,
    maxBufferSize: eventLengthMax,
    onError(error) {
      // Unknown fields and bad retry times are reported here too; the standard says to ignore those.
      if (error.type === 'max-buffer-size-exceeded') overflowed = true
      // llama-box writes its errors as lines `error: {…}` (gpustack/llama-box).
      else if (error.type === 'unknown-field' && error.field === 'error')
        onEvent({ event: 'error', data: error.value ?? '' })
    },
  })
  return {
    push(bytes) {
      if (!overflowed) parser.feed(decoder.decode(bytes, { stream: true }))
      if (overflowed)
        throw new BatonError({
          code: 'model_malformed_answer',
          message: `one event of the stream is longer than ${eventLengthMax} characters`,
        })
    },
  }
}
