// Notices by the clock: when they are repeated and expire, and what hosts do for each other. What every kind of host tells is
// in packages/testing/src/notices.
import type { Notice, NoticeDestination, NoticeFailure } from '@baton/core/internal'
import { createHost, defineAgent, tool } from '@baton/host'
import { expect, test } from 'vitest'
import type { ManualTime } from './test-world.test-kit.ts'
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
const HOUR_MS = 60 * MINUTE_MS
const steps = () => ({ text: 'done' })

interface Receiver extends NoticeDestination {
  /** Notices in the order in which they were taken. */
  readonly taken: Notice[]
  /** Milliseconds at which each attempt came. */
  readonly attemptsMs: number[]
  answer: (notice: Notice, signal: AbortSignal) => NoticeFailure | void | Promise<NoticeFailure | void>
}

function createReceiver(time: ManualTime, options: Partial<NoticeDestination> = {}): Receiver {
  const receiver: Receiver = {
    name: 'shop',
    ...options,
    taken: [],
    attemptsMs: [],
    answer: () => {},
    send: async (notice, { signal }) => {
      receiver.attemptsMs.push(time.nowMs())
      const failure = await receiver.answer(notice, signal)
      if (!failure) receiver.taken.push(notice)
      return failure
    },
  }
  return receiver
}

const typesOf = (receiver: Receiver): readonly string[] => receiver.taken.map(({ type }) => type)

const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
  effect: 'once',
  approval: true,
  execute: () => 'paid',
})
const paying = [{ calls: [{ name: 'pay', arguments: { euros: 40 } }] }, { text: 'Paid.' }]

test('a failing notice is repeated with growing delays, holds up later ones of its session, and none of another', async () => {
  const time = createManualTime()
  const receiver = createReceiver(time)
  receiver.answer = ({ data }) =>
    data.session === 'tested' && time.nowMs() < 2_000_000 ? { message: 'no' } : undefined
  const world = createTestWorld({ time, steps, host: { notify: [receiver] } })
  const session = await world.open()
  await time.until(session.send('One.').answer)
  await time.until(session.send('Two.').answer)
  const other = await time.until(world.host.session('other'))
  await time.until(other.send('Three.').answer)
  await time.pass(1000)
  expect(receiver.taken.map(({ data }) => data.session)).toEqual(['other'])
  await time.pass(2 * HOUR_MS)
  expect(receiver.taken.map(({ data }) => [data.session, data['turn']])).toEqual([
    ['other', 1],
    ['tested', 1],
    ['tested', 2],
  ])
  const [first = 0, , second = 0, third = 0, fourth = 0] = receiver.attemptsMs
  for (const [gapMs, meantMs] of [
    [second - first, 5000],
    [third - second, 5 * MINUTE_MS],
    [fourth - third, 30 * MINUTE_MS],
  ] as const) {
    expect(gapMs).toBeGreaterThanOrEqual(meantMs * 0.8)
    expect(gapMs).toBeLessThanOrEqual(meantMs * 1.2 + 10)
  }
})

test.each([
  ['its id', 'notice_1'],
  ['nothing', undefined],
  ['the notice alone', { id: 'notice_1', data: { session: 's' } }],
  ['a notice without a session', { destination: 'shop', notice: { id: 'notice_1', data: {} } }],
])('%s in place of a dead notice is refused, with what to write', async (_, given) => {
  const time = createManualTime()
  const { host } = createTestWorld({ time, store: ownStore(), steps, host: { notify: [createReceiver(time)] } })
  for (const method of ['redeliver', 'drop'] as const)
    await expect(time.until(host.notices[method](given as never))).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(`notices.${method} takes an entry of notices.dead()`) as string,
      hint: expect.stringContaining('host.notices.dead()') as string,
    })
})

test('a destination that asks for time gets it, and one that is gone gets nothing more until a restart', async () => {
  const time = createManualTime()
  const store = ownStore()
  const receiver = createReceiver(time)
  receiver.answer = () => ({ message: 'slowly', retryAfterMs: 20 * MINUTE_MS })
  const world = createTestWorld({ time, store, steps, host: { notify: [receiver] } })
  const session = await world.open()
  await time.until(session.send('One.').answer)
  await time.pass(19 * MINUTE_MS)
  expect(receiver.attemptsMs).toHaveLength(1)
  receiver.answer = () => ({ message: 'HTTP 410', isGone: true })
  await time.pass(2 * MINUTE_MS)
  expect(receiver.attemptsMs).toHaveLength(2)
  await time.until(session.send('Two.').answer)
  await time.pass(10 * HOUR_MS)
  expect(receiver.attemptsMs).toHaveLength(2)
  expect(world.warnings).toContain('a destination of notices is gone, and gets no more from this host')
  await time.until(world.host.stop())
  receiver.answer = () => {}
  const next = createTestWorld({ time, store, steps, host: { notify: [receiver] } })
  await time.until(next.host.recover())
  await time.pass(MINUTE_MS)
  expect(receiver.taken.map(({ data }) => data['turn'])).toEqual([1, 2])
})

test('a request that expires is withdrawn', async () => {
  const time = createManualTime()
  const receiver = createReceiver(time)
  const world = createTestWorld({ time, steps: paying, tools: [pay], host: { notify: [receiver] } })
  const session = await world.open()
  session.send('Pay 40 euros.').answer.catch(() => {})
  await time.pass(11 * MINUTE_MS)
  expect(typesOf(receiver)).toEqual(['approval.requested', 'approval.withdrawn', 'turn.finished'])
  const asked = receiver.taken[0]?.data
  const { approvalId, callId } = { approvalId: asked?.['approvalId'], callId: asked?.['callId'] }
  expect(receiver.taken[1]?.data).toMatchObject({ approvalId, callId, reason: 'expired' })
  await time.until(world.host.stop())
})

test('a host that stops waits five seconds for a destination that hangs, and no longer', async () => {
  const time = createManualTime()
  const receiver = createReceiver(time)
  receiver.answer = () => new Promise(() => {})
  const world = createTestWorld({ time, steps, host: { notify: [receiver] } })
  await time.until((await world.open()).send('One.').answer)
  await time.pass(100)
  const beganMs = time.nowMs()
  await time.until(world.host.stop())
  expect(time.nowMs() - beganMs).toBe(5000)
})

test('a destination that hangs slows no turn, and its attempt ends by the clock', async () => {
  const time = createManualTime()
  const receiver = createReceiver(time)
  const signals: AbortSignal[] = []
  receiver.answer = (_, signal) => {
    signals.push(signal)
    return new Promise(() => {})
  }
  const world = createTestWorld({ time, steps, host: { notify: [receiver] } })
  const session = await world.open()
  const beganMs = time.nowMs()
  for (const text of ['One.', 'Two.', 'Three.']) await time.until(session.send(text).answer)
  expect(time.nowMs()).toBe(beganMs)
  await time.pass(15_000)
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('what a dead host left is told by the next one, with the same id', async () => {
  const { time, store } = createSharedStore()
  const receiver = createReceiver(time)
  receiver.answer = () => new Promise(() => {})
  const ids: string[] = []
  const noting: NoticeDestination = {
    ...receiver,
    send: async (notice, context) => {
      ids.push(notice.id)
      return await receiver.send(notice, context)
    },
  }
  const dead = createProcess(time, store, { steps, host: { notify: [noting] } })
  await time.until((await dead.open()).send('One.').answer)
  await time.settle()
  expect(ids).toHaveLength(1)
  dead.die()
  receiver.answer = () => {}
  const next = createProcess(time, store, { steps, host: { notify: [noting] } })
  await time.until(next.host.recover({ everyMs: 5000 }))
  await time.pass(LEASE_MS + MINUTE_MS)
  expect(new Set(ids).size).toBe(1)
  expect(receiver.taken.map(({ data }) => data['turn'])).toEqual([1])
})

test('of two hosts over one store one tells each notice, whichever had the session', async () => {
  const { time, store } = createSharedStore()
  const receiver = createReceiver(time, { retriesMs: Array.from({ length: 10 }, () => 1000) })
  const hosts = [0, 1].map(() => createProcess(time, store, { steps, host: { notify: [receiver] } }))
  for (const { host } of hosts) await time.until(host.recover({ everyMs: MINUTE_MS }))
  receiver.answer = () => ({ message: 'not now' })
  for (let turn = 0; turn < 6; turn++) {
    const session = await time.until((hosts[turn % 2] ?? hosts[0])!.host.session('tested'))
    await time.until(session.send(`Turn ${turn}.`).answer)
    await session.close()
    await time.pass(100)
  }
  receiver.answer = () => {}
  await time.pass(HOUR_MS)
  expect(receiver.taken.map(({ data }) => data['turn'])).toEqual([1, 2, 3, 4, 5, 6])
})

test.each<[string, unknown, RegExp]>([
  ['no list', { name: 'a' }, /an array of destinations/],
  ['no destination', ['https://example.com'], /destinations with a name and a function send/],
  ['a name with a space', [{ name: 'a b', send: () => {} }], /1 to 64 letters/],
  ['one name twice', [1, 2].map(() => ({ name: 'a', send: () => {} })), /two destinations named "a"/],
  [
    'an unknown kind',
    [{ name: 'a', types: ['turn.begun'], send: () => {} }],
    /kinds of notices, without "turn\.begun"/,
  ],
  ['a kind in place of a list', [{ name: 'a', types: 'turn.failed', send: () => {} }], /without "turn\.failed"/],
  ['a delay that is none', [{ name: 'a', retriesMs: [-1], send: () => {} }], /delays up to a day/],
  ['no time', [{ name: 'a', timeoutMs: 0, send: () => {} }], /100 to 120000 milliseconds/],
])('%s as notify is refused', (_, notify, message) => {
  const agent = defineAgent({ name: 'a', model: 'offline' })
  expect(() => createHost({ agent, notify: notify as never })).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) as string }),
  )
})

test('two destinations of one name are told to take another, and a front in place of its notices where they are', () => {
  const agent = defineAgent({ name: 'a', model: 'offline' })
  const send = () => Promise.resolve()
  const hint = (text: string): unknown => expect.objectContaining({ hint: expect.stringContaining(text) as string })
  expect(() => createHost({ agent, notify: [1, 2].map(() => ({ name: 'audit', send })) })).toThrow(hint('audit-2'))
  expect(() => createHost({ agent, notify: [{ notices: { name: 'slack', send } }] as never })).toThrow(
    hint('slack.notices'),
  )
})
