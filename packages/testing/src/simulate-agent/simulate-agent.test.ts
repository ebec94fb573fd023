// A user's own agent in faulty worlds: guarantees that hold, and reports of broken ones.
import type { ModelRequest, Tool } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { simulate } from '../index.ts'

const OBJECT = { type: 'object' } as const

/** Calls every tool once per turn, then finishes: its output depends only on the request, as it must after a crash. */
function say(request: ModelRequest): ScriptedStep {
  const last = request.messages.at(-1)
  if (last?.role === 'tool') return { text: 'Done.' }
  return {
    calls: request.tools.filter(({ name }) => name !== 'result.read').map(({ name }) => ({ name, arguments: {} })),
  }
}

const TOOLS = [
  tool({ name: 'read', description: 'r', input: OBJECT, effect: 'pure', execute: () => 'bread' }),
  tool({ name: 'pay', description: 'p', input: OBJECT, effect: 'once', approval: true, execute: () => 'paid' }),
  tool({ name: 'look', description: 'l', input: OBJECT, effect: 'pure' }),
  tool({
    name: 'ask',
    description: 'a',
    input: OBJECT,
    effect: 'pure',
    execute: async (_, { ask }) => await ask({ message: 'sure?', schema: { type: 'object', properties: {} } }),
  }),
]

const createAgent = (tools: readonly Tool[] = TOOLS) =>
  defineAgent({ name: 'mine', model: createScriptedModel({ steps: say }), tools })

test('an agent with tools of all kinds survives every world, and the crashes were real', async () => {
  const report = await simulate(createAgent(), {
    says: ['one', 'two', 'three'],
    client: { look: () => 'a cat' },
    answer: () => ({}),
    seeds: 12,
  })
  expect(report.seeds).toBe(12)
  expect(report.crashes).toBeGreaterThan(5)
  expect(report.turns).toBeGreaterThan(12)
  expect(report.calls).toBeGreaterThan(30)
})

test('without faults every turn is answered', async () => {
  const outcomes: string[] = []
  await simulate(createAgent(), {
    says: ['one', 'two'],
    client: { look: () => 'a cat' },
    seeds: [7],
    faults: [],
    check: (facts) => {
      for (const fact of facts) if (fact.type === 'turn-finished') outcomes.push(fact.outcome)
    },
  })
  expect(new Set(outcomes)).toEqual(new Set(['answered']))
})

test('what a program’s own check throws names the world, which fails again', async () => {
  const check = (): never => {
    throw new Error('the till does not add up')
  }
  const failed = simulate(createAgent(), { says: ['one'], client: { look: () => 'x' }, seeds: [3], check })
  await expect(failed).rejects.toMatchObject({
    seed: 3,
    message: expect.stringContaining('the till does not add up') as unknown,
  })
})

test('an effect that happens in a tool which is not once is seen to happen twice', async () => {
  const paid = new Map<string, number>()
  const pay = tool({
    name: 'pay',
    description: 'p',
    input: OBJECT,
    effect: 'idempotent',
    execute: (_, { callId }) => void paid.set(callId, (paid.get(callId) ?? 0) + 1),
  })
  const check = (): void => {
    if ([...paid.values()].some((times) => times > 1)) throw new Error('paid twice')
    paid.clear()
  }
  await expect(simulate(createAgent([pay]), { says: ['one', 'two'], seeds: 40, check })).rejects.toThrow('paid twice')
})

test('tools that really take time stop the virtual one', async () => {
  const slow = tool({
    name: 'slow',
    description: 's',
    input: OBJECT,
    effect: 'pure',
    execute: () => new Promise((resolve) => void setImmediate(() => setImmediate(() => resolve('late')))),
  })
  const settled: string[] = []
  const check: Parameters<typeof simulate>[1]['check'] = (facts) => {
    for (const fact of facts) if (fact.type === 'call-settled') settled.push(fact.settlement.type)
  }
  await simulate(createAgent([slow]), { says: ['one'], seeds: 3, faults: [], check })
  expect(settled).toEqual(['ok', 'ok', 'ok'])
})
