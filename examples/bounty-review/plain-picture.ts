// A black picture as a PNG: the examples need one of a certain size, without a file.
import { crc32, deflateSync } from 'node:zlib'

export function createPlainPicture(width: number, height: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0], 8) // 8 bits of grey
  const pixels = deflateSync(Buffer.alloc((width + 1) * height))
  const chunks = [makeChunk('IHDR', header), makeChunk('IDAT', pixels), makeChunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks])
}

/** https://www.w3.org/TR/png-3/#5Chunk-layout */
function makeChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}
