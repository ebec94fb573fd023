// A page that leaves while its client is being attached or renewed: nothing remains, and nothing is attached again. One
// that stays is attached again when its session is restarted.
import type { CallView, LeaseClient, LeaseClientOptions, FrontSession, SessionEvent } from '@baton/core/internal'
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

/** The session answers when the test says so, and time passes when it says so. */
function createWorld() {
  const asked: string[] = []
  const timers: (() => void)[] = []
  const pending: (() => void)[] = []
  const later = async (what: string): Promise<void> => {
    asked.push(what)
    await new Promise<void>((resolve) => void pending.push(resolve))
  }
  const lease = {
    connection: 'chat-1',
    renew: () => later('renew'),
    detach: () => later('detach'),
    claim: () => later('claim'),
  } as unknown as LeaseClient
  const gone = new Set<() => void>()
  const leasesMs: (number | undefined)[] = []
  const session = {
    client: (init: LeaseClientOptions) => {
      leasesMs.push(init.leaseMs)
      return later('attach').then(() => lease)
    },
    onClientsGone: (callback: () => void) => {
      gone.add(callback)
      return () => void gone.delete(callback)
    },
  } as unknown as FrontSession
  const answer = new ChatAnswer({
    session,
    linkMedia: () => '',
    timers: {
      start: (_ms, fire) => {
        timers.push(fire)
        return () => void timers.splice(timers.indexOf(fire), 1)
      },
    },
    log: { info: () => {}, warn: () => {} },
    nowMs: () => 0,
    newId: () => '1',
    livePos: 0,
  })
  return {
    answer,
    asked,
    leasesMs,
    timers,
    gone,
    /** Answers the oldest request. */
    settle: async () => {
      pending.shift()?.()
      await new Promise((resolve) => void setImmediate(resolve))
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
