// The checksum compared with zlib's, for any range.
import { crc32 as zlibCrc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { crc32 } from './frames.ts'

const bytes = Uint8Array.from({ length: 400 }, (_, at) => (at * at * 31 + (at >> 3)) & 255)
const view = new DataView(bytes.buffer)

test('the check value of the standard', () => {
  const digits = new TextEncoder().encode('123456789')
  expect(crc32(new DataView(digits.buffer), 0, 9)).toBe(0xcbf43926)
})

test('any place and any length, as zlib has it', () => {
  for (let start = 0; start < 20; start++)
    for (let end = start; end <= bytes.length; end += 1 + start)
      expect([start, end, crc32(view, start, end)]).toEqual([start, end, zlibCrc32(bytes.subarray(start, end))])
})
