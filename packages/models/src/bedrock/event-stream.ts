// Amazon's binary event stream (application/vnd.amazon.eventstream) from bytes that come in any pieces: cuts it into frames,
// has both checksums of each checked, and hands on what they say. It knows nothing of what the events mean.
import type { JsonValue } from '@baton/core'
import { BatonError, parseJson } from '@baton/core'
import type { Frame } from './frames.ts'
import { FRAME_BYTES_MIN, decodeFrame, frameLengthOf } from './frames.ts'
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
  return {
    push(bytes) {
      waiting.add(bytes)
      for (;;) {
        const frame = waiting.takeFrame(frameBytesMax)
        if (!frame) return
        onEvent(eventOf(frame))
      }
    },
  }
}

/** Bytes that are no whole frame yet. The buffer doubles, so that a frame in small pieces is not copied for each of them. */
class Waiting {
  #buffer = new Uint8Array(4096)
  #start = 0
  #end = 0

  add(bytes: Uint8Array): void {
    const length = this.#end - this.#start
    if (this.#end + bytes.length > this.#buffer.length) {
      const room = Math.max(this.#buffer.length, length + bytes.length)
      const grown = length + bytes.length > this.#buffer.length ? new Uint8Array(room * 2) : this.#buffer
      grown.set(this.#buffer.subarray(this.#start, this.#end))
      this.#buffer = grown
      this.#start = 0
      this.#end = length
    }
    this.#buffer.set(bytes, this.#end)
    this.#end += bytes.length
  }

  takeFrame(bytesMax: number): Frame | undefined {
    const available = this.#buffer.subarray(this.#start, this.#end)
    const length = checked(() => frameLengthOf(available))
    if (length === undefined) return undefined
    if (length < FRAME_BYTES_MIN || length > bytesMax)
      throw malformed(`a frame says that it has ${length} bytes; from ${FRAME_BYTES_MIN} to ${bytesMax} are read`)
    if (available.length < length) return undefined
    this.#start += length
    return checked(() => decodeFrame(available.slice(0, length)))
  }
}

function checked<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : String(cause))
  }
}

function eventOf(frame: Frame): WireEvent {
  const { headers, body } = frame
  const header = (name: string): string => headers[name] ?? ''
  const messageType = header(':message-type')
  // Errors that no model of the API knows: they say everything in headers.
  if (messageType === 'error')
    return { type: header(':error-code'), isException: true, payload: { message: header(':error-message') } }
  const payload = payloadOf(body)
  if (messageType === 'exception') return { type: header(':exception-type'), isException: true, payload }
  return { type: header(':event-type'), isException: false, payload }
}

function payloadOf(body: Uint8Array): JsonValue {
  if (body.length === 0) return null
  const parsed = parseJson(new TextDecoder().decode(body))
  if (parsed.ok) return parsed.value
  throw malformed('the payload of an event is not JSON')
}

function malformed(what: string): BatonError {
  return new BatonError({ code: 'model_malformed_answer', message: `Bedrock’s stream is malformed: ${what}` })
}
