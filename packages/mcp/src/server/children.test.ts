// A client of the MCP server calls a tool that another agent does: what that agent asks reaches the client with its name.
import type { Agent } from '@baton/host'
import { defineAgent, delegate, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { serveTools } from './mcp-client.test-kit.ts'

let served: Served | undefined
afterEach(() => served?.end())

test.each([
  {
    what: 'an approval',
    name: 'pay',
    words: 'May helper › pay be called?',
    content: { approve: true },
    result: 'paid',
  },
  { what: 'a question', name: 'choose', words: 'helper › Which?', content: { wine: 'red' }, result: 'red' },
])('$what of an agent below is a form for the client', async ({ name, words, content, result }) => {
  const pay = tool({ name: 'pay', description: 'Pays.', input: z.object({}), approval: true, execute: () => 'paid' })
  const choose = tool({
    name: 'choose',
    description: 'Chooses.',
    input: z.object({}),
    execute: async (_input, { ask }) => (await ask({ message: 'Which?', schema: z.object({ wine: z.string() }) })).wine,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: JSON.stringify(messages.at(-1)?.parts) }
        : { calls: [{ name, arguments: {} }] },
  })
  const helper = defineAgent({ name: 'helper', model, tools: [pay, choose] }) as Agent
  served = serveTools([delegate({ agent: helper, description: 'Helps.' })])
  const asked: string[] = []
  const client = await served.connect('2025-11-25', {
    elicit: (message) => {
      asked.push(message)
      return { action: 'accept', content }
    },
  })
  const answer = await client.callTool({ name: 'helper', arguments: { task: 'Help.' } })
  expect(asked.join('\n')).toContain(words)
  expect(JSON.stringify(answer)).toContain(result)
})
