// A page that leaves while its client is being attached or renewed: nothing remains, and nothing is attached again. One
// that stays is attached again when its session is restarted, and gets its calls although the store fails for a moment.
import type {
  CallView,
  ErrorCode,
  LeaseClient,
  LeaseClientOptions,
  FrontSession,
  SessionEvent,
} from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { ChatAnswer } from './chat-answer.ts'

const OFFERED = {
  callId: 'c1',
  name: 'scan',
  arguments: '{}',
  runs: 'client',
  status: 'proposed',
  waitsForClient: true,
  effect: 'once',
} as unknown as CallView // the fields that the answer uses

const event = (call: CallView) =>
  ({ type: 'call', call, cursor: { pos: 2 }, time: 0, turn: 1, message: 'a1', step: 1 }) as unknown as SessionEvent

const turn = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve))

/** The session answers when the test says so, and time passes when it says so. */
function createWorld() {
  const asked: string[] = []
  const timers: (() => void)[] = []
  const waitsMs: number[] = []
  const logged: string[] = []
  const pending: ((failure?: BatonError) => void)[] = []
  const later = async (what: string): Promise<void> => {
    asked.push(what)
    await new Promise<void>((resolve, reject) => {
      pending.push((failure) => (failure ? reject(failure) : resolve()))
    })
  }
  const lease = {
    connection: 'chat-1',
    renew: () => later('renew'),
    detach: () => later('detach'),
    claim: () => later('claim'),
  } as unknown as LeaseClient
  const gone = new Set<() => void>()
  const leasesMs: (number | undefined)[] = []
  const names: string[] = []
  let ids = 0
  const session = {
    client: (init: LeaseClientOptions) => {
      leasesMs.push(init.leaseMs)
      names.push(init.client)
      return later('attach').then(() => lease)
    },
    onClientsGone: (callback: () => void) => {
      gone.add(callback)
      return () => void gone.delete(callback)
    },
  } as unknown as FrontSession
  const answer = new ChatAnswer({
    principal: { id: 'ann' },
    session,
    linkMedia: () => '',
    timers: {
      start: (ms, fire) => {
        waitsMs.push(ms)
        timers.push(fire)
        return () => void (timers.includes(fire) && timers.splice(timers.indexOf(fire), 1))
      },
    },
    log: { info: (message) => void logged.push(message), warn: (message) => void logged.push(message) },
    nowMs: () => 0,
    newId: () => String((ids += 1)),
    livePos: 0,
  })
  return {
    answer,
    asked,
    leasesMs,
    names,
    waitsMs,
    logged,
    timers,
    gone,
    /** Answers the oldest request; with a code, it is refused. */
    settle: async (code?: ErrorCode) => {
      await turn()
      pending.shift()?.(code && new BatonError({ code, message: `refused: ${code}` }))
      await turn()
    },
    pass: () => {
      for (const fire of timers.splice(0)) fire()
    },
  }
}

test('a renewal that is under way when its page leaves is the last one', async () => {
  const { answer, asked, timers, settle, pass } = createWorld()
  const told = answer.take(event(OFFERED))
  await settle()
  await told
  pass()
  expect(asked).toEqual(['attach', 'renew'])
  const left = answer.leave()
  await settle() // the renewal
  await settle() // the release
  await left
  expect([asked, timers]).toEqual([['attach', 'renew', 'detach'], []])
})

test('a page whose session is restarted is attached again at once, and no more when it has left', async () => {
  const { answer, asked, gone, settle } = createWorld()
  const told = answer.take(event(OFFERED))
  await settle()
  await told
  for (const tell of gone) tell()
  expect(asked).toEqual(['attach', 'renew'])
  await settle()
  const left = answer.leave()
  await settle() // the release
  await left
  expect([asked, gone.size]).toEqual([['attach', 'renew', 'detach'], 0])
})

test('a page that leaves keeps its lease until the last deadline of its calls', async () => {
  const { answer, leasesMs, settle } = createWorld()
  const deadlines = { c1: 60_000, c2: 600_000 }
  const offer = async (callId: keyof typeof deadlines, more: object): Promise<unknown> =>
    await answer.take(event({ ...OFFERED, callId, ...more, deadlineMs: deadlines[callId] }))
  const told = offer('c1', {})
  await settle()
  await told
  for (const callId of ['c1', 'c2'] as const) {
    const claimed = offer(callId, { status: 'waiting', holder: 'chat-1', waitsForClient: false })
    await settle()
    await claimed
  }
  const left = answer.leave()
  await settle()
  await left
  expect(leasesMs.at(-1)).toBeGreaterThanOrEqual(deadlines.c2)
})

test('a page that leaves while being attached is released afterwards', async () => {
  const { answer, asked, timers, settle } = createWorld()
  const told = answer.take(event(OFFERED))
  await answer.leave()
  await settle() // the attachment
  await settle() // the release
  await told
  expect([asked, timers]).toEqual([['attach', 'detach'], []])
})

const HELD: object = { status: 'waiting', holder: 'chat-1', waitsForClient: false }
const INPUT = { type: 'tool-input-available', toolCallId: 'c1', toolName: 'scan' }

/** A page to which the call was offered, and whose claim is being answered. */
async function createOffered() {
  const world = createWorld()
  const attached = world.answer.take(event(OFFERED))
  await world.settle()
  await attached
  const told = Promise.resolve(world.answer.take(event({ ...OFFERED, ...HELD })))
  return { ...world, told }
}

test.each([
  ['before the claim is answered', ['tell', 'settle']],
  ['after the claim was answered', ['settle', 'tell']],
])('a page gets a call whose claim failed for a moment, when the session says so %s', async (_when, order) => {
  const { answer, asked, waitsMs, told, settle, pass } = await createOffered()
  waitsMs.length = 0
  await settle('store_failed')
  expect(await told, 'the events that follow do not wait for the claim').toMatchObject([
    { ...INPUT, providerExecuted: true },
  ])
  expect([answer.isOver, waitsMs]).toEqual([false, [1000]])
  pass()
  const chunks: object[] = []
  for (const step of order)
    if (step === 'settle') {
      await settle() // a renewal
      await settle()
    } else chunks.push(...(await answer.take(event({ ...OFFERED, ...HELD, status: 'running' }))))
  expect(asked.filter((what) => what !== 'renew')).toEqual(['attach', 'claim', 'claim'])
  expect(chunks).toMatchObject([
    { ...INPUT, providerExecuted: false },
    { type: 'finish', finishReason: 'tool-calls' },
  ])
  expect(answer.isOver).toBe(true)
})

test.each<[ErrorCode, readonly string[]]>([
  ['call_over', []],
  ['call_not_offered', []],
  ['session_closed', ['a page could not be given a call']],
])('a claim of a page that is refused with %s is not tried again', async (code, expected) => {
  const { logged, waitsMs, told, settle } = await createOffered()
  waitsMs.length = 0
  await settle(code)
  await told
  expect([logged, waitsMs]).toEqual([expected, []])
})

test('a page that could not be attached for a moment is attached under the same name', async () => {
  const { answer, asked, names, timers, settle, pass } = createWorld()
  const told = answer.take(event(OFFERED))
  await settle('store_failed')
  await told
  expect(await answer.take(event({ ...OFFERED, callId: 'c2' })), 'it is attached once for all calls').toEqual([])
  expect(asked).toEqual(['attach'])
  pass()
  await settle()
  expect([asked, names]).toEqual([
    ['attach', 'attach'],
    ['chat-1', 'chat-1'],
  ])
  expect(timers, 'its lease is renewed').toHaveLength(1)
})

test('a page that could not be attached for long is attached for its next call', async () => {
  const { answer, asked, logged, settle, pass } = createWorld()
  const offer = async (callId: string): Promise<void> => {
    const told = answer.take(event({ ...OFFERED, callId }))
    await settle('store_failed')
    await told
  }
  await offer('c1')
  for (let tries = 0; tries < 12; tries += 1) {
    pass()
    await settle('store_failed')
  }
  expect([asked, logged]).toEqual([Array<string>(9).fill('attach'), ['a page could not be given a call']])
  await offer('c2')
  expect(asked).toHaveLength(10)
})

test.each(['attach', 'claim'])(
  'a page that leaves before its %s is tried again asks for nothing more',
  async (what) => {
    const world = createWorld()
    const { answer, asked, timers, logged, settle, pass } = world
    const told = [Promise.resolve(answer.take(event(OFFERED)))]
    await settle(what === 'attach' ? 'store_failed' : undefined)
    if (what === 'claim') {
      told.push(Promise.resolve(answer.take(event({ ...OFFERED, ...HELD }))))
      await settle('store_failed')
    }
    await Promise.all(told)
    const left = answer.leave()
    await settle() // the release
    await left
    expect(timers).toEqual([])
    pass()
    expect([asked.filter((one) => one === what), logged]).toEqual([[what], []])
  },
)
