// Replays a recorded session with today's agent: unchanged parts, and reported differences.
import type { Agent, AgentOptions, LogStore, Tool } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { exportSession } from '../stores/transfer.ts'
import { replaySession } from './replay-session.ts'

const OBJECT = { type: 'object' } as const
const starts: string[] = []
const pure = tool({
  name: 'read',
  description: 'r',
  input: OBJECT,
  effect: 'pure',
  execute: () => starts.push('read') && 'bread',
})
const pay = tool({
  name: 'pay',
  description: 'p',
  input: OBJECT,
  effect: 'once',
  approval: true,
  execute: () => starts.push('pay') && 'paid',
})
const look = tool({ name: 'look', description: 'l', input: OBJECT, effect: 'pure' })
const TOOLS = [pure, pay, look]

const STEPS: readonly ScriptedStep[] = [
  {
    calls: [
      { name: 'read', arguments: { n: 1 } },
      { name: 'pay', arguments: {} },
      { name: 'look', arguments: {} },
    ],
  },
  { text: 'All is done.' },
  { text: 'You are welcome.' },
]

async function readExport(store: LogStore): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of exportSession(store, 's')) lines.push(line)
  return lines
}

/** Two turns: three calls of every kind, then thanks. */
async function record(init: Partial<AgentOptions> = {}): Promise<readonly string[]> {
  const store = createMemoryStore({ leaseMs: Infinity })
  const model = createScriptedModel({ steps: STEPS })
  const host = createHost({ store, agent: defineAgent({ name: 'a', model, tools: TOOLS, ...init }) })
  const session = await host.session('s')
  await session.attach({ look: () => 'seen' })
  const turn = session.send('Go')
  for await (const event of turn)
    if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  await turn.answer
  await session.send('Thanks').answer
  await host.stop()
  return await readExport(store)
}

const createAgent = (tools: readonly Tool[] = TOOLS, more: Partial<AgentOptions> = {}): Agent =>
  defineAgent({ name: 'a', tools, ...more })

test('the same agent does the same, and none of its tools runs', async () => {
  const lines = await record()
  starts.length = 0
  expect(await replaySession({ agent: createAgent(), lines })).toEqual({
    session: 's',
    turns: 2,
    differences: [],
    notes: [],
  })
  expect(starts).toEqual([])
})

test('a tool that failed with a code of its own, or has a schema for its text, does the same again at once', async () => {
  const down = tool({
    name: 'read',
    description: 'r',
    input: OBJECT,
    effect: 'pure',
    retry: { attempts: 2, baseMs: 1 },
    execute: () => {
      throw Object.assign(new Error('down'), { status: 503 })
    },
  })
  const texts = tool({
    name: 'pay',
    description: 'p',
    input: OBJECT,
    output: { type: 'string' },
    execute: () => 'paid',
  })
  const tools = [down, texts, look] as readonly Tool[]
  const lines = await record({ tools })
  expect((await replaySession({ agent: createAgent(tools), lines })).differences).toEqual([])
})

test('a tool that was removed, takes other arguments or no longer needs an approval is reported', async () => {
  const lines = await record()
  const strict = { ...OBJECT, properties: { n: { type: 'string' } } } as const
  const changed = [
    { ...pure, ...tool({ name: 'read', description: 'r', input: strict, effect: 'pure', execute: () => '' }) },
    { ...pay, approval: false },
  ]
  const { differences } = await replaySession({ agent: createAgent(changed as readonly Tool[]), lines })
  expect(differences).toEqual([
    { turn: 1, place: 'step 1, call 1, read', recorded: 'ok', now: 'error, invalid_arguments' },
    { turn: 1, place: 'step 1, call 2, pay, approval', recorded: 'requested: approve', now: 'not requested' },
    { turn: 1, place: 'step 1, call 3, look', recorded: 'ok', now: 'error, tool_not_found' },
  ])
})

test('a newly reached limit is reported', async () => {
  const { differences } = await replaySession({
    agent: createAgent(TOOLS, { limits: { callsPerTurn: 1 } }),
    lines: await record(),
  })
  expect(differences.map(({ place, now }) => `${place}: ${now}`)).toContain(
    'step 1, call 2, pay: denied, call_limit_exceeded',
  )
})

test('tools that run are compared by what they return', async () => {
  const lines = await record()
  starts.length = 0
  const stale = tool({ name: 'read', description: 'r', input: OBJECT, effect: 'pure', execute: () => 'stale bread' })
  const { differences } = await replaySession({ agent: createAgent([stale, pay, look]), lines, run: 'pure' })
  expect(differences).toMatchObject([
    {
      place: 'step 1, call 1, read',
      recorded: expect.stringContaining('"bread"') as unknown,
      now: expect.stringContaining('stale bread') as unknown,
    },
  ])
  expect(starts).toEqual([])
  await replaySession({ agent: createAgent(), lines, run: 'all' })
  expect(starts).toEqual(['read', 'pay'])
})

test('the part after an interruption is not compared, and that is reported', async () => {
  const store = createMemoryStore({ leaseMs: Infinity })
  const model = createScriptedModel({ steps: [{ text: 'One.' }, { text: 'Two', hangs: 'until-aborted' }] })
  const host = createHost({ store, agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  await session.send('first').answer
  const second = session.send('second')
  for await (const event of second) if (event.type === 'text') await session.interrupt()
  await host.stop()
  const lines = await readExport(store)
  expect(await replaySession({ agent: createAgent([]), lines })).toEqual({
    session: 's',
    turns: 1,
    differences: [],
    notes: ['an answer was interrupted: only the turns before it (1) were compared'],
  })
})

test('a tool that asks a question while running learns that it will not be answered', async () => {
  const lines = await record()
  const asking = tool({
    name: 'read',
    description: 'r',
    input: OBJECT,
    effect: 'pure',
    execute: async (_, { ask }) => await ask({ message: 'sure?', schema: { type: 'object', properties: {} } }),
  })
  const { differences } = await replaySession({ agent: createAgent([asking, pay, look]), lines, run: 'pure' })
  expect(differences).toMatchObject([{ place: 'step 1, call 1, read', now: 'error, question_declined' }])
})

test('an invalid export is refused', async () => {
  await expect(replaySession({ agent: createAgent(), lines: ['{}'] })).rejects.toMatchObject({ code: 'log_damaged' })
})
