// Two principals behind one handler, and malicious clients: they neither see nor reach what belongs to others.
import { tool } from '@baton/host'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { ADDRESS, byToken, serveTools } from './mcp-client.test-kit.ts'

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: { form: {} },
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}

let paid: string[]
/** Number of cakes begun. */
let cakes: number
let served: Served
beforeEach(() => {
  paid = []
  cakes = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ to: z.string() }),
    execute: async ({ to }, { ask, principal }) => {
      await ask({ message: 'Sure?', schema: z.object({ sure: z.literal(true) }) })
      paid.push(`${principal.id} to ${to}`)
      return 'paid'
    },
  })
  const bake = tool({
    name: 'bake',
    description: 'Bakes.',
    input: z.object({}),
    timeoutMs: 120_000,
    execute: async (_, { ask }) => {
      cakes += 1
      await ask({ message: 'Sweet?', schema: z.object({ sweet: z.boolean() }) })
      return 'a cake'
    },
  })
  served = serveTools([pay, bake], { authenticate: byToken, limits: { messageBytes: 20_000, tasksPerPrincipal: 2 } })
})
afterEach(() => served.end())

interface Asked {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly method?: string
}

async function send({
  token = 'ann',
  headers,
  body,
  method = 'POST',
}: Asked): Promise<{ readonly status: number; readonly text: string; readonly headers: Headers }> {
  const request = new Request(ADDRESS, {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(method === 'POST' && { body: body ?? '' }),
  })
  const response = await served.handler(request)
  return { status: response.status, text: await response.text(), headers: response.headers }
}

interface Answered {
  readonly result?: {
    readonly resultType?: string
    readonly requestState?: string
    readonly inputRequests?: Readonly<Record<string, unknown>>
    readonly taskId?: string
    readonly status?: string
    readonly content?: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly result?: { readonly content: readonly { readonly text: string }[] }
  }
  readonly error?: { readonly code: number; readonly message: string }
}

/** Polls a task until it has this status. */
async function untilTask(taskId: string, status: string): Promise<Answered> {
  for (;;) {
    const task = await ask('ann', 'tasks/get', { taskId })
    if (task.error || task.result?.status === status) return task
    await new Promise((resolve) => setImmediate(resolve))
  }
}

interface AskedFor {
  readonly name?: string
  readonly taskId?: string
  readonly arguments?: object
  readonly requestState?: string | undefined
  readonly inputResponses?: object
}

/** Sends a request of 2026-07-28. */
async function ask(token: string, method: string, params: AskedFor): Promise<Answered> {
  const name = params.name ?? params.taskId
  const { text } = await send({
    token,
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MODERN } }),
  })
  // One message, by itself or as the last event of a stream.
  const json = text.startsWith('{')
    ? text
    : (text
        .match(/^data: (.*)$/gm)
        ?.at(-1)
        ?.slice('data: '.length) ?? '{}')
  return JSON.parse(json) as Answered
}

const yes = { action: 'accept', content: { sure: true } }

test('a question goes back to the client with a state, and its answer reaches the same call', async () => {
  const first = await ask('ann', 'tools/call', { name: 'pay', arguments: { to: 'bob' } })
  expect(first.result?.resultType).toBe('input_required')
  expect(Object.keys(first.result?.inputRequests ?? {})).toEqual(['answer'])
  const state = { requestState: first.result?.requestState }
  const again = await ask('ann', 'tools/call', {
    name: 'pay',
    arguments: { to: 'bob' },
    ...state,
    inputResponses: { answer: yes },
  })
  expect(again.result?.content?.[0]?.text).toBe('paid')
  expect(paid).toEqual(['ann to bob'])
})

test('a state of somebody else, of another tool, or made up is refused, and the call waits on', async () => {
  const call = { name: 'pay', arguments: { to: 'bob' }, inputResponses: { answer: yes } }
  const first = await ask('ann', 'tools/call', { name: 'pay', arguments: { to: 'bob' } })
  const requestState = first.result?.requestState ?? ''
  const tries = [
    await ask('eve', 'tools/call', { ...call, requestState }),
    await ask('ann', 'tools/call', { ...call, requestState: `${requestState}x` }),
    await ask('ann', 'tools/call', { ...call, requestState: 'made-up' }),
    await ask('ann', 'tools/call', { ...call, name: 'bake', arguments: {}, requestState }),
  ]
  expect(tries.map(({ error }) => error?.code)).toEqual([-32_602, -32_602, -32_602, -32_602])
  expect(paid).toEqual([])
  const right = await ask('ann', 'tools/call', { ...call, requestState })
  expect(right.result?.content?.[0]?.text).toBe('paid')
})

test('a state that is returned twice answers once, and both requests get the result', async () => {
  const first = await ask('ann', 'tools/call', { name: 'pay', arguments: { to: 'bob' } })
  const call = {
    name: 'pay',
    arguments: { to: 'bob' },
    inputResponses: { answer: yes },
    requestState: first.result?.requestState,
  }
  const both = await Promise.all([ask('ann', 'tools/call', call), ask('ann', 'tools/call', call)])
  const late = await ask('ann', 'tools/call', call)
  expect([...both, late].map(({ result }) => result?.content?.[0]?.text)).toEqual(['paid', 'paid', 'paid'])
  expect(paid).toEqual(['ann to bob'])
})

test('the same key is the same call', async () => {
  const call = { name: 'pay', arguments: { to: 'bob' } }
  const keyed = async (token: string, key: unknown = 'k'.repeat(600)): Promise<Answered> => {
    const { text } = await send({
      token,
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'pay' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { ...call, _meta: { ...MODERN, 'baton/idempotencyKey': key } },
      }),
    })
    return JSON.parse(text) as Answered
  }
  const states = [await keyed('ann'), await keyed('ann')].map(({ result }) => result?.requestState)
  for (const requestState of states)
    await ask('ann', 'tools/call', { ...call, requestState, inputResponses: { answer: yes } })
  expect(paid).toEqual(['ann to bob'])
  const [other] = [await keyed('eve')]
  await ask('eve', 'tools/call', { ...call, requestState: other.result?.requestState, inputResponses: { answer: yes } })
  expect(paid).toEqual(['ann to bob', 'eve to bob'])
  for (const wrong of ['', 7, 'k'.repeat(1_025)])
    expect((await keyed('ann', wrong)).error?.message).toMatch(/must be a string of 1 to 1024 characters/)
})

test('a task is its owner’s alone, and bounded in number', async () => {
  const created = await ask('ann', 'tools/call', { name: 'bake', arguments: {} })
  const taskId = created.result?.taskId ?? ''
  expect(created.result).toMatchObject({ resultType: 'task', status: 'working' })
  for (const method of ['tasks/get', 'tasks/cancel'])
    expect((await ask('eve', method, { taskId })).error?.code).toBe(-32_602)
  const answer = { answer: { action: 'accept', content: { sweet: true } } }
  expect((await ask('eve', 'tasks/update', { taskId, inputResponses: answer })).error?.message).toBe(
    'there is no such task',
  )
  expect((await ask('ann', 'tasks/get', { taskId: crypto.randomUUID() })).error?.code).toBe(-32_602)

  await ask('ann', 'tools/call', { name: 'bake', arguments: {} })
  const third = await ask('ann', 'tools/call', { name: 'bake', arguments: {} })
  expect(third.result?.content?.[0]?.text).toMatch(/^rate_limited: this client already has 2 running tasks/)

  const task = await untilTask(taskId, 'input_required')
  expect(Object.keys(task.result?.inputRequests ?? {})).toEqual(['answer'])
  expect((await ask('ann', 'tasks/update', { taskId, inputResponses: answer })).error).toBeUndefined()
  expect((await untilTask(taskId, 'completed')).result?.result?.content[0]?.text).toBe('a cake')
})

test('a question of a task whose answer does not fit is asked again under a new key', async () => {
  const { result } = await ask('ann', 'tools/call', { name: 'bake', arguments: {} })
  const taskId = result?.taskId ?? ''
  const keys = async () => Object.keys((await untilTask(taskId, 'input_required')).result?.inputRequests ?? {})
  const answer = (key: string, content: object) =>
    ask('ann', 'tasks/update', { taskId, inputResponses: { [key]: { action: 'accept', content } } })
  expect(await keys()).toEqual(['answer'])
  await answer('answer', { sweet: 'very' })
  expect(await keys()).toEqual(['answer_2'])
  await answer('answer', { sweet: true }) // the earlier request has ended
  expect(await keys()).toEqual(['answer_2'])
  await answer('answer_2', { sweet: true })
  expect((await untilTask(taskId, 'completed')).result?.result?.content[0]?.text).toBe('a cake')
})

test('of tasks that begin at once, as many as are allowed run; a refused one runs no tool', async () => {
  const begun = await Promise.all(
    Array.from({ length: 4 }, () => ask('ann', 'tools/call', { name: 'bake', arguments: {} })),
  )
  const told = begun.map(({ result }) => result?.content?.[0]?.text.slice(0, 12) ?? result?.resultType)
  expect(told.filter((one) => one === 'task')).toHaveLength(2)
  expect(told.filter((one) => one === 'rate_limited')).toHaveLength(2)
  await expect.poll(() => cakes).toBe(2)
  expect((await ask('ann', 'tools/call', { name: 'bake', arguments: {} })).result?.content?.[0]?.text).toMatch(
    /^rate_limited/,
  )
  for (const { result } of begun) if (result?.taskId) await untilTask(result.taskId, 'input_required')
  expect(cakes).toBe(2)
})

test('a task that is cancelled stays cancelled, and its call is taken back', async () => {
  const { result } = await ask('ann', 'tools/call', { name: 'bake', arguments: {} })
  const taskId = result?.taskId ?? ''
  for (let n = 0; n < 2; n += 1) expect((await ask('ann', 'tasks/cancel', { taskId })).error).toBeUndefined()
  const task = await ask('ann', 'tasks/get', { taskId })
  expect(task.result?.status).toBe('cancelled')
  expect(task.result?.result).toBeUndefined()
})

test('an MCP session of 2025-11-25 is its owner’s alone', async () => {
  const hello = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  })
  const { status, headers } = await send({ body: hello })
  expect(status).toBe(200)
  const session = { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
  expect((await send({ headers: session, body: list })).status).toBe(200)
  expect((await send({ token: 'eve', headers: session, body: list })).status).toBe(404)
  expect((await send({ token: 'eve', headers: session, method: 'DELETE' })).status).toBe(404)
  expect((await send({ headers: session, method: 'DELETE' })).status).toBe(200)
  expect((await send({ headers: session, body: list })).status).toBe(404)
})

test.each(['one after another', 'at once'])(
  'a client that has been silent longest makes room for the next one of its principal: %s',
  async (how) => {
    const { handler, end } = serveTools([], { limits: { clientsPerPrincipal: 1 } })
    const ask = async (body: object, session?: string | null): Promise<Response> =>
      await handler(
        new Request(ADDRESS, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...(session && { 'mcp-session-id': session }),
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
        }),
      )
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const connect = async () => (await ask({ method: 'initialize', params })).headers.get('mcp-session-id')
    const sessions = how === 'at once' ? await Promise.all([connect(), connect()]) : [await connect(), await connect()]
    const statuses: number[] = []
    for (const session of sessions) statuses.push((await ask({ method: 'tools/list' }, session)).status)
    expect(statuses).toEqual([404, 200])
    await end()
  },
)

test('no client is accepted without a token', async () => {
  const { status, headers } = await send({ token: '', body: '{}' })
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
})

test('what is no message is refused', async () => {
  const statuses = [
    await send({ body: '{"jsonrpc":' }),
    await send({ body: '' }),
    await send({ body: 'x'.repeat(30_000) }),
    await send({ body: '{}', headers: { 'content-type': 'text/plain' } }),
    await send({ body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }),
    await send({ body: '[]' }),
    await send({ method: 'GET' }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([400, 400, 413, 415, 400, 400, 400])
  expect((await ask('ann', 'resources/list', {})).error?.code).toBe(-32_601)
  expect((await ask('ann', 'no/such/method', {})).error?.code).toBe(-32_601)
})

test('pages and names that are not allowed are refused', async () => {
  const open = serveTools([], {})
  const closed = serveTools([], { authenticate: byToken, origins: ['https://app.example'] })
  const ask = async (handler: Served['handler'], url: string, origin?: string): Promise<number> => {
    const headers = { host: new URL(url).host, ...(origin !== undefined && { origin }), authorization: 'Bearer ann' }
    return (await handler(new Request(url, { method: 'OPTIONS', headers }))).status
  }
  expect([
    await ask(open.handler, 'http://localhost:8080/mcp'),
    await ask(open.handler, 'http://evil.example/mcp'),
    await ask(open.handler, 'http://localhost:8080/mcp', 'http://localhost:5173'),
    await ask(open.handler, 'http://localhost:8080/mcp', 'http://evil.example'),
    await ask(closed.handler, 'https://api.example/mcp', 'https://app.example'),
    await ask(closed.handler, 'https://api.example/mcp', 'https://evil.example'),
    await ask(closed.handler, 'https://api.example/mcp', 'null'),
  ]).toEqual([204, 403, 204, 403, 204, 403, 403])
  await open.end()
  await closed.end()
})
