// The projection in isolation: events in, frames out, with time controlled by the test.
import { SessionProjection } from '@baton/core/internal'
import type { Fact } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { V1Output } from './v1-projection.ts'
import { V1Projection } from './v1-projection.ts'

function start() {
  const projection = new V1Projection({ session: 's', connection: 'mine', partialMs: 50, livePos: 0 })
  const events = new SessionProjection()
  let pos = -1
  /** The facts of one record. */
  const record = (nowMs: number, ...facts: readonly Fact[]): readonly V1Output[] => {
    pos++
    return events
      .takeRecord({ pos, nowMs, facts })
      .read(true)
      .flatMap((event) => projection.handleEvent(event, nowMs))
  }
  const delta = (nowMs: number, attempt: number, offset: number, text: string): readonly V1Output[] => {
    const event = events.takeLive({ type: 'text-delta', attempt, offset, text })
    return event ? projection.handleEvent(event, nowMs) : []
  }
  return { projection, record, delta }
}

const accepted = (inputId: string, text: string): Fact => ({
  type: 'input-accepted',
  inputId,
  body: { type: 'user', parts: [{ type: 'text', text }] },
  chars: 1,
  heldChars: 1,
  delivery: 'queue',
  ready: true,
})
const turnStarted = (turn: number): Fact => ({ type: 'turn-started', turn, exchange: turn, models: [], deadlineMs: 0 })
const entered = (...inputs: readonly string[]): Fact => ({
  type: 'inputs-entered',
  exchange: 1,
  entries: [{ entry: 1, inputs, notes: [], chars: 1 }],
})
const modelStarted = (attempt: number): Fact => ({
  type: 'model-started',
  attempt,
  step: attempt,
  model: 'm',
  fromEntry: 0,
  toEntry: 0,
  choice: 'auto',
  chars: 1,
})
const stepFinished = (attempt: number, text: string, interrupted = false): Fact => ({
  type: 'step-finished',
  step: attempt,
  attempt,
  model: 'm',
  parts: [{ type: 'text', text }],
  calls: [],
  finish: 'end',
  usage: {},
  textChars: text.length,
  chars: 1,
  interrupted,
})
const finished = (turn: number, text: string): Fact => ({ type: 'turn-finished', turn, outcome: 'answered', text })
const displayWritten = (turn: number): Fact => ({ type: 'display-written', turn })
const interrupted: Fact = { type: 'interrupt-accepted', reason: 'barge_in', heard: { type: 'display' } }

function inShort(outputs: readonly V1Output[]): readonly string[] {
  return outputs.map((output) => {
    switch (output.type) {
      case 'partial':
      case 'final':
        return `${output.type} ${output.text}`
      case 'display':
        return `${output.name} ${Object.values(output.arguments)[0]}`
      case 'ask-to-speak':
      case 'turn-began':
      case 'turn-ended':
        return `${output.type} ${output.turn}`
      default:
        return output.type
    }
  })
}

const SPOKEN = ['final Yes.', 'convo.appendMessage assistant', 'convo.setState speaking', 'ask-to-speak 1']

test('partials of two steps: each is a prefix of the next, and a step’s last one comes at once', () => {
  const { record, delta, projection } = start()
  record(0, accepted('a', 'Hi'), turnStarted(1), entered('a'), modelStarted(1))
  expect(inShort(delta(0, 1, 0, '  One'))).toEqual(['partial One'])
  expect(projection.pollAtMs()).toBeUndefined()
  expect(delta(10, 1, 5, ' ')).toEqual([])
  expect(delta(20, 1, 6, 'moment')).toEqual([])
  expect(projection.pollAtMs()).toBe(50)
  expect(projection.handleTime(49)).toEqual([])
  expect(inShort(projection.handleTime(50))).toEqual(['partial One moment'])
  expect(delta(51, 1, 12, '.')).toEqual([])
  expect(inShort(record(52, stepFinished(1, '  One moment.')))).toEqual(['partial One moment.'])
  record(53, modelStarted(2))
  expect(inShort(delta(200, 2, 0, 'Done.'))).toEqual(['partial One moment.\n\nDone.'])
})

test('a superseded attempt begins again, and text of an old attempt is not shown', () => {
  const { record, delta } = start()
  record(0, turnStarted(1), modelStarted(1))
  expect(inShort(delta(0, 1, 0, 'Wrong'))).toEqual(['partial Wrong'])
  record(1, { type: 'attempt-superseded', attempt: 1, reason: 'failed' }, modelStarted(2))
  expect(delta(100, 1, 5, ' still')).toEqual([])
  expect(inShort(delta(100, 2, 0, 'Right'))).toEqual(['partial Right'])
})

test('the same text has the same id for every connection, a longer one another', () => {
  const ids = [start(), start()].map(({ record, delta }) => {
    record(7, turnStarted(1), modelStarted(1))
    return [...delta(7, 1, 0, 'One'), ...delta(99, 1, 3, ' two')].map((output) => 'id' in output && output.id)
  })
  expect(ids[0]).toEqual(ids[1])
  expect(new Set(ids[0]).size).toBe(2)
})

test('a record that is read again gives the same frames', () => {
  const facts = [accepted('a', 'Hi'), accepted('b', 'there'), turnStarted(1), entered('a', 'b')]
  const [first, second] = [start(), start()].map(({ record }) => record(7, ...facts))
  expect(first).toEqual(second)
  expect(inShort(first ?? [])).toEqual([
    'turn-began 1',
    'convo.setState thinking',
    'convo.appendMessage user',
    'convo.appendMessage user',
  ])
})

test('logs of two servers that forgot each other do not share ids', () => {
  const ids = [1000, 2000].map((nowMs) =>
    start()
      .record(nowMs, turnStarted(1))
      .flatMap((output) => ('id' in output ? [output.id] : [])),
  )
  expect(ids[0]).not.toEqual(ids[1])
})

test('the voice begins with display-written; earlier sentences wait', () => {
  const { record, delta } = start()
  record(0, accepted('b', 'More'), turnStarted(1), modelStarted(1))
  const told = record(1, finished(1, 'Yes.'), turnStarted(2), entered('b'), modelStarted(2))
  expect(inShort(told)).toEqual(SPOKEN)
  expect(delta(100, 2, 0, 'Well')).toEqual([])
  expect(inShort(record(2, displayWritten(1)))).toEqual([
    'tts.speak Yes.',
    'convo.setState idle',
    'turn-ended 1',
    'turn-began 2',
    'convo.setState thinking',
    'convo.appendMessage user',
    'partial Well',
  ])
})

test('an interrupt before display-written removes the voice', () => {
  const { record } = start()
  record(0, turnStarted(1))
  expect(inShort(record(1, finished(1, 'Yes.')))).toEqual(SPOKEN)
  expect(inShort(record(2, interrupted))).toEqual(['convo.setState idle', 'turn-ended 1'])
  expect(record(3, displayWritten(1))).toEqual([])
})

test('an interrupt of the next turn leaves the voice of this one', () => {
  const { record } = start()
  record(0, turnStarted(1))
  record(1, finished(1, 'Yes.'), turnStarted(2))
  expect(record(2, interrupted)).toEqual([])
  expect(inShort(record(3, displayWritten(1)))).toContain('tts.speak Yes.')
})

test.each([
  ['a day ahead', 86_400_000],
  ['a day behind', -86_400_000],
])('an answer of now is spoken also while the clock is %s of the session’s time', (_, aheadMs) => {
  const clock = { nowMs: () => 1 + aheadMs }
  const projection = new V1Projection({ session: 's', connection: 'mine', partialMs: 50, livePos: 0, clock })
  const events = new SessionProjection()
  events.takeRecord({ pos: 0, nowMs: 0, wallMs: aheadMs, facts: [turnStarted(1)] })
  const said = events.takeRecord({ pos: 1, nowMs: 1, wallMs: 1 + aheadMs, facts: [finished(1, 'Yes.')] }).read(true)
  expect(inShort(said.flatMap((event) => projection.handleEvent(event, 1)))).toEqual(SPOKEN)
})

test('two answers wait for their voice one after the other', () => {
  const { record } = start()
  record(0, turnStarted(1))
  record(1, finished(1, 'Yes.'), turnStarted(2))
  record(2, finished(2, 'No.'))
  expect(inShort(record(3, displayWritten(1))).slice(-4)).toEqual([
    'final No.',
    'convo.appendMessage assistant',
    'convo.setState speaking',
    'ask-to-speak 2',
  ])
  expect(inShort(record(4, displayWritten(2)))).toContain('tts.speak No.')
})

test('a voice that was refused leaves the app idle, and the next turn goes on', () => {
  const { record, projection } = start()
  record(0, turnStarted(1))
  record(1, finished(1, 'Yes.'), turnStarted(2))
  expect(inShort(projection.handleRefusal(1, 2))).toEqual([
    'convo.setState idle',
    'turn-ended 1',
    'turn-began 2',
    'convo.setState thinking',
  ])
  expect(projection.handleRefusal(1, 3)).toEqual([])
})

test('an answer that is only code is shown and not spoken', () => {
  const { record } = start()
  record(0, turnStarted(1))
  expect(inShort(record(1, finished(1, '```\nx\n```')))).toEqual([
    'final ```\nx\n```',
    'convo.appendMessage assistant',
    'convo.setState idle',
    'turn-ended 1',
  ])
})

test('a client that connects during a turn gets the whole answer, and no partial without its beginning', () => {
  const { record, delta } = start()
  record(0, modelStarted(4))
  expect(delta(0, 4, 0, 'half')).toEqual([])
  expect(inShort(record(1, stepFinished(4, 'half an answer'), finished(1, 'Yes.')))).toEqual(SPOKEN)
})

test('the rest of an interrupted answer is not shown again', () => {
  const { record, delta } = start()
  record(0, turnStarted(1), modelStarted(1))
  delta(0, 1, 0, 'A long')
  delta(1, 1, 6, ' story')
  const outcome = { type: 'turn-finished', turn: 1, outcome: 'interrupted', text: '' } as const
  expect(inShort(record(2, stepFinished(1, 'A long', true), outcome))).toEqual(['convo.setState idle', 'turn-ended 1'])
})

test('the queue of bodies and frames that wait is bounded', () => {
  const projection = new V1Projection({ session: 's', connection: 'mine', partialMs: 50, livePos: 0 })
  const events = new SessionProjection()
  const feed = (pos: number, fact: Fact): readonly V1Output[] =>
    events
      .takeRecord({ pos, nowMs: 0, facts: [fact] })
      .read(true)
      .flatMap((event) => projection.handleEvent(event, 0))
  feed(0, finished(1, 'Yes.'))
  for (let pos = 1; pos <= 10_000; pos++) expect(feed(pos, accepted(`input-${pos}`, 'x'))).toEqual([])
  expect(inShort(feed(10_001, entered('input-1', 'input-10000')))).toEqual([
    'convo.setState idle',
    'turn-ended 1',
    'convo.appendMessage user',
  ])
})

test('the text of a finished step that is refused is not shown with the next one', () => {
  const { record, delta } = start()
  record(0, turnStarted(1), modelStarted(1))
  expect(inShort(delta(0, 1, 0, 'Wrong'))).toEqual(['partial Wrong'])
  record(1, stepFinished(1, 'Wrong'), { type: 'output-refused', step: 1, issue: 'no' })
  record(2, modelStarted(2))
  expect(inShort(delta(100, 2, 0, 'Right'))).toEqual(['partial Right'])
})
