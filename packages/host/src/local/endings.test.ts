// The end of a session or a host while other work is in progress: resources released, events reported once, and what
// stays unchanged.
import type { SessionChange, Store } from '@baton/core/internal'
import { BatonError, defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import {
  act,
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  listCalls,
  noUnhandledRejections,
  ownStore,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

/** A store whose appends fail this many times, with this error. */
function createFailingStore(code: BatonError['code'] = 'store_failed') {
  const disk = ownStore()
  const state = { failures: 0, acquired: 0, closed: 0 }
  const store: Store = {
    ...disk,
    acquire: (...given) => {
      state.acquired += 1
      return disk.acquire(...given)
    },
    append: (...given) => {
      if (state.failures === 0) return disk.append(...given)
      state.failures -= 1
      return Promise.reject(new BatonError({ code, message: 'the disk failed' }))
    },
    close: () => Promise.resolve(void (state.closed += 1)),
  }
  return { store, state }
}

test.each([
  ['store_gone', 1],
  ['store_failed', 6],
] as const)(
  'a session whose store says %s is opened %d times in all, and its observers are told of its end once',
  async (code, acquired) => {
    const { store, state } = createFailingStore(code)
    const closed: string[] = []
    const observers = [{ onClose: ({ id }: { readonly id: string }) => void closed.push(id) }]
    const world = createTestWorld({ store, steps: () => ({ text: 'answer' }), host: { observers } })
    const session = await world.open()
    state.failures = Infinity
    await expect(world.time.until(session.send('go').answer)).rejects.toMatchObject({ code })
    await world.time.pass(60_000)
    expect([state.acquired, closed]).toEqual([acquired, [SESSION]])
    await world.time.until(world.host.stop())
    expect(closed).toEqual([SESSION])
  },
)

test('up to a thousand inputs wait while a session is reopened', async () => {
  const { store, state } = createFailingStore()
  const world = createTestWorld({ store, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  state.failures = 6
  session.send('lost').answer.catch(() => {})
  await world.time.pass(1500)
  const waiting = Array.from({ length: 1000 }, () => session.submit({ type: 'set-model', model: 'scripted/model' }))
  const more = session.submit({ type: 'set-model', model: 'scripted/model' })
  expect(await world.time.until(more)).toMatchObject({ type: 'refused', code: 'queue_full' })
  const answers = await world.time.until(Promise.all(waiting))
  expect(answers.every(({ type }) => type === 'accepted')).toBe(true)
})

test('a session that is let go while it is opened again still takes what waits for that', async () => {
  const { store, state } = createFailingStore()
  const world = createTestWorld({ store, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  state.failures = 3
  session.send('lost').answer.catch(() => {})
  await world.time.settle()
  await world.time.pass(650)
  const waits = session.submit({ type: 'describe', title: 'kept' })
  waits.catch(() => {})
  await session.close()
  await world.time.pass(60_000)
  expect(await world.facts('session-described')).toMatchObject([{ title: 'kept' }])
})

test('a stop closes a store that the host made, and leaves that of the program open', async () => {
  const { store, state } = createFailingStore()
  const world = createTestWorld({ store, steps: [] })
  await world.open()
  await world.time.until(world.host.stop())
  expect(state.closed).toBe(0)
})

test('a stopped host never looks again, however often it is asked', async () => {
  const time = createManualTime()
  const disk = ownStore()
  let looks = 0
  const store: Store = {
    ...disk,
    listRecoverable: () => {
      looks += 1
      return disk.listRecoverable()
    },
  }
  const world = createTestWorld({ time, store, steps: [] })
  await time.until(Promise.all([world.host.recover({ everyMs: 1000 }), world.host.recover({ everyMs: 1000 })]))
  await time.pass(1500)
  await time.until(world.host.stop())
  const before = looks
  await time.pass(60_000)
  expect([looks, time.pending()]).toEqual([before, 0])
})

test('watchers are not notified of a refused removal, and running work is not disturbed by a caller who may not remove it', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: () => ({ text: 'answer', pieceMs: 1000 }) })
  const two = createProcess(time, store, { steps: [] })
  const told: SessionChange[] = []
  void (async () => {
    for await (const change of two.host.watch()) told.push(change)
  })()
  const session = await one.open()
  const turn = session.send('go')
  await time.settle()
  await expect(time.until(two.host.remove(SESSION))).rejects.toMatchObject({ code: 'session_held' })
  await expect(time.until(one.host.remove(SESSION, { id: 'bob' }))).rejects.toMatchObject({ code: 'unauthorized' })
  expect(await time.until(turn.answer)).toMatchObject({ text: 'answer' })
  expect([told, one.model.requests.length]).toEqual([[], 1])
})

test('a stranger who asks first does not bind another user’s session to an agent', async () => {
  const time = createManualTime()
  const store = ownStore()
  const own = createTestWorld({ time, store, steps: () => ({ text: 'own' }) })
  const first = await time.until(own.host.session(SESSION, { principal: { id: 'ann' } }))
  await time.until(first.send('hello').answer)
  await time.until(own.host.stop())
  const again = createTestWorld({ time, store, steps: () => ({ text: 'own' }) })
  const strange = createScriptedModel({ id: 'strange/model', steps: () => ({ text: 'strange' }) })
  const agent = defineAgent({ name: 'strange', model: strange })
  const asked = again.host.session(SESSION, { principal: { id: 'bob' }, agent })
  const [session] = await time.until(
    Promise.all([
      again.host.session(SESSION, { principal: { id: 'ann' } }),
      expect(asked).rejects.toMatchObject({ code: 'unauthorized' }),
    ]),
  )
  expect(await time.until(session.send('again').answer)).toMatchObject({ text: 'own' })
  expect(strange.requests).toEqual([])
})

test('a list of sessions is notified when a turn begins and ends, regardless of its steps', async () => {
  const world = createTestWorld({
    tools: [act(() => 'done')],
    steps: [listCalls('act'), listCalls('act'), listCalls('act'), { text: 'answer' }],
  })
  const session = await world.open()
  const told: (string | undefined)[] = []
  void (async () => {
    for await (const change of world.host.watch())
      told.push(change.type === 'changed' ? change.session.activity : undefined)
  })()
  await world.time.settle()
  await world.time.until(session.send('go').answer)
  await world.time.settle()
  expect(told).toEqual(['running', 'idle'])
})

test('a logger that throws ends nothing', async () => {
  const { store, state } = createFailingStore()
  const fail = (): never => {
    throw new Error('the logger is broken')
  }
  const world = createTestWorld({ store, steps: () => ({ text: 'answer' }), host: { log: { info: fail, warn: fail } } })
  const session = await world.open()
  state.failures = 3
  await expect(world.time.until(session.send('lost').answer)).rejects.toMatchObject({ code: 'store_failed' })
  expect(await world.time.until(session.send('go').answer)).toMatchObject({ text: 'answer' })
})

test('the next host asks no model before an aborted call of the former one has ended, five seconds at most', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: [{ text: 'word', hangs: 'for-ever' }] })
  const two = createProcess(time, store, { steps: () => ({ text: 'from two' }) })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  await time.pass(10)
  const began = time.nowMs()
  void one.host.stop({ drainMs: 0 })
  await time.settle()
  await expect(time.until(two.host.session(SESSION))).rejects.toMatchObject({ code: 'session_held' })
  await time.pass(5000)
  const taken = await two.open()
  expect(time.nowMs() - began).toBe(5000)
  await time.until(taken.send('more').answer)
  expect(two.model.requests.length).toBeGreaterThan(0)
})
