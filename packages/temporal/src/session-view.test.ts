// A session as seen by one process, without a service: what happens to an input when the view is closed, and to text
// that arrives while it opens or that the bus has lost.
import type { LiveFrame } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openEvents } from '@baton/runtime'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionViewOptions } from './session-view.ts'
import { SessionView } from './session-view.ts'
import type { LiveBus } from './live/live-bus.ts'
import { createMemoryBus } from './live/live-bus.ts'

test('an input without its record is reported when the view is closed, and the service is not asked again', async () => {
  let questions = 0
  const handedIn = Promise.withResolvers<void>()
  const view = new SessionView({
    session: 's',
    store: createMemoryStore(),
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    world: { current: { spec: { limits: {}, window: {} } } } as SessionViewOptions['world'], // no decisions are made here
    update: () => {
      handedIn.resolve()
      return Promise.resolve([{ type: 'accepted', pos: 0, epoch: 1 }])
    },
    isRunning: async () => {
      questions += 1
      // Repeated queries would fill this process.
      if (questions > 1000) throw new Error('the service is asked without an end')
      return await Promise.resolve(true)
    },
    onRemoved: () => {},
  })
  await view.open()
  const submitted = view.replica.submit([{ type: 'pause' }]).catch((cause: unknown) => cause)
  await handedIn.promise
  await nextTurn()
  view.close()
  expect(await submitted).toMatchObject({ code: 'session_closed' })
  expect(questions).toBeLessThan(3)
})

const KEPT: readonly LiveFrame[] = [
  { type: 'text-delta', attempt: 1, offset: 0, text: 'All is' },
  { type: 'text-delta', attempt: 1, offset: 6, text: ' done.' },
]

/** Parts of a view that only reads. */
const READER = {
  world: { current: { spec: { limits: {}, window: {} } } } as SessionViewOptions['world'], // no decisions are made here
  update: () => Promise.reject(new Error('nothing is handed in')),
  onRemoved: () => {},
}

/** A view of a session whose model was called and hangs. */
async function openView(
  bus: LiveBus,
  { onRead, ...more }: Partial<SessionViewOptions> & { readonly onRead?: () => Promise<void> } = {},
): Promise<SessionView> {
  const store = createMemoryStore()
  const model = createScriptedModel({ steps: [{ hangs: 'until-aborted' }] })
  const host = createHost({ agent: defineAgent({ name: 'a', model }), store })
  const session = await host.session('s')
  session.send('go').answer.catch(() => {})
  await expect.poll(() => model.requests.length).toBe(1)
  const view = new SessionView({
    session: 's',
    store,
    bus,
    log: { info: () => {}, warn: () => {} },
    ...READER,
    ...more,
  })
  onTestFinished(async () => {
    view.close()
    await host.stop()
  })
  await view.open(onRead)
  return view
}

/** Reads the text that a new reader gets, from the beginning until it has this length. */
async function readText(view: SessionView, chars: number): Promise<string> {
  const reader = openEvents(view.replica, { from: 'start' })
  let text = ''
  while (text.length < chars)
    for (const event of (await reader.nextBatch())?.events ?? [])
      if (event.type === 'text') text = text.slice(0, event.offset) + event.text
  reader.leave()
  return text
}

test('a piece that arrives while the view opens does not hide earlier text', async () => {
  const bus = createMemoryBus()
  let hear: Parameters<LiveBus['subscribe']>[1] = () => {}
  const view = await openView({
    ...bus,
    subscribe: async (session, onMessage, onGap) => {
      hear = onMessage
      return await bus.subscribe(session, onMessage, onGap)
    },
    readAttempt: async () => {
      hear({ type: 'live', frames: KEPT.slice(1) })
      return await Promise.resolve(KEPT)
    },
  })
  expect(await readText(view, 12)).toBe('All is done.')
})

test('a view that opens its world from the log has the text of the running answer', async () => {
  const world: { current?: SessionViewOptions['world']['current'] } = {}
  const view = await openView(
    { ...createMemoryBus(), readAttempt: async () => await Promise.resolve(KEPT) },
    {
      world: world as SessionViewOptions['world'], // as before it is opened
      onRead: async () => {
        await nextTurn()
        Object.assign(world, READER.world)
      },
    },
  )
  expect(await readText(view, 12)).toBe('All is done.')
})

test('pieces that the bus has lost are read again while the attempt is silent', async () => {
  let kept: readonly LiveFrame[] = []
  const view = await openView({ ...createMemoryBus(), readAttempt: async () => await Promise.resolve(kept) })
  kept = KEPT
  expect(await readText(view, 12)).toBe('All is done.')
})

test('after a failed read, the log is read from the same position at the next bus message, and each record is reported once', async () => {
  const store = createMemoryStore()
  const bus = createMemoryBus()
  const host = createHost({
    agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'ok' }) }) }),
    store,
  })
  const session = await host.session('s')
  await session.send('one').answer
  let failures = 0
  const warnings: string[] = []
  const reads: number[] = []
  const view = new SessionView({
    session: 's',
    store: {
      ...store,
      read: (name, fromPos) => {
        reads.push(fromPos)
        if (failures-- > 0) throw new Error('the store is away')
        return store.read(name, fromPos)
      },
    },
    bus,
    log: { info: () => {}, warn: (message) => void warnings.push(message) },
    ...READER,
  })
  onTestFinished(async () => {
    view.close()
    await host.stop()
  })
  await view.open()
  const { pos } = view.replica.state()
  reads.length = 0
  await session.send('two').answer
  const newest = (await session.info()).head.pos - 1
  failures = 1
  bus.publish('s', { type: 'pos', pos: newest })
  await expect.poll(() => warnings).toEqual(['the log of a session cannot be read and will be retried'])
  expect(view.replica.state().pos).toBe(pos)
  bus.publish('s', { type: 'pos', pos: newest })
  await expect.poll(() => view.replica.state().pos).toBe(newest)
  expect(new Set(reads)).toEqual(new Set([pos + 1]))
})

test('an answer keeps what it says beside its position: a repeated claim, the turn that an interrupt ended', async () => {
  const update: SessionViewOptions['update'] = () =>
    Promise.resolve([
      { type: 'accepted', pos: 0, epoch: 1, again: true },
      { type: 'accepted', pos: 0, ended: 1 },
      { type: 'refused', code: 'call_over', message: 'it is over' },
    ])
  const view = await openView(createMemoryBus(), { update })
  expect(await view.replica.submit([])).toEqual([
    { type: 'accepted', pos: 0, again: true },
    { type: 'accepted', pos: 0, ended: 1 },
    { type: 'refused', code: 'call_over', message: 'it is over' },
  ])
})

test('waits for records that have come are not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // what the flag exposes
  const view = await openView(createMemoryBus())
  const reached: WeakRef<object>[] = []
  view.replica.reached = async () => {
    const record = {}
    reached.push(new WeakRef(record))
    return record as unknown as undefined // a value that can be watched
  }
  for (let count = 0; count < 100; count += 1) await view.reach(1000)
  const countKept = (): number => {
    collectGarbage()
    return reached.slice(0, -1).filter((record) => record.deref() !== undefined).length
  }
  await expect.poll(countKept).toBe(0)
})

test('a late notice that an earlier session of this name was removed does not end this one', async () => {
  const bus = createMemoryBus()
  let removals = 0
  const view = await openView(bus, { onRemoved: () => (removals += 1) })
  bus.publish('s', { type: 'removed', session: 's', birth: 'of an earlier session' })
  expect(removals).toBe(0)
  bus.publish('s', { type: 'removed', session: 's', birth: view.replica.state().birth })
  await expect.poll(() => removals).toBe(1)
})
