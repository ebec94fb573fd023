// One server as a source of tools for many sessions: lists that change during other work, and consent to a changed
// tool.
import type { Tool } from '@baton/core'
import type { Tool as McpTool } from '@modelcontextprotocol/client'
import { createHost, defineAgent } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import type { McpPinStore } from './index.ts'
import { createMemoryPinStore } from './index.ts'
import type { AnswerQuestion } from './mcp-session.test-kit.ts'
import { createWaitingServers, play } from './mcp-session.test-kit.ts'
import type { Shop } from './shop-server.test-kit.ts'
import { PAY, startShop } from './shop-server.test-kit.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const OTHER = { ...PAY, description: 'Pays twice' }
const SEND = { ...PAY, name: 'send' }

async function start(shop: Shop, pins: McpPinStore = createMemoryPinStore()) {
  const server = await startShop(shop)
  const { servers, pass, warnings } = createWaitingServers({ shop: { url: server.url } }, { pins })
  const [source] = servers.sources
  if (!source) throw new Error('there is no source')
  ends.push(server.stop, () => servers.close())
  const names = async (): Promise<readonly string[]> => (await source.list()).map(({ name }: Tool) => name)
  const call = async (tools: readonly string[], onQuestion?: AnswerQuestion) => {
    const calls = tools.map((name) => ({ name, arguments: {} }))
    const model = createScriptedModel({ steps: [{ calls }, { text: 'Done.' }] })
    const host = createHost({ agent: defineAgent({ name: 'clerk', model, sources: servers.sources }) })
    ends.push(() => host.stop())
    return await play(await host.session('one'), onQuestion)
  }
  return { ...server, servers, source, pass, warnings, names, call, pay: (ask?: AnswerQuestion) => call(['pay'], ask) }
}

/** Has the only fields used by a call. */
function createContext(session: string): never {
  const context = {
    session,
    idempotencyKey: 'k',
    attempt: 1,
    signal: new AbortController().signal,
    progress: () => {},
  }
  return context as never
}

test('a list that is to be read again while it is read is read once more, and who listens hears of each change', async () => {
  const memory = createMemoryPinStore()
  await memory.write('shop', [PAY, SEND] as McpTool[])
  const gate = Promise.withResolvers<void>()
  const changed = [OTHER, { ...SEND, description: 'Sends twice' }]
  const { source, counts, names, call } = await start(
    {
      lists: async (asked) => {
        if (asked === 2) await gate.promise
        return asked < 3 ? changed : [...changed, { ...PAY, name: 'third' }]
      },
    },
    memory,
  )
  let heard = 0
  source.onChange?.(() => void (heard += 1))
  const called = call(['pay', 'send'], () => ({ accept: true }))
  await expect.poll(async () => JSON.stringify(await memory.read('shop'))).toMatch(/Pays twice.*Sends twice/)
  // The first consent triggers another read of the list, and the second one arrives meanwhile.
  await expect.poll(() => counts.listed).toBe(2)
  gate.resolve()
  expect((await called).calls).toHaveLength(2)
  await expect.poll(() => names()).toEqual(['pay', 'send', 'third'])
  expect([counts.listed, heard]).toEqual([3, 2])
})

test('a list that is answered after a newer one does not replace it', async () => {
  const gate = Promise.withResolvers<void>()
  const { source, change, names } = await start({
    lists: async (asked) => {
      if (asked === 1) await gate.promise
      return asked === 1 ? [PAY] : [PAY, SEND]
    },
  })
  let heard = 0
  source.onChange?.(() => void (heard += 1))
  const first = names()
  await expect.poll(() => change()).toBe(1)
  await expect.poll(() => heard).toBe(1)
  gate.resolve()
  expect(await first).toEqual(['pay', 'send'])
  expect(await names()).toEqual(['pay', 'send'])
})

test('a list that cannot be read keeps the known tools', async () => {
  const { change, counts, names, warnings } = await start({ lists: (asked) => (asked === 1 ? [PAY] : undefined) })
  expect(await names()).toEqual(['pay'])
  await expect.poll(() => change()).toBe(1)
  await expect.poll(() => counts.listed).toBe(2)
  await expect.poll(() => warnings.join()).toContain('the tools of an MCP server could not be listed')
  expect(await names()).toEqual(['pay'])
})

test('the list of a restarted server is read over a new connection, also while a call of before runs on an old one', async () => {
  const gate = Promise.withResolvers<void>()
  const { source, names, read } = await start({
    lists: (asked) => (asked === 1 ? [PAY] : [PAY, SEND]),
    answers: (_tool, asked) => (asked < 3 ? gate.promise : Promise.resolve()),
    forgets: (_tool, asked) => asked === 3,
  })
  const [pay] = await source.list()
  const call = (session: string) => pay?.execute?.({}, createContext(session))
  const calls = ['one', 'two'].map(call)
  await expect.poll(() => read['pay']).toBe(2)
  await call('one')
  await expect.poll(() => names()).toEqual(['pay', 'send'])
  gate.resolve()
  expect(await Promise.all(calls)).toEqual(['paid', 'paid'])
})

test('the first of two tools with one name counts, and the first of too many', async () => {
  const many = Array.from({ length: 300 }, (_, at) => ({ ...PAY, name: `tool${at}` }))
  const { source, names } = await start({ lists: () => [{ ...PAY, description: 'first' }, OTHER, ...many] })
  const listed = await names()
  expect([listed.length, listed[0], listed.at(-1)]).toEqual([256, 'pay', 'tool254'])
  expect((await source.list())[0]?.description).toBe('first')
})

test('consent to a change and a new tool of the same server at once: both are pinned', async () => {
  const memory = createMemoryPinStore()
  await memory.write('shop', [PAY as McpTool])
  // Both read the pins before one of them writes.
  const gate = Promise.withResolvers<void>()
  let reads = 0
  const pins: McpPinStore = {
    read: async (server) => {
      const found = await memory.read(server)
      reads += 1
      if (reads > 1) await gate.promise
      return found
    },
    write: (server, tools) => memory.write(server, tools),
  }
  const { change, counts, pay } = await start({ lists: (asked) => (asked === 1 ? [OTHER] : [OTHER, SEND]) }, pins)
  const paid = pay(async () => {
    await expect.poll(() => change()).toBe(1)
    await expect.poll(() => [counts.listed, reads]).toEqual([2, 2])
    setImmediate(() => setImmediate(gate.resolve))
    return { accept: true }
  })
  expect((await paid).calls).toEqual([expect.stringMatching(/^pay ok/)])
  await expect
    .poll(async () => (await memory.read('shop'))?.map(({ name, description }) => [name, description]))
    .toEqual(
      expect.arrayContaining([
        ['pay', 'Pays twice'],
        ['send', undefined],
      ]),
    )
})

test('a tool that changes again while a person is asked is asked about again', async () => {
  const memory = createMemoryPinStore()
  await memory.write('shop', [PAY as McpTool])
  const worst = { ...PAY, description: 'Pays everything' }
  let reads = 0
  const pins = { ...memory, read: (server: string) => ((reads += 1), memory.read(server)) }
  const { change, pay, read } = await start({ lists: (asked) => [asked === 1 ? OTHER : worst] }, pins)
  const asked: string[] = []
  const { calls } = await pay(async (message) => {
    asked.push(message)
    if (asked.length > 1) return { accept: false }
    await expect.poll(() => change()).toBe(1)
    await expect.poll(() => reads).toBe(2) // the new list is compared with the pins
    return { accept: true }
  })
  expect(asked).toEqual([expect.stringContaining('Pays twice'), expect.stringContaining('Pays everything')])
  expect([calls, read['pay']]).toEqual([[expect.stringMatching(/^pay error call_denied/)], 0])
})

test('an unused server is disconnected after five minutes, but not during a call', async () => {
  const gate = Promise.withResolvers<void>()
  const { servers, source, pass, read, counts } = await start({ answers: () => gate.promise })
  const [pay] = await source.list()
  const call = pay?.execute?.({}, createContext('s'))
  await expect.poll(() => read['pay']).toBe(1)
  pass(300_000)
  expect(servers.status()).toMatchObject([{ state: 'connected' }])
  gate.resolve()
  await call
  pass(299_999)
  expect(servers.status()).toMatchObject([{ state: 'connected' }])
  pass(1)
  await expect.poll(() => servers.status()).toMatchObject([{ state: 'idle' }])
  await source.list()
  expect(counts).toMatchObject({ begun: 2, listed: 2 })
})
