// Trees of sessions whose process dies, sleeps or loses its store at one step of the way between a call and its child: what
// the next process does. The expected outcome of each situation is fixed; the store it happens on is not.
import type { Fact } from '@baton/core/machine'
import { describe, expect, test } from 'vitest'
import { noUnhandledRejections } from './test-world.test-kit.ts'
import type { Disk, Fate } from './tree.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const { acting, afterwards, approveUntil, calls, createAgents, createManualTime, factsBelow, factsOf, startProcess } =
  kit

const has = (facts: readonly Fact[], ...types: readonly Fact['type'][]): boolean =>
  facts.some(({ type }) => types.includes(type))
const isBelow = (session: string): boolean => session !== 's'

interface Played {
  readonly disk: Disk
  /** Starts of the child's tool in the world. */
  readonly paid: readonly string[]
  readonly bossTold: string
  readonly helperTold: string
}

/** One process dies at the write that the fate names; another one continues, with the same agents. */
async function play(open: (time: kit.Time) => Promise<Disk>, fate: Fate, approval = true): Promise<Played> {
  const time = createManualTime()
  const disk = await open(time)
  const paid: string[] = []
  const pay = acting('pay', (_, { idempotencyKey }) => `paid ${paid.push(idempotencyKey)}`, { approval })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const first = startProcess(time, disk.store, { agent: create().agent, fate })
  const begun = await first.host.session('s')
  begun.send('Pay.', { inputId: 'm1' }).answer.catch(() => {})
  await kit.passUntil(
    time,
    async () => {
      if (first.isDead()) return true
      for (const { approvalId } of await begun.approvals().catch(() => []))
        void begun.decide({ approvalId, decision: 'approve' }).catch(() => {})
      return false
    },
    disk,
  )
  disk.free()
  const agents = create()
  const second = startProcess(time, disk.store, { agent: agents.agent })
  const opening = second.host.session('s')
  let isOpen = false
  opening.finally(() => (isOpen = true)).catch(() => {})
  await kit.passUntil(time, () => isOpen, disk)
  const session = await opening
  await approveUntil(session, session.send('Pay.', { inputId: 'm1' }).answer, { time, disk })
  return { disk, paid, bossTold: kit.toldTo(agents.boss), helperTold: kit.toldTo(agents.helper) }
}

/** Whatever happened, there is one child, which got one task and was closed once. */
async function expectOne({ store }: Disk): Promise<void> {
  expect(await kit.childrenOf(store)).toHaveLength(1)
  expect(await factsBelow(store, 'child-opened')).toHaveLength(1)
  expect(await factsBelow(store, 'input-accepted')).toHaveLength(1)
  expect(await factsBelow(store, 'turn-finished')).toHaveLength(1)
  for (const type of ['child-begun', 'child-closed', 'turn-finished'] as const)
    expect(await factsOf(store, 's', type)).toHaveLength(1)
  const settled = await factsOf(store, 's', 'call-settled')
  expect(settled.filter(({ via }) => via === undefined)).toMatchObject([{ settlement: { type: 'ok' } }])
}

const PAID: readonly (readonly [string, Fate])[] = [
  ['after the call began, before the child’s row', (_, facts) => (has(facts, 'child-begun') ? 'after' : undefined)],
  ['after the child’s row, before its first record', (_, facts) => (has(facts, 'child-opened') ? 'before' : undefined)],
  ['after the child’s first record, before its task', (_, facts) => (has(facts, 'child-opened') ? 'after' : undefined)],
  [
    'after the task was told and the child’s model was asked',
    (session, facts) => (isBelow(session) && has(facts, 'input-accepted') ? 'after' : undefined),
  ],
  [
    'between the child’s request and its showing at the root',
    (_, facts) => (has(facts, 'request-relayed') ? 'before' : undefined),
  ],
  [
    'in the moment in which the person sees the request',
    (_, facts) => (has(facts, 'request-relayed') ? 'after' : undefined),
  ],
  [
    'after the person’s decision was stored, before the child hears it',
    (session, facts) => (!isBelow(session) && has(facts, 'approval-decided') ? 'after' : undefined),
  ],
  [
    'after the child’s end, before its caller has read it',
    (session, facts) => (isBelow(session) && has(facts, 'turn-finished') ? 'after' : undefined),
  ],
  ['after the call settled', (_, facts) => (has(facts, 'child-closed') ? 'after' : undefined)],
]

describe.each(kit.DISKS)('%s: the process dies', (_, open) => {
  test.each(PAID)('%s: one child, one task, one payment', async (_name, fate) => {
    const { disk, paid, bossTold } = await play(open, fate)
    await expectOne(disk)
    expect(paid).toHaveLength(1)
    expect(bossTold).toContain('It is paid.')
  })

  test('after a once tool of the child has started: the child reads that nobody knows, and its caller an ordinary answer', async () => {
    const { disk, paid, helperTold, bossTold } = await play(
      open,
      (session, facts) => (isBelow(session) && has(facts, 'call-started') ? 'after' : undefined),
      false,
    )
    await expectOne(disk)
    expect(paid).toEqual([])
    const [settled] = await factsBelow(disk.store, 'call-settled')
    expect(settled).toMatchObject({ settlement: { type: 'unknown' } })
    expect(helperTold).toMatch(/not known|unknown/i)
    expect(bossTold).toContain('It is paid.')
  })
})

test('the request that a person saw before the process died has the same id afterwards', async () => {
  const time = createManualTime()
  const disk = kit.openMemory()
  const pay = acting('pay', () => 'paid', { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const first = startProcess(time, disk.store, { agent: create().agent })
  const begun = await first.host.session('s')
  begun.send('Pay.').answer.catch(() => {})
  await kit.rest(time)
  const [seen] = await begun.approvals()
  first.die()
  disk.free()
  const agents = create()
  const second = startProcess(time, disk.store, { agent: agents.agent })
  const session = await second.host.session('s')
  await kit.rest(time)
  expect(seen).toBeDefined()
  expect((await session.approvals()).map(({ approvalId }) => approvalId)).toEqual([seen?.approvalId])
  expect([agents.boss.requests, agents.helper.requests]).toEqual([[], []])
})

test('a process that dies again and again counts the attempts of the child’s model in the child’s log, and the call settles', async () => {
  const time = createManualTime()
  const disk = kit.openMemory()
  const create = () => createAgents(time, { steps: () => ({ text: 'late', pieceMs: 600_000 }) })
  for (let storm = 0; storm < 8; storm += 1) {
    const agents = create()
    const one = startProcess(time, disk.store, { agent: agents.agent })
    const session = await one.host.session('s')
    session.send('Go.', { inputId: 'm1' }).answer.catch(() => {})
    await time.pass(2000)
    one.die()
    disk.free()
  }
  expect(await factsOf(disk.store, 's', 'turn-finished')).toMatchObject([{ outcome: 'answered' }])
  expect(await factsBelow(disk.store, 'turn-finished')).toMatchObject([
    { outcome: 'failed', error: { code: 'recovery_exhausted' } },
  ])
  expect((await factsOf(disk.store, 's', 'child-closed')).map(({ stop }) => stop)).toEqual(['failed'])
})

test('a child’s repeatable tool that kills its process each time is given up by the child; its caller goes on', async () => {
  const time = createManualTime()
  const disk = kit.openMemory()
  let started = 0
  for (let storm = 0; storm < 8; storm += 1) {
    const bomb = acting(
      'bomb',
      async () => {
        started += 1
        one.die()
        return await new Promise(() => {})
      },
      { effect: 'idempotent' },
    )
    const agents = createAgents(time, { steps: afterwards(calls('bomb'), 'It does not work.'), tools: [bomb] })
    const one = startProcess(time, disk.store, { agent: agents.agent })
    const session = await one.host.session('s').catch(() => undefined)
    session?.send('Go.', { inputId: 'm1' }).answer.catch(() => {})
    await time.pass(2000)
    one.die()
    disk.free()
  }
  expect(started).toBeLessThanOrEqual(4)
  expect(await factsOf(disk.store, 's', 'turn-finished')).toMatchObject([{ outcome: 'answered' }])
})

test('the wall clock jumps a day: nothing of a tree runs out', async () => {
  const time = createManualTime()
  const pay = acting('pay', () => 'paid', { approval: true })
  const { agent, boss } = createAgents(time, { steps: afterwards(calls('pay'), 'It is paid.'), tools: [pay] })
  const process = startProcess(time, kit.openMemory().store, { agent })
  const session = await process.host.session('s')
  const { answer } = session.send('Pay.')
  await kit.rest(time)
  time.setWall(86_400_000)
  await time.pass(1000)
  expect(await session.approvals()).toHaveLength(1)
  await approveUntil(session, answer, { time })
  expect(kit.toldTo(boss)).toContain('It is paid.')
})
