// The history with its bodies: what it keeps, what it returns, and what a cut or a rewind leaves.
import { describe, expect, test } from 'vitest'
import { createHistory } from './history.ts'
import type { History } from './history.ts'
import { testSpec, TestSession } from '../testing/test-session.ts'

function folded(session: TestSession, keepAll = false): History {
  const history = createHistory({ keepAll })
  for (const record of session.records) history.fold(record)
  return history
}

test('messages are the same objects each time, so that what was encoded of them can be kept', () => {
  const session = new TestSession()
    .user('a')
    .says({ calls: ['read'] })
    .returns('call_1_0')
  const [first, second] = [session.history.messages(1, 2), session.history.messages(1, 2)]
  expect(first).toHaveLength(3)
  expect(first.every((message, at) => message === second[at])).toBe(true)
})

test('a range of entries is what it says, both ends included', () => {
  const session = new TestSession().user('a').says('A').user('b').says('B')
  const said = (from: number, to: number): number => session.history.messages(from, to).length
  expect([said(1, 4), said(2, 3), said(3, 3), said(5, 9)]).toEqual([4, 2, 1, 0])
})

test('a call has its results beside it, failed ones marked', () => {
  const session = new TestSession()
    .user('a')
    .says({ calls: ['read', 'fly'] })
    .returns('call_1_0', 'found')
  expect(session.history.messages(2, 2)).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'call', name: 'read', arguments: '{}', callId: 'call_1_0' },
        { type: 'call', name: 'fly', arguments: '{}', callId: 'call_1_1' },
      ],
    },
    {
      role: 'tool',
      parts: [
        {
          type: 'result',
          callId: 'call_1_0',
          name: 'read',
          isError: false,
          content: [{ type: 'text', text: 'found' }],
        },
        {
          type: 'result',
          callId: 'call_1_1',
          name: 'fly',
          isError: true,
          content: [{ type: 'text', text: 'Error: there is no tool "fly"' }],
        },
      ],
    },
  ])
})

test('an open step is no history yet, but its parts and calls can be asked for', () => {
  const { history } = new TestSession().user('a').says({ text: 'hm', calls: [{ name: 'read', arguments: '{"a":1}' }] })
  expect(history.entries()).toHaveLength(1)
  expect(history.openParts().map((part) => part.type)).toEqual(['text', 'call'])
  expect(history.openCall('call_1_0')).toEqual({
    callId: 'call_1_0',
    name: 'read',
    arguments: '{"a":1}',
    settled: false,
  })
  expect(history.openCall('call_1_1')).toBeUndefined()
  expect(createHistory().openParts()).toEqual([])
  expect(createHistory().openCall('call_1_0')).toBeUndefined()
})

test('thoughts alone, or a pause without a word, leave no message behind', () => {
  const session = new TestSession().user('a').says({ more: [{ type: 'reasoning', text: 'hm' }], finish: 'pause' })
  expect(session.lines()).toEqual(['user: a'])
  expect(session.history.entries()).toMatchObject([{}, { entry: 2, exchange: 1, role: 'step', messages: [] }])
  session.interrupt({ type: 'chars', chars: 0 }).send({ type: 'model-stopped', attempt: 2, text: '' })
  expect(session.lines()).toEqual(['user: a'])
})

test('a blank pause that is cut away leaves the history as it leaves the index', () => {
  const session = new TestSession().user('a').says({ text: '  ', finish: 'pause' })
  expect(session.lines()).toEqual(['user: a'])
  session.interrupt({ type: 'chars', chars: 0 })
  session.send({ type: 'model-stopped', attempt: 2, text: 'x' })
  expect(session.fact('answer-cut').cuts).toEqual([{ step: 1, keepChars: 0 }])
  expect(session.state.index).toHaveLength(1)
})

describe('the texts of the running turn', () => {
  test('are those of its finished steps, without empty ones', () => {
    const session = new TestSession()
      .user('a')
      .says({ text: 'one', calls: ['read'] })
      .returns('call_1_0')
    expect(session.says({ calls: ['read'] }).history.turnTexts()).toEqual([{ step: 1, text: 'one' }])
    session.returns('call_2_0').says('two')
    expect(session.history.turnTexts()).toEqual([
      { step: 1, text: 'one' },
      { step: 3, text: 'two' },
    ])
    expect(session.user('b').history.turnTexts()).toEqual([])
  })

  test('are cut with them, in whole characters', () => {
    const session = new TestSession()
      .user('a')
      .says({ text: 'x😀y', calls: ['read'] })
      .interrupt({ type: 'chars', chars: 2 })
    expect(session.history.turnTexts()).toEqual([{ step: 1, text: 'x😀' }])
    expect(session.history.openParts()).toEqual([])
  })
})

test('a step that is open when it is cut enters the history as it was cut', () => {
  const session = new TestSession()
    .attach()
    .user('a')
    .says({ text: 'I look', calls: ['look'] })
  session.interrupt({ type: 'chars', chars: 3 })
  expect(session.history.openParts()[0]).toEqual({ type: 'text', text: 'I l' })
  expect(session.state.step?.chars).toBe('I l'.length + 'look{}'.length)
  expect(session.clientReturns('call_1_0', 'seen').lines()).toEqual([
    'user: a',
    'assistant: I l',
    'call_1_0 look {}',
    'call_1_0 = seen',
  ])
})

test('progress that was logged twice over counts once', () => {
  const session = new TestSession().user('a').progress('abc').progress('def').modelFails('model_timeout').fire('retry')
  session.progress('xy').interrupt().fire('interrupt')
  expect(session.lines()).toEqual(['user: a', 'assistant: xy'])
})

describe('what left the window', () => {
  const left = (): TestSession => {
    const session = new TestSession({ window: { exchanges: 1 } })
    return session.user('a').says('A').user('b').says('B').user('c')
  }

  test('is given back, bodies included, unless all is kept', () => {
    const session = left()
    const { index } = session.state
    const earlier = [
      { entry: 1, exchange: 1, role: 'user', chars: 1, inputs: ['u1'], notes: [] },
      { entry: 2, exchange: 1, role: 'step', chars: 1, step: 1 },
    ] as const
    const rewound = { type: 'history-rewound', inputId: 'r', exchange: 9, index: [...earlier, ...index] } as const
    const again = {
      type: 'inputs-entered',
      exchange: 9,
      entries: [{ entry: 9, inputs: ['u1'], notes: [], chars: 1 }],
    } as const
    const lines = (history: History): readonly number[] => {
      history.fold({ pos: 99, facts: [rewound, again] })
      return history.entries().map((entry) => entry.messages[0]?.parts.length ?? 0)
    }
    expect(lines(folded(session, true))).toEqual([1, 1, 1, 1])
    expect(lines(folded(session))).toEqual([1, 0])
  })

  test('what is in it can still be asked again, all kept or not', () => {
    const session = left().says('C')
    session.send({ type: 'rewind', inputId: 'r', exchange: 3, again: true })
    expect(folded(session).messages(0, 99)).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'c' }] }])
  })

  test('a summary stands in its place', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('a').says('A').user('b')
    session.send({ type: 'summary-finished', attempt: 2, text: 'they \ud83d met', usage: {} })
    expect(folded(session).entries()).toEqual([
      {
        entry: 2,
        exchange: 1,
        role: 'summary',
        messages: [
          { role: 'user', parts: [{ type: 'text', text: '[Summary of the conversation so far] they \ufffd met' }] },
        ],
      },
      expect.objectContaining({ entry: 3, exchange: 2, role: 'user' }),
    ])
  })
})

test('answers whose past left the window or was cut say so, once', () => {
  const session = new TestSession({ window: { exchanges: 2 } })
    .user('a')
    .says('A')
    .user('b')
    .says('B')
    .user('c')
    .says('C')
  const rebased = (): readonly (true | undefined)[] =>
    session.history.messages(0, Infinity).flatMap((message) => (message.role === 'assistant' ? [message.rebased] : []))
  expect(rebased()).toEqual([true, undefined])
})

test('the newest turn is known by its number and where it began', () => {
  const session = new TestSession()
  expect(session.history.lastTurn()).toBeUndefined()
  session.user('a').says('A').user('b')
  const began = session.records.findLast((record) => record.facts.some((fact) => fact.type === 'turn-started'))
  expect(session.history.lastTurn()).toEqual({ turn: 2, pos: began?.pos })
  session.says('B')
  expect(session.history.lastTurn()).toEqual({ turn: 2, pos: began?.pos })
})

describe('an answer behind a cut is not what its model saw', () => {
  const marks = (session: TestSession): readonly (true | undefined)[] =>
    session.history.messages(0, Infinity).flatMap((message) => (message.role === 'assistant' ? [message.rebased] : []))

  test('also where the cut took the text before it away altogether', () => {
    const session = new TestSession().user('a').says({ text: 'one', finish: 'pause' })
    session
      .says({ text: 'two', calls: ['read'] })
      .returns('call_2_0')
      .says('three')
    expect(marks(session.interrupt({ type: 'chars', chars: 0 }))).toEqual([true])
  })

  test('also where it was still open when the text before it was cut', () => {
    const session = new TestSession()
      .attach()
      .user('a')
      .says({ text: 'one', calls: ['read'] })
      .returns('call_1_0')
    session
      .says({ text: 'two', calls: ['look'] })
      .interrupt({ type: 'chars', chars: 1 })
      .clientReturns('call_2_0')
    expect(marks(session)).toEqual([undefined, true])
  })

  test('the cut one itself is', () => {
    const session = new TestSession()
      .user('a')
      .says({ text: 'one', calls: ['read'] })
      .returns('call_1_0')
      .says('two')
    expect(marks(session.interrupt({ type: 'chars', chars: 6 }))).toEqual([undefined, undefined])
    expect(marks(session.interrupt({ type: 'chars', chars: 2 }))).toEqual([undefined])
  })

  test('the cut one stays marked if the window had moved before it', () => {
    const session = new TestSession({ window: { messages: 3 } }).user('a').says('A').user('b')
    session
      .says({ text: 'one', calls: ['read'] })
      .returns('call_2_0')
      .says('two')
    expect(marks(session)).toEqual([true, undefined])
    expect(marks(session.interrupt({ type: 'chars', chars: 1 }))).toEqual([true])
  })

  test('also where a summary had taken the place of the first cut one', () => {
    const session = new TestSession({ window: { messages: 3, summarise: true } }).attach().user('a')
    for (const step of [1, 2, 3]) session.says({ text: 'said', calls: ['read'] }).returns(`call_${step}_0`)
    session.send({ type: 'summary-finished', attempt: 4, text: 'two steps', usage: {} })
    session
      .says({ text: 'four', calls: ['look'] })
      .interrupt({ type: 'chars', chars: 1 })
      .clientReturns('call_4_0')
    expect(marks(session)).toEqual([true, true])
  })

  test('what follows a summary is none, what was said before is not touched', () => {
    const session = new TestSession({ window: { exchanges: 2, keepExchanges: 1, summarise: true } })
    session.user('a').says('A').user('b').says('B').user('c')
    session.send({ type: 'summary-finished', attempt: 3, text: 'a, b', usage: {} }).says('C')
    expect(marks(session)).toEqual([undefined])
  })

  test('a summary of older exchanges leaves the newer ones marked', () => {
    const session = new TestSession({ window: { exchanges: 2, keepExchanges: 5, summarise: true } })
    session.user('a').says('A').user('b').says('B')
    session.spec = testSpec({ hash: 'v2', window: { exchanges: 3, keepExchanges: 2, summarise: true } })
    session.send({ type: 'agent-changed' }).user('c').says('C').user('d')
    session.send({ type: 'summary-finished', attempt: session.state.attempt?.attempt ?? 0, text: 'a, b', usage: {} })
    expect(marks(session)).toEqual([true])
  })
})

test('the last turn is where it began', () => {
  const session = new TestSession()
  expect(session.history.lastTurn()).toBeUndefined()
  expect(session.user('a').says('A').history.lastTurn()).toEqual({ turn: 1, pos: 1 })
  expect(session.user('b').history.lastTurn()).toEqual({ turn: 2, pos: 3 })
})

test('a history goes on from what was kept of it, at any moment', () => {
  const session = new TestSession({ window: { exchanges: 1 } })
  const edited = { name: 'pay', arguments: '{"sum":1}', approval: true }
  session.user('a').says('A').user('b')
  session.send({ ...session.answer('no JSON'), output: { issue: 'no JSON' } }).user('c')
  session.says({ text: 'B', calls: [edited, 'read'] }).user('d')
  const change = { arguments: '{"sum":2}', check: { argumentsHash: 'hash of {"sum":2}' } }
  session.send(session.approval('call_3_0', 'edit', { edited: change }))
  session.returns('call_3_1').returns('call_3_0').says('C')
  const whole = folded(session, true)
  for (const cut of session.records.keys()) {
    const early = createHistory({ keepAll: true })
    for (const record of session.records.slice(0, cut)) early.fold(record)
    const kept = JSON.parse(JSON.stringify(early.takeSnapshot())) as ReturnType<History['takeSnapshot']> // as in a snapshot
    const later = createHistory({ snapshot: kept })
    expect(later.takeSnapshot()).toEqual(early.takeSnapshot())
    for (const record of session.records.slice(cut)) later.fold(record)
    expect(later.takeSnapshot()).toEqual(whole.takeSnapshot())
    expect(later.messages(0, Infinity)).toEqual(whole.messages(0, Infinity))
  }
})

test('what was cut between the halves of a pair stands whole in the history, whoever cut it', () => {
  const session = new TestSession().user('go')
  session.send({ type: 'attempt-progress', attempt: 1, offset: 0, text: 'half \ud83d' })
  session.send({ type: 'interrupt', reason: 'enough', heard: { type: 'all' } })
  session.send({ type: 'model-stopped', attempt: 1, text: 'half \ud83d' })
  expect(session.lines()).toEqual(['user: go', 'assistant: half \ufffd'])
})

test('calls and thoughts with half of a pair stand whole in the history, also where a record has them as they came', () => {
  const more = [{ type: 'reasoning', text: 'hm \ude00' }] as const
  const asked = { name: 'read', arguments: '{"a":"\ud83d","b":"\\ud83d","c":"\\ud83d\\ude00","d":"\\\\ud83d"}' }
  const session = new TestSession().user('go').says({ more, calls: [asked] })
  const parts = session.history.openParts()
  expect(parts).toMatchObject([
    { type: 'reasoning', text: 'hm \ufffd' },
    { type: 'call', arguments: '{"a":"\ufffd","b":"\\ufffd","c":"\\ud83d\\ude00","d":"\\\\ud83d"}' },
  ])
  expect(session.history.openCall('call_1_0')?.arguments).toContain('\ufffd')
})

describe('a history that keeps what left the window', () => {
  const windowed = (): TestSession => new TestSession({ window: { exchanges: 1 } }).user('a').says('A')

  test('gives a snapshot that stays as it was', () => {
    const session = windowed()
    const history = folded(session, true)
    session.user('b').says('B').user('c').says('C')
    for (const record of session.records.slice(3, 5)) history.fold(record)
    const snapshot = history.takeSnapshot()
    const before = structuredClone(snapshot)
    for (const record of session.records.slice(5)) history.fold(record)
    expect(history.takeSnapshot()).not.toEqual(before)
    expect(snapshot).toEqual(before)
  })

  test('is taken over without that: no rewind asks for it any more', () => {
    const session = windowed().user('b').says('B')
    const history = createHistory()
    history.takeOver(folded(session, true))
    expect(history.takeSnapshot().left).toBeNull()
    expect(history.entries()).toEqual(folded(session, true).entries())
  })
})

test('the text of a message that was withdrawn is not kept', () => {
  const session = new TestSession().user('a')
  for (const inputId of ['b', 'c']) session.user('x'.repeat(1000), { inputId })
  for (const target of ['b', 'c']) session.send({ type: 'withdraw', target })
  expect(JSON.stringify(folded(session).takeSnapshot())).not.toContain('xxx')
})
