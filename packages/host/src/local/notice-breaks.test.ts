// Notices while something breaks: a host that stops in an attempt, an outbox that fails, two hosts at one session, and a clock
// that was set.
import type { Notice, NoticeDestination, NoticeFailure, OutboxRow, Store } from '@baton/core/internal'
import { BatonError, tool } from '@baton/core/internal'
import { expect, test } from 'vitest'
import {
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  noUnhandledRejections,
  ownStore,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const steps = () => ({ text: 'done' })

interface Receiver extends NoticeDestination {
  readonly taken: Notice[]
  /** Attempts so far. */
  attempts: number
  answer: () => NoticeFailure | void | Promise<NoticeFailure | void>
}

function createReceiver(options: Partial<NoticeDestination> = {}): Receiver {
  const receiver: Receiver = {
    name: 'shop',
    ...options,
    taken: [],
    attempts: 0,
    answer: () => {},
    send: async (notice) => {
      receiver.attempts += 1
      const failure = await receiver.answer()
      if (!failure) receiver.taken.push(notice)
      return failure
    },
  }
  return receiver
}

const turnsOf = ({ taken }: Receiver): readonly unknown[] => taken.map(({ data }) => data['turn'])
const hangs = (): Promise<never> => new Promise(() => {})

type Swap = readonly [session: string, name: string, was: string | undefined, row?: OutboxRow]

/** The store as a host has it, before whose changes of the outbox `before` runs. */
function watchOutbox<Kept extends Store>(store: Kept, before: (...swap: Swap) => void | Promise<void>): Kept {
  const swap: Store['outbox']['swap'] = async (...given) => {
    await before(...given)
    return await store.outbox.swap(...given)
  }
  return { ...store, outbox: { ...store.outbox, swap } }
}

function fail(): never {
  throw new BatonError({ code: 'store_failed', message: 'the outbox is away' })
}

test('attempts that the stop of a host ended do not count: two stops and one failure leave a second attempt', async () => {
  const time = createManualTime()
  const store = ownStore()
  const receiver = createReceiver({ retriesMs: [1000] })
  receiver.answer = hangs
  for (const turn of [1, 2]) {
    const world = createTestWorld({ time, store, steps, host: { notify: [receiver] } })
    if (turn === 1) await time.until((await world.open()).send('One.').answer)
    else await time.until(world.host.recover())
    await time.pass(100)
    expect(receiver.attempts).toBe(turn)
    await time.until(world.host.stop())
  }
  receiver.answer = () => (receiver.attempts === 3 ? { message: 'not now' } : undefined)
  const { host } = createTestWorld({ time, store, steps, host: { notify: [receiver] } })
  await time.until(host.recover())
  await time.pass(MINUTE_MS)
  expect([turnsOf(receiver), await host.notices.dead()]).toEqual([[1], { dead: [] }])
})

test('a destination that asks for a second gets the growing delays all the same', async () => {
  const time = createManualTime()
  const receiver = createReceiver()
  receiver.answer = () => ({ message: 'busy', retryAfterMs: 1000 })
  const world = createTestWorld({ time, steps, host: { notify: [receiver] } })
  await time.until((await world.open()).send('One.').answer)
  await time.pass(3900)
  expect(receiver.attempts).toBe(1)
  await time.pass(3 * MINUTE_MS)
  expect(receiver.attempts).toBe(2)
  await time.until(world.host.stop())
})

test('a notice that cannot be listed as dead is sent once more, and listed then', async () => {
  const time = createManualTime()
  const receiver = createReceiver({ retriesMs: [] })
  receiver.answer = () => ({ message: 'no' })
  let failures = 1
  const store = watchOutbox(ownStore(), (_, name) => {
    if (name.startsWith('dead.') && failures-- > 0) fail()
  })
  const world = createTestWorld({ time, store, steps, host: { notify: [receiver] } })
  await time.until((await world.open()).send('One.').answer)
  await time.pass(MINUTE_MS)
  expect((await world.host.notices.dead()).dead).toMatchObject([{ notice: { data: { turn: 1 } }, error: 'no' }])
  await time.until(world.host.stop())
})

test('dead notices of one moment come in pages, each once', async () => {
  const time = createManualTime()
  const receiver = createReceiver({ retriesMs: [] })
  receiver.answer = () => ({ message: 'no' })
  const { host, open } = createTestWorld({ time, steps, host: { notify: [receiver] } })
  const session = await open()
  for (const text of ['One.', 'Two.', 'Three.']) await time.until(session.send(text).answer)
  await time.settle()
  const found: Notice[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page = await host.notices.dead({ limit: 1, ...(cursor !== '' && { cursor }) })
    found.push(...page.dead.map(({ notice }) => notice))
    expect(page.dead.map(({ diedMs }) => diedMs)).toEqual(page.dead.map(() => time.nowMs()))
    cursor = page.cursor
  }
  expect(new Set(found.map(({ data }) => data['turn']))).toEqual(new Set([1, 2, 3]))
  expect(found).toHaveLength(3)
  await time.until(host.stop())
})

test.each([
  ['closes the session', 0],
  ['keeps the session for its next opening', 300_000],
])('what a host could not note before it %s and dies is told by the next one', async (_, lingerMs) => {
  const { time, store } = createSharedStore()
  const [audit, shop] = [createReceiver({ name: 'audit' }), createReceiver()]
  let isAway = false
  const broken = watchOutbox(store, async (_session, name) => {
    if (!isAway || !name.endsWith('audit')) return
    await new Promise<void>((resolve) => void time.environment.timers.start(50, resolve))
    fail()
  })
  const dying = createProcess(time, broken, { steps, host: { notify: [audit, shop], lingerMs } })
  const session = await dying.open()
  isAway = true
  await time.until(session.send('One.').answer)
  await time.until(session.close())
  await time.pass(100)
  expect([turnsOf(audit), turnsOf(shop)]).toEqual([[], [1]])
  dying.die()
  const next = createProcess(time, store, { steps, host: { notify: [audit, shop] } })
  await time.pass(LEASE_MS)
  await time.until(next.host.recover({ everyMs: 5000 }))
  await time.pass(MINUTE_MS)
  expect([turnsOf(audit), turnsOf(shop)]).toEqual([[1], [1]])
  await time.until(next.host.stop())
})

test('what could not be noted is told once the outbox is back, while the session stays open', async () => {
  const receiver = createReceiver()
  let isAway = false
  const store = watchOutbox(ownStore(), () => (isAway ? fail() : undefined))
  const world = createTestWorld({ store, steps, host: { notify: [receiver] } })
  const { time } = world
  const session = await world.open()
  await time.until(session.send('One.').answer)
  await time.pass(100)
  isAway = true
  await time.until(session.send('Two.').answer)
  await time.pass(MINUTE_MS)
  expect(turnsOf(receiver)).toEqual([1])
  isAway = false
  await time.pass(30_000)
  expect(turnsOf(receiver)).toEqual([1, 2])
  await time.until(world.host.stop())
  expect(time.pending()).toBe(0)
})

test('what another host stores while this one comes to the end of the log is told at once', async () => {
  const { time, store } = createSharedStore()
  const receiver = createReceiver()
  const reached = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const slow = watchOutbox(store, async (_session, _name, _was, row) => {
    if (row?.list !== 'notices.told' || receiver.taken.length === 0) return
    reached.resolve()
    await gate.promise
  })
  const [one, two] = [slow, store].map((own) => createProcess(time, own, { steps, host: { notify: [receiver] } }))
  const first = await one!.open()
  await time.until(first.send('One.').answer)
  await time.until(first.close())
  await time.until(reached.promise)
  const second = await two!.open()
  await time.until(second.send('Two.').answer)
  gate.resolve()
  await time.pass(1000)
  expect(turnsOf(receiver)).toEqual([1, 2])
  for (const world of [one, two]) await time.until(world!.host.stop())
})

test('after the clock was set, a notice says by the clock when its request expires', async () => {
  const receiver = createReceiver({ types: ['approval.requested', 'question.asked'] })
  const input = { type: 'object' } as const
  const pay = tool({ name: 'pay', description: 'Pays', input, approval: true, execute: () => 'paid' })
  const world = createTestWorld({
    steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Paid.' }],
    tools: [pay],
    host: { notify: [receiver] },
  })
  const { time } = world
  const session = await world.open()
  time.setWall(DAY_MS)
  session.send('Pay.').answer.catch(() => {})
  await time.pass(1)
  const [asked] = receiver.taken
  expect(asked?.timestamp).toBe(new Date(1_000_000 + DAY_MS).toISOString())
  expect(asked?.data['expiresAt']).toBe(new Date(1_000_000 + DAY_MS + 10 * MINUTE_MS).toISOString())
  await time.until(world.host.stop())
})
