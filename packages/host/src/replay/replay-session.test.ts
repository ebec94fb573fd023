// Replays a recorded session with today's agent: unchanged parts, and reported differences.
import type {
  Agent,
  AgentOptions,
  JsonObject,
  LogStore,
  Principal,
  Session,
  SessionOptions,
  Tool,
} from '@baton/core/internal'
import { BatonError, defineAgent, tool } from '@baton/core/internal'
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

interface Recorded {
  readonly steps: readonly ScriptedStep[]
  readonly agent: Partial<AgentOptions>
  readonly opening?: SessionOptions
  /** Sends its inputs, and returns when they are answered. */
  readonly talk: (session: Session) => Promise<unknown>
}

/** Records a conversation, and replays it with the same agent. */
async function repeat({ steps, agent, opening, talk }: Recorded): ReturnType<typeof replaySession> {
  const store = createMemoryStore({ leaseMs: Infinity })
  const recorded = defineAgent({ name: 'a', model: createScriptedModel({ steps }), ...agent })
  const host = createHost({ store, agent: recorded })
  await talk(await host.session('s', opening))
  await host.stop()
  return await replaySession({ agent: recorded, lines: await readExport(store) })
}

type Said =
  | { readonly decision: 'approve' | 'deny'; readonly remember?: 'tool' }
  | { readonly decision: 'edit'; readonly input: JsonObject; readonly remember: 'arguments' }

/** Sends an input, and decides whatever it asks. */
async function ask(session: Session, said: Said, principal?: Principal): Promise<void> {
  const turn = session.send('Go')
  for await (const event of turn)
    if (event.type === 'approval-requested')
      await session.decide({ approvalId: event.approvalId, ...said }, { ...(principal && { principal }) })
  await turn.answer
}

const NOTHING_DIFFERS = { differences: [], notes: [] }

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

test('an answer that a named person approved is approved by that person again', async () => {
  const report = await repeat({
    steps: [{ text: 'Done.' }],
    agent: { checkAnswer: () => ({ ask: 'is it right?', by: [{ id: 'mod' }] }) },
    talk: (session) => ask(session, { decision: 'approve' }, { id: 'mod' }),
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test('an answer for which the agent now asks somebody else is denied at once', async () => {
  const people = [[{ id: 'mod' }], [{ id: 'boss' }]]
  const { differences } = await repeat({
    steps: [{ text: 'Done.' }],
    agent: { checkAnswer: () => ({ ask: 'is it right?', by: people.shift() ?? [] }), limits: { answerRetries: 0 } },
    talk: (session) => ask(session, { decision: 'approve' }, { id: 'mod' }),
  })
  expect(differences).toContainEqual({
    turn: 1,
    place: 'step 1, call 1, answer.approve, approval',
    recorded: 'requested: approve',
    now: 'requested: deny',
  })
})

test('a policy and an approval see the principal of the recorded session', async () => {
  const twice = tool({
    name: 'pay',
    description: 'p',
    input: OBJECT,
    execute: () => 'paid',
    approval: (_, { principal }) => principal.id === 'ann',
  })
  const report = await repeat({
    steps: STEPS,
    agent: {
      tools: [pure, twice],
      approvalPolicy: ({ principal, tool: { name } }) =>
        name === 'read' && principal.id !== 'ann' ? 'deny' : undefined,
    },
    opening: { principal: { id: 'ann' } },
    talk: (session) => ask(session, { decision: 'approve' }),
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test.each(['approve', 'deny'] as const)(
  'a remembered decision to %s counts for later calls again',
  async (decision) => {
    const call = { name: 'pay', arguments: {} }
    const report = await repeat({
      steps: [{ calls: [call] }, { calls: [call] }, { text: 'Done.' }],
      agent: { tools: [pay] },
      talk: (session) => ask(session, { decision, remember: 'tool' }),
    })
    expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
  },
)

test('an edit that is remembered for the same arguments counts for them again', async () => {
  const call = { name: 'pay', arguments: { n: 1 } }
  const report = await repeat({
    steps: [{ calls: [call] }, { calls: [{ name: 'pay', arguments: { n: 2 } }] }, { text: 'Done.' }],
    agent: { tools: [pay] },
    talk: (session) => ask(session, { decision: 'edit', remember: 'arguments', input: { n: 2 } }),
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test('an answer is checked against the schema of its own turn again', async () => {
  const output = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const
  const report = await repeat({
    steps: [{ text: '{}' }, { text: '{"a":1}' }, { text: 'Hello.' }],
    agent: {},
    talk: async (session) => {
      await session.send('How many?', { output }).answer
      await session.send('Hello').answer
    },
  })
  expect(report).toMatchObject({ turns: 2, ...NOTHING_DIFFERS })
})

test('a person who could be asked through one of several inputs is asked again', async () => {
  const report = await repeat({
    steps: [{ text: 'Hi.' }, { calls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }],
    agent: { tools: [pay] },
    talk: async (session) => {
      const first = session.send('Hello')
      const silent = session.send('Pay', { asks: false })
      await ask(session, { decision: 'approve' })
      await Promise.all([first.answer, silent.answer])
    },
  })
  expect(report).toMatchObject({ turns: 2, ...NOTHING_DIFFERS })
})

test('nobody is asked where nobody could be asked, also through a message that steers', async () => {
  const gate = Promise.withResolvers<string>()
  const slow = tool({ name: 'read', description: 'r', input: OBJECT, effect: 'pure', execute: () => gate.promise })
  const report = await repeat({
    steps: [
      { calls: [{ name: 'read', arguments: {} }] },
      { calls: [{ name: 'pay', arguments: {} }] },
      { text: 'I may not.' },
    ],
    agent: { tools: [slow, pay] },
    talk: async (session) => {
      const turn = session.send('Pay', { asks: false })
      const steering = session.send('now', { asks: false, delivery: 'steer' })
      await session.info()
      gate.resolve('bread')
      await Promise.all([turn.answer, steering.answer])
    },
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test('a request that expired is not compared', async () => {
  const report = await repeat({
    steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'I may not.' }],
    agent: { tools: [pay], limits: { approvalMs: 1 } },
    talk: (session) => session.send('Pay').answer,
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test('a turn that failed fails again, and the next one is compared too', async () => {
  const report = await repeat({
    steps: [{ error: new BatonError({ code: 'model_refused', message: 'no' }) }, { text: 'Hello.' }],
    agent: {},
    talk: async (session) => {
      await session.send('one').answer.catch(() => {})
      await session.send('two').answer
    },
  })
  expect(report).toMatchObject({ turns: 2, ...NOTHING_DIFFERS })
})

test('a model that is called more often than in the recording is reported', async () => {
  const { differences } = await replaySession({
    agent: createAgent([], { output: { type: 'object', properties: {} } }),
    lines: await record(),
  })
  expect(differences).toContainEqual({
    turn: 2,
    place: 'end',
    recorded: 'answered',
    now: 'failed, replay_mismatch',
  })
})

test('the recorded answer to a question is given to a tool that runs', async () => {
  const asking = tool({
    name: 'read',
    description: 'r',
    input: OBJECT,
    effect: 'pure',
    execute: async (_, { ask }) => await ask({ message: 'how many?', schema: { type: 'object', properties: {} } }),
  })
  const store = createMemoryStore({ leaseMs: Infinity })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'read', arguments: {} }] }, { text: 'Two.' }] })
  const agent = defineAgent({ name: 'a', model, tools: [asking] })
  const host = createHost({ store, agent })
  const session = await host.session('s')
  const turn = session.send('Go')
  for await (const event of turn)
    if (event.type === 'question-asked') await session.answer({ questionId: event.questionId, value: { n: 2 } })
  await host.stop()
  const report = await replaySession({ agent, lines: await readExport(store), run: 'pure' })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
})

test('prepareStep is told the model that an input asked for, and no model that it chooses is called', async () => {
  let calls = 0
  const scripted = createScriptedModel({ steps: STEPS })
  const other = {
    ...scripted,
    id: 'test/other',
    run: (...given: Parameters<typeof scripted.run>) => {
      calls += 1
      return scripted.run(...given)
    },
  }
  const report = await repeat({
    steps: [],
    agent: {
      model: [scripted, other],
      tools: [pure],
      prepareStep: ({ model }) => (model === other.id ? { model: other } : { tools: [] }),
    },
    talk: (session) => session.send('Go', { model: other.id }).answer,
  })
  expect(report).toMatchObject({ turns: 1, ...NOTHING_DIFFERS })
  expect(calls).toBe(2)
})
