// Clients that disconnect during a call, and calls of the agent itself: a call runs once, and a call that no client
// waits for is withdrawn.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { createHandTimers, ERAS, serveAgent, serveTools, tell } from './mcp-client.test-kit.ts'

let served: Served | undefined
afterEach(() => served?.end())

/** A tool that runs until it is released. */
function createGate(effect: 'once' | 'pure') {
  const started = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<string>()
  const runs = { count: 0 }
  const slow = tool({
    name: 'slow',
    description: 'Takes a while.',
    input: z.object({}),
    effect,
    execute: async (_, { signal }) => {
      runs.count += 1
      started.resolve()
      const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.race([release.promise, stopped])
      ended.resolve(signal.aborted ? 'stopped' : 'finished')
      return 'done'
    },
  })
  return { slow, started: started.promise, release: release.resolve, ended: ended.promise, runs }
}

test.each(ERAS)('a cancelled call of %s ends a pure tool', async (era) => {
  const gate = createGate('pure')
  served = serveTools([gate.slow])
  const client = await served.connect(era)
  const leaving = new AbortController()
  const call = client.callTool({ name: 'slow', arguments: {} }, { signal: leaving.signal })
  await gate.started
  leaving.abort()
  await expect(call).rejects.toThrow(/abort/i)
  expect(await gate.ended).toBe('stopped')
})

test.each(ERAS)('a once tool whose client of %s left goes on, and the same key finds its result', async (era) => {
  const gate = createGate('once')
  served = serveTools([gate.slow])
  const client = await served.connect(era)
  const leaving = new AbortController()
  const params = { name: 'slow', arguments: {}, _meta: { 'baton/idempotencyKey': 'one' } }
  const call = client.callTool(params, { signal: leaving.signal })
  await gate.started
  leaving.abort()
  await expect(call).rejects.toThrow(/abort/i)
  await client.close()
  const again = (await served.connect(era)).callTool(params)
  gate.release()
  expect(tell(await again)).toBe('done')
  expect(await gate.ended).toBe('finished')
  expect(gate.runs.count).toBe(1)
})

const IDLE_MS = 1_000

test('a client of 2025-11-25 is idle from the end of its call, not from its beginning', async () => {
  const gate = createGate('once')
  const { timers, pass } = createHandTimers()
  served = serveTools([gate.slow], { timers, limits: { idleMs: IDLE_MS } })
  const client = await served.connect('2025-11-25')
  const call = client.callTool({ name: 'slow', arguments: {} })
  await gate.started
  pass(IDLE_MS)
  pass(IDLE_MS * 0.9)
  gate.release()
  expect(tell(await call)).toBe('done')
  pass(IDLE_MS * 0.9)
  expect((await client.listTools()).tools).toHaveLength(1)
  pass(IDLE_MS)
  await expect(client.listTools()).rejects.toThrow('there is no such MCP session')
})

describe('the key of a once tool whose client of 2025-11-25', () => {
  const params = { name: 'slow', arguments: {}, _meta: { 'baton/idempotencyKey': 'one' } }

  function serveGate() {
    const gate = createGate('once')
    const { timers, pass } = createHandTimers()
    const { connect } = (served = serveTools([gate.slow], { timers, limits: { idleMs: IDLE_MS } }))
    /** Calls the tool, and leaves while it runs. */
    const abandon = async (client: Client): Promise<void> => {
      const leaving = new AbortController()
      const call = client.callTool(params, { signal: leaving.signal })
      await gate.started
      leaving.abort()
      await expect(call).rejects.toThrow(/abort/i)
    }
    /** Ends its MCP session. */
    const leave = async (client: Client): Promise<void> => {
      await (client.transport as StreamableHTTPClientTransport).terminateSession() // the only transport of the tests
      await client.close()
    }
    /** Calls it again over a new connection, and returns how often the tool has run. */
    const callAgain = async (): Promise<number> => {
      const again = (await connect('2025-11-25')).callTool(params)
      gate.release()
      expect(tell(await again)).toBe('done')
      return gate.runs.count
    }
    return { gate, pass, connect: () => connect('2025-11-25'), abandon, leave, callAgain }
  }

  test('has been active for longer than idle ones are remembered finds its call', async () => {
    const { pass, connect, abandon, callAgain } = serveGate()
    const client = await connect()
    pass(IDLE_MS * 0.6)
    await client.listTools()
    pass(IDLE_MS * 0.6)
    await abandon(client)
    expect(await callAgain()).toBe(1)
  })

  test('left long before the call’s end finds it while it runs, and for as long as idle clients are remembered', async () => {
    const { gate, pass, connect, abandon, leave, callAgain } = serveGate()
    const client = await connect()
    await abandon(client)
    await leave(client)
    pass(IDLE_MS)
    pass(IDLE_MS * 0.9)
    gate.release()
    await gate.ended
    pass(IDLE_MS * 0.9)
    expect(await callAgain()).toBe(1)
  })

  test('left and came back late is forgotten', async () => {
    const { gate, pass, connect, abandon, leave, callAgain } = serveGate()
    const client = await connect()
    await abandon(client)
    gate.release()
    expect(tell(await client.callTool(params))).toBe('done')
    await leave(client)
    pass(IDLE_MS)
    expect(await callAgain()).toBe(2)
  })
})

test('a call whose client cancels it while it is asked is taken back', async () => {
  const outcome = Promise.withResolvers<string>()
  const asks = tool({
    name: 'asks',
    description: 'Asks.',
    input: z.object({}),
    onInterrupt: 'cancel',
    execute: async (_, { ask }) => {
      await ask({ message: 'Well?', schema: z.object({ well: z.boolean() }) }).catch((cause: unknown) => {
        outcome.resolve(String(cause))
        throw cause
      })
    },
  })
  served = serveTools([asks])
  const asked = Promise.withResolvers<void>()
  const client = await served.connect('2025-11-25', {
    elicit: () => {
      asked.resolve()
      return new Promise<object>(() => {})
    },
  })
  const leaving = new AbortController()
  const call = client.callTool({ name: 'asks', arguments: {} }, { signal: leaving.signal })
  await asked.promise
  leaving.abort()
  await expect(call).rejects.toThrow(/abort/i)
  expect(await outcome.promise).toMatch(/the call ended before its question was answered/)
})

test.each(ERAS)('progress of a call of %s is told as it grows', async (era) => {
  const told = Promise.withResolvers<void>()
  const counts = tool({
    name: 'counts',
    description: 'Counts.',
    input: z.object({}),
    effect: 'pure',
    execute: async (_, { progress }) => {
      progress({ progress: 1, total: 2, message: 'half' })
      await told.promise
      progress({ progress: 2, total: 2 })
      return 'counted'
    },
  })
  served = serveTools([counts])
  const client = await served.connect(era)
  const notes: unknown[] = []
  const onprogress = (note: { readonly progress: number }): void => {
    notes.push(note)
    if (note.progress === 1) told.resolve()
  }
  expect(tell(await client.callTool({ name: 'counts', arguments: {} }, { onprogress }))).toBe('counted')
  expect(notes).toContainEqual({ progress: 1, total: 2, message: 'half' })
  expect(notes.at(-1)).toEqual({ progress: 2, total: 2 })
})

function createShop() {
  const agent = defineAgent({
    name: 'shop clerk',
    model: createScriptedModel({
      steps: ({ messages }) => {
        const asked = messages.filter(({ role }) => role === 'user').length
        const last = messages.at(-1)
        if (last?.role === 'tool') return { text: `Sold. You have asked ${asked} times.` }
        return { calls: [{ name: 'sell', arguments: { what: 'tea' } }] }
      },
    }),
    tools: [
      tool({
        name: 'sell',
        description: 'Sells.',
        input: z.object({ what: z.string() }),
        approval: true,
        execute: () => 'sold',
      }),
    ],
  })
  return { agent, host: createHost({ agent }) }
}

test.each(ERAS)(
  'the agent is a tool for a client of %s: it asks for approvals, and a conversation continues',
  async (era) => {
    const { agent, host } = createShop()
    served = serveAgent(agent, { expose: 'agent' }, host)
    const asked: string[] = []
    const client = await served.connect(era, {
      elicit: (message) => {
        asked.push(message)
        return { action: 'accept', content: { approve: true } }
      },
    })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['ask_shop_clerk'])
    const first = await client.callTool({ name: 'ask_shop_clerk', arguments: { message: 'Tea, please.' } })
    expect(tell(first)).toBe('Sold. You have asked 1 times.')
    const { conversation } = first.structuredContent as { readonly conversation: string }
    const second = await client.callTool({
      name: 'ask_shop_clerk',
      arguments: { message: 'One more.', conversation },
    })
    expect(tell(second)).toBe('Sold. You have asked 2 times.')
    expect(asked).toHaveLength(2)
    expect(asked[0]).toContain('May sell be called?')
    const other = await client.callTool({ name: 'ask_shop_clerk', arguments: { message: 'x', conversation: 'chat-1' } })
    expect(tell(other)).toMatch(/^error: invalid_option: there is no conversation "chat-1"/)
  },
)
