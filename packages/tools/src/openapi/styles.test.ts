// Parameter styles from OpenAPI's table of examples (https://spec.openapis.org/oas/v3.2.0#style-examples), the
// additions of version 3.2, and Swagger 2.0.
import type { JsonObject, JsonValue } from '@baton/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Echo, EchoApi } from './echo-api.test-kit.ts'
import { askEcho, digestOf, startEchoApi } from './echo-api.test-kit.ts'
import { fromOpenApi, listOperations } from './from-openapi.ts'

let api: EchoApi
beforeAll(async () => {
  api = await startEchoApi()
})
afterAll(() => api.close())

const LIST = ['blue', 'black', 'brown']
const COLORS = { R: 100, G: 200, B: 150 }

interface Example {
  readonly style: string
  readonly explode: boolean
  readonly value: JsonValue
  readonly written: string
}

function ask(parameter: JsonObject, value: JsonValue, path = '/x', method = 'get'): Promise<Echo> {
  const operation = { parameters: [{ name: 'color', schema: {}, ...parameter }] }
  return askEcho(
    api.origin,
    {},
    { color: value },
    { document: { openapi: '3.2.0', paths: { [path]: { [method]: operation } } } },
  )
}

const inPath: readonly Example[] = [
  { style: 'matrix', explode: false, value: 'blue', written: ';color=blue' },
  { style: 'matrix', explode: false, value: LIST, written: ';color=blue,black,brown' },
  { style: 'matrix', explode: false, value: COLORS, written: ';color=R,100,G,200,B,150' },
  { style: 'matrix', explode: true, value: LIST, written: ';color=blue;color=black;color=brown' },
  { style: 'matrix', explode: true, value: COLORS, written: ';R=100;G=200;B=150' },
  { style: 'label', explode: false, value: 'blue', written: '.blue' },
  { style: 'label', explode: false, value: LIST, written: '.blue,black,brown' },
  { style: 'label', explode: false, value: COLORS, written: '.R,100,G,200,B,150' },
  { style: 'label', explode: true, value: LIST, written: '.blue.black.brown' },
  { style: 'label', explode: true, value: COLORS, written: '.R=100.G=200.B=150' },
  { style: 'simple', explode: false, value: LIST, written: 'blue,black,brown' },
  { style: 'simple', explode: false, value: COLORS, written: 'R,100,G,200,B,150' },
  { style: 'simple', explode: true, value: COLORS, written: 'R=100,G=200,B=150' },
  { style: 'label', explode: true, value: ['a.b', 'c/d;e'], written: '.a.b.c%2Fd%3Be' },
]
test.each(inPath)('in the path: $style, explode $explode, $value', async ({ written, value, ...rest }) => {
  const { target } = await ask({ in: 'path', required: true, ...rest }, value, '/a/{color}/b')
  expect(target).toBe(`/a/${written}/b`)
})

test.each([
  ['simple', '..'],
  ['simple', ['.', 'a/../b']],
  ['label', '.'],
  ['label', 'a/../b'],
  ['matrix', '../b'],
  ['label', ''],
])('in the path: the style %s lets no value climb out: %j', async (style, value) => {
  await expect(ask({ in: 'path', required: true, style }, value, '/a/{color}')).rejects.toMatchObject({
    code: 'invalid_arguments',
  })
})

const inQuery: readonly Example[] = [
  { style: 'form', explode: false, value: LIST, written: 'color=blue,black,brown' },
  { style: 'form', explode: true, value: LIST, written: 'color=blue&color=black&color=brown' },
  { style: 'form', explode: false, value: COLORS, written: 'color=R,100,G,200,B,150' },
  { style: 'form', explode: true, value: COLORS, written: 'R=100&G=200&B=150' },
  { style: 'spaceDelimited', explode: false, value: LIST, written: 'color=blue%20black%20brown' },
  { style: 'spaceDelimited', explode: false, value: COLORS, written: 'color=R%20100%20G%20200%20B%20150' },
  { style: 'pipeDelimited', explode: false, value: LIST, written: 'color=blue%7Cblack%7Cbrown' },
  { style: 'pipeDelimited', explode: false, value: COLORS, written: 'color=R%7C100%7CG%7C200%7CB%7C150' },
  { style: 'pipeDelimited', explode: true, value: LIST, written: 'color=blue&color=black&color=brown' },
  { style: 'deepObject', explode: true, value: COLORS, written: 'color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150' },
  { style: 'form', explode: true, value: [{ a: 1 }], written: 'color=%7B%22a%22%3A1%7D' },
  { style: 'form', explode: true, value: [], written: '' },
]
test.each(inQuery)('in the query: $style, explode $explode, $value', async ({ written, value, ...rest }) => {
  const { target } = await ask({ in: 'query', ...rest }, value)
  expect(target).toBe(written === '' ? '/x' : `/x?${written}`)
})

test('in the query: objects and lists in each other reach a reader of brackets as they were', async () => {
  const value = { a: { b: [{ c: '1' }, { c: '2', d: ['3'] }] }, e: ['4'] }
  expect((await ask({ in: 'query', style: 'deepObject', explode: true }, value)).query).toEqual({ color: value })
})

test.each<[string, JsonObject, JsonValue, string]>([
  ['form, exploded list', { style: 'form' }, ['a', 'b'], 'color=a; color=b'],
  ['form, list', { style: 'form', explode: false }, ['a', 'b;c'], 'color=a,b%3Bc'],
  ['cookie', { style: 'cookie' }, 'a%b=1', 'color=a%b=1'],
  ['JSON', { content: { 'application/json': {} } }, { a: 1 }, 'color=%7B%22a%22%3A1%7D'],
])('in a cookie: %s', async (_, parameter, value, written) => {
  expect((await ask({ in: 'cookie', ...parameter }, value)).cookie).toBe(written)
})

test('in a cookie that is not encoded, a value cannot bring another cookie', async () => {
  await expect(ask({ in: 'cookie', style: 'cookie' }, 'a; admin=1')).rejects.toMatchObject({
    code: 'invalid_arguments',
  })
})

test.each<[string, JsonValue, string]>([
  ['application/json', { a: [1] }, 'color=%7B%22a%22%3A%5B1%5D%7D'],
  ['text/plain; charset=utf-8', 'a b', 'color=a%20b'],
])('a parameter with content of %s', async (type, value, written) => {
  const { target } = await ask({ in: 'query', schema: undefined as never, content: { [type]: {} } }, value)
  expect(target).toBe(`/x?${written}`)
})

test.each<[string, JsonObject, JsonValue, string]>([
  ['a form', { 'application/x-www-form-urlencoded': {} }, { q: 'a b', tags: ['x', 'y'] }, 'q=a%20b&tags=x&tags=y'],
  ['JSON', { 'application/json': {} }, { a: 1 }, '%7B%22a%22%3A1%7D'],
  ['text', { 'text/plain': {} }, '$.a[?(@.b)]', '%24.a%5B%3F%28%40.b%29%5D'],
])('3.2: a whole query as %s', async (_, content, value, written) => {
  expect((await ask({ in: 'querystring', content }, value)).target).toBe(`/x?${written}`)
})

test('3.2: the method QUERY asks with a body and is pure; other methods are found by their names', async () => {
  const document = {
    openapi: '3.2.0',
    $self: 'https://api.example.com/docs/openapi.json',
    servers: [{ url: '../v2', name: 'main' }],
    paths: {
      '/items': {
        query: {
          operationId: 'search',
          requestBody: { content: { 'application/json': { $ref: '#/components/mediaTypes/Search' } } },
          responses: { 200: { description: 'All', content: { 'text/event-stream': { itemSchema: {} } } } },
        },
        additionalOperations: { LINK: { operationId: 'link' }, CONNECT: {} },
      },
    },
    components: {
      mediaTypes: {
        Search: { schema: { $ref: 'https://api.example.com/docs/openapi.json#/components/schemas/Search' } },
      },
      schemas: { Search: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
      securitySchemes: { device: { type: 'oauth2', flows: { deviceAuthorization: {} } } },
    },
  }
  const asked: [string | undefined, string, unknown][] = []
  const fetch = (url: string, { method, body }: RequestInit): Promise<Response> => {
    asked.push([method, url, body])
    return Promise.resolve(new Response('data: 1\n\n', { headers: { 'content-type': 'text/event-stream' } }))
  }
  const [search, link] = fromOpenApi(document, { operations: ['search', 'LINK /items'], fetch })
  expect([search?.effect, search?.kind, link?.effect]).toEqual(['pure', 'read', 'once'])
  const context = { signal: new AbortController().signal } as never
  expect(await search?.execute?.({ body: { text: 'a' } }, context)).toBe('data: 1\n\n')
  await link?.execute?.({}, context)
  expect(asked).toEqual([
    ['QUERY', 'https://api.example.com/v2/items', '{"text":"a"}'],
    ['LINK', 'https://api.example.com/v2/items', undefined],
  ])
  expect(search?.inputSchema).toMatchObject({ properties: { body: { $ref: '#/$defs/Search' } } })
  expect(listOperations(document).filter(({ problem }) => problem !== undefined)).toMatchObject([{ method: 'CONNECT' }])
})

test('3.2: QUERY goes out with its body', async () => {
  const operation = { requestBody: { content: { 'application/json': {} } } }
  const document = { openapi: '3.2.0', paths: { '/x': { query: operation } } }
  expect(await askEcho(api.origin, {}, { body: { a: 1 } }, { document })).toMatchObject({
    method: 'QUERY',
    text: '{"a":1}',
  })
})

const SWAGGER = {
  swagger: '2.0',
  host: 'petstore.example.com',
  basePath: '/v2',
  schemes: ['http', 'https'],
  consumes: ['application/json'],
  produces: ['application/json'],
  parameters: {
    Pet: { name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } },
    Status: { name: 'status', in: 'formData', type: 'string', required: true },
    Limit: { name: 'limit', in: 'query', type: 'integer', maximum: 10 },
  },
  paths: {
    '/pet': {
      parameters: [{ $ref: '#/parameters/Limit' }],
      get: {
        operationId: 'findPets',
        parameters: [
          { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
          { name: 'ids', in: 'query', type: 'array', items: { type: 'integer' } },
          { name: 'kinds', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'pipes' },
        ],
        responses: { 200: { description: 'Found', schema: { type: 'array', items: { $ref: '#/definitions/Pet' } } } },
      },
      post: { operationId: 'addPet', parameters: [{ $ref: '#/parameters/Pet' }], responses: {} },
    },
    '/pet/{id}': {
      parameters: [{ name: 'id', in: 'path', type: 'integer', required: true }],
      post: {
        operationId: 'updatePet',
        parameters: [
          { $ref: '#/parameters/Status' },
          { name: 'names', in: 'formData', type: 'array', items: { type: 'string' } },
        ],
        responses: {},
      },
    },
    '/pet/{id}/image': {
      post: {
        operationId: 'uploadImage',
        consumes: ['multipart/form-data', 'application/x-www-form-urlencoded'],
        parameters: [
          { name: 'id', in: 'path', type: 'integer', required: true },
          { name: 'note', in: 'formData', type: 'string' },
          { name: 'file', in: 'formData', type: 'file', required: true },
        ],
        responses: {},
      },
    },
  },
  definitions: {
    Pet: {
      type: 'object',
      required: ['name'],
      properties: { id: { type: 'integer', readOnly: true }, name: { type: 'string', 'x-nullable': true } },
    },
  },
}

test('Swagger 2.0: queries, bodies and forms by reference, of a whole path, and with files', async () => {
  const before = JSON.stringify(SWAGGER)
  const all = listOperations(SWAGGER)
  expect(all.map(({ operation, mediaType, problem }) => [operation, mediaType, problem])).toEqual([
    ['findPets', undefined, undefined],
    ['addPet', 'application/json', undefined],
    ['updatePet', 'application/x-www-form-urlencoded', undefined],
    ['uploadImage', 'multipart/form-data', undefined],
  ])
  const tools = fromOpenApi(SWAGGER, { operations: all.map(({ operation }) => operation), server: `${api.origin}/v2` })
  expect(JSON.stringify(SWAGGER)).toBe(before)
  const ask = async (at: number, input: JsonObject): Promise<Echo> =>
    (await tools[at]?.execute?.(input, { signal: new AbortController().signal } as never)) as Echo
  expect((await ask(0, { tags: ['a', 'b'], ids: [1, 2], kinds: ['x', 'y'], limit: 3 })).target).toBe(
    '/v2/pet?limit=3&tags=a&tags=b&ids=1,2&kinds=x%7Cy',
  )
  expect((await ask(1, { body: { name: 'Rex' } })).text).toBe('{"name":"Rex"}')
  expect(await ask(2, { id: 1, body: { status: 'sold', names: ['a', 'b'] } })).toMatchObject({
    target: '/v2/pet/1',
    form: { status: 'sold', names: 'a,b' },
  })
  expect((await ask(3, { id: 1, body: { note: 'n', file: { text: 'x', name: 'x.txt' } } })).parts).toEqual([
    { name: 'note', text: 'n' },
    { name: 'file', file: 'x.txt', mediaType: 'text/plain', sha256: digestOf('x') },
  ])
})

test('Swagger 2.0: its address is taken with https where it has both', async () => {
  const asked: string[] = []
  const fetch = (url: string): Promise<Response> => {
    asked.push(url)
    return Promise.resolve(Response.json([]))
  }
  for (const schemes of [['http', 'https'], undefined]) {
    const [find] = fromOpenApi({ ...SWAGGER, schemes }, { operations: ['findPets'], fetch })
    await find?.execute?.({}, { signal: new AbortController().signal } as never)
  }
  expect(asked).toEqual(Array.from({ length: 2 }, () => 'https://petstore.example.com/v2/pet'))
})
