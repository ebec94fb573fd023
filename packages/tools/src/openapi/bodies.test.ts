// Bodies other than JSON, as services read them: forms of Stripe and Twilio, multipart forms with files, texts and
// bytes.
import type { JsonObject, JsonValue, Message } from '@baton/core'
import { isBatonError } from '@baton/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { EchoApi } from './echo-api.test-kit.ts'
import { askEcho, digestOf, startEchoApi } from './echo-api.test-kit.ts'
import { fromOpenApi, listOperations } from './from-openapi.ts'
import { PIXEL } from './orders-api.test-kit.ts'

let api: EchoApi
beforeAll(async () => {
  api = await startEchoApi()
})
afterAll(() => api.close())

const FORM = 'application/x-www-form-urlencoded'
const TEXT = { type: 'string' } as const
const DEEP = { explode: true, style: 'deepObject' } as const
const takes = (type: string, schema: JsonValue, encoding?: JsonObject): JsonObject => ({
  requestBody: { required: true, content: { [type]: { schema, ...(encoding && { encoding }) } } },
})

/** Taken from https://github.com/stripe/openapi, POST /v1/subscriptions, reduced to some of its fields. */
const SUBSCRIPTION = takes(
  FORM,
  {
    type: 'object',
    additionalProperties: false,
    required: ['customer'],
    properties: {
      customer: { ...TEXT, maxLength: 5000 },
      cancel_at_period_end: { type: 'boolean' },
      expand: { type: 'array', items: TEXT },
      items: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            price: TEXT,
            quantity: { type: 'integer' },
            metadata: { type: 'object', additionalProperties: TEXT },
            tax_rates: {
              anyOf: [
                { type: 'array', items: TEXT },
                { type: 'string', enum: [''] },
              ],
            },
          },
        },
      },
      metadata: {
        anyOf: [
          { type: 'object', additionalProperties: TEXT },
          { type: 'string', enum: [''] },
        ],
      },
      payment_settings: {
        type: 'object',
        properties: { payment_method_types: { type: 'array', items: TEXT } },
      },
    },
  },
  { expand: DEEP, items: DEEP, metadata: DEEP, payment_settings: DEEP },
)

// https://docs.stripe.com/api/subscriptions/create, /api/expanding_objects and /api/metadata use these names in their
// examples.
test('Stripe: nested objects, lists of objects and lists of texts in brackets', async () => {
  const body = {
    customer: 'cus_Na6dX7aXxi11N4',
    cancel_at_period_end: false,
    expand: ['latest_invoice', 'customer.default_source'],
    items: [
      { price: 'price_1MowQVLkdIwHu7ixraBm864M', quantity: 2, metadata: { 'a b': 'c&d=é' } },
      { price: 'price_2', tax_rates: ['txr_1'] },
    ],
    metadata: { order_id: '6735' },
    payment_settings: { payment_method_types: ['card'] },
  }
  const echo = await askEcho(api.origin, SUBSCRIPTION, { body })
  expect(echo.contentType).toBe(FORM)
  expect(echo.pairs).toEqual([
    ['customer', 'cus_Na6dX7aXxi11N4'],
    ['cancel_at_period_end', 'false'],
    ['expand[]', 'latest_invoice'],
    ['expand[]', 'customer.default_source'],
    ['items[0][price]', 'price_1MowQVLkdIwHu7ixraBm864M'],
    ['items[0][quantity]', '2'],
    ['items[0][metadata][a b]', 'c&d=é'],
    ['items[1][price]', 'price_2'],
    ['items[1][tax_rates][]', 'txr_1'],
    ['metadata[order_id]', '6735'],
    ['payment_settings[payment_method_types][]', 'card'],
  ])
  expect(echo.form).toEqual(
    JSON.parse(JSON.stringify(body), (_, value: JsonValue) => (typeof value === 'object' ? value : String(value))),
  )
})

test('Stripe: an empty text unsets a map, and empty lists are not sent', async () => {
  const echo = await askEcho(api.origin, SUBSCRIPTION, { body: { customer: 'c', metadata: '', expand: [] } })
  expect(echo.text).toBe('customer=c&metadata=')
})

test('Stripe: the empty form of a GET or a DELETE is no body, and lists in the query have brackets', async () => {
  const empty = {
    requestBody: {
      content: { [FORM]: { encoding: {}, schema: { additionalProperties: false, properties: {}, type: 'object' } } },
    },
  }
  const parameters = [
    { name: 'expand', in: 'query', ...DEEP, schema: { type: 'array', items: TEXT } },
    { name: 'created', in: 'query', ...DEEP, schema: { type: 'object', properties: { gt: { type: 'integer' } } } },
  ]
  for (const method of ['get', 'delete']) {
    const document = { paths: { '/v1/charges': { [method]: { ...empty, parameters } } } }
    const echo = await askEcho(api.origin, {}, { expand: ['data.customer'], created: { gt: 5 } }, { document })
    expect(echo).toMatchObject({
      text: '',
      contentType: null,
      query: { expand: ['data.customer'], created: { gt: '5' } },
    })
    expect(decodeURIComponent(echo.target)).toBe('/v1/charges?expand[]=data.customer&created[gt]=5')
  }
})

/** Taken from https://github.com/twilio/twilio-oai, CreateCall and CreateMessage: no `encoding`, and lists. */
test('Twilio: a list repeats its name, and an object without an encoding is JSON', async () => {
  const operation = takes(FORM, {
    type: 'object',
    required: ['To', 'From'],
    properties: {
      To: TEXT,
      From: TEXT,
      MediaUrl: { type: 'array', items: { ...TEXT, format: 'uri' } },
      StatusCallbackEvent: { type: 'array', items: TEXT },
      SendAsMms: { type: 'boolean' },
      Attributes: { type: 'object' },
    },
  })
  const body = {
    To: '+15558675310',
    From: '+15017122661',
    MediaUrl: ['https://c1.staticflickr.com/3/2899/14341091933_1e92e62d12_b.jpg', 'https://e.org/b?c=1&d=2'],
    StatusCallbackEvent: ['initiated', 'answered'],
    SendAsMms: true,
    Attributes: { team: 'a' },
  }
  const echo = await askEcho(api.origin, operation, { body })
  expect(echo.pairs).toEqual([
    ['To', '+15558675310'],
    ['From', '+15017122661'],
    ['MediaUrl', 'https://c1.staticflickr.com/3/2899/14341091933_1e92e62d12_b.jpg'],
    ['MediaUrl', 'https://e.org/b?c=1&d=2'],
    ['StatusCallbackEvent', 'initiated'],
    ['StatusCallbackEvent', 'answered'],
    ['SendAsMms', 'true'],
    ['Attributes', '{"team":"a"}'],
  ])
})

test.each<[string, JsonObject, JsonValue, string]>([
  ['form without explode', { style: 'form', explode: false }, ['a', 'b,c'], 'v=a,b%2Cc'],
  ['explode alone', { explode: false }, ['a', 'b'], 'v=a,b'],
  ['form with explode', { style: 'form' }, { x: 1, y: 2 }, 'x=1&y=2'],
  ['spaceDelimited', { style: 'spaceDelimited' }, ['a', 'b'], 'v=a%20b'],
  ['pipeDelimited', { style: 'pipeDelimited' }, ['a', 'b'], 'v=a%7Cb'],
  ['reserved characters', { allowReserved: true }, 'https://a.b/c?d=1&e#f+g', 'v=https://a.b/c?d=1%26e%23f%2Bg'],
  ['a media type', { contentType: 'application/json' }, ['a', { b: 1 }], 'v=%22a%22&v=%7B%22b%22%3A1%7D'],
  ['nothing said, a list of objects', {}, [{ b: 1 }, { b: 2 }], 'v=%7B%22b%22%3A1%7D&v=%7B%22b%22%3A2%7D'],
  ['nothing said, nothing given', {}, null, 'v='],
])('a form field with %s', async (_, encoding, value, expected) => {
  const echo = await askEcho(api.origin, takes(FORM, { type: 'object', properties: { v: {} } }, { v: encoding }), {
    body: { v: value },
  })
  expect(echo.text).toBe(expected)
})

test('JSON is taken where several are offered, and multipart before a plain form if it has files', () => {
  const schema = { type: 'object', properties: { a: TEXT } }
  const withFile = { type: 'object', properties: { a: { ...TEXT, format: 'binary' } } }
  const typeOf = (content: JsonObject): string | undefined =>
    listOperations({ openapi: '3.0.3', paths: { '/x': { post: { requestBody: { content } } } } })[0]?.mediaType
  const [form, multipart] = [{ [FORM]: { schema } }, { 'multipart/form-data': { schema } }]
  expect(typeOf({ ...multipart, ...form, 'application/json; charset=utf-8': { schema } })).toBe('application/json')
  expect(typeOf({ ...form, 'application/vnd.a+json': { schema }, 'application/json': { schema } })).toBe(
    'application/json',
  )
  expect(typeOf({ ...multipart, ...form })).toBe(FORM)
  expect(typeOf({ ...form, 'multipart/form-data': { schema: withFile } })).toBe('multipart/form-data')
  expect(typeOf({ 'text/plain': {}, ...multipart })).toBe('multipart/form-data')
  expect(typeOf({ 'application/xml': { schema }, '*/*': { schema } })).toBe('application/json')
})

const PDF = Buffer.from('%PDF-1.7 ü\r\n--x\r\n')
const MESSAGES: readonly Message[] = [
  {
    role: 'user',
    parts: [
      { type: 'text', text: 'Send these.' },
      {
        type: 'file',
        mediaType: 'application/pdf',
        name: 'rules "ü".pdf',
        source: { type: 'base64', data: PDF.toString('base64') },
      },
      { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL.toString('base64') } },
      { type: 'file', mediaType: 'text/csv', source: { type: 'url', url: 'https://files.example.com/list.csv' } },
    ],
  },
]
const context = { messages: () => Promise.resolve(MESSAGES) }

const UPLOAD = takes(
  'multipart/form-data',
  {
    type: 'object',
    required: ['file'],
    properties: {
      purpose: TEXT,
      file: { ...TEXT, format: 'binary', description: 'What to keep.' },
      more: { type: 'array', items: { $ref: '#/components/schemas/File' } },
      tags: { type: 'array', items: TEXT },
      about: { type: 'object', properties: { size: { type: 'integer' } } },
      link: { type: 'object' },
    },
  },
  { file: { contentType: 'application/pdf, image/*' }, link: DEEP },
)
const components = { schemas: { File: { ...TEXT, format: 'binary' } } }

test('multipart: files of the session by handle and name, texts, base64, lists of files, JSON and plain parts', async () => {
  const body = {
    purpose: 'evidence "1"',
    file: 'media:latest-1',
    more: [
      'rules "ü".pdf',
      `media:${digestOf(PIXEL)}`,
      { text: 'a,b\n1,2\n', name: '../list.csv', mediaType: 'text/csv' },
      { base64: PIXEL.toString('base64'), name: 'p.png', mediaType: 'image/png' },
      { media: 'media:latest-2', name: 'new.pdf' },
      `data:text/plain,a%20b`,
    ],
    tags: ['x', 'y'],
    about: { size: 2 },
    link: { create: true },
  }
  const echo = await askEcho(api.origin, UPLOAD, { body }, { context, document: { components } })
  const png = { mediaType: 'image/png', sha256: digestOf(PIXEL) }
  const pdf = { mediaType: 'application/pdf', sha256: digestOf(PDF) }
  expect(echo.parts).toEqual([
    { name: 'purpose', text: 'evidence "1"' },
    { name: 'file', file: 'file.png', ...png },
    { name: 'more', file: 'rules "ü".pdf', ...pdf },
    { name: 'more', file: 'file.png', ...png },
    { name: 'more', file: 'list.csv', mediaType: 'text/csv', sha256: digestOf('a,b\n1,2\n') },
    { name: 'more', file: 'p.png', ...png },
    { name: 'more', file: 'new.pdf', ...pdf },
    { name: 'more', file: 'file.txt', mediaType: 'text/plain', sha256: digestOf('a b') },
    { name: 'tags', text: 'x' },
    { name: 'tags', text: 'y' },
    { name: 'about', text: '{"size":2}' },
    { name: 'link[create]', text: 'true' },
  ])
  // A JSON part has its media type and no file name, which would make it a file.
  expect(echo.text).toContain('name="about"\r\ncontent-type: application/json\r\n\r\n{"size":2}')
})

test('the model reads how it gives a file, and what the document says of it', () => {
  const [made] = fromOpenApi(
    { openapi: '3.0.3', paths: { '/x': { post: UPLOAD } }, components },
    { operations: ['POST /x'], server: api.origin },
  )
  const schema = JSON.stringify(made?.inputSchema)
  expect(schema).toContain('What to keep.\\n\\nA file: media:latest')
  expect(schema).not.toContain('binary')
})

test('a program gives files of its own, and an address of the session is fetched', async () => {
  const asked: string[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push(new URL(url).host)
    return url.startsWith('https://files.example.com') ? new Response('a;b') : globalThis.fetch(url, init)
  }
  const readFile = (id: string) =>
    id === 'plan-7' ? { data: 'the plan', name: 'plan.md', mediaType: 'text/markdown' } : undefined
  const body = { file: 'plan-7', more: ['https://files.example.com/list.csv'] }
  const echo = await askEcho(api.origin, UPLOAD, { body }, { context, readFile, fetch, document: { components } })
  expect(echo.parts).toEqual([
    { name: 'file', file: 'plan.md', mediaType: 'text/markdown', sha256: digestOf('the plan') },
    { name: 'more', file: 'list.csv', mediaType: 'text/csv', sha256: digestOf('a;b') },
  ])
  expect(asked).toEqual(['files.example.com', new URL(api.origin).host])
})

test.each<[string, JsonValue, string]>([
  ['an unknown name', 'other.pdf', 'context_missing'],
  ['an address that the session does not hold', 'https://evil.example/a', 'context_missing'],
  ['a handle of nothing', `media:${'0'.repeat(64)}`, 'context_missing'],
  ['a file of the machine', '/etc/passwd', 'context_missing'],
  ['two contents', { text: 'a', base64: 'YQ==' }, 'invalid_arguments'],
  ['no content', { name: 'a.txt' }, 'invalid_arguments'],
  ['what is not base64', { base64: '<html>' }, 'invalid_arguments'],
  ['too many bytes', { text: 'x'.repeat(1001) }, 'input_too_large'],
])('%s in place of a file is an error that the model can act on', async (_, file, code) => {
  const failed = await askEcho(
    api.origin,
    UPLOAD,
    { body: { file } },
    { context, maxBytes: 1000, document: { components } },
  ).catch((thrown: unknown) => thrown)
  expect(isBatonError(failed) && failed.code).toBe(code)
})

test('files of 3.1: a media type without an encoding, no schema at all, and either of several', async () => {
  const operation = takes(
    'multipart/form-data',
    {
      type: 'object',
      properties: {
        photo: { type: 'string', contentMediaType: 'image/png' },
        bytes: {},
        text: { type: 'string', contentMediaType: 'image/png', contentEncoding: 'base64' },
        any: {
          anyOf: [
            { type: 'string', format: 'binary' },
            { type: 'array', items: { type: 'string', format: 'binary' } },
          ],
        },
      },
    },
    { bytes: { contentType: 'application/octet-stream' } },
  )
  const document = { openapi: '3.1.0', paths: { '/x': { post: operation } } }
  const body = { photo: 'media:latest-1', bytes: { text: 'a' }, text: 'YQ==', any: ['media:latest-1', { text: 'b' }] }
  const echo = await askEcho(api.origin, {}, { body }, { context, document })
  expect(echo.parts).toMatchObject([
    { name: 'photo', mediaType: 'image/png' },
    { name: 'bytes', mediaType: 'application/octet-stream', sha256: digestOf('a') },
    { name: 'text', text: 'YQ==' },
    { name: 'any', mediaType: 'image/png' },
    { name: 'any', mediaType: 'text/plain' },
  ])
})

test.each<[string, JsonValue, JsonValue, { readonly contentType: string; readonly text: string }]>([
  ['text/plain', TEXT, 'a\nü', { contentType: 'text/plain', text: 'a\nü' }],
  ['text/*', true, 'a', { contentType: 'text/plain', text: 'a' }],
  ['application/xml', TEXT, '<a/>', { contentType: 'application/xml', text: '<a/>' }],
  [
    'application/octet-stream',
    { ...TEXT, format: 'binary' },
    { text: 'bytes' },
    { contentType: 'application/octet-stream', text: 'bytes' },
  ],
  [
    'image/*',
    { ...TEXT, format: 'binary' },
    { text: 'svg', mediaType: 'image/svg+xml' },
    { contentType: 'image/svg+xml', text: 'svg' },
  ],
  ['*/*', { ...TEXT, format: 'binary' }, { text: 'a' }, { contentType: 'text/plain', text: 'a' }],
  [
    'application/x-ndjson',
    { type: 'array', items: { type: 'object' } },
    [{ a: 1 }, { b: 'ü' }],
    { contentType: 'application/x-ndjson', text: '{"a":1}\n{"b":"ü"}\n' },
  ],
  [
    'application/merge-patch+json',
    true,
    { a: null },
    { contentType: 'application/merge-patch+json', text: '{"a":null}' },
  ],
])('a body of %s', async (type, schema, body, expected) => {
  expect(await askEcho(api.origin, takes(type, schema), { body })).toMatchObject(expected)
})
