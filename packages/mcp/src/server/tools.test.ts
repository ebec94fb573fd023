// Tools of an agent for stock MCP clients of either revision.
import type { JsonObject } from '@baton/core'
import { tool } from '@baton/host'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { ERAS, serveTools, tell } from './mcp-client.test-kit.ts'

const LONG = Array.from({ length: 5_000 }, (_, n) => `line ${n} 🌊\n`).join('')
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let runs: string[]
let served: Served
const stock = [
  tool({
    name: 'order.read',
    title: 'Read an order',
    description: 'Reads an order.',
    input: z.object({ id: z.string().regex(/^A-\d+$/) }),
    output: z.object({ id: z.string(), euros: z.number() }),
    effect: 'pure',
    kind: 'read',
    execute: ({ id }) => ({ id, euros: 20 }),
  }),
  tool({
    name: 'order.delete',
    description: 'Deletes an order.',
    input: z.object({ id: z.string() }),
    kind: 'delete',
    approval: true,
    execute: ({ id }) => {
      runs.push(`deleted ${id}`)
      return `deleted ${id}`
    },
  }),
  tool({
    name: 'coffee/make',
    description: 'Makes a coffee.',
    input: z.object({}),
    execute: async (_, { ask }) => {
      const { cups } = await ask({ message: 'How many?', schema: z.object({ cups: z.number().int().max(4) }) })
      const { milk } = await ask({ message: 'Milk?', schema: z.object({ milk: z.boolean() }) })
      runs.push('made')
      return `${cups} cups${milk ? ' with milk' : ''}`
    },
  }),
  // It ends turns, and its result is still read whole.
  tool({
    name: 'long',
    description: 'Returns much.',
    input: z.object({}),
    effect: 'pure',
    endsTurn: true,
    execute: () => LONG,
  }),
  tool({
    name: 'picture',
    description: 'Returns a picture.',
    input: z.object({}),
    effect: 'pure',
    execute: () => ({
      content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PNG } }] as const,
    }),
  }),
  tool({
    name: 'fails',
    description: 'Fails.',
    input: z.object({}),
    execute: () => Promise.reject(new Error('the shelf is empty')),
  }),
  tool({ name: 'camera', description: 'Runs on a phone.', input: z.object({}) }),
]

beforeEach(() => {
  runs = []
  served = serveTools(stock)
})
afterEach(() => served.end())

describe.each(ERAS)('a client of %s', (era) => {
  test('lists the tools that the server runs, with what they do', async () => {
    const client = await served.connect(era)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'order.read',
      'order.delete',
      'coffee_make',
      'long',
      'picture',
      'fails',
    ])
    expect(tools[0]).toMatchObject({
      title: 'Read an order',
      description: 'Reads an order.',
      inputSchema: { type: 'object', required: ['id'] },
      outputSchema: { type: 'object', required: ['id', 'euros'] },
      annotations: { readOnlyHint: true, idempotentHint: true },
    })
    expect(tools[1]?.annotations).toEqual({ destructiveHint: true })
  })

  test('gets the value of a result, and its text', async () => {
    const client = await served.connect(era)
    const result = await client.callTool({ name: 'order.read', arguments: { id: 'A-1' } })
    expect(result.structuredContent).toEqual({ id: 'A-1', euros: 20 })
    expect(tell(result)).toBe('{"id":"A-1","euros":20}')
  })

  test('is told what is wrong with its arguments, and with a tool', async () => {
    const client = await served.connect(era)
    const wrong = await client.callTool({ name: 'order.read', arguments: { id: 'x' } })
    expect(tell(wrong)).toMatch(/^error: invalid_arguments: .*id/)
    expect(wrong._meta?.['baton/code']).toBe('invalid_arguments')
    expect(tell(await client.callTool({ name: 'fails', arguments: {} }))).toBe('error: tool_failed: the shelf is empty')
    await expect(client.callTool({ name: 'camera', arguments: {} })).rejects.toThrow('there is no tool "camera"')
  })

  test('gets a long result whole, and a picture', async () => {
    const client = await served.connect(era)
    expect(tell(await client.callTool({ name: 'long', arguments: {} })) === LONG).toBe(true)
    const { content } = await client.callTool({ name: 'picture', arguments: {} })
    expect(content).toEqual([{ type: 'image', mimeType: 'image/png', data: PNG }])
  })

  test('is asked for an approval: yes runs the call, no denies it', async () => {
    const asked: string[] = []
    const answers = [{ approve: true }, { approve: false, reason: 'keep it' }]
    const client = await served.connect(era, {
      elicit: (message) => {
        asked.push(message)
        return { action: 'accept', content: answers.shift() }
      },
    })
    expect(tell(await client.callTool({ name: 'order.delete', arguments: { id: 'A-1' } }))).toBe('deleted A-1')
    const denied = await client.callTool({ name: 'order.delete', arguments: { id: 'A-2' } })
    expect(tell(denied)).toMatch(/^error: call_denied: .*keep it/)
    expect(asked[0]).toBe('May order.delete be called?\n{"id":"A-1"}')
    expect(runs).toEqual(['deleted A-1'])
  })

  test('that cannot be asked is denied at once', async () => {
    const client = await served.connect(era)
    const denied = await client.callTool({ name: 'order.delete', arguments: { id: 'A-1' } })
    expect(tell(denied)).toMatch(/^error: call_denied/)
    expect(runs).toEqual([])
  })

  test('answers two questions of one call; an invalid answer is requested again', async () => {
    const asked: string[] = []
    const client = await served.connect(era, {
      elicit: (message, { properties }) => {
        asked.push(`${message} ${Object.keys(properties as JsonObject).join()}`)
        const answers: Record<number, object> = { 1: { cups: 9 }, 2: { cups: 2 }, 3: { milk: true } }
        return { action: 'accept', content: answers[asked.length] }
      },
    })
    expect(tell(await client.callTool({ name: 'coffee_make', arguments: {} }))).toBe('2 cups with milk')
    expect(asked).toEqual(['How many? cups', 'How many? cups', 'Milk? milk'])
    expect(runs).toEqual(['made'])
  })

  test('that declines lets the tool know', async () => {
    const client = await served.connect(era, { elicit: () => ({ action: 'decline' }) })
    expect(tell(await client.callTool({ name: 'coffee_make', arguments: {} }))).toMatch(/^error: question_declined/)
    expect(runs).toEqual([])
  })

  test('has many calls at once, and one session where they come one by one', async () => {
    const client = await served.connect(era)
    const one = (): Promise<string> => client.callTool({ name: 'order.read', arguments: { id: 'A-1' } }).then(tell)
    const results = await Promise.all(Array.from({ length: 8 }, one))
    expect(new Set(results)).toEqual(new Set(['{"id":"A-1","euros":20}']))
  })
})
