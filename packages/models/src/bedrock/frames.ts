// One frame of Amazon's binary event stream: total length, headers length, CRC-32 of both, headers, body, CRC-32 of
// everything before it. Implemented here because AWS's codec adds 3.8 MB, takes twice the time for each frame, and
// leaves the bound of a frame to its caller. Format: the AWS C library aws-c-event-stream, and
// smithy.io/2.0/aws/amazon-eventstream.html.
import { BatonError } from '@baton/core'

export interface Frame {
  /** Header values by name. Only text and bytes are kept, since Bedrock's events use no other types. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Total length, headers length, and the checksum of both. */
const PRELUDE_BYTES = 12
export const FRAME_BYTES_MIN = 16
const CHECKSUM_BYTES = 4

/** Size in bytes of a header value by type. Text and byte arrays (6, 7) state their own length. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const BYTES_TYPE = 6
const TEXT_TYPE = 7

/**
 * Length in bytes of the frame that starts at `start`; `undefined` if its prelude is not complete before `end`.
 * @throws BatonError `model_malformed_answer` if the prelude's checksum is wrong
 */
export function frameLengthAt(view: DataView, start: number, end: number): number | undefined {
  if (end - start < PRELUDE_BYTES) return undefined
  if (crc32(view, start, start + 8) !== view.getUint32(start + 8)) throw malformed('the checksum of a prelude is wrong')
  return view.getUint32(start)
}

/**
 * Decodes the frames of one stream. Nearly all frames repeat the headers of the previous one, which are then not parsed
 * again.
 */
export class FrameDecoder {
  #headerBytes: DataView = createView(new Uint8Array())
  #headers: Frame['headers'] = {}

  /**
   * Decodes the frame from `start` up to, but not including, `end`. The body is a view, not a copy.
   * @throws BatonError `model_malformed_answer` if a checksum or a length is wrong
   */
  decode(view: DataView, start: number, end: number): Frame {
    const bodyEnd = end - CHECKSUM_BYTES
    if (crc32(view, start, bodyEnd) !== view.getUint32(bodyEnd)) throw malformed('the checksum of a frame is wrong')
    const headerStart = start + PRELUDE_BYTES
    const bodyStart = headerStart + view.getUint32(start + 4)
    if (bodyStart > bodyEnd) throw malformed('the headers of a frame extend past its end')
    if (!areAt(view, headerStart, bodyStart, this.#headerBytes)) {
      const headerBytes = toBytes(view, headerStart, bodyStart).slice()
      this.#headers = decodeHeaders(headerBytes)
      this.#headerBytes = createView(headerBytes)
    }
    return { headers: this.#headers, body: toBytes(view, bodyStart, bodyEnd) }
  }
}

/** Encodes a frame, for test servers. All headers are text, with names up to 255 bytes and values up to 32 KiB. */
export function encodeFrame({ headers, body }: Frame): Uint8Array {
  const encoder = new TextEncoder()
  const encoded = Object.entries(headers).flatMap(([name, value]) => {
    const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)]
    return [nameBytes.length, ...nameBytes, TEXT_TYPE, valueBytes.length >> 8, valueBytes.length & 255, ...valueBytes]
  })
  const frame = new Uint8Array(FRAME_BYTES_MIN + encoded.length + body.length)
  const view = createView(frame)
  const bodyEnd = frame.length - CHECKSUM_BYTES
  view.setUint32(0, frame.length)
  view.setUint32(4, encoded.length)
  view.setUint32(8, crc32(view, 0, 8))
  frame.set(encoded, PRELUDE_BYTES)
  frame.set(body, PRELUDE_BYTES + encoded.length)
  view.setUint32(bodyEnd, crc32(view, 0, bodyEnd))
  return frame
}

export function malformed(what: string): BatonError {
  return new BatonError({ code: 'model_malformed_answer', message: `Bedrock’s stream is malformed: ${what}` })
}

function decodeHeaders(bytes: Uint8Array): Readonly<Record<string, string>> {
  const decoder = new TextDecoder()
  const view = createView(bytes)
  const headers: Record<string, string> = {}
  const readOne = (start: number): number => {
    const nameEnd = start + 1 + view.getUint8(start)
    const type = view.getUint8(nameEnd)
    const at = nameEnd + 1
    if (type !== TEXT_TYPE && type !== BYTES_TYPE) return at + countValueBytes(type)
    const end = at + 2 + view.getUint16(at)
    if (type === TEXT_TYPE)
      headers[decoder.decode(bytes.subarray(start + 1, nameEnd))] = decoder.decode(bytes.subarray(at + 2, end))
    return end
  }
  let at = 0
  try {
    while (at < bytes.length) at = readOne(at)
  } catch (cause) {
    // thrown by DataView when a read goes past the end
    if (!(cause instanceof RangeError)) throw cause
    at = Infinity
  }
  if (at > bytes.length) throw malformed('a header extends past the end of the headers')
  return headers
}

function countValueBytes(type: number): number {
  const bytes = VALUE_BYTES[type]
  if (bytes === undefined) throw malformed(`a header has the unknown type ${type}`)
  return bytes
}

/** Whether the bytes at `start` up to `end` equal `bytes`. Compares four at a time, since it runs for every frame. */
function areAt(view: DataView, start: number, end: number, bytes: DataView): boolean {
  const length = bytes.byteLength
  if (end - start !== length) return false
  let at = 0
  for (; at + 4 <= length; at += 4) if (view.getInt32(start + at) !== bytes.getInt32(at)) return false
  for (; at < length; at++) if (view.getUint8(start + at) !== bytes.getUint8(at)) return false
  return true
}

function toBytes(view: DataView, start: number, end: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + start, end - start)
}

function createView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * CRC-32 of ISO 3309, as in zip files, eight bytes at a time ("slicing by 8", Kounavis and Berry 2008). Implemented
 * here because it beats a call into Node's zlib for frames of a few hundred bytes, and browsers have no zlib.
 * Unsigned checksum of the bytes from `start` up to, but not including, `end`.
 */
export function crc32(view: DataView, start: number, end: number): number {
  const tables = TABLES
  const lookUp = (zeros: number, byte: number): number => tables[(zeros << 8) | (byte & 255)] ?? 0
  let crc = -1
  let at = start
  for (; at + 8 <= end; at += 8) {
    const first = crc ^ view.getInt32(at, true)
    const last = view.getInt32(at + 4, true)
    crc =
      lookUp(7, first) ^
      lookUp(6, first >>> 8) ^
      lookUp(5, first >>> 16) ^
      lookUp(4, first >>> 24) ^
      lookUp(3, last) ^
      lookUp(2, last >>> 8) ^
      lookUp(1, last >>> 16) ^
      lookUp(0, last >>> 24)
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ lookUp(0, crc ^ view.getUint8(at))
  return ~crc >>> 0
}

/** Eight tables of 256 entries: the checksum of a byte followed by zero to seven zero bytes. */
const TABLES: Int32Array = createTables()

function createTables(): Int32Array {
  const tables = new Int32Array(8 * 256)
  for (let at = 0; at < tables.length; at++) {
    let value = tables[at - 256] ?? at
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
    tables[at] = value
  }
  return tables
}
