// Content that `send` accepts, and its errors for the parts and messages of other libraries.
import { expect, test } from 'vitest'
import { decodeUserInput, PARTS_MAX } from './decode-content.ts'
import { VALUE_LIMITS } from '../shape/value-reader.ts'

function messageFor(value: unknown): string {
  const decoded = decodeUserInput(value)
  if (decoded.ok) throw new Error(`it was taken as ${JSON.stringify(decoded.value)}`)
  expect(decoded.refusal.code).toBe('invalid_event')
  return decoded.refusal.message
}

const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAA=' } }
const withData = (data: unknown): unknown => [{ ...image, source: { type: 'base64', data } }]
const withUrl = (url: unknown): unknown => [{ ...image, source: { type: 'url', url } }]

test('a text is one part, also an empty one: that nothing was said is for the session to say', () => {
  expect(decodeUserInput('Hello 😀')).toEqual({ ok: true, value: [{ type: 'text', text: 'Hello 😀' }] })
  expect(decodeUserInput('')).toEqual({ ok: true, value: [{ type: 'text', text: '' }] })
})

test('parts come out as they are, and are others', () => {
  const parts = [
    { type: 'text', text: 'Look', state: { provider: 'p', model: '', data: { cache: [1, null] } } },
    image,
    { type: 'file', mediaType: 'text/plain; charset=utf-8', name: 'a.txt', source: { type: 'url', url: 'gs://a/b' } },
  ]
  const decoded = decodeUserInput(parts)
  expect(decoded).toEqual({ ok: true, value: parts })
  image.source.data = 'BBBB'
  expect(decoded.ok && decoded.value[1]).toMatchObject({ source: { data: 'AAA=' } })
  image.source.data = 'AAA='
})

test('a field that is undefined is absent', () => {
  const decoded = decodeUserInput([{ type: 'text', text: 'a', state: undefined, other: undefined }])
  expect(decoded.ok && Object.keys(decoded.value[0] ?? {})).toEqual(['type', 'text'])
})

test('base64 is no text: it has a limit of its own, above what an agent takes', () => {
  const data = 'AAAA'.repeat(VALUE_LIMITS.mediaChars / 64 / 4)
  const many = Array.from({ length: 64 }, () => ({ ...image, source: { type: 'base64', data } }))
  expect(decodeUserInput(many).ok).toBe(true)
  expect(decodeUserInput([...many, image])).toMatchObject({
    refusal: { code: 'input_too_large', message: 'the input has more than 134217728 characters of base64' },
  })
})

const IMAGE_FORM = "an image part is { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: '…' } }"

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'the input must be text or an array of parts, not undefined'],
  ['null', null, 'not null'],
  ['a message', { role: 'user', content: 'Hi' }, 'the input is a message; send its text, or an array of parts'],
  ['a message of Baton', { role: 'user', parts: [] }, 'the input is a message'],
  [
    'messages',
    [{ role: 'user', content: 'Hi' }],
    'parts[0].type must be "text", "image" or "file", not undefined; send its text',
  ],
  ['one part alone', { type: 'text', text: 'Hi' }, 'the input must be an array of parts, not one part; send [part]'],
  [
    'an array of texts',
    ['Hi'],
    "parts[0] must be a plain object, not \"Hi\"; a text part is { type: 'text', text: '…' }",
  ],
  [
    'an image of the AI SDK',
    [image, { type: 'image', image: 'data:image/png;base64,AAAA' }],
    `parts[1].image is not a field of an image part, which has type, mediaType, source, state?; ${IMAGE_FORM}`,
  ],
  ['an image of the AI SDK in bytes', [{ type: 'image', image: new Uint8Array(8) }], IMAGE_FORM],
  [
    'a file of the AI SDK',
    [{ type: 'file', data: 'AAAA', mediaType: 'a/b' }],
    "parts[0].data is not a field of a file part, which has type, mediaType, name?, source, state?; a file part is { type: 'file'",
  ],
  [
    'an image of Chat Completions',
    [{ type: 'image_url', image_url: { url: 'https://a.b' } }],
    `parts[0].type must be "text", "image" or "file", not "image_url"; ${IMAGE_FORM}`,
  ],
  ['an image of Responses', [{ type: 'input_image', image_url: 'https://a.b' }], IMAGE_FORM],
  ['a text of Responses', [{ type: 'input_text', text: 'Hi' }], "a text part is { type: 'text', text: '…' }"],
  [
    'an image of Anthropic',
    [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
    `parts[0].mediaType is missing`,
  ],
  ['a document of Anthropic', [{ type: 'document', source: {} }], "a file part is { type: 'file'"],
  ['a part of Gemini', [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }], IMAGE_FORM],
  ['a call', [{ type: 'call', callId: 'c', name: 'n', arguments: '{}' }], 'parts[0].type must be'],
  ['a file as an image', [{ ...image, mediaType: 'application/pdf' }], 'parts[0].mediaType must begin with "image/"'],
  [
    'no media type',
    [{ ...image, mediaType: 'png' }],
    'parts[0].mediaType must be a media type such as "image/png", not "png"',
  ],
  [
    'half of a pair in the third part',
    [image, image, { type: 'text', text: 'a\ud800b' }],
    'parts[2].text has half of a surrogate pair at 1',
  ],
  ['half of a pair in a text', '😀\ude00', 'the input has half of a surrogate pair at 2'],
  [
    'too many parts',
    Array.from({ length: PARTS_MAX + 1 }, () => image),
    'parts has 1001 items; at most 1000 are allowed',
  ],
  ['a data address as base64', withData('data:image/png;base64,AAAA'), 'parts[0].source.data must be base64 alone'],
  ['no bytes', withData(''), 'parts[0].source.data is not base64: its length 0'],
  ['base64 for addresses', withData('ab-_'), 'parts[0].source.data is not base64: "-" at position 2'],
  ['base64 in lines', withData('AAAA\nAAA='), '"\\n" at position 4'],
  ['base64 without its end', withData('AAA'), 'its length 3 is not a positive multiple of 4'],
  ['too much padding', withData('A==='), '"=" at position 1'],
  ['bytes', withData(new Uint8Array(3)), 'parts[0].source.data must be base64 text, not bytes'],
  [
    'an address with data that is not base64',
    withUrl('data:image/png;base64,AA*A'),
    'parts[0].source.data is not base64: "*" at position 2',
  ],
  [
    'a file of this machine',
    withUrl('file:///etc/passwd'),
    'parts[0].source.url is an address that no provider can fetch',
  ],
  ['half an address', withUrl('a.png'), 'parts[0].source.url must be a whole address such as "https://…", not "a.png"'],
  ['an address with a line break', withUrl('https://a\r\nb'), 'must be a whole address'],
  ['an address that is too long', withUrl(`https://${'a'.repeat(16_384)}`), 'must have 1 to 16384 characters'],
])('%s is refused, and told how', (_, value, message) => expect(messageFor(value)).toContain(message))

test('a message has no control characters of the value in it', () => {
  const message = messageFor([{ type: 'te\u202e\u0007\u009fxt\ud800', text: 'a' }])
  expect(message).toContain('not "te\\u202e\\u0007\\u009fxt\\ud800"')
  expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/u)
})
