// Amazon's binary event stream (application/vnd.amazon.eventstream) from bytes that come in any pieces: cuts it into frames,
// has both checksums of each checked, and hands on what they say. It knows nothing of what the events mean.
import type { JsonValue } from '@baton/core'
import { parseJson } from '@baton/core'
import type { Frame } from './frames.ts'
import { FRAME_BYTES_MIN, FrameDecoder, frameLengthAt, malformed } from './frames.ts'
import type { WireEvent } from './wire.ts'

export interface EventStreamReader {
  /** @throws BatonError `model_malformed_answer` when a checksum is wrong or a frame is larger than the bound */
  push(bytes: Uint8Array): void
}

/** Bytes of the largest frame that is read: 16 MiB and its overhead, the limit of the format itself. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024 + 128 * 1024 + 16

/** A frame that is cut off at the end of the body is dropped. */
export function createEventStreamReader(
  onEvent: (event: WireEvent) => void,
  frameBytesMax = FRAME_BYTES_MAX,
): EventStreamReader {
  const waiting = new Waiting()
  const utf8 = new TextDecoder()
  const readText = (body: Uint8Array): string => utf8.decode(body)
  return {
    push(bytes) {
      waiting.add(bytes)
      for (;;) {
        const frame = waiting.takeFrame(frameBytesMax)
        if (!frame) return
        onEvent(parseEvent(frame, readText))
      }
    },
  }
}

/** Bytes that are no whole frame yet. The buffer doubles, so that a frame in small pieces is not copied for each of them. */
class Waiting {
  readonly #decoder = new FrameDecoder()
  #buffer = new Uint8Array(4096)
  #view = new DataView(this.#buffer.buffer)
  #start = 0
  #end = 0

  add(bytes: Uint8Array): void {
    const length = this.#end - this.#start
    if (this.#end + bytes.length > this.#buffer.length) {
      const whole = length + bytes.length
      const grown = whole > this.#buffer.length ? new Uint8Array(whole * 2) : this.#buffer
      grown.set(this.#buffer.subarray(this.#start, this.#end))
      this.#buffer = grown
      this.#view = new DataView(grown.buffer)
      this.#start = 0
      this.#end = length
    }
    this.#buffer.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** Good until the next `add`: its body is not copied. */
  takeFrame(bytesMax: number): Frame | undefined {
    const start = this.#start
    const length = frameLengthAt(this.#view, start, this.#end)
    if (length === undefined) return undefined
    if (length < FRAME_BYTES_MIN || length > bytesMax)
      throw malformed(`a frame says that it has ${length} bytes; from ${FRAME_BYTES_MIN} to ${bytesMax} are read`)
    if (this.#end - start < length) return undefined
    this.#start += length
    return this.#decoder.decode(this.#view, start, this.#start)
  }
}

type TextOf = (body: Uint8Array) => string

function parseEvent({ headers, body }: Frame, readText: TextOf): WireEvent {
  const messageType = headers[':message-type']
  // Errors that no model of the API knows: they say everything in headers.
  if (messageType === 'error') {
    const message = headers[':error-message'] ?? ''
    return { type: headers[':error-code'] ?? '', isException: true, payload: { message } }
  }
  const payload = readPayload(body, readText)
  const isException = messageType === 'exception'
  return { type: headers[isException ? ':exception-type' : ':event-type'] ?? '', isException, payload }
}

function readPayload(body: Uint8Array, readText: TextOf): JsonValue {
  if (body.length === 0) return null
  const parsed = parseJson(readText(body))
  if (parsed.ok) return parsed.value
  throw malformed('the payload of an event is not JSON')
}
