// Detection of text files.
import { expect, test } from 'vitest'
import { textOfFile } from './file-text.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')

test.each(['text/plain', 'text/csv', 'application/json', 'application/ld+json', 'application/xml', 'application/yaml'])(
  'a file of type %s is text',
  (mediaType) => {
    expect(textOfFile(mediaType, base64('größe'))).toBe('größe')
  },
)

test.each([
  ['of another type', 'application/pdf', base64('a')],
  ['of a type that begins as one', 'application/json5', base64('a')],
  ['that is no UTF-8', 'text/plain', Buffer.of(0xff, 0xfe).toString('base64')],
  ['that is no base64', 'text/plain', '%%%'],
])('a file %s is not', (_situation, mediaType, data) => {
  expect(textOfFile(mediaType, data)).toBeUndefined()
})
