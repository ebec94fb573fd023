// The outbox of a worker: which records it notes, and what a worker leaves that dies before it has noted them.
import { defineAgent } from '@baton/core'
import type { Notice, NoticeDestination } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { SYSTEM_TIME } from '@baton/runtime'
import { asyncLocalStorage, Context } from '@temporalio/activity'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createMemoryBus } from '../live/live-bus.ts'
import { createActivities } from './activities.ts'
import type { PlacesOptions } from './places.ts'
import { Places } from './places.ts'
import { createWorkerNotices } from './worker-notices.ts'

const TURNS = 3
const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'done' }) }) })
const taken: Notice[] = []
const shop: NoticeDestination = { name: 'shop', send: async (notice) => void taken.push(notice) }
const turns = (): readonly unknown[] => taken.map(({ data }) => data['turn'])
beforeEach(() => void (taken.length = 0))
const log = { info: () => {}, warn: () => {} }

/** The log of a session with three turns. */
async function playTurns(): Promise<readonly SessionRecord[]> {
  const store = createMemoryStore()
  const host = createHost({ agent, store })
  const session = await host.session('s')
  for (let turn = 1; turn <= TURNS; turn++) await session.send(`Turn ${turn}.`).answer
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  await host.stop()
  return records
}

const records = await playTurns()
const ends = records.flatMap(({ pos, facts }) => (facts.some(({ type }) => type === 'turn-finished') ? [pos] : []))
/** Position after the end of a turn, from 1 on. */
const after = (turn: number): number => (ends[turn - 1] ?? 0) + 1

/** A worker over this store. Its write to the outbox with this number, from 1 on, fails. */
function createWorker(store = createMemoryStore(), failing = 0) {
  let writes = 0
  const outbox = {
    ...store.outbox,
    swap: async (...row: Parameters<typeof store.outbox.swap>) => {
      if ((writes += 1) === failing) throw new BatonError({ code: 'store_failed', message: 'it has died' })
      return await store.outbox.swap(...row)
    },
  }
  const bus = createMemoryBus()
  const submitter = { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'] // no inputs are submitted
  const places = new Places({ catalog: { agent }, store, bus, log, submitter })
  const notices = createWorkerNotices({ ...SYSTEM_TIME, store: { ...store, outbox }, bus, log }, [shop])
  onTestFinished(async () => {
    await notices.stop()
    await places.close()
  })
  const init = { places, store, bus, log, searchFields: [], timesOf: undefined, newId: () => 'birth', notices }
  const activities = createActivities({ ...init, clock: { nowMs: () => 1000 } })
  const identity = { session: 's', agent: 'a', principal: 'anonymous', meta: {} }
  return {
    store,
    publish: (some: readonly SessionRecord[]) =>
      runActivity(() => activities['baton.publish']({ session: 's', records: some })),
    open: () => runActivity(() => activities['baton.open']({ identity, nowMs: 1000 })),
  }
}

/** Runs it as a worker does. */
function runActivity<Value>(act: () => Promise<Value>): Promise<Value> {
  const rest = [undefined, undefined, undefined, {}] as unknown as [never, never, never, never] // none is read
  const info = { activityId: '1' } as ConstructorParameters<typeof Context>[0] // the only field that is read
  const never = new Promise<never>(() => {})
  return asyncLocalStorage.run(new Context(info, never, new AbortController().signal, () => {}, ...rest), act)
}

test('what is put is told once, however often it is put', async () => {
  const { publish } = createWorker()
  await publish(records.slice(0, after(1)))
  await expect.poll(turns).toEqual([1])
  await publish(records.slice(0, after(1)))
  await publish(records.slice(0, after(2)))
  await expect.poll(turns).toEqual([1, 2])
})

// The first write begins the row, the second one notes that it is due.
test.each([1, 2])(
  'a worker that dies at write %i to the outbox leaves its records to a repetition',
  async (failing) => {
    const { store, publish } = createWorker(undefined, failing)
    await expect(publish(records.slice(0, after(2)))).rejects.toThrow('it has died')
    const stored: number[] = []
    for await (const { pos } of store.read('s', 0)) stored.push(pos)
    expect(stored).toHaveLength(after(2))
    expect(taken).toEqual([])
    await createWorker(store).publish(records.slice(0, after(2)))
    await expect.poll(turns).toEqual([1, 2])
  },
)

test('what a terminated run put and its worker did not note is noted when the session opens again', async () => {
  const { store, publish } = createWorker()
  await publish(records.slice(0, after(1)))
  await expect.poll(turns).toEqual([1])
  await store.put('s', records.slice(after(1), after(2)))
  const dying = createWorker(store, 1)
  await expect(dying.open()).rejects.toMatchObject({ type: 'store_failed', nonRetryable: false })
  expect(taken).toHaveLength(1)
  await createWorker(store).open()
  await expect.poll(turns).toEqual([1, 2])
})

test.each([
  ['its next record', false],
  ['its next opening', true],
])('a session from before the destination tells what comes after %s', async (_, opens) => {
  const { store, publish, open } = createWorker()
  await store.put('s', records.slice(0, after(1)))
  if (opens) await open()
  await publish(records.slice(after(1), after(3)))
  await expect.poll(turns).toEqual([2, 3])
})
