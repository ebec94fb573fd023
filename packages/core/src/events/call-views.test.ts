// Calls in events: the view after each fact, and how each end reads.
import { expect, test } from 'vitest'
import type { Fact, Settlement } from '../machine/fact.ts'
import type { CallView, SessionEvent } from './session-event.ts'
import { SessionProjection } from './projection.ts'

const CALL = { callId: 'c', name: 'look', runs: 'client', effect: 'idempotent', timeoutMs: 9, parallel: true } as const
const SAID = { step: 1, attempt: 1, model: 'm', usage: {}, textChars: 0, chars: 0, interrupted: false } as const

const BEGUN: readonly Fact[] = [
  { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 },
  { type: 'model-started', attempt: 1, step: 1, model: 'm', fromEntry: 1, toEntry: 1, choice: 'auto', chars: 1 },
  {
    ...SAID,
    type: 'step-finished',
    parts: [{ type: 'call', callId: 'c', name: 'look', arguments: '{}' }],
    calls: [{ ...CALL, onInterrupt: 'cancel', argumentsHash: '' }],
    finish: 'tool-calls',
  },
]

/** The views of the call after each fact, with one record per fact, a second apart. */
function view(...facts: readonly Fact[]): readonly (CallView | undefined)[] {
  const projection = new SessionProjection()
  projection.takeRecord({ pos: 0, nowMs: 0, facts: BEGUN })
  return facts.map((fact, at) => {
    const events: readonly SessionEvent[] = projection
      .takeRecord({
        pos: at + 1,
        nowMs: (at + 1) * 1000,
        facts: [fact],
      })
      .read()
    return events.flatMap((event) => (event.type === 'call' ? [event.call] : [])).at(-1)
  })
}

function settle(settlement: Settlement): Fact {
  return { type: 'call-settled', callId: 'c', settlement, tellLate: false }
}

test.each<[string, Settlement, object]>([
  [
    'went on without its turn, and may have run',
    { type: 'cancelled', reason: 'interrupt', begun: true, detached: true },
    { type: 'cancelled', code: 'cancelled', begun: true, detached: true },
  ],
  [
    'had no result in its time, and may have run',
    { type: 'timed-out', reason: 'deadline', begun: true },
    { type: 'timed-out', code: 'tool_result_timeout', begun: true },
  ],
  [
    'had no result in its time, and has not begun',
    { type: 'timed-out', reason: 'deadline' },
    { type: 'timed-out', code: 'tool_result_timeout' },
  ],
  ['nobody knows of', { type: 'unknown', reason: 'restart' }, { type: 'unknown', code: 'tool_result_unknown' }],
  [
    'a policy denied',
    { type: 'denied', code: 'call_denied', message: 'no' },
    { type: 'denied', code: 'call_denied', message: 'no' },
  ],
])('the result of a call that %s', (_, settlement, result) => {
  const [told] = view(settle(settlement))
  const { message, ...rest } = { message: '', ...told?.result }
  expect({ ...rest, ...('message' in result && { message }) }).toEqual(result)
  expect(message).not.toBe('')
})

test('a denial says where a person gave it', () => {
  const decided = { type: 'approval-decided', callId: 'c', approvalId: 'a', principal: 'ann' } as const
  const denied = settle({ type: 'denied', code: 'call_denied', message: 'no' })
  expect(view({ ...decided, decision: 'deny' }, denied).at(-1)?.result).toMatchObject({ byPerson: true })
  expect(view({ ...decided, decision: 'approve' }, denied).at(-1)?.result).not.toHaveProperty('byPerson')
})

test('a call that is taken back from its client is nobody’s, and one that the server takes over is the server’s', () => {
  const told = view(
    { type: 'call-offered', callId: 'c', connection: 'phone', offer: 1 },
    { type: 'call-claimed', callId: 'c', connection: 'phone' },
    { type: 'call-returned', callId: 'c', reason: 'detach' },
    {
      type: 'call-clock-set',
      callId: 'c',
      mode: 'away',
      deadlineMs: 9000,
      remainingMs: 1,
      awayRemainingMs: 1,
      graces: 0,
    },
    { type: 'call-taken-over', callId: 'c' },
  )
  expect(told.map((call) => [call?.status, call?.holder, call?.runs, call?.deadlineMs, call?.waitsForClient])).toEqual([
    ['waiting', 'phone', 'client', undefined, undefined],
    ['running', 'phone', 'client', undefined, undefined],
    ['proposed', undefined, 'client', undefined, undefined],
    ['proposed', undefined, 'client', 9000, true],
    ['proposed', undefined, 'server', undefined, undefined],
  ])
})

test('the time of a call stands still from its first question until its last answer', () => {
  const ask = (n: number): Fact => {
    const about = { message: 'Which?', schema: { type: 'object' }, expiresAtMs: 60_000 } as const
    return { type: 'question-asked', callId: 'c', questionId: `q${n}`, n, ...about }
  }
  const answer = (n: number): Fact => ({ type: 'question-answered', callId: 'c', questionId: `q${n}`, n, value: {} })
  const told = view(
    { type: 'call-started', callId: 'c', attempt: 1, deadlineMs: 10_000 },
    ask(1), // 8 s are left
    ask(2),
    answer(2),
    answer(1),
  )
  expect(told.map((call) => call?.deadlineMs)).toEqual([10_000, undefined, undefined, undefined, 13_000])
})

test('a device is told whom a call was offered to and whose result was not taken, each at its place in the log', () => {
  const projection = new SessionProjection()
  projection.takeRecord({ pos: 0, nowMs: 0, facts: BEGUN })
  const events = projection
    .takeRecord({
      pos: 1,
      nowMs: 5,
      facts: [
        { type: 'call-offered', callId: 'c', connection: 'phone', offer: 3 },
        { type: 'result-ignored', callId: 'c', reason: 'foreign', outcome: 'ok', preview: '' },
      ],
    })
    .read(true)
  expect(events).toMatchObject([
    { type: 'call-offered', client: 'phone', offer: 3, at: { pos: 1, fact: 0, nowMs: 5 } },
    { type: 'result-ignored', reason: 'foreign', at: { pos: 1, fact: 1, nowMs: 5 } },
    { type: 'call' },
  ])
})
