// The course of turns: queued inputs when a turn ends before it has called a model.
import { expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'

const USAGE = { inputTokens: 900, outputTokens: 200 }

test('a turn that ends for want of tokens leaves the waiting inputs to the next turn, at once', () => {
  const session = new TestSession({ limits: { turnTokens: 1000 } }).user('a')
  session
    .says({ calls: ['read'], usage: USAGE })
    .user('b')
    .returns('call_1_0')
  expect(session.logged('turn-finished').map(({ error }) => error?.code)).toEqual(['turn_tokens_exceeded'])
  expect(session.state.phase).toBe('modelling')
  expect(session.told().at(-1)).toBe('user: b')
})

test('a turn whose input does not fit fails, and the next input has its turn', () => {
  const window = { contextTokens: 200, reserveTokens: 50 }
  const session = new TestSession({ window }).user('x'.repeat(2000))
  expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  session.user('b')
  expect(session.state.phase).toBe('modelling')
})

test('two turns in a row whose inputs do not fit fail, and the input behind them has its turn at once', () => {
  const session = new TestSession({ window: { contextTokens: 200, reserveTokens: 50 } }).user('a')
  const want = (title: string) => ({ output: { type: 'object', title } }) as const
  // Inputs that want different outputs never share a turn.
  session.user('x'.repeat(2000), want('one')).user('y'.repeat(2000), want('two')).user('b').says('A')
  expect(session.logged('turn-finished').map(({ error }) => error?.code)).toEqual([
    undefined,
    'context_overflow',
    'context_overflow',
  ])
  expect([session.state.phase, session.told().at(-1)]).toEqual(['modelling', 'user: b'])
})

test('several inputs that waited become entries of their own, numbered on', () => {
  const session = new TestSession().user('a').user('b').user('c').says('A')
  expect(session.state.index.map(({ entry, role }) => `${entry} ${role}`)).toEqual([
    '1 user',
    '2 step',
    '3 user',
    '4 user',
  ])
})
