// Baton on both ends, and tools that appear and disappear behind the server.
import type { Tool, ToolSource } from '@baton/core'
import { defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createMcpServers } from '../client/index.ts'
import { callTools } from '../client/mcp-session.test-kit.ts'
import type { Served } from './mcp-client.test-kit.ts'
import { ADDRESS, ERAS, serveAgent, serveTools } from './mcp-client.test-kit.ts'

let served: Served | undefined
afterEach(() => served?.end())

const cake = tool({
  name: 'cake',
  description: 'Bakes a cake.',
  input: z.object({ size: z.number() }),
  output: z.object({ cake: z.string() }),
  timeoutMs: 120_000,
  execute: async ({ size }, { ask }) => {
    const { fruit } = await ask({ message: 'Which fruit?', schema: z.object({ fruit: z.string() }) })
    const { nuts } = await ask({ message: 'Nuts?', schema: z.object({ nuts: z.boolean() }) })
    return { cake: `${size} cm, ${fruit}${nuts ? ', nuts' : ''}` }
  },
})
const clean = tool({
  name: 'clean',
  description: 'Cleans the oven.',
  input: z.object({}),
  approval: true,
  execute: () => 'clean',
})

test('an agent of Baton calls tools of another one: a task that asks twice, and a call that is approved', async () => {
  const { handler } = (served = serveTools([cake, clean]))
  const servers = createMcpServers(
    { bakery: { url: ADDRESS } },
    { fetch: (url, init) => handler(new Request(url, init)) },
  )
  const answers = [{ fruit: 'plums' }, { nuts: true }, { approve: true }]
  const { calls, asked } = await callTools(
    servers,
    [
      ['cake', { size: 20 }],
      ['clean', {}],
    ],
    { onQuestion: () => answers.shift() ?? {} },
  )
  await servers.close()
  expect(calls[0]).toContain('cake ok: ')
  expect(calls[0]).toContain('20 cm, plums, nuts')
  expect(calls[1]).toBe('clean ok: [{"type":"text","text":"clean"}]')
  expect(asked.map((message) => message.split('asks: ')[1]?.split('\n')[0])).toEqual([
    'Which fruit?',
    'Nuts?',
    'May clean be called?',
  ])
})

test('a user whose answer to a task fits the form but not the tool’s schema is asked again', async () => {
  // The form of MCP has no patterns.
  const schema = z.object({ code: z.string().regex(/^A-/) })
  const lock = tool({
    name: 'lock',
    description: 'Opens a lock.',
    input: z.object({}),
    timeoutMs: 120_000,
    execute: async (_, { ask }) => `opened with ${(await ask({ message: 'Which code?', schema })).code}`,
  })
  const { handler } = (served = serveTools([lock]))
  const servers = createMcpServers(
    { door: { url: ADDRESS } },
    { fetch: (url, init) => handler(new Request(url, init)) },
  )
  const answers = [{ code: '1' }, { code: 'A-1' }]
  const { calls, asked } = await callTools(servers, [['lock', {}]], { onQuestion: () => answers.shift() ?? {} })
  await servers.close()
  expect(calls).toEqual(['lock ok: [{"type":"text","text":"opened with A-1"}]'])
  expect(asked).toHaveLength(2)
})

test.each(ERAS)('a client of %s hears that the tools have changed', async (era) => {
  const listeners = new Set<() => void>()
  let tools: readonly Tool[] = [cake]
  const shelf: ToolSource = {
    name: 'shelf',
    list: () => Promise.resolve(tools),
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const model = createScriptedModel({ steps: [] })
  served = serveAgent(defineAgent({ name: 'bakery', model, sources: [shelf] }))
  const changed = Promise.withResolvers<void>()
  const client = await served.connect(era)
  client.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve())
  if (era === '2026-07-28') await client.listen({ toolsListChanged: true })
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['cake'])
  tools = [cake, clean]
  for (const listener of listeners) listener()
  await changed.promise
  const { tools: listed } = await client.listTools(undefined, { cacheMode: 'refresh' })
  expect(listed.map(({ name }) => name)).toEqual(['cake', 'clean'])
})
