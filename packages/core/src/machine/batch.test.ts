// Inputs decided together: each sees the outcome of the previous ones, and only effects owed at the end are started.
import { expect, test } from 'vitest'
import { testSpec, TestSession } from '../testing/test-session.ts'
import { SeenInputs } from './check.ts'
import { decideBatch } from './decide.ts'
import type { Input, InputOf } from './input.ts'
import type { State } from './state.ts'

const spec = testSpec()

function say(inputId: string): InputOf<'user-input'> {
  return { type: 'user-input', inputId, parts: [{ type: 'text', text: inputId }] }
}

const stop: InputOf<'interrupt'> = { type: 'interrupt', reason: 'barge_in', heard: { type: 'none' } }

function decided(state: State, inputs: readonly Input[], seen?: SeenInputs) {
  return decideBatch({ spec, state, nowMs: state.nowMs, ...(seen && { seen }) }, inputs)
}

test('an interrupt names the turn that an input before it began, and no model is asked for it', () => {
  const { state } = new TestSession()
  const { answers, effects, records } = decided(state, [say('one'), stop])
  expect(answers).toEqual([
    { type: 'accepted', pos: 1 },
    { type: 'accepted', pos: 2, ended: 1 },
  ])
  expect(records).toHaveLength(2)
  expect(effects.filter(({ type }) => type === 'call-model')).toEqual([])
})

test('an interrupt of a turn that is over says nothing of what it did', () => {
  const { state } = new TestSession().user('a').says('A').user('b')
  expect(decided(state, [{ ...stop, turn: 1 }]).answers).toEqual([{ type: 'accepted', pos: state.pos }])
})

test('inputs that begin a turn together may ask a person if one of their senders can be asked', () => {
  const session = new TestSession().attach().send({ type: 'pause' })
  const { state } = session.user('a', { asks: false }).user('b').send({ type: 'continue' })
  expect(state.turn?.asks).toBe(true)
})

test('settings that a message brings into a running turn stand above what the session has by then', () => {
  const session = new TestSession()
    .user('a', { settings: { temperature: 1 } })
    .says({ calls: ['read'] })
    .send({ type: 'set-settings', settings: { maxOutputTokens: 9 } })
    .user('b', { delivery: 'steer', settings: { effort: 'low' } })
    .returns('call_1_0')
  expect(session.state.turn?.settings).toEqual({ maxOutputTokens: 9, effort: 'low' })
})

test('an input that comes twice in one batch is taken in once, however many came before', () => {
  const session = new TestSession()
  for (let serial = 0; serial < 40; serial += 1) session.user('a').says('A')
  for (const seen of [undefined, new SeenInputs()]) {
    const { answers, records } = decided(session.state, [say('one'), say('one')], seen)
    expect(records).toHaveLength(1)
    expect(answers[1]).toEqual(answers[0])
  }
})

test('a refused input leaves those around it as they are', () => {
  const { state } = new TestSession()
  const { answers, records } = decided(state, [say('one'), { type: 'withdraw', target: 'nobody’s' }, say('two')])
  expect(answers.map(({ type }) => type)).toEqual(['accepted', 'refused', 'accepted'])
  expect(records.map(({ pos }) => pos)).toEqual([1, 2])
})

test.each([
  ['as the session’s time', 0, 0, undefined],
  ['a minute behind it', 0, -60_000, -60_000],
  // Session time never goes back, so the record has a later time than the clock.
  ['set back with the session’s clock', -60_000, -60_000, -60_000],
])('a record says what the wall clock said where that differs: %s', (_, clockMs, wallMs, told) => {
  const { state } = new TestSession().user('a').says('A')
  const at = (ms: number): number => state.nowMs + ms
  const { records } = decideBatch({ spec, state, nowMs: at(clockMs), wallMs: at(wallMs) }, [say('one')])
  expect(records).toMatchObject([{ nowMs: state.nowMs }])
  expect(records[0]?.wallMs).toBe(told === undefined ? undefined : at(told))
})
