// Pure tools run while the answer that calls them is being stored; every other tool waits for it. Expected values come
// from docs/reliability.md ("What is stored before what").
import type { Message } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import { act, collect, createTestWorld, never, noUnhandledRejections, ownStore } from './test-world.test-kit.ts'

noUnhandledRejections()

const CALLS = { calls: [{ name: 'act', arguments: {} }] }

/** A store that counts commits, and may hold or refuse those with a finished step. */
function watchedStore(meet: () => Promise<void> = () => Promise.resolve()) {
  const disk = ownStore()
  const commits: (readonly SessionRecord[])[] = []
  const append: Store['append'] = async (...request) => {
    commits.push(request[3])
    if (request[3].some(({ facts }) => facts.some(({ type }) => type === 'step-finished'))) await meet()
    return await disk.append(...request)
  }
  return { store: { ...disk, append }, commits }
}

/** A session whose model calls `act` once, or as `steps` say. */
function worldOf(tools: TestWorldOptions['tools'], meet?: () => Promise<void>, steps = [CALLS, { text: 'done' }]) {
  const { store, commits } = watchedStore(meet)
  return { ...createTestWorld({ store, steps, ...(tools && { tools }) }), commits }
}

test.each([
  { effect: 'pure', commits: 3 },
  { effect: 'idempotent', commits: 4 },
  { effect: 'once', commits: 4 },
] as const)('a turn with one $effect tool that waits for nothing takes $commits commits', async (given) => {
  const { open, time, commits } = worldOf([act(() => 'found', { effect: given.effect })])
  const session = await open()
  const before = commits.length
  expect((await time.until(session.send('go').answer)).text).toBe('done')
  expect(commits.length - before).toBe(given.commits)
})

test('pure tools that run one after another share one commit with their answer', async () => {
  const calls = [1, 2, 3].map(() => ({ name: 'act', arguments: {} }))
  const { open, time, commits, facts } = worldOf([act(() => 'found', { parallel: false })], undefined, [
    { calls },
    { text: 'done' },
  ])
  const session = await open()
  const before = commits.length
  await time.until(session.send('go').answer)
  expect(commits.length - before).toBe(3)
  expect(await facts('call-settled')).toHaveLength(3)
})

test.each([
  { effects: ['pure'], begun: ['pure'] },
  { effects: ['pure', 'pure'], begun: ['pure', 'pure'] },
  { effects: ['idempotent'], begun: [] },
  { effects: ['once'], begun: [] },
  { effects: ['pure', 'once'], begun: [] },
] as const)('while an answer is being stored, of tools that are $effects these run: $begun', async (given) => {
  const gate = Promise.withResolvers<void>()
  const begun: string[] = []
  const tools = [...new Set(given.effects)].map((effect) =>
    act(() => void begun.push(effect), { name: effect, effect }),
  )
  const calls = given.effects.map((name) => ({ name, arguments: {} }))
  const { open, time } = worldOf(tools, () => gate.promise, [{ calls }, { text: 'done' }])
  const session = await open()
  const answer = session.send('go').answer
  await time.settle()
  expect(begun).toEqual(given.begun)
  gate.resolve()
  await time.until(answer)
  expect(begun.toSorted()).toEqual(given.effects.toSorted())
})

test('a slow pure tool runs once, and its result is stored after its answer', async () => {
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const slow = act(async () => {
    runs += 1
    await gate.promise
    return 'late'
  })
  const { open, time, commits, facts } = worldOf([slow])
  const session = await open()
  const before = commits.length
  const answer = session.send('go').answer
  await time.settle()
  expect(await facts('step-finished')).toHaveLength(1)
  expect(await facts('call-settled')).toHaveLength(0)
  gate.resolve()
  await time.until(answer)
  expect(runs).toBe(1)
  expect(commits.length - before).toBe(4)
})

test.each(['finishes at once', 'is slow'])(
  'readers get the same events of a pure tool as of one that waits for its answer, if it %s',
  async (pace) => {
    const read = async (effect: 'pure' | 'idempotent'): Promise<readonly unknown[]> => {
      const tool = act(
        async (_, context) => {
          context.progress('begun')
          for (let hops = 0; hops < (pace === 'is slow' ? 1000 : 0); hops += 1) await Promise.resolve()
          context.progress('half')
          return 'found'
        },
        { effect },
      )
      const { open, time } = worldOf([tool])
      const session = await open()
      const seen = collect(session.events())
      await time.until(session.send('go').answer)
      await time.settle()
      return seen.events.map((event) =>
        event.type === 'call' ? event.call.status : event.type === 'call-progress' ? event.note : event.type,
      )
    }
    const pure = await read('pure')
    expect(pure).toEqual(expect.arrayContaining(['running', 'begun', 'half', 'settled']))
    expect(pure).toEqual(await read('idempotent'))
  },
)

test('a pure tool that reads its conversation sees the same as a tool that waits for its answer', async () => {
  const read = async (effect: 'pure' | 'once'): Promise<readonly Message[]> => {
    let told: readonly Message[] = []
    const tool = act(async (_, context) => void (told = await context.messages()), { effect })
    const { open, time } = worldOf([tool])
    const session = await open()
    await time.until(session.send('go').answer)
    return told
  }
  const told = await read('pure')
  expect(told.length).toBeGreaterThan(0)
  expect(told).toEqual(await read('once'))
})

test('an answer that cannot be stored is asked for again, and nobody saw its call', async () => {
  let fails = 3 // every attempt of one append
  let runs = 0
  const { open, time, model, facts } = worldOf(
    [act(() => void (runs += 1))],
    () => (fails-- > 0 ? Promise.reject(new BatonError({ code: 'store_failed', message: 'full' })) : Promise.resolve()),
    [CALLS, CALLS, { text: 'done' }],
  )
  const session = await open()
  const seen = collect(session.events())
  expect((await time.until(session.send('go').answer)).text).toBe('done')
  expect(runs).toBe(2)
  expect(model.requests).toHaveLength(3)
  expect(await facts('call-settled')).toHaveLength(1)
  await time.settle()
  const settled = seen.events.filter((event) => event.type === 'call' && event.call.status === 'settled')
  expect(settled).toHaveLength(1)
})

test('a run that was begun before its session died is aborted', async () => {
  const signals: AbortSignal[] = []
  const hanging = act((_, { signal }) => {
    signals.push(signal as AbortSignal)
    return never()
  })
  const { open, time, host } = worldOf([hanging], () => never())
  const session = await open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  await time.until(host.stop())
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('in a turn that was interrupted by a failure, pure tools wait for their answer', async () => {
  const gate = Promise.withResolvers<void>()
  let fails = 3 // every attempt of one append
  let runs = 0
  const { open, time, model } = worldOf(
    [act(() => void (runs += 1))],
    () => (fails-- > 0 ? Promise.reject(new BatonError({ code: 'store_failed', message: 'full' })) : gate.promise),
    [CALLS, CALLS, { text: 'done' }],
  )
  const session = await open()
  const answer = session.send('go').answer
  await time.pass(1000)
  expect(model.requests).toHaveLength(2)
  expect(runs).toBe(1)
  gate.resolve()
  await time.until(answer)
  expect(runs).toBe(2)
})
