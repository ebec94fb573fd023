// Logs of trees that are damaged, cut, replaced or older than their neighbours, stores that fail for a child alone, and two
// hosts over one store.
import { BatonError, tool } from '@baton/core'
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import type { ScriptedStep } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createManualTime, never, noUnhandledRejections } from './test-world.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const { acting, afterwards, approveUntil, calls, createAgents, factsOf, openMemory, rest, startProcess, toldTo } = kit

/** A process that died while its child waited for an approval, and the agents for the next one. */
async function abandon(effect: 'once' | 'pure' = 'once') {
  const time = createManualTime()
  const disk = openMemory()
  const paid: string[] = []
  const pay = acting('pay', () => `paid ${paid.push('')}`, { approval: true, effect })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const first = startProcess(time, disk.store, { agent: create().agent })
  const session = await first.host.session('s')
  session.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  const [child = ''] = await kit.childrenOf(disk.store)
  first.die()
  disk.free()
  return { time, disk, store: disk.store, paid, child, ...create() }
}

/** Changes the log of one session on its way out of the store. */
function readOtherwise(
  disk: Store,
  name: string,
  change: (records: readonly SessionRecord[]) => readonly SessionRecord[],
): Store {
  return {
    ...disk,
    snapshots: { put: disk.snapshots.put, latest: async () => undefined },
    acquire: async (session, ...given) => {
      const outcome = await disk.acquire(session, ...given)
      if (session !== name || outcome.type !== 'acquired') return outcome
      return { ...outcome, pos: change(await kit.recordsOf(disk, name)).length - 1 }
    },
    read: async function* (session, fromPos) {
      const records = await kit.recordsOf(disk, session)
      yield* (session === name ? change(records) : records).filter(({ pos }) => pos >= fromPos)
    },
  }
}

const CHANGES: readonly (readonly [string, (records: readonly SessionRecord[]) => readonly SessionRecord[], string])[] =
  [
    [
      'is damaged',
      () => {
        throw new BatonError({ code: 'log_damaged', message: 'record 1 has another checksum' })
      },
      'log_damaged',
    ],
    ['was cut to its first record', (records) => records.slice(0, 1), 'child_lost'],
    ['is gone', () => [], 'child_lost'],
    [
      'was replaced by the log of another call',
      (records) =>
        records.map((record) => ({
          ...record,
          facts: record.facts.map((fact) =>
            fact.type === 'child-opened' ? { ...fact, callId: 'call_other_1_0' } : fact,
          ),
        })),
      'child_lost',
    ],
  ]

test.each(CHANGES)(
  'the log of a child %s: it is lost, its caller reads that nobody knows, and goes on',
  async (_, change, code) => {
    const { time, store, child, agent, boss, paid } = await abandon()
    const second = startProcess(time, readOtherwise(store, child, change), { agent })
    const session = await second.host.session('s')
    expect((await time.until(session.send('Pay.', { inputId: 'm1' }).answer)).text).toBe('Done.')
    expect(await factsOf(store, 's', 'child-lost')).toMatchObject([{ code }])
    expect(await factsOf(store, 's', 'call-settled')).toMatchObject([{ settlement: { type: 'unknown' } }])
    expect(toldTo(boss)).toContain('lost')
    expect(await session.approvals()).toEqual([])
    expect(paid).toEqual([])
  },
)

test('a child without effects whose log is gone is an error, and not unknown', async () => {
  const { time, store, child, agent } = await abandon('pure')
  const second = startProcess(
    time,
    readOtherwise(store, child, () => []),
    { agent },
  )
  await time.until((await second.host.session('s')).send('Pay.', { inputId: 'm1' }).answer)
  expect(await factsOf(store, 's', 'call-settled')).toMatchObject([
    { settlement: { type: 'error', code: 'child_lost' } },
  ])
})

test('a backup of the root from before the person’s decision, over the newer child: lost, and told as unknown', async () => {
  const time = createManualTime()
  const old = openMemory()
  let paid = 0
  const pay = acting('pay', () => `paid ${(paid += 1)}`, { approval: true })
  const hang = acting('hang', () => never())
  const create = () =>
    createAgents(time, {
      steps: ({ messages }) =>
        messages.at(-1)?.role !== 'tool' ? calls('pay') : messages.length < 4 ? calls('hang') : { text: 'It is paid.' },
      tools: [pay, hang],
    })
  const first = startProcess(time, old.store, { agent: create().agent })
  const session = await first.host.session('s')
  session.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  const backup = await kit.recordsOf(old.store, 's')
  await session.decide({ approvalId: (await session.approvals())[0]?.approvalId ?? '', decision: 'approve' })
  await rest(time)
  expect(paid).toBe(1)
  first.die()
  const [child = ''] = await kit.childrenOf(old.store)
  const restored = createMemoryStore()
  await restored.put('s', backup)
  await restored.put(child, await kit.recordsOf(old.store, child), { root: 's' })
  const { agent } = create()
  const second = startProcess(time, restored, { agent })
  const again = await second.host.session('s')
  await approveUntil(again, again.send('Pay.', { inputId: 'm1' }).answer, { time })
  expect(await factsOf(restored, 's', 'child-lost')).toMatchObject([{ code: 'child_lost' }])
  expect(await factsOf(restored, 's', 'call-settled')).toMatchObject([{ settlement: { type: 'unknown' } }])
  expect(paid).toBe(1)
})

test('a backup of a child that lacks its newest record: lost, although it has written since', async () => {
  const { time, store, child, agent } = await abandon()
  const cut = (await kit.recordsOf(store, child)).slice(0, -1)
  const restored = createMemoryStore()
  await restored.put('s', await kit.recordsOf(store, 's'))
  await restored.put(child, cut, { root: 's' })
  const second = startProcess(time, restored, { agent })
  await time.until((await second.host.session('s')).send('Pay.', { inputId: 'm1' }).answer)
  expect(await factsOf(restored, 's', 'child-lost')).toMatchObject([{ code: 'child_lost' }])
})

test('a store that hangs for a child alone: the call ends at its time, and the session answers', async () => {
  const time = createManualTime()
  const { store: disk } = openMemory()
  const store: Store = {
    ...disk,
    append: (session, ...given) => (session === 's' ? disk.append(session, ...given) : never()),
  }
  const pay = acting('pay', () => 'paid')
  const { agent } = createAgents(
    time,
    { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] },
    { rules: { timeoutMs: 60_000 } },
  )
  const { host } = startProcess(time, store, { agent })
  const session = await host.session('s')
  expect((await time.until(session.send('Go.').answer)).text).toBe('Done.')
  expect((await session.info()).activity).toBe('idle')
})

test('a store that refuses a child for a minute: it is tried again, and there is one child', async () => {
  const time = createManualTime()
  const { store: disk } = openMemory()
  let tries = 0
  const store: Store = {
    ...disk,
    append: async (session, ...given) => {
      if (session !== 's' && time.nowMs() < 1_060_000) {
        tries += 1
        throw new Error('the disk is full')
      }
      return await disk.append(session, ...given)
    },
  }
  const { agent, boss } = createAgents(time, { steps: [{ text: 'Helped.' }] })
  const process = startProcess(time, store, { agent })
  await time.until((await process.host.session('s')).send('Go.').answer)
  expect(toldTo(boss)).toContain('Helped.')
  expect(await kit.childrenOf(disk)).toHaveLength(1)
  expect(tries).toBeLessThan(60)
  expect(process.warnings.length).toBeLessThan(60)
})

test('a full store that keeps a client’s picture from a child while its counts wait: it is tried again at intervals', async () => {
  const time = createManualTime()
  const { store: disk } = openMemory()
  const state = { isFull: true, tries: 0 }
  const store: Store = {
    ...disk,
    blobs: {
      ...disk.blobs,
      put: async (session, ...given) => {
        if (session !== 's' && state.isFull) {
          state.tries += 1
          // A loop without a pause would starve this test, so it is stopped here.
          return state.tries > 1000 ? await never() : await Promise.reject(new Error('the disk is full'))
        }
        return await disk.blobs.put(session, ...given)
      },
    },
  }
  const source = { type: 'base64', data: Buffer.alloc(100, 7).toString('base64') } as const
  const camera = tool({ name: 'camera', description: 'takes a picture', input: kit.EMPTY })
  const gates = { camera: Promise.withResolvers<void>(), look: Promise.withResolvers<void>() }
  const look = acting('look', async () => await gates.look.promise, { effect: 'pure' })
  const wait = acting('wait', async () => await never(), { effect: 'pure', timeoutMs: 90_000 })
  const all: ScriptedStep = { calls: ['camera', 'look', 'wait'].map((name) => ({ name, arguments: {} })) }
  const below = { steps: afterwards(all, 'A cat.'), tools: [camera, look, wait] }
  const { agent, boss, helper } = createAgents(time, below)
  const process = startProcess(time, store, { agent })
  const session = await process.host.session('s')
  const picture = { type: 'image', mediaType: 'image/png', source } as const
  await session.attach({ camera: async () => await gates.camera.promise.then(() => ({ content: [picture] })) })
  const { answer } = session.send('Look.')
  await rest(time)
  gates.look.resolve()
  await rest(time)
  gates.camera.resolve()
  await time.pass(60_000)
  expect(state.tries).toBeGreaterThan(3)
  expect(state.tries).toBeLessThan(60)
  state.isFull = false
  await time.until(answer)
  expect(toldTo(helper)).toContain(source.data)
  expect(toldTo(boss)).toContain('A cat.')
})

test('a host sleeps while another one takes its root: nothing that it had begun is run twice, and it writes nothing more', async () => {
  const time = createManualTime()
  const disk = openMemory()
  let started = 0
  const gates: (() => void)[] = []
  const pay = acting('pay', async () => {
    started += 1
    await new Promise<void>((resolve) => void gates.push(resolve))
    return 'paid'
  })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is over.'), tools: [pay] })
  const sleeping = startProcess(time, disk.store, { agent: create().agent })
  ;(await sleeping.host.session('s')).send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  expect(started).toBe(1)
  disk.free()
  const { agent } = create()
  const other = startProcess(time, disk.store, { agent })
  const session = await other.host.session('s')
  await time.until(session.send('Pay.', { inputId: 'm1' }).answer)
  for (const open of gates) open()
  await time.pass(60_000)
  expect(started).toBe(1)
  expect(await kit.factsBelow(disk.store, 'call-settled')).toMatchObject([{ settlement: { type: 'unknown' } }])
  expect(await factsOf(disk.store, 's', 'child-closed')).toHaveLength(1)
})

test('a host that was opening a child while another one took its root, and that gets the root back, does not call the child lost', async () => {
  const time = createManualTime()
  const disk = openMemory()
  let paid = 0
  const pay = acting('pay', () => `paid ${(paid += 1)}`, { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const reads = Promise.withResolvers<void>()
  // It has acquired the child, waits for its log, and cannot renew its leases.
  const slow: Store = {
    ...disk.store,
    renew: () => never(),
    read: async function* (session, fromPos) {
      if (session !== 's') await reads.promise
      yield* disk.store.read(session, fromPos)
    },
  }
  const first = startProcess(time, slow, { agent: create().agent })
  ;(await first.host.session('s')).send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await rest(time)
  disk.free()
  const other = startProcess(time, disk.store, { agent: create().agent })
  ;(await other.host.session('s')).send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await time.pass(12_000) // the first one learns that it has lost the root
  await time.until(other.host.stop())
  const back = first.host.session('s')
  await rest(time)
  reads.resolve()
  const session = await time.until(back)
  await approveUntil(session, session.send('Pay.', { inputId: 'm1' }).answer, { time })
  expect(await factsOf(disk.store, 's', 'child-lost')).toEqual([])
  expect(await kit.factsBelow(disk.store, 'child-opened')).toHaveLength(1)
  expect(paid).toBe(1)
})

test('two hosts take the root from each other again and again: one child, one payment', async () => {
  const time = createManualTime()
  const disk = openMemory()
  let paid = 0
  const pay = acting('pay', () => `paid ${(paid += 1)}`, { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const hosts = [0, 1].map(() => startProcess(time, disk.store, { agent: create().agent }).host)
  for (let round = 0; round < 6; round += 1) {
    disk.free()
    const session = await hosts[round % 2]!.session('s')
    session.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
    await rest(time, 10)
  }
  const session = await hosts[1]!.session('s')
  await approveUntil(session, session.send('Pay.', { inputId: 'm1' }).answer, { time })
  expect(paid).toBe(1)
  expect(await kit.factsBelow(disk.store, 'child-opened')).toHaveLength(1)
  expect(await factsOf(disk.store, 's', 'child-lost')).toEqual([])
})

test('five hundred delegations one after another leave nothing open and nothing in the state of the session', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const { agent } = createAgents(
    time,
    { steps: () => ({ text: 'Helped.' }) },
    { steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'Done.' } : kit.asks('helper')) },
  )
  const { host } = startProcess(time, store, { agent })
  const session = await host.session('s')
  for (let at = 0; at < 500; at += 1) await time.until(session.send(`Go ${at}.`).answer)
  await time.pass(5000)
  expect(await factsOf(store, 's', 'child-closed')).toHaveLength(500)
  expect(time.pending()).toBeLessThan(10)
  expect((await session.info()).activity).toBe('idle')
})
