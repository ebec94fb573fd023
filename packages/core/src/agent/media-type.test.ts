// An image's type by its first bytes, the names of its type, and `data:` addresses from various writers.
import { describe, expect, test } from 'vitest'
import { decodeUserInput } from './decode-content.ts'
import { nameImageType, readDataAddress, sniffImageType } from './media-type.ts'

const base64 = (bytes: string) => btoa(bytes)
const JPEG = base64('\xff\xd8\xff\xe0\0\x10JFIF\0\x01')

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xff\xd8\xff\xdb'],
  ['image/gif', 'GIF89a\x01\0'],
  ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['image/bmp', 'BM\0\0'],
  ['image/tiff', 'II*\0\x08\0'],
  ['image/avif', '\0\0\0\x20ftypavif'],
  ['image/heic', '\0\0\0\x18ftypheic'],
  [undefined, 'RIFF\x24\0\0\0WAVEfmt '],
  [undefined, '%PDF-1.7'],
  [undefined, ''],
])('%s by its first bytes', (type, bytes) => expect(sniffImageType(base64(bytes))).toBe(type))

test.each([
  ['IMAGE/PNG', 'image/png'],
  ['image/png; charset=binary', 'image/png'],
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/x-png', 'image/png'],
  ['image/svg+xml', 'image/svg+xml'],
])('%s is %s', (said, name) => expect(nameImageType(said)).toBe(name))

test.each([
  ['data:image/png;base64,AAAA', 'image/png', 'AAAA'],
  ['DATA:IMAGE/PNG;charset=binary;BASE64,AAA=', 'IMAGE/PNG;charset=binary', 'AAA='],
  ['data:image/png;base64,AA', 'image/png', 'AA=='],
  ['data:image/png;base64,A%2BA%3D', 'image/png', 'A+A='],
  ['data:image/png;base64,_-A\n=', 'image/png', '/+A='],
  ['data:text/plain,hi%20%C3%A4ä', 'text/plain', base64('hi \xc3\xa4\xc3\xa4')],
  ['data:,', '', ''],
])('%s', (address, mediaType, data) => expect(readDataAddress(address)).toEqual({ mediaType, data }))

test('other addresses are none', () => {
  expect(['https://a/b.png', 'data:image/png', ''].map(readDataAddress)).toEqual([undefined, undefined, undefined])
})

describe('a picture that a user sends', () => {
  const send = (mediaType: string, source: object) => {
    const decoded = decodeUserInput([{ type: 'image', mediaType, source }])
    return decoded.ok ? decoded.value[0] : decoded.refusal.message
  }
  const jpeg = { type: 'image', mediaType: 'image/jpeg', source: { type: 'base64', data: JPEG } }

  test.each(['image/png', 'image/jpg', 'image/*', 'IMAGE/JPEG', 'image/png; charset=binary'])(
    'its bytes win over %s',
    (said) => expect(send(said, { type: 'base64', data: JPEG })).toEqual(jpeg),
  )

  test('bytes in a data: address are bytes', () =>
    expect(send('image/png', { type: 'url', url: `data:image/png;base64,${JPEG.replaceAll('=', '')}` })).toEqual(jpeg))

  test('where the bytes say nothing, the type is what is said', () => {
    expect(send('IMAGE/X-PNG', { type: 'base64', data: 'AAAA' })).toMatchObject({ mediaType: 'image/png' })
    expect(send('image/jpg', { type: 'url', url: 'https://a/b' })).toMatchObject({ mediaType: 'image/jpeg' })
    expect(send('image/*', { type: 'url', url: 'https://a/b' })).toMatch(/do not tell the actual type/)
  })
})
