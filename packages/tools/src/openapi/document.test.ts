// Documents: references, names, 3.0, and rejections when the tools are created.
import type { JsonObject, JsonValue, Tool } from '@baton/core'
import { createArgumentValidator } from '@baton/runtime'
import { expect, test } from 'vitest'
import { fromOpenApi, listOperations } from './from-openapi.ts'

function createDocument(paths: JsonObject, more: JsonObject = {}): JsonObject {
  return { openapi: '3.1.0', servers: [{ url: 'https://api.example.com' }], paths, ...more }
}

/** The input properties of the document's only operation. */
function propertiesOf(operation: JsonObject, more: JsonObject = {}): JsonValue | undefined {
  const [made] = fromOpenApi(createDocument({ '/a': { get: operation } }, more), { operations: ['GET /a'] })
  return made?.inputSchema['properties']
}

const query = (name: string, schema: JsonValue = { type: 'string' }): JsonObject => ({ name, in: 'query', schema })

test('names: the operation’s id, method and path, one of your own, and never one twice', () => {
  const document = createDocument({
    '/orders/{id}': { get: { operationId: 'get', parameters: [] }, delete: {}, put: { operationId: 'constructor' } },
    '/orders-{id}': { delete: {} },
    '/things': { get: { operationId: 'thing' }, post: { operationId: 'thing' } },
  })
  const operations = ['get', 'DELETE /orders/{id}', 'DELETE /orders-{id}', 'constructor', 'GET /things', 'POST /things']
  const names = (tools: readonly { readonly name: string }[]): readonly string[] => tools.map(({ name }) => name)
  expect(names(fromOpenApi(document, { operations }))).toEqual([
    'get',
    'delete_orders_id',
    'delete_orders_id_2',
    'constructor',
    'thing',
    'post_things',
  ])
  expect(names(fromOpenApi(document, { operations: ['get'], names: { get: 'orders.get' } }))).toEqual(['orders.get'])
  expect(() => fromOpenApi(document, { operations: ['thing'] })).toThrow('2 operations "thing"')
  const twice = { get: 'one', constructor: 'one' }
  expect(() => fromOpenApi(document, { operations: ['get', 'constructor'], names: twice })).toThrow(
    'two operations the name "one"',
  )
})

test('parameters of one name in several places, and one called "body", each get a property', () => {
  const places = ['query', 'header', 'cookie'].map((place) => ({ ...query('id'), in: place }))
  const parameters = [...places, query('body'), query('query_body'), query('__proto__')]
  const operation = { parameters, requestBody: { content: { 'application/json': { schema: {} } } } }
  const [made] = fromOpenApi(createDocument({ '/a': { post: operation } }), { operations: ['POST /a'] })
  expect(Object.keys(made?.inputSchema['properties'] ?? {})).toEqual([
    'id',
    'header_id',
    'cookie_id',
    'query_body',
    'query_query_body',
    'query___proto__',
    'body',
  ])
})

test('an operation’s parameter stands before one of its path with the same name', () => {
  const document = createDocument({
    '/a': {
      parameters: [query('n', { type: 'string' }), query('m')],
      get: { parameters: [query('n', { type: 'integer' })] },
    },
  })
  const [made] = fromOpenApi(document, { operations: ['GET /a'] })
  expect(made?.inputSchema['properties']).toEqual({ m: { type: 'string' }, n: { type: 'integer' } })
})

test('references to anywhere in the document, with ~ and %, and in rings', () => {
  const components = {
    schemas: {
      'a/b ~': { type: 'integer' },
      Left: { type: 'object', properties: { right: { $ref: '#/components/schemas/Right' } } },
      Right: { type: 'object', properties: { left: { $ref: '#/components/schemas/Left' } } },
    },
  }
  const refer = (to: string): JsonObject => ({ $ref: `#/components/schemas/${to}` })
  const operation = {
    parameters: [
      query('n', refer('a~1b%20~0')),
      query('tree', refer('Left')),
      query('part', refer('Left/properties/right')),
    ],
  }
  const [made] = fromOpenApi(createDocument({ '/a': { get: operation } }, { components }), { operations: ['GET /a'] })
  expect(made?.inputSchema).toMatchObject({
    properties: { n: { $ref: '#/$defs/a_1b_20_0' }, tree: { $ref: '#/$defs/Left' }, part: { $ref: '#/$defs/right' } },
    $defs: {
      a_1b_20_0: { type: 'integer' },
      Left: { properties: { right: { $ref: '#/$defs/Right' } } },
      Right: { properties: { left: { $ref: '#/$defs/Left' } } },
      right: { $ref: '#/$defs/Right' },
    },
  })
})

test('schemas of 3.0 are rewritten for 3.1', () => {
  const schema = {
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 0, exclusiveMinimum: true, nullable: true, example: 3 },
      kind: { type: 'string', enum: ['a'], nullable: true },
      part: { $ref: '#/components/schemas/Part', nullable: true },
    },
    discriminator: { propertyName: 'kind' },
    'x-internal': true,
  }
  const more = { openapi: '3.0.3', components: { schemas: { Part: { type: 'string' } } } }
  expect(propertiesOf({ parameters: [query('value', schema)] }, more)).toEqual({
    value: {
      type: 'object',
      properties: {
        age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        kind: { type: ['string', 'null'], enum: ['a', null] },
        part: { anyOf: [{ $ref: '#/$defs/Part' }, { type: 'null' }] },
      },
    },
  })
})

test('a value of an enum or a default is not a schema, whatever words it has', () => {
  const schema = { enum: [{ $ref: 'kept', 'x-a': 1 }], default: { $ref: 'kept', 'x-a': 1 } }
  expect(propertiesOf({ parameters: [query('value', schema)] })).toEqual({ value: schema })
})

test('schemas whose parts all lead back to them are read in one walk', () => {
  const parts = Array.from({ length: 30 }, () => ({ $ref: '#/components/schemas/Ring' }))
  const file = { type: 'string', format: 'binary' }
  const schemas = { Ring: { allOf: parts, anyOf: parts, oneOf: parts, properties: { file, again: { anyOf: parts } } } }
  const schema = { $ref: '#/components/schemas/Ring' }
  for (const type of ['application/json', 'multipart/form-data']) {
    const operation = { requestBody: { content: { [type]: { schema } } } }
    const document = createDocument({ '/a': { post: operation } }, { components: { schemas } })
    expect(listOperations(document)).toEqual([{ operation: 'POST /a', method: 'POST', path: '/a', mediaType: type }])
  }
})

test('properties that only the service sets are left out, wherever a schema says it', async () => {
  const schemas = {
    Id: { type: 'string', readOnly: true },
    Base: { type: 'object', required: ['id'], properties: { id: { $ref: '#/components/schemas/Id' } } },
  }
  const body = {
    allOf: [
      { $ref: '#/components/schemas/Base' },
      {
        type: 'object',
        properties: { made: { readOnly: true }, name: { type: 'string' } },
        required: ['made', 'name', 'id'],
      },
    ],
    required: ['id'],
  }
  const operation = { requestBody: { content: { 'application/json': { schema: body } } } }
  const document = createDocument({ '/a': { post: operation } }, { components: { schemas } })
  const [made] = fromOpenApi(document, { operations: ['POST /a'] })
  const checked = await createArgumentValidator().validate(made as Tool, '{"body":{"name":"a"}}')
  expect(checked.ok).toBe(true)
  expect(made?.inputSchema).toMatchObject({
    properties: {
      body: { required: [], allOf: [{}, { properties: { name: { type: 'string' } }, required: ['name'] }] },
    },
    $defs: { Base: { properties: {} } },
  })
  expect(JSON.stringify(made?.inputSchema['$defs'])).not.toContain('"id"')
})

test('variables of a server have their defaults', () => {
  const servers = [
    { url: 'https://{host}/{base}', variables: { host: { default: 'api.example.com' }, base: { default: 'v2' } } },
  ]
  expect(fromOpenApi(createDocument({ '/a': { get: {} } }, { servers }), { operations: ['GET /a'] }).length).toBe(1)
})

test.each([
  ['application/xml', { type: 'object', properties: { a: { type: 'string' } } }],
  ['multipart/mixed', { type: 'object' }],
  ['image/png', { type: 'object', properties: {} }],
])(
  'a body of %s with parts that Baton cannot write is refused, and all refused operations are told at once',
  (type, schema) => {
    const content = { [type]: { schema } }
    const document = createDocument({
      '/a': { post: { requestBody: { content } }, get: {}, trace: {} },
      '/b': { $ref: 'b.json' },
    })
    const operations = ['POST /a', 'GET /a', 'TRACE /a']
    expect(() => fromOpenApi(document, { operations })).toThrow(
      /^fromOpenApi: 2 of 3 operations cannot be offered, 1 can: POST \/a \(.*its body takes .*; TRACE \/a \(.*cannot be sent\)$/,
    )
    expect(listOperations(document)).toEqual([
      { operation: 'POST /a', method: 'POST', path: '/a', problem: expect.stringContaining(`takes ${type}`) as string },
      { operation: 'GET /a', method: 'GET', path: '/a' },
      {
        operation: 'TRACE /a',
        method: 'TRACE',
        path: '/a',
        problem: expect.stringContaining('method TRACE') as string,
      },
      { operation: '* /b', method: '*', path: '/b', problem: expect.stringContaining('"b.json" is outside') as string },
    ])
  },
)

const deep = (levels: number): JsonValue => (levels === 0 ? {} : { items: deep(levels - 1) })
const wide = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`p${at}`, {}]))

test.each<[string, JsonObject, string]>([
  [
    'a reference to another file',
    { parameters: [{ $ref: 'other.json#/x' }] },
    '"other.json#/x" is outside the document',
  ],
  [
    'a schema at another place',
    { parameters: [query('a', { $ref: 'https://evil.example/x' })] },
    'is outside the document',
  ],
  ['a reference to nothing', { parameters: [{ $ref: '#/components/x' }] }, '"#/components/x" does not exist'],
  [
    'a reference to what every object has',
    { parameters: [{ $ref: '#/constructor/name' }] },
    '"#/constructor/name" does not exist',
  ],
  ['a reference to itself', { parameters: [{ $ref: '#/paths/~1a/get/parameters/0' }] }, 'leads back to itself'],
  [
    'a body that a GET must have',
    { requestBody: { required: true, content: { 'application/json': {} } } },
    'requires a body, which a GET request cannot have',
  ],
  ['an unknown place', { parameters: [{ name: 'a', in: 'body' }] }, 'is in "body"'],
  ['an unknown style', { parameters: [{ ...query('a'), style: 'tabDelimited' }] }, 'has the style "tabDelimited"'],
  ['a style of another place', { parameters: [{ ...query('a'), style: 'matrix' }] }, 'has the style "matrix"'],
  [
    'a parameter in XML',
    { parameters: [{ name: 'a', in: 'query', content: { 'image/png': {} } }] },
    'is written as image/png',
  ],
  ['a reference to an anchor', { parameters: [{ $ref: '#Order' }] }, '"#Order" does not exist'],
  [
    'a query in two ways',
    { parameters: [query('a'), { name: 'all', in: 'querystring', content: { 'application/json': {} } }] },
    'exclude each other',
  ],
  [
    'a header of the connection',
    { parameters: [{ name: 'Host', in: 'header' }] },
    'is a header that tools may not set',
  ],
  [
    'a header with a line break',
    { parameters: [{ name: 'a\r\nb', in: 'header' }] },
    'is a header that tools may not set',
  ],
  ['a parameter without a name', { parameters: [{ in: 'query' }] }, 'has no name'],
  ['a parameter that is not an object', { parameters: ['a'] }, 'expected an object, found string'],
  ['a schema that is too deep', { parameters: [query('a', deep(300))] }, 'or 256 levels'],
  ['a schema that is too wide', { parameters: [query('a', { properties: wide })] }, 'more than 20000 parts'],
])('%s is refused when the tool is made', (_, operation, message) => {
  expect(() => propertiesOf(operation)).toThrow(message)
})

test.each<[string, unknown, string]>([
  ['a text', '{}', 'it must be an object'],
  ['Swagger 1', { swagger: '1.2', paths: {} }, 'no field "openapi"'],
  [
    'Swagger 2 with a wrong parameter',
    { swagger: '2.0', paths: { '/a': { get: { parameters: [1] } } } },
    'invalid parameter: 1',
  ],
  ['a later version', { openapi: '4.0.0', paths: {} }, 'openapi 4.0.0'],
  ['one without paths', { openapi: '3.1.0' }, 'no "paths"'],
  ['one that lacks the operation', createDocument({ '/b': { get: { operationId: 'b' } } }), 'no operation "GET /a"'],
  ['one without a server', { openapi: '3.1.0', paths: { '/a': { get: {} } } }, 'does not say where the API is'],
  [
    'one with a path as a server',
    createDocument({ '/a': { get: {} } }, { servers: [{ url: '/v1' }] }),
    'does not say where',
  ],
])('a document that is %s is refused', (_, document, message) => {
  expect(() => fromOpenApi(document, { operations: ['GET /a'] })).toThrow(message)
})

test.each<[string, unknown, string]>([
  ['the text of one', '{}', 'JSON.parse('],
  ['a promise of one', Promise.resolve({}), 'await response.json()'],
  ['Swagger 1', { swagger: '1.2', paths: {} }, 'Convert the document to version 3.0, 3.1 or 3.2.'],
])('%s: the hint says what to give', (_, document, hint) => {
  expect(() => fromOpenApi(document, { operations: ['GET /a'] })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(hint) as string }) as Error,
  )
})

test.each<[string, object, string]>([
  ['no operations', { operations: [] }, 'operations must name'],
  ['an unknown field', { operations: ['GET /a'], sever: 'https://a.example' }, 'server'],
  ['a server with a login', { operations: ['GET /a'], server: 'https://a:b@c.example' }, 'server must be an address'],
  ['a server that is not an address', { operations: ['GET /a'], server: 'c.example' }, 'server must be an address'],
  ['an approval of nothing', { operations: ['GET /a'], approval: ['GET /b'] }, 'approval names "GET /b"'],
  ['an effect of nothing', { operations: ['GET /a'], effects: { 'get /a': 'once' } }, 'effects names "get /a"'],
  ['an invalid time', { operations: ['GET /a'], timeoutMs: 0 }, 'timeoutMs must be'],
  ['an invalid header', { operations: ['GET /a'], idempotencyHeader: 'a b' }, 'idempotencyHeader must be'],
])('options with %s are refused', (_, options, message) => {
  const document = createDocument({ '/a': { get: {} } })
  // wrong on purpose
  expect(() => fromOpenApi(document, options as { operations: readonly string[] })).toThrow(message)
})
