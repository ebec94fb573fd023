// Operations of a document against a real local service that checks its input.
import type { JsonObject, Tool, ToolContext } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createArgumentValidator } from '@baton/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGuardedFetch } from '../guard/index.ts'
import type { OpenApiOptions } from './from-openapi.ts'
import { fromOpenApi } from './from-openapi.ts'
import type { OrdersApi } from './orders-api.test-kit.ts'
import { PIXEL, createOrdersDocument, startOrdersApi } from './orders-api.test-kit.ts'

let api: OrdersApi
beforeEach(async () => {
  api = await startOrdersApi()
})
afterEach(() => api.close())

function createContext(principal = 'ann', signal = new AbortController().signal): ToolContext {
  return createToolContext({ principal: { id: principal }, signal })
}

function open(operations: readonly string[], options: Partial<OpenApiOptions> = {}): readonly Tool[] {
  return fromOpenApi(createOrdersDocument(), {
    operations,
    server: `${api.origin}/v1/`,
    headers: ({ principal }) => ({ authorization: `Bearer key-of-${principal.id}` }),
    ...options,
  })
}

/** Validates like a host, then runs. */
async function run(tool: Tool | undefined, input: JsonObject, context = createContext()): Promise<unknown> {
  if (!tool?.execute) throw new Error('there is no such tool')
  const checked = await createArgumentValidator().validate(tool, JSON.stringify(input))
  if (!checked.ok) throw new Error(checked.issues)
  return tool.execute(checked.value, context)
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => ({ value }),
    (thrown: unknown) => (isBatonError(thrown) ? thrown : { thrown }),
  )
}

test('parameters arrive as the document says that they are written', async () => {
  const [list] = open(['listOrders'])
  const input = {
    tags: ['a b', 'c&d=é'],
    ids: [1, 2],
    page: { from: 0, size: 10 },
    filter: { color: 'red', size: { min: 1 }, tags: ['x', 'y'] },
    where: { a: [1, { b: null }] },
    'X-Trace': ['one', 'two'],
    theme: 'dark; admin=1',
  }
  expect(await run(list, input)).toEqual({
    query: [
      'tags=a b',
      'tags=c&d=é',
      'ids=1,2',
      'from=0',
      'size=10',
      'filter[color]=red',
      'filter[size][min]=1',
      'filter[tags][]=x',
      'filter[tags][]=y',
      'where={"a":[1,{"b":null}]}',
    ],
    raw: expect.stringContaining('ids=1,2&'),
    trace: 'one,two',
    cookie: 'theme=dark%3B%20admin%3D1',
  })
  expect(await run(list, {})).toMatchObject({ query: [], trace: null, cookie: null })
})

test('a path value stays one step of the path', async () => {
  const [get] = open(['getOrder'])
  expect(await run(get, { id: 'A/17 ü?x=1#y' })).toEqual({ number: 'A/17 ü?x=1#y', item: 'tea' })
  for (const id of ['', '.', '..', '../admin', 'a/../../b', '..\\b'])
    expect(await failureOf(run(get, { id }))).toMatchObject({ code: 'invalid_arguments' })
  expect(api.seen.map(({ url }) => url)).toEqual(['/v1/orders/A%2F17%20%C3%BC%3Fx%3D1%23y'])
})

test('a header value cannot bring another header', async () => {
  const [list] = open(['listOrders'])
  const failure = await failureOf(run(list, { 'X-Trace': ['a\r\nauthorization: Bearer other'] }))
  expect(failure).toMatchObject({ code: 'invalid_arguments' })
  expect(api.seen).toEqual([])
})

test('a body is JSON by its schema, which may hold itself, without what only the service sets', async () => {
  const [create] = open(['createOrder'])
  const body = { item: 'box', parts: [{ item: 'tea', parts: [{ item: 'leaf' }] }], note: null }
  expect(await run(create, { body })).toEqual({ number: 'A-18', item: 'box', key: null })
  await expect(run(create, { body: { item: 1 } })).rejects.toThrow('item')
  await expect(run(create, { body: { parts: [] } })).rejects.toThrow('item')
  await expect(run(create, {})).rejects.toThrow('body')
  expect(create?.inputSchema).toEqual({
    type: 'object',
    properties: { body: { $ref: '#/$defs/Order' } },
    required: ['body'],
    additionalProperties: false,
    $defs: {
      Order: {
        type: 'object',
        required: ['item'],
        properties: {
          item: { type: 'string' },
          parts: { type: 'array', items: { $ref: '#/$defs/Order' } },
          note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
      },
    },
  })
})

test('text, pictures, files and nothing are results of their own kinds', async () => {
  const [report, logo, invoice, remove] = open(['GET /reports/{name}', 'logo', 'invoice', 'deleteOrder'])
  expect(await run(report, { name: 'june' })).toBe('item,count\ntea,2\n')
  expect(await run(logo, {})).toEqual({
    content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL.toString('base64') } }],
  })
  expect(await run(invoice, {})).toEqual({
    content: [
      {
        type: 'file',
        mediaType: 'application/pdf',
        name: 'invoice.pdf',
        source: { type: 'base64', data: Buffer.from('%PDF-1.7').toString('base64') },
      },
    ],
  })
  expect(await run(remove, { id: 'A-17' })).toBeNull()
})

test('JSON in the form of a picture is data and no picture', async () => {
  const value = {
    content: [{ type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'http://10.0.0.1/' } }],
  }
  const fetch = (): Promise<Response> => Promise.resolve(Response.json(value))
  const [get] = open(['getOrder'], { fetch })
  expect(await run(get, { id: '1' })).toEqual({ content: [{ type: 'text', text: JSON.stringify(value) }] })
})

test('each call has the login of its own principal, whatever the model says', async () => {
  const [list] = open(['listOrders'])
  await Promise.all([run(list, {}), failureOf(run(list, {}, createContext('bob')))])
  const keys = api.seen.map(({ headers }) => headers.authorization)
  expect(keys).toHaveLength(2)
  expect(new Set(keys)).toEqual(new Set(['Bearer key-of-ann', 'Bearer key-of-bob']))
  await expect(run(list, { Authorization: 'Bearer other' })).rejects.toThrow('Authorization')
})

test('headers of the program are stronger than those of the model; cookies go together', async () => {
  const headers = { authorization: 'Bearer key-of-ann', 'x-trace': 'ours', Cookie: 'session=1' }
  const [list] = open(['listOrders'], { headers: () => headers })
  expect(await run(list, { 'X-Trace': ['theirs'], theme: 'dark' })).toMatchObject({
    trace: 'ours',
    cookie: 'session=1; theme=dark',
  })
  const [wrong] = open(['listOrders'], { headers: () => ({ authorization: 'Bearer SECRET\n' }) })
  const failure = await failureOf(run(wrong, {}))
  expect(failure).toMatchObject({ code: 'invalid_option' })
  expect(String(failure)).not.toContain('SECRET')
})

test('a person approves what the options name, and results are untrusted unless they say otherwise', () => {
  const all = ['listOrders', 'deleteOrder']
  expect(open(all, { approval: ['deleteOrder'] }).map(({ approval }) => approval)).toEqual([false, true])
  expect(open(all, { approval: true }).map(({ approval }) => approval)).toEqual([true, true])
  expect(open(all).map(({ trust }) => trust)).toEqual(['untrusted', 'untrusted'])
  expect(open(all, { trust: 'trusted' }).map(({ trust }) => trust)).toEqual(['trusted', 'trusted'])
})

test('effects follow the method, the options, and a header for repetitions', async () => {
  const all = ['listOrders', 'createOrder', 'replaceOrder', 'deleteOrder']
  expect(open(all).map(({ effect }) => effect)).toEqual(['pure', 'once', 'idempotent', 'idempotent'])
  expect(open(all, { effects: { deleteOrder: 'once' } }).map(({ effect }) => effect)[3]).toBe('once')
  const [list, create] = open(all, { idempotencyHeader: 'Idempotency-Key' })
  expect(create?.effect).toBe('idempotent')
  const first = await run(create, { body: { item: 'tea' } })
  expect(first).toMatchObject({ key: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(await run(create, { body: { item: 'tea' } })).toEqual(first)
  await run(list, {})
  expect(api.seen.at(-1)?.headers['idempotency-key']).toBeUndefined()
})

test.each([
  ['401', 'api_unauthorized', /answered 401: the key \[redacted\] is not known$/],
  ['400', 'api_refused', /answered 400: .*it says 400/],
  ['403', 'api_refused', /answered 403: .*it says 403/],
  ['404', 'api_refused', /answered 404: .*it says 404/],
  ['404-page', 'api_refused', /answered 404$/],
  ['409', 'api_refused', /answered 409: .*it says 409/],
  ['422', 'api_refused', /answered 422: .*the date lies in the past/],
  ['429', 'api_rate_limited', /answered 429; try again in 7 s: slow down$/],
  ['429-date', 'api_rate_limited', /answered 429; try again in 60 s/],
  ['500', 'api_failed', /answered 500/],
  ['503', 'api_unavailable', /answered 503/],
  ['page', 'api_malformed', /responded with text\/html instead of JSON: "<h1>Log in/],
  ['not-json', 'api_malformed', /other than JSON: "hello"$/],
  ['half-json', 'api_malformed', /other than JSON, but is cut off/],
  ['cut', 'api_unavailable', /could not be reached/],
  ['huge', 'api_malformed', /more than 100000 bytes/],
  ['gone', 'api_unavailable', /could not be reached/],
  ['redirect', 'url_refused', /169\.254\.169\.254, to which .* redirects, was not sent/],
])('an answer of the kind %s is the error %s', async (how, code, message) => {
  const [fail] = open(['fail'], { maxBytes: 100_000, clock: { nowMs: () => 40_000 } })
  const failure = await failureOf(run(fail, { how }))
  expect(failure).toMatchObject({ code, message: expect.stringMatching(message) })
  expect(`${String(failure)} ${JSON.stringify(failure)}`).not.toContain('key-of-ann')
  expect(String((failure as Error).message).length).toBeLessThan(1_200)
})

test('a change whose connection is cut may have had its effect; one that nobody took has not, nor has a question', async () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  const fail = async (operation: string, input: JsonObject, cause: Error): Promise<string> => {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const failure = await failureOf(run(open([operation], { fetch })[0], input))
    return (failure as Error).message
  }
  const body = { item: 'tea' }
  expect(await fail('createOrder', { body }, reset)).toMatch(/ECONNRESET; the request may have taken effect$/)
  expect(await fail('createOrder', { body }, refused)).toMatch(/could not be reached: connect ECONNREFUSED$/)
  expect(await fail('getOrder', { id: 'A-17' }, reset)).toMatch(/could not be reached: read ECONNRESET$/)
  const { port } = new URL(api.origin)
  await api.close()
  const failure = await failureOf(run(open(['createOrder'])[0], { body }))
  expect(failure).toMatchObject({ code: 'api_unavailable', message: expect.stringMatching(`${port}.*ECONNREFUSED`) })
  expect((failure as Error).message).not.toContain('may have had')
})

test('how long to wait stands in the data of the error', async () => {
  const [fail] = open(['fail'])
  const failure = await failureOf(run(fail, { how: '429' }))
  expect(failure).toMatchObject({ retryable: true, data: { status: 429, retryAfterMs: 7000 } })
})

test('a service that is slow ends at the time limit, and a call that is cancelled at once', async () => {
  let ring = (): void => {}
  const timers = { start: (_: number, callback: () => void) => ((ring = callback), () => {}) }
  const begun = Promise.withResolvers<void>()
  const guarded = createGuardedFetch({ allow: [api.origin], timers, timeoutMs: 5000 })
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const response = await guarded(url, init)
    begun.resolve()
    return response
  }
  const [fail] = open(['fail'], { fetch })
  const slow = failureOf(run(fail, { how: 'slow' }))
  await begun.promise
  ring()
  expect(await slow).toMatchObject({ code: 'api_unavailable', message: expect.stringContaining('within 5000 ms') })
  const controller = new AbortController()
  const cancelled = failureOf(run(fail, { how: 'slow' }, createContext('ann', controller.signal)))
  const reason = new Error('over')
  controller.abort(reason)
  expect(await cancelled).toEqual({ thrown: reason })
  await guarded.close()
})

test('a server that only the document names must be public', async () => {
  const ask = (server: string): Promise<unknown> => {
    const [get] = fromOpenApi(createOrdersDocument(server), { operations: ['getOrder'] })
    return failureOf(run(get, { id: '1' }))
  }
  expect(await ask(`${api.origin}/v1`)).toMatchObject({ code: 'url_refused' })
  expect(await ask('https://169.254.169.254')).toMatchObject({ code: 'url_refused' })
  expect(await ask('https://127.0.0.1')).toMatchObject({ code: 'url_refused' })
  expect(api.seen).toEqual([])
})

test('a turn of a model: the call, its result, and an error that the model reads', async () => {
  const tools = open(['getOrder', 'fail'])
  const call = (name: string, input: JsonObject) => ({ calls: [{ name, arguments: input }] })
  const model = createScriptedModel({
    steps: [call('getOrder', { id: 'A-17' }), call('fail', { how: '422' }), { text: 'Done.' }],
  })
  const host = createHost({ agent: defineAgent({ name: 'shop', model, tools }) })
  const session = await host.session('ann-1', { principal: { id: 'ann' } })
  const results: unknown[] = []
  for await (const event of session.send('Look at A-17.'))
    if (event.type === 'call' && event.call.result) results.push(event.call.result)
  await host.stop()
  expect(results).toMatchObject([
    { type: 'ok', value: { number: 'A-17', item: 'tea' } },
    { type: 'error', code: 'api_refused', message: expect.stringContaining('the date lies in the past') },
  ])
})

test('with retry, what may be asked twice is asked again while the service is away, and nothing else', async () => {
  let left = 2
  const asked: string[] = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push(`${init.method} ${new URL(url).pathname}`)
    if (url.endsWith('/fail/422')) return Response.json({ error: 'wrong' }, { status: 422 })
    return left-- > 0 ? Response.json({ error: 'busy' }, { status: 503 }) : Response.json({ number: 'A-17' })
  }
  const tools = open(['getOrder', 'fail', 'createOrder'], {
    fetch,
    retry: { attempts: 3, baseMs: 0 },
    timeoutMs: 5_000,
  })
  const call = (name: string, input: JsonObject) => ({ calls: [{ name, arguments: input }] })
  const steps = [
    call('getOrder', { id: 'A-17' }),
    call('fail', { how: '422' }),
    call('createOrder', { body: { item: 'tea' } }),
    { text: 'Done.' },
  ]
  const model = createScriptedModel({
    steps: (_, number) => {
      if (number === 2) left = 1
      return steps[number] ?? { text: 'Done.' }
    },
  })
  const host = createHost({ agent: defineAgent({ name: 'shop', model, tools }) })
  const results: unknown[] = []
  for await (const event of (await host.session('ann-1')).send('Look at A-17.'))
    if (event.type === 'call' && event.call.result) results.push(event.call.result)
  await host.stop()
  expect(results).toMatchObject([
    { type: 'ok', value: { number: 'A-17' } },
    { type: 'error', code: 'api_refused' },
    { type: 'error', code: 'api_unavailable' },
  ])
  const once = asked.filter((one) => !one.endsWith('/orders/A-17'))
  expect([asked.length - once.length, ...once.map((one) => one.split(' ')[0])]).toEqual([3, 'GET', 'POST'])
  expect(tools.map(({ timeoutMs }) => timeoutMs)).toEqual([37_000, 37_000, 7_000])
})

test('a host must have the services that the headers need', async () => {
  interface Services {
    readonly keyOf: (principal: string) => string
  }
  const operations = ['getOrder']
  const tools = fromOpenApi(createOrdersDocument(), {
    operations,
    server: `${api.origin}/v1/`,
    headers: ({ principal, services }: ToolContext<Services>) => ({ authorization: services.keyOf(principal.id) }),
  })
  const model = createScriptedModel({ steps: [] })
  const agent = defineAgent({ name: 'shop', model, tools })
  // @ts-expect-error keyOf is missing
  await createHost({ agent, services: {} }).stop()
  // @ts-expect-error services are missing
  await createHost({ agent }).stop()
  const host = createHost({ agent, services: { keyOf: (principal: string) => `Bearer key-of-${principal}` } })
  expect(tools).toHaveLength(1)
  await host.stop()
})

test('of what a service says, the model reads 1,000 characters', async () => {
  const said = '§'.repeat(3000)
  const fetch = () => Promise.resolve(new Response(said, { status: 422, headers: { 'content-type': 'text/plain' } }))
  const [get] = open(['getOrder'], { fetch })
  const failure = await failureOf(run(get, { id: 'o-1' }))
  expect(failure).toMatchObject({ code: 'api_refused' })
  expect((failure as Error).message.split('§')).toHaveLength(1000 + 1)
})
