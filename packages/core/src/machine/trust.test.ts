// Trust in what others submit: foreign results, offers that were seen, and the session's owner.
import { describe, expect, test } from 'vitest'
import { testSpec, TestSession } from '../testing/test-session.ts'
import { applyRecord } from './apply.ts'
import { check } from './check.ts'
import { openSession } from './decide.ts'
import { initialState } from './state.ts'

describe('a result after the call was interrupted', () => {
  test('of a server tool, brought by a client, is nobody’s', () => {
    const session = new TestSession()
      .attach()
      .user('a')
      .says({ calls: ['pay'] })
    session.interrupt()
    session.clientReturns('call_1_0', 'forged')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: { type: 'ok', content: [] } })
    expect(session.factTypes()).toContain('note-queued')
  })

  test('of a client tool, brought by who was never asked, is nobody’s', () => {
    const session = new TestSession()
      .attach('phone', { claims: false })
      .user('a')
      .says({ calls: ['spawn'] })
    session.interrupt().user('b').fire('grace').attach('stranger', { principal: 'eve' })
    session.clientReturns('call_1_0', 'forged', 'stranger')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    expect(session.factTypes()).not.toContain('note-queued')
    session.clientReturns('call_1_0', 'done', 'phone')
    expect(session.factTypes()).toContain('note-queued')
  })
})

test('an offer that a version 2 client has claimed was seen: it is not offered again when its writing is said to have failed', () => {
  const session = new TestSession()
    .attach('tab')
    .user('a')
    .says({ calls: ['spawn'] })
    .claim('call_1_0')
    .attach('phone')
  session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 })
  expect(session.factTypes()).toEqual([])
  expect(session.call('call_1_0')).toMatchObject({ state: 'claimed', offer: { connection: 'tab' } })
})

test('a call goes to the newest client that can run it, and waits where none can', () => {
  const session = new TestSession().attach('phone').attach('screen', { tools: ['look'] })
  session.user('a').says({ calls: ['look', 'spawn'] })
  expect(session.call('call_1_0').offer?.connection).toBe('screen')
  expect(session.call('call_1_1').offer?.connection).toBe('phone')
  const alone = new TestSession()
    .attach('screen', { tools: ['look'] })
    .user('a')
    .says({ calls: ['spawn'] })
  expect(alone.call('call_1_0')).toMatchObject({ state: 'ready', clock: { mode: 'away' } })
})

test('a session takes clients of its own principal only', () => {
  const spec = testSpec()
  const opening = openSession({ session: 's', principal: 'ann', spec, nowMs: 0, epoch: 1 })
  const state = applyRecord(initialState('s'), opening)
  const can = { sequential: false, claims: true, reportsPlayback: true, asks: true }
  const attaching = (principal: string) =>
    check(spec, state, { type: 'client-attached', connection: 'c', principal, ...can })
  expect(attaching('eve')?.code).toBe('unauthorized')
  expect(attaching('ann')).toBeUndefined()
})

describe('a model that is chosen in the middle of a turn', () => {
  test('is asked when the attempt of the old one fails, whatever the failure', () => {
    const session = new TestSession({ models: ['one'] }).user('a').send({ type: 'set-model', model: 'two' })
    session.modelFails('model_auth_failed', { retryable: false })
    expect(session.state.attempt?.model).toBe('two')
  })

  test('by an input that steers is asked next, with its settings', () => {
    const session = new TestSession().user('a').says({ calls: ['read'] })
    session.user('b', { delivery: 'steer', model: 'two', settings: { temperature: 0 } }).returns('call_1_0')
    expect(session.state.attempt?.model).toBe('two')
    expect(session.state.turn?.settings).toEqual({ temperature: 0 })
  })
})

test('how much was heard must be a number', () => {
  const session = new TestSession().user('a')
  const chars = Number.NaN
  expect(session.refusal({ type: 'interrupt', reason: 'r', heard: { type: 'chars', chars } })).toBe('invalid_event')
})
