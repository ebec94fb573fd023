// Small pictures of each type, as bytes.
import { crc32, deflateSync } from 'node:zlib'

export function png(width: number, height: number, { animated = false } = {}): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 0], 8) // 8-bit grayscale
  const pixels = deflateSync(Buffer.alloc((width + 1) * height))
  const chunks = [
    chunk('IHDR', header),
    ...(animated ? [chunk('acTL', Buffer.alloc(8, 1))] : []),
    chunk('IDAT', pixels),
  ]
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...chunks, chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** @param orientation EXIF value; 6 is rotated by 90 degrees */
export function jpeg(width: number, height: number, orientation = 1): Buffer {
  const exif = Buffer.from(
    '457869660000' + '4d4d002a00000008' + '0001' + '011200030000000100000000' + '00000000',
    'hex',
  )
  exif.writeUInt16BE(orientation, 24)
  const frame = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  frame.writeUInt16BE(height, 1)
  frame.writeUInt16BE(width, 3)
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe1, exif),
    segment(0xc0, frame),
    Buffer.from([0xff, 0xd9]),
  ])
}

function segment(mark: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, mark, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

export function gif(width: number, height: number, frames = 1): Buffer {
  const head = Buffer.from('474946383961000000008000000000' + '00ffffff', 'hex')
  head.writeUInt16LE(width, 6)
  head.writeUInt16LE(height, 8)
  const control = Buffer.from('21f9040000000000', 'hex')
  const frame = Buffer.from('2c00000000010001000002024401' + '00', 'hex')
  const all = Array.from({ length: frames }, () => [control, frame]).flat()
  return Buffer.concat([head, ...all, Buffer.from([0x3b])])
}

export function webp(width: number, height: number, { animated = false } = {}): Buffer {
  const file = Buffer.alloc(30)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(22, 4)
  file.write('WEBPVP8X', 8, 'latin1')
  file.writeUInt32LE(10, 16)
  file[20] = animated ? 2 : 0
  file.writeUIntLE(width - 1, 24, 3)
  file.writeUIntLE(height - 1, 27, 3)
  return file
}
