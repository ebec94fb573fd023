// A session's own world: its agent, also at recovery and while it is open; tools that come and go; what one step changes.
import type { Agent, AgentInit, Tool, ToolSource } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'
import {
  act,
  callsOf,
  createManualTime,
  createTestWorld,
  never,
  noUnhandledRejections,
  ownStore,
  resultsTold,
  SESSION,
} from './test-world.ts'

afterEach(noUnhandledRejections())

function createAgent(name: string, text: string, more: Partial<AgentInit> = {}): Agent {
  return defineAgent({ name, model: createScriptedModel({ steps: () => ({ text }) }), ...more })
}

/** A source whose tools a test changes. */
function createSource(name: string, tools: readonly Tool[]) {
  const listeners = new Set<() => void>()
  const state = { tools, closed: 0 }
  const source: ToolSource = {
    name,
    list: () => Promise.resolve(state.tools),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close: async () => void (state.closed += 1),
  }
  const change = (next: readonly Tool[]): void => {
    state.tools = next
    for (const listener of listeners) listener()
  }
  return { source, change, state, listeners }
}

test('each session gets its agent by what is known of it, also when it is opened again and recovered', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const asked: unknown[] = []
  const disposed: string[] = []
  const open = () =>
    createHost({
      environment: time.environment,
      store,
      agentOf: (session) => {
        asked.push(session)
        const agent = createAgent('tenant', `hello ${session.principal}`)
        return { agent, dispose: () => void disposed.push(session.id) }
      },
    })
  const first = open()
  const session = await time.until(first.session('s1', { principal: { id: 'ann' } }))
  expect((await time.until(session.send('hi').answer)).text).toBe('hello ann')
  await session.describe({ meta: { repository: 'a/b' } })
  await time.until(first.stop())
  expect(disposed).toEqual(['s1'])
  const again = await time.until(open().session('s1', { principal: { id: 'ann' } }))
  expect((await time.until(again.send('hi').answer)).text).toBe('hello ann')
  expect(asked).toEqual([
    { id: 's1', agent: '', principal: 'ann', meta: {} },
    { id: 's1', agent: 'tenant', principal: 'ann', meta: { repository: 'a/b' } },
  ])
})

test('what was opened for a session is let go of once, also when the session cannot be opened or is given up', async () => {
  const time = createManualTime()
  const store = ownStore()
  let isFull = true
  let disposed = 0
  const append: typeof store.append = (...request) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.append(...request)
  const host = createHost({
    environment: time.environment,
    store: { ...store, append },
    agentOf: () => ({ agent: createAgent('tenant', 'hello'), dispose: () => void (disposed += 1) }),
  })
  await expect(time.until(host.session('s'))).rejects.toMatchObject({ code: 'store_failed' })
  expect(disposed).toBe(1)
  isFull = false
  const session = await time.until(host.session('s'))
  store.expireLeases()
  await store.acquire('s', 'another host')
  await expect(time.until(session.send('hi').answer)).rejects.toMatchObject({ code: 'store_conflict' })
  await time.settle()
  expect(disposed).toBe(2)
  await time.until(host.stop())
  expect(disposed).toBe(2)
})

test('a session with an agent of its own is recovered with it, and its tools are there', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const ran: string[] = []
  const tools = [act(() => (ran.push('run'), ran.length === 1 ? never() : 'done'), { name: 'own', timeoutMs: 60_000 })]
  const steps = [callsOf('own'), { text: 'finished' }]
  const model = createScriptedModel({ steps: (request) => (request.messages.length < 3 ? steps[0]! : steps[1]!) })
  const agents = [createAgent('first', 'x'), defineAgent({ name: 'second', model, tools })]
  const before = createHost({ environment: time.environment, store, agents })
  const session = await time.until(before.session(SESSION, { agent: agents[1]! }))
  void session.send('go').answer.catch(() => {})
  await time.settle()
  expect(ran).toEqual(['run'])
  // Its process dies: nothing of it goes on.
  store.expireLeases()
  const after = createHost({ environment: time.environment, store, agents })
  expect(await time.until(after.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(100)
  expect(ran).toEqual(['run', 'run'])
  const again = await time.until(after.session(SESSION))
  expect(again.phase).toBe('idle')
})

test('an agent that cannot be had fails the opening with its reason, and the next opening asks again', async () => {
  const time = createManualTime()
  let works = false
  const host = createHost({
    environment: time.environment,
    agentOf: () => (works ? createAgent('a', 'hello') : Promise.reject(new Error('the tenant is unknown'))),
  })
  await expect(time.until(host.session('s'))).rejects.toThrow('the tenant is unknown')
  works = true
  expect((await time.until((await host.session('s')).send('hi').answer)).text).toBe('hello')
  const hanging = createHost({ environment: time.environment, agentOf: never })
  await expect(time.until(hanging.session('s'))).rejects.toMatchObject({ code: 'invalid_agent' })
})

test('a handle that names another agent changes it while the session is open; calls of tools that are gone settle', async () => {
  const world = createTestWorld({
    tools: [act(never, { name: 'old', parallel: false }), act(() => 'new', { name: 'later', parallel: false })],
    steps: [callsOf('old', 'later'), { text: 'done' }],
  })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const next = createScriptedModel({ steps: [{ text: 'next' }] })
  const other = defineAgent({ name: 'tested', model: [world.model, next], tools: [] })
  const again = await world.time.until(world.host.session(SESSION, { agent: other }))
  await world.time.until(turn.answer)
  const [running, waiting] = resultsTold(world.model)
  expect(running?.text).toMatch(/tool_result_timeout/)
  expect(waiting?.text).toMatch(/was removed while its call was open/)
  expect(await world.facts('agent-changed')).toHaveLength(1)
  await again.close()
  // The same definition, made anew, changes nothing.
  await world.time.until(world.host.session(SESSION, { agent: defineAgent({ ...other, model: other.models }) }))
  expect(await world.facts('agent-changed')).toHaveLength(1)
})

test('tools of a source come and go in a living session', async () => {
  const { source, change, state, listeners } = createSource('editor', [act(() => 'one', { name: 'one' })])
  const world = createTestWorld({
    sources: [source],
    steps: [callsOf('one'), { text: 'a' }, callsOf('two', 'one'), { text: 'b' }],
  })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'one' }])
  change([act(() => 'two', { name: 'two' })])
  await world.time.settle()
  await world.time.until(session.send('go').answer)
  expect(resultsTold(world.model)).toEqual([
    { isError: false, text: 'two' },
    { isError: true, text: 'Error: there is no tool "one"' },
  ])
  expect(world.model.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
    ['one'],
    ['one'],
    ['two'],
    ['two'],
  ])
  await session.close()
  await world.time.until(world.host.stop())
  expect([state.closed, listeners.size]).toEqual([1, 0])
})

test('a source that fails or hangs has no tools, and the session opens all the same', async () => {
  const broken: ToolSource = { name: 'broken', list: () => Promise.reject(new Error('no such program')) }
  const hanging: ToolSource = { name: 'hanging', list: never }
  const odd: ToolSource = { name: 'odd', list: () => Promise.resolve('nonsense' as never) }
  const world = createTestWorld({ sources: [broken, hanging, odd], steps: [{ text: 'done' }] })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(world.warnings).toEqual(['a source of tools lists no tools', 'a source of tools lists no tools'])
})

test.each([
  ['first', ['look']],
  ['prefix', ['look', 'editor.look']],
] as const)('of two tools of one name, the policy "%s" keeps %o', async (collisions, names) => {
  const { source } = createSource('editor', [act(() => 'theirs', { name: 'look' })])
  const own = act(() => 'ours', { name: 'look' })
  const world = createTestWorld({
    tools: [own],
    sources: [source],
    collisions,
    steps: [callsOf('look'), { text: 'x' }],
  })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  expect(world.model.requests[0]?.tools.map(({ name }) => name)).toEqual(names)
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'ours' }])
})

test('two tools of one name are refused by default, with both places', async () => {
  const { source } = createSource('editor', [act(() => 'theirs', { name: 'look' })])
  const world = createTestWorld({ tools: [act(() => 'ours', { name: 'look' })], sources: [source], steps: [] })
  await expect(world.open()).rejects.toMatchObject({
    code: 'invalid_agent',
    message: expect.stringMatching(/"editor" and the agent itself both have a tool named "look"/),
  })
})

test('a step is prepared: other tools, model, instructions; a call of a tool that is not in force is denied', async () => {
  const other = createScriptedModel({ id: 'other/model', steps: () => callsOf('hidden') })
  const ran: string[] = []
  const hidden = act(() => void ran.push('hidden'), { name: 'hidden' })
  const steps: unknown[] = []
  const last = createScriptedModel({ id: 'last/model', steps: () => ({ text: 'done' }) })
  const world = createTestWorld({
    tools: [hidden, act(() => 'ok')],
    models: [last, other],
    steps: [],
    prepareStep: (step) => {
      steps.push(step)
      return step.step === 1 ? { tools: ['act'], model: 'other/model', instructions: 'Be brief.' } : undefined
    },
  })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(ran).toEqual([])
  expect(other.requests[0]).toMatchObject({ instructions: 'Be brief.', tools: [{ name: 'act' }] })
  expect(steps).toMatchObject([
    { session: SESSION, step: 1, model: 'last/model', tools: ['hidden', 'act'] },
    { step: 2, tools: ['hidden', 'act'] },
  ])
  expect(resultsTold(last)[0]?.text).toBe('Error: the tool "hidden" is not offered in this step')
})

test('a prepared step that throws or hangs fails as a model call does, and says why', async () => {
  for (const prepareStep of [() => Promise.reject(new Error('no plan')), never] as const) {
    const world = createTestWorld({ steps: [{ text: 'x' }], prepareStep })
    const session = await world.open()
    await expect(world.time.until(session.send('go').answer)).rejects.toThrow(/no plan|did not answer in 30000 ms/)
  }
})

test('a tool asks its user in mid-call, and its clock stands still meanwhile', async () => {
  const answers: unknown[] = []
  const schema = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }
  const tool = act(
    async (_, { ask }) => {
      answers.push(await ask({ message: 'Which size?', schema }))
      return 'ordered'
    },
    { timeoutMs: 1000 },
  )
  const world = createTestWorld({ tools: [tool], steps: [callsOf('act'), { text: 'done' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.pass(60_000)
  const [question] = await session.questions()
  expect(question).toMatchObject({ message: 'Which size?', schema, callId: 'call_id2_1_0' })
  const { questionId } = question!
  expect(await session.answer({ questionId, value: { size: 'big' } })).toMatchObject({ code: 'question_refused' })
  expect(await session.answer({ questionId, value: { size: 4 } })).toMatchObject({ type: 'accepted' })
  expect(await session.answer({ questionId, value: { size: 4 } })).toMatchObject({ code: 'question_refused' })
  await world.time.until(turn.answer)
  expect(answers).toEqual([{ size: 4 }])
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'ordered' }])
})

test.each([
  [
    'declined',
    async (answer: (value: object) => Promise<unknown>) => void (await answer({ decline: true, reason: 'no' })),
  ],
  ['left alone', async () => {}],
] as const)('a question that is %s is an error that the tool can catch', async (_, act_) => {
  const codes: unknown[] = []
  const tool = act((_input, { ask }) =>
    ask({ message: 'May I?', schema: { type: 'object' }, timeoutMs: 5000 }).catch((cause: { code: string }) => {
      codes.push(cause.code)
      return 'went on'
    }),
  )
  const world = createTestWorld({ tools: [tool], steps: [callsOf('act'), { text: 'done' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const [question] = await session.questions()
  await act_((value) => session.answer({ questionId: question!.questionId, ...value } as never))
  await world.time.until(turn.answer)
  expect(codes).toEqual(['question_declined'])
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'went on' }])
})

test('what a tool asks wrongly, and a plan that is none, are its own errors', async () => {
  const codes: unknown[] = []
  const tool = act(async (_, { ask, plan }) => {
    plan('nonsense' as never)
    plan([{ content: 'look', status: 'pending' }, { content: 1 } as never])
    for (const question of [{}, { message: 'x', schema: { type: 'string' } }, { message: 'x', schema: null }])
      await ask(question as never).catch((cause: { code: string }) => codes.push(cause.code))
  })
  const world = createTestWorld({ tools: [tool], steps: [callsOf('act'), { text: 'done' }] })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  expect(codes).toEqual(['question_refused', 'question_refused', 'question_refused'])
  expect((await world.facts('plan-set')).map(({ entries }) => entries)).toEqual([
    [],
    [{ content: 'look', status: 'pending' }],
  ])
})
