// Failing stores and dying processes, seen through the Session API: accepted inputs are answered, and `once` tools run
// once.
import type { SessionEvent } from '@baton/core/internal'
import { frontOf, SessionProjection } from '@baton/core/internal'
import type { Store } from '@baton/core'
import { BatonError, defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  listCalls,
  collect,
  createBrokenClock,
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  never,
  noUnhandledRejections,
  ownStore,
  resultsTold,
} from './test-world.test-kit.ts'

noUnhandledRejections()

interface Faults {
  /** Appends that fail before storing, fail after storing, or never answer. */
  before: number
  after: number
  hang: number
  /** Reads that fail. */
  read: number
  appends: number
}

function faultyStore(): { readonly store: Store; readonly faults: Faults } {
  const disk = ownStore()
  const faults: Faults = { before: 0, after: 0, hang: 0, read: 0, appends: 0 }
  const failed = (): BatonError => new BatonError({ code: 'store_failed', message: 'the disk failed' })
  const append: Store['append'] = async (...request) => {
    faults.appends += 1
    if (faults.before > 0) {
      faults.before -= 1
      throw new Error('the disk failed in its own words')
    }
    if (faults.hang > 0) {
      faults.hang -= 1
      return await never()
    }
    const pos = await disk.append(...request)
    if (faults.after === 0) return pos
    faults.after -= 1
    throw failed()
  }
  const read: Store['read'] = async function* (session, fromPos) {
    if (faults.read > 0) {
      faults.read -= 1
      throw failed()
    }
    yield* disk.read(session, fromPos)
  }
  return { store: { ...disk, append, read }, faults }
}

function faultyWorld(more: Partial<TestWorldOptions> = {}) {
  const { store, faults } = faultyStore()
  const world = createTestWorld({ store, steps: () => ({ text: 'answer', pieceMs: 100 }), ...more })
  return { ...world, faults }
}

test.each([
  ['fails before it stores', { before: 2 }],
  ['fails after it stored', { after: 1 }],
  ['does not answer', { hang: 1 }],
  ['fails in one way after the other', { hang: 1, after: 1 }],
])('a store that %s is asked again, and nothing happens twice', async (_, given) => {
  const { open, faults, time, model, facts } = faultyWorld()
  const session = await open()
  Object.assign(faults, given)
  expect((await time.until(session.send('go').answer)).text).toBe('answer')
  expect(await facts('input-accepted')).toHaveLength(1)
  expect(model.requests).toHaveLength(1)
  expect(time.pending()).toBe(0)
})

test('a store that fails for good in mid-turn costs an attempt, and the turn is still answered', async () => {
  const { open, faults, time, model, warnings } = faultyWorld()
  const session = await open()
  const turn = session.send('go')
  await time.pass(10)
  faults.before = 3
  frontOf(session)
    .submit({ type: 'set-model', model: 'scripted/model' })
    .catch(() => {})
  expect((await time.until(turn.answer)).text).toBe('answer')
  expect(model.requests).toHaveLength(2)
  expect(warnings).toContain('a session failed and is being reopened')
  expect(time.pending()).toBe(0)
})

function withoutCursor(event: SessionEvent): object {
  return { ...event, cursor: undefined }
}

test('records stored by a dying session reach its readers when it is reopened', async () => {
  const { open, faults, time, records } = faultyWorld()
  const session = await open()
  const seen = collect(session.events({ from: 'start', delivery: true }))
  const turn = session.send('go')
  await time.pass(50)
  // The answer is stored, but the session never learns that.
  Object.assign(faults, { after: 1, before: 0, read: 1 })
  expect((await time.until(turn.answer)).text).toBe('answer')
  await session.close()
  await seen.done
  const whole = new SessionProjection()
  const logged = (await records()).flatMap((record) => whole.takeRecord(record).read(true))
  const told = seen.events.filter(({ type }) => type !== 'live' && type !== 'text')
  const expected = logged.filter(({ type }) => type !== 'limit' && type !== 'text')
  expect(told.map(withoutCursor)).toEqual(expected.slice(0, told.length).map(withoutCursor))
  expect(told.some(({ type }) => type === 'turn-finished')).toBe(true)
})

test('inputs that come while a session is opened again wait for it', async () => {
  const { open, faults, time } = faultyWorld()
  const session = await open()
  faults.before = 3
  const lost = session.send('lost')
  await expect(time.until(lost.answer)).rejects.toMatchObject({ code: 'store_failed' })
  const during = [session.send('one').answer, session.send('two').answer]
  const texts = (await time.until(Promise.all(during))).map(({ text }) => text)
  expect(texts).toEqual(['answer', 'answer'])
})

test('a store that also fails while the session is opened again is tried more than once, by one opener', async () => {
  const { open, faults, time, records } = faultyWorld()
  const session = await open()
  const turn = session.send('go')
  await time.pass(10)
  faults.before = 8
  frontOf(session)
    .submit({ type: 'set-model', model: 'scripted/model' })
    .catch(() => {})
  expect((await time.until(turn.answer)).text).toBe('answer')
  const epochs = (await records()).map(({ epoch }) => epoch)
  expect(epochs).toEqual(epochs.toSorted((one, other) => one - other))
  expect(new Set(epochs).size).toBe(2)
})

test('a store that stays broken ends the session; the host reopens it on the next request', async () => {
  const { open, faults, time } = faultyWorld()
  const session = await open()
  const seen = collect(session.events())
  faults.before = 1000
  const answer = session.send('go').answer
  await expect(time.until(answer)).rejects.toMatchObject({ code: 'store_failed' })
  await time.until(seen.done)
  await expect(session.send('more').answer).rejects.toMatchObject({ code: 'store_failed' })
  faults.before = 0
  // The store has recovered: its old error is not repeated as if it still held.
  await expect(session.send('more').answer).rejects.toMatchObject({
    message: expect.stringContaining('was closed here after a failure'),
    hint: 'Open the session again; accepted inputs are kept.',
  })
  const [one, two] = await time.until(Promise.all([open(), open()]))
  expect((await time.until(one.send('again').answer)).text).toBe('answer')
  expect(frontOf(two).phase).toBe('idle')
})

test('a session that dies of every answer does not ask the model forever', async () => {
  const { store } = faultyStore()
  const append: Store['append'] = async (...request) => {
    const answered = request[3].some(({ facts }) => facts.some(({ type }) => type === 'step-finished'))
    if (answered) throw new BatonError({ code: 'store_failed', message: 'no answer is taken' })
    return await store.append(...request)
  }
  const { open, time, model } = faultyWorld({ store: { ...store, append } })
  const session = await open()
  await expect(time.until(session.send('go').answer)).rejects.toMatchObject({ code: 'recovery_exhausted' })
  expect(model.requests).toHaveLength(3)
  expect(time.pending()).toBe(0)
})

test('a session whose work could be begun in part only leaves nothing of it when it is begun again', async () => {
  const time = createManualTime()
  const broken = { count: 0 }
  const host = { environment: { ...time.environment, clock: createBrokenClock(time, broken) } }
  const steps = () => ({ text: 'answer', pieceMs: 2000 })
  const { open, faults, model, facts, warnings } = faultyWorld({ time, host, steps })
  const session = await open()
  const turn = session.send('go')
  await time.pass(10)
  Object.assign(faults, { before: 3 })
  broken.count = 1
  frontOf(session)
    .submit({ type: 'set-model', model: 'scripted/model' })
    .catch(() => {})
  expect((await time.until(turn.answer)).text).toBe('answer')
  expect(warnings).toContain('a session could not be reopened')
  expect(warnings.filter((warning) => warning === 'a session failed and is being reopened')).toHaveLength(2)
  // The first call and the call that answered: the one that was aborted before it began never reaches the model.
  expect(model.requests).toHaveLength(2)
  expect(await facts('turn-finished')).toHaveLength(1)
  expect(time.pending()).toBe(0)
})

test('a session whose recovery cannot be stored does not open, and nothing of it lives on', async () => {
  const { open, faults, time, store, host } = faultyWorld()
  await frontOf(await open()).client({ client: 'phone', leaseMs: 60_000 })
  await host.stop()
  faults.before = 3
  const next = createTestWorld({ store, time, steps: [{ text: 'fine' }] })
  await expect(next.open()).rejects.toMatchObject({ code: 'store_failed' })
  expect(time.pending()).toBe(0)
  const session = await next.open()
  expect((await time.until(session.send('go').answer)).text).toBe('fine')
})

test('a host that stops while a session is opened again leaves nothing behind', async () => {
  for (const waitMs of [0, 100, 650, 1000]) {
    const { open, faults, time, host } = faultyWorld()
    const session = await open()
    const turn = session.send('go')
    faults.before = 4
    await time.pass(waitMs)
    await time.until(host.stop())
    await expect(time.until(turn.answer)).rejects.toBeInstanceOf(BatonError)
    await time.pass(10_000)
    expect(time.pending()).toBe(0)
  }
})

test('nor if a caller waited for the session: its turn does not start again on a stopped host', async () => {
  const { open, faults, time, host, model, store } = faultyWorld({ steps: () => ({ text: 'late', pieceMs: 60_000 }) })
  const session = await open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  faults.before = 3
  frontOf(session)
    .submit({ type: 'set-model', model: 'scripted/model' })
    .catch(() => {})
  await time.pass(650)
  const asked = host.session(session.id).catch(({ code }: BatonError) => code)
  await time.settle()
  await time.until(host.stop())
  await time.pass(60_000) // until the earlier model is done
  expect([await asked, model.requests.length, time.pending()]).toEqual(['host_stopped', 1, 0])
  expect(await store.acquire(session.id, 'another')).toMatchObject({ type: 'acquired' })
})

test('another owner fences a session off: its work stops, and it is the former one’s again when that one lets go', async () => {
  const time = createManualTime()
  const store = ownStore()
  const one = createTestWorld({ time, store, steps: () => ({ text: 'from one', pieceMs: 1000 }) })
  const two = createTestWorld({ time, store, steps: () => ({ text: 'from two', pieceMs: 10 }) })
  const held = await one.open()
  const turn = held.send('go')
  await time.settle()
  store.expireLeases()
  const taken = await two.open()
  await time.pass(5000)
  await expect(turn.answer).rejects.toMatchObject({ code: 'session_closed' })
  await expect(held.send('mine!').answer).rejects.toMatchObject({ code: 'store_conflict' })
  expect((await time.until(taken.send('go on').answer)).text).toBe('from two')
  await expect(one.open()).rejects.toMatchObject({ code: 'session_held' })
  await taken.close()
  const again = await one.open()
  expect((await time.until(again.send('mine again').answer)).text).toBe('from one')
})

test('a process that dies repeats what is pure or idempotent, with the same key, and never what is once', async () => {
  const time = createManualTime()
  const store = ownStore()
  const starts: unknown[] = []
  const tools = (execute: () => unknown) =>
    (['pure', 'idempotent', 'once'] as const).map((effect) =>
      act(
        (_, { attempt, idempotencyKey }) => {
          starts.push([effect, attempt, idempotencyKey])
          return execute()
        },
        { name: effect, effect },
      ),
    )
  const dead = createTestWorld({ time, store, tools: tools(never), steps: [listCalls('pure', 'idempotent', 'once')] })
  const first = await dead.open()
  first.send('go', { inputId: 'i1' }).answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  const next = createTestWorld({ time, store, tools: tools(() => 'fine'), steps: [{ text: 'done' }] })
  const session = await next.open()
  expect((await time.until(session.send('go', { inputId: 'i1' }).answer)).text).toBe('done')
  expect(starts).toEqual([
    ['pure', 1, expect.stringMatching(/^tested\/call_id2_1_0\/./)],
    ['idempotent', 1, 'tested/call_id2_1_1'],
    ['once', 1, 'tested/call_id2_1_2'],
    ['pure', 2, (starts[0] as readonly unknown[])[2]],
    ['idempotent', 2, 'tested/call_id2_1_1'],
  ])
  expect(resultsTold(next.model).map(({ text }) => text)).toEqual([
    'fine',
    'fine',
    'Error: tool_result_unknown (it may have run)',
  ])
})

test('an input that would break the machine is refused, and the session continues', async () => {
  const { open, time, warnings } = faultyWorld()
  const session = await open()
  const broken = await frontOf(session).submit({ type: 'user-input', inputId: 'broken', parts: undefined as never })
  expect(broken).toMatchObject({ type: 'refused', code: 'invalid_event', message: expect.stringContaining('parts') })
  expect((await time.until(session.send('go').answer)).text).toBe('answer')
  expect(warnings).toEqual([])
})

test('a tool that stops its own host does not start the other calls', async () => {
  const started: string[] = []
  const world = createTestWorld({
    tools: [
      act(() => (started.push('a'), world.host.stop()), { name: 'a' }),
      act(() => void started.push('b'), { name: 'b', parallel: false }),
    ],
    steps: [listCalls('a', 'b')],
  })
  const session = await world.open()
  await expect(world.time.until(session.send('go').answer)).rejects.toMatchObject({ code: 'session_closed' })
  expect(started).toEqual(['a'])
  expect(world.time.pending()).toBe(0)
})

test('a session that is removed while it is opened again leaves no record', async () => {
  const { store, faults } = faultyStore()
  const gate = Promise.withResolvers<void>()
  const append: Store['append'] = async (...request) => {
    if (request[3].some(({ facts }) => facts.some(({ type }) => type === 'host-restarted'))) await gate.promise
    return await store.append(...request)
  }
  const { open, time, host, records } = createTestWorld({
    store: { ...store, append },
    steps: () => ({ text: 'answer', pieceMs: 100 }),
  })
  const session = await open()
  const turn = session.send('go')
  await time.pass(10)
  faults.before = 3
  frontOf(session)
    .submit({ type: 'set-model', model: 'scripted/model' })
    .catch(() => {})
  await time.pass(2000)
  const removed = host.remove(session.id)
  await time.settle()
  gate.resolve()
  await time.until(removed)
  await expect(time.until(turn.answer)).rejects.toMatchObject({ code: 'session_closed' })
  await time.pass(10_000)
  expect(await records()).toEqual([])
})

test.each(['that answers', 'that never answers'])(
  'a session that is removed while it is acquired again leaves no record, with a store %s',
  async (which) => {
    const disk = ownStore()
    const gate = Promise.withResolvers<void>()
    let acquired = 0
    const acquire: Store['acquire'] = async (...request) => {
      acquired += 1
      if (acquired === 2) await gate.promise
      return await disk.acquire(...request)
    }
    let isBroken = false
    const append: Store['append'] = (...request) =>
      isBroken ? Promise.reject(new Error('the disk failed')) : disk.append(...request)
    const { open, time, host, records } = createTestWorld({ store: { ...disk, acquire, append }, steps: [] })
    const session = await open()
    isBroken = true
    const turn = session.send('go')
    await expect(time.until(turn.answer)).rejects.toMatchObject({ code: 'store_failed' })
    await time.pass(2000)
    expect(acquired).toBe(2)
    isBroken = false
    const removed = host.remove(session.id)
    await time.settle()
    if (which === 'that answers') gate.resolve()
    await time.until(removed)
    gate.resolve()
    await time.pass(10_000)
    expect(await records()).toEqual([])
    expect(time.pending()).toBe(0)
  },
)

test('a host recovers a session whose agent was changed to one that it has, and leaves one that was changed to another', async () => {
  const { time, store } = createSharedStore()
  const hanging = createScriptedModel({ steps: () => ({ text: '', hangs: 'until-aborted' }) })
  const agents = ['one', 'two'].map((name) => defineAgent({ name, model: hanging }))
  const dying = createProcess(time, store, { steps: [], host: { agents } })
  for (const [id, before, after] of [
    ['to-two', 'one', 'two'],
    ['to-one', 'two', 'one'],
  ] as const) {
    await time.until(dying.host.session(id, { agent: before }))
    const session = await time.until(dying.host.session(id, { agent: after }))
    session.send('go').answer.catch(() => {})
    await time.settle()
  }
  dying.die()
  await time.pass(LEASE_MS)
  const next = createProcess(time, store, { steps: () => ({ text: 'answer' }), name: 'two' })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect(next.model.requests).toHaveLength(1)
  expect((await next.host.sessions({ activity: 'idle' })).sessions.map(({ id }) => id)).toEqual(['to-two'])
  await time.until(next.host.stop())
})
