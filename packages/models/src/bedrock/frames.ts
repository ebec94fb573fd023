// One frame of Amazon's binary event stream: total length, length of the headers, CRC-32 of both, headers, body, CRC-32 of
// all before it. Own code, because AWS's codec brings 8 MB with it and does not load under Vite. Format: the AWS C library
// aws-c-event-stream, and smithy.io/2.0/aws/amazon-eventstream.html.

export interface Frame {
  /** Names with their values; what is no text or bytes is left out, since no event of Bedrock's has it. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Total length, length of the headers, and the checksum of both. */
export const PRELUDE_BYTES = 12
export const FRAME_BYTES_MIN = 16
const CHECKSUM_BYTES = 4

/** Bytes of a header's value by its type; text and byte arrays (6, 7) say their length themselves. */
const VALUE_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
const BYTES_TYPE = 6
const TEXT_TYPE = 7

/** Undefined while the prelude is not there; else the bytes of the frame. @throws RangeError when the prelude is broken */
export function frameLengthOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < PRELUDE_BYTES) return undefined
  const view = viewOf(bytes)
  if (crc32(bytes.subarray(0, 8)) !== view.getUint32(8)) throw new RangeError('the checksum of a prelude is wrong')
  return view.getUint32(0)
}

/** @throws RangeError when a checksum or a length is wrong */
export function decodeFrame(frame: Uint8Array): Frame {
  const view = viewOf(frame)
  const end = frame.length - CHECKSUM_BYTES
  if (crc32(frame.subarray(0, end)) !== view.getUint32(end)) throw new RangeError('the checksum of a frame is wrong')
  const bodyStart = PRELUDE_BYTES + view.getUint32(4)
  if (bodyStart > end) throw new RangeError('the headers of a frame are longer than the frame')
  return { headers: decodeHeaders(frame.subarray(PRELUDE_BYTES, bodyStart)), body: frame.subarray(bodyStart, end) }
}

/** For servers of tests. All headers are texts, up to 255 bytes of name and 32 KiB of value. */
export function encodeFrame({ headers, body }: Frame): Uint8Array {
  const encoder = new TextEncoder()
  const encoded = Object.entries(headers).flatMap(([name, value]) => {
    const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)]
    return [nameBytes.length, ...nameBytes, TEXT_TYPE, valueBytes.length >> 8, valueBytes.length & 255, ...valueBytes]
  })
  const frame = new Uint8Array(FRAME_BYTES_MIN + encoded.length + body.length)
  const view = viewOf(frame)
  view.setUint32(0, frame.length)
  view.setUint32(4, encoded.length)
  view.setUint32(8, crc32(frame.subarray(0, 8)))
  frame.set(encoded, PRELUDE_BYTES)
  frame.set(body, PRELUDE_BYTES + encoded.length)
  view.setUint32(frame.length - CHECKSUM_BYTES, crc32(frame.subarray(0, -CHECKSUM_BYTES)))
  return frame
}

/** DataView throws a RangeError itself where a length points behind the end. */
function decodeHeaders(bytes: Uint8Array): Readonly<Record<string, string>> {
  const decoder = new TextDecoder()
  const view = viewOf(bytes)
  const headers: Record<string, string> = {}
  for (let at = 0; at < bytes.length;) {
    const nameEnd = at + 1 + view.getUint8(at)
    const name = decoder.decode(bytes.subarray(at + 1, nameEnd))
    const type = view.getUint8(nameEnd)
    at = nameEnd + 1
    if (type === TEXT_TYPE || type === BYTES_TYPE) {
      const end = at + 2 + view.getUint16(at)
      if (type === TEXT_TYPE) headers[name] = decoder.decode(bytes.subarray(at + 2, end))
      at = end
    } else at += valueBytesOf(type)
  }
  return headers
}

function valueBytesOf(type: number): number {
  const bytes = VALUE_BYTES[type]
  if (bytes === undefined) throw new RangeError(`a header has the unknown type ${type}`)
  return bytes
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** CRC-32 of ISO 3309, as in zip files. */
const CRC_TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 255] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}
