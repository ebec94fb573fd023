// Splits Amazon's binary event stream (application/vnd.amazon.eventstream) into frames, from bytes in pieces of any
// size, verifies both checksums of each frame and passes on the events without interpreting them.
import type { JsonValue } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'
import type { Frame } from './frames.ts'
import { FRAME_BYTES_MIN, FrameDecoder, frameLengthAt, malformed } from './frames.ts'
import type { WireEvent } from './wire.ts'

export interface EventStreamReader {
  /** @throws BatonError `model_malformed_answer` if a checksum is wrong or a frame exceeds the size limit */
  push(bytes: Uint8Array): void
}

/** Maximum bytes of a frame: 16 MiB plus overhead, the limit of the format itself. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024 + 128 * 1024 + 16

/** A truncated frame at the end of the body is dropped. */
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

/**
 * Buffers the bytes of an incomplete frame. The buffer doubles, so a frame in small pieces is not copied for each of
 * them.
 */
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

  /** The frame is valid until the next `add`, because its body is not copied. */
  takeFrame(bytesMax: number): Frame | undefined {
    const start = this.#start
    const length = frameLengthAt(this.#view, start, this.#end)
    if (length === undefined) return undefined
    if (length < FRAME_BYTES_MIN || length > bytesMax)
      throw malformed(
        `a frame claims to have ${length} bytes; only frames of ${FRAME_BYTES_MIN} to ${bytesMax} bytes are accepted`,
      )
    if (this.#end - start < length) return undefined
    this.#start += length
    return this.#decoder.decode(this.#view, start, this.#start)
  }
}

type TextOf = (body: Uint8Array) => string

function parseEvent({ headers, body }: Frame, readText: TextOf): WireEvent {
  const messageType = headers[':message-type']
  // Errors outside the API's model carry everything in headers.
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
  throw malformed('the payload of an event is not valid JSON')
}
