// Parses server-sent events from bytes: decodes UTF-8 across pieces and passes each event to a synchronous callback,
// without interpreting it.
import { BatonError } from '@baton/core'
import { createParser } from 'eventsource-parser'
import type { SseEvent } from './near-events.ts'
import { listMeantEvents } from './near-events.ts'
import { parseWireJson } from './wire-json.ts'

export type { SseEvent } from './near-events.ts'

export interface SseReader {
  /** @throws BatonError `model_malformed_answer` if an event exceeds the size limit */
  push(bytes: Uint8Array): void
  /** Emits the last event if the body ended without a blank line and the data is complete JSON or `[DONE]`. */
  end(): void
}

/**
 * Reads whole events from `text`, starting at `at`, without the parser, until it meets an unfamiliar one, and returns
 * where it stopped. Called only between two events.
 */
export type ReadAhead = (text: string, at: number) => number

/** Maximum UTF-16 units of an event: 4 Mi. A web search result with its encrypted content has 100 Ki. */
const EVENT_LENGTH_MAX = 4 * 1024 * 1024

/**
 * A truncated event at the end of the body is dropped, as the HTML standard requires (9.2.6). Some servers omit the
 * last blank line, so `end` accepts an event whose data is visibly complete.
 */
export function createSseReader(
  onEvent: (event: SseEvent) => void,
  eventLengthMax = EVENT_LENGTH_MAX,
  readAhead?: ReadAhead,
): SseReader {
  const decoder = new TextDecoder()
  /** Whether the parser's last line was blank; a byte order mark may precede the first event. */
  let isBetweenEvents = false
  let overflowed = false
  let isOver = false
  const parser = createParser({
    onEvent(given) {
      for (const event of listMeantEvents(given)) if (!isOver || isWhole(event.data)) onEvent(event)
    },
    maxBufferSize: eventLengthMax,
    onError(error) {
      // The parser also reports unknown fields and invalid retry times, which the standard says to ignore.
      if (error.type === 'max-buffer-size-exceeded') overflowed = true
      // llama-box sends errors as lines `error: {…}` (gpustack/llama-box).
      else if (error.type === 'unknown-field' && error.field === 'error')
        onEvent({ event: 'error', data: error.value ?? '' })
      // Some relays indent what they pass on.
      else if (error.type === 'unknown-field' && error.field?.trim() === 'data')
        for (const event of listMeantEvents({ data: error.value ?? '' })) onEvent(event)
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
  const line = new HeldLine()
  return {
    push(bytes) {
      if (!overflowed) feed(line.take(decoder.decode(bytes, { stream: true })))
      overflowed ||= line.length > eventLengthMax
      if (overflowed)
        throw new BatonError({
          code: 'model_malformed_answer',
          message: `one event of the stream is longer than ${eventLengthMax} characters`,
        })
    },
    end() {
      if (isOver || overflowed) return
      isOver = true
      parser.feed(`${line.release()}\n\n`)
    },
  }
}

/** A line, or its beginning, that begins with `error:` or a blank. */
const ODD_LINE = /^(?:[ \t]|e$|er$|err$|erro$|error)/
const ODD_LENGTH = 5
const LINE_END = /[\r\n]/

/** Holds back an odd line until its end: the parser would drop it if it came in pieces. */
class HeldLine {
  #pieces: string[] = []
  length = 0

  /** Returns what may go to the parser now. */
  take(text: string): string {
    // A long line may come in many pieces: they are joined once, when it ends.
    if (this.length >= ODD_LENGTH && !LINE_END.test(text)) return this.#hold(text)
    const all = this.release() + text
    if (all.endsWith('\n')) return all
    const start = Math.max(all.lastIndexOf('\n'), all.lastIndexOf('\r')) + 1
    if (!ODD_LINE.test(all.slice(start, start + ODD_LENGTH))) return all
    return all.slice(0, start) + this.#hold(all.slice(start))
  }

  release(): string {
    const all = this.#pieces.join('')
    this.#pieces = []
    this.length = 0
    return all
  }

  #hold(text: string): '' {
    this.#pieces.push(text)
    this.length += text.length
    return ''
  }
}

function isWhole(data: string): boolean {
  return data.split('\n').every((line) => line.trim() === '[DONE]' || (/^\s*[[{]/.test(line) && parseWireJson(line).ok))
}
