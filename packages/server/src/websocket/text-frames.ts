// Text messages as a server writes them (RFC 6455, 5.2): each in one unmasked frame. Several share one buffer.
import type { RawData } from 'ws'

/** Bytes of the longest header: two, and eight of length. */
const HEAD_BYTES = 10
/** The final fragment of a text message. */
const FINAL_TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, bytes) => sum + HEAD_BYTES + bytes, 0))
  let end = 0
  for (const [index, text] of texts.entries()) {
    end = writeHead(buffer, end, sizes[index] ?? 0)
    end += buffer.write(text, end)
  }
  return buffer.subarray(0, end)
}

/** Returns where the payload begins. */
function writeHead(buffer: Buffer, at: number, bytes: number): number {
  buffer[at] = FINAL_TEXT
  if (bytes < LENGTH_16) {
    buffer[at + 1] = bytes
    return at + 2
  }
  if (bytes <= 0xffff) {
    buffer[at + 1] = LENGTH_16
    return buffer.writeUInt16BE(bytes, at + 2)
  }
  buffer[at + 1] = LENGTH_64
  return buffer.writeBigUInt64BE(BigInt(bytes), at + 2)
}

export function countBytes(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength
}

/** `ws` has already checked that the text is UTF-8. */
export function decodeText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString()
}
