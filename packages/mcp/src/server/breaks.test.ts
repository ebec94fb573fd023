// Failures between a client and its call: of a connection, or of the whole server. The call is the same afterwards.
import { createHost, createMemoryStore, createNodeEnvironment, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { ADDRESS, serveAgent, serveTools, tell } from './mcp-client.test-kit.ts'

let served: Served | undefined
afterEach(() => served?.end())

test('a client of 2025-11-25 whose connection breaks in mid-call reads the result over the next one', async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  let runs = 0
  const slow = tool({
    name: 'slow',
    description: 'Takes a while.',
    input: z.object({}),
    execute: async () => {
      runs += 1
      started.resolve()
      await release.promise
      return 'done'
    },
  })
  const { handler, connect } = (served = serveTools([slow]))
  const cut = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  const client = await connect('2025-11-25', {
    fetch: async (request) => {
      const isCall = request.method === 'POST' && (await request.clone().text()).includes('tools/call')
      if (request.headers.get('last-event-id') !== null) resumed.resolve()
      const response = await handler(request)
      return isCall && response.body ? new Response(cutAfter(response.body, cut.promise), response) : response
    },
  })
  const call = client.callTool({ name: 'slow', arguments: {} })
  await started.promise
  cut.resolve()
  await resumed.promise
  release.resolve()
  expect(tell(await call)).toBe('done')
  expect(runs).toBe(1)
})

test('a client of 2025-11-25 reads a picture of 2 MiB that came while its connection was broken', async () => {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const finished = Promise.withResolvers<void>()
  const data = Buffer.alloc(1_572_864, 'picture').toString('base64')
  const draw = tool({
    name: 'draw',
    description: 'Draws.',
    input: z.object({}),
    execute: async () => {
      started.resolve()
      await release.promise
      return { content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data } }] as const }
    },
  })
  const { timers } = createNodeEnvironment()
  const start: typeof timers.start = (ms, ...given) => {
    // A client is idle from the end of its call.
    if (ms === 1_800_000 && isReleased) finished.resolve()
    return timers.start(ms, ...given)
  }
  let isReleased = false
  const { handler, connect } = (served = serveTools([draw], { timers: { start } }))
  const cut = Promise.withResolvers<void>()
  const client = await connect('2025-11-25', {
    fetch: async (request) => {
      const isCall = request.method === 'POST' && (await request.clone().text()).includes('tools/call')
      if (request.headers.get('last-event-id') !== null) {
        isReleased = true
        release.resolve()
        await finished.promise
        for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => void setImmediate(resolve))
      }
      const response = await handler(request)
      return isCall && response.body ? new Response(cutAfter(response.body, cut.promise), response) : response
    },
  })
  const call = client.callTool({ name: 'draw', arguments: {} })
  await started.promise
  cut.resolve()
  expect((await call).content).toEqual([{ type: 'image', mimeType: 'image/png', data }])
})

/** A body that breaks at the given time. */
function cutAfter(body: ReadableStream<Uint8Array>, time: Promise<void>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream({
    start: (controller) => {
      void time.then(async () => {
        controller.error(new Error('the connection broke'))
        await reader.cancel()
      })
      const pump = async (): Promise<void> => {
        for (let piece = await reader.read(); !piece.done; piece = await reader.read()) controller.enqueue(piece.value)
      }
      pump().catch(() => {}) // the body was cut off
    },
  })
}

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
}

interface Result {
  readonly requestState?: string
  readonly content?: readonly { readonly text: string }[]
}

async function call({ handler }: Served, params: object): Promise<Result> {
  const response = await handler(
    new Request(ADDRESS, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'pay',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'pay', arguments: {}, ...params, _meta: MODERN },
      }),
    }),
  )
  return ((await response.json()) as { readonly result: Result }).result
}

test('a question outlives the server: the answer reaches the call over the same store', async () => {
  const store = createMemoryStore()
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    effect: 'idempotent',
    execute: async (_, { ask, idempotencyKey }) => {
      const { euros } = await ask({ message: 'How much?', schema: z.object({ euros: z.number() }) })
      paid.push(idempotencyKey)
      return `${euros} euros`
    },
  })
  const model = createScriptedModel({ steps: [] })
  const agent = defineAgent({ name: 'shop', model, tools: [pay] })
  const secret = 'a secret of two servers, of 32 characters or more'
  const first = serveAgent(agent, { secret }, createHost({ agent, store }))
  const { requestState } = await call(first, {})
  await first.end()

  served = serveAgent(agent, { secret }, createHost({ agent, store }))
  const inputResponses = { answer: { action: 'accept', content: { euros: 20 } } }
  const result = await call(served, { requestState, inputResponses })
  expect(result.content?.[0]?.text).toBe('20 euros')
  expect(paid).toHaveLength(1)
})

test('a client that is idle for 30 minutes is forgotten, and one that calls meanwhile is not', async () => {
  const idle: (() => void)[] = []
  const { timers } = createNodeEnvironment()
  const start: typeof timers.start = (ms, callback, options) => {
    if (ms !== 1_800_000) return timers.start(ms, callback, options)
    idle.push(callback)
    return () => void idle.splice(idle.indexOf(callback), 1)
  }
  const hello = tool({
    name: 'hello',
    description: 'Greets.',
    input: z.object({}),
    effect: 'pure',
    execute: () => 'hi',
  })
  const quick = serveTools([hello], { timers: { start } })
  const client = await quick.connect('2025-11-25')
  expect(tell(await client.callTool({ name: 'hello', arguments: {} }))).toBe('hi')
  expect(idle.length).toBeGreaterThan(0)
  for (const forget of idle.slice()) forget()
  await expect(client.callTool({ name: 'hello', arguments: {} })).rejects.toThrow('there is no such MCP session')
  const other = await quick.connect('2025-11-25')
  expect(tell(await other.callTool({ name: 'hello', arguments: {} }))).toBe('hi')
  await quick.end()
})
