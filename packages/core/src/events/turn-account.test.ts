// A turn's account where it is continued, and the text of an answer that ended early: offsets of heard text refer to it,
// so it is joined like any other answer.
import { expect, test } from 'vitest'
import type { Turn } from '../machine/state.ts'
import { serverTool, TestSession } from '../testing/test-session.ts'
import { TurnAccount, TurnTexts } from './turn-account.ts'

test('steps with blanks alone count like others, and those without text do not', () => {
  const texts = new TurnTexts()
  for (const [step, text] of ['\n', '', 'Hi there.'].entries()) texts.note(step, text)
  expect(texts.join()).toBe('\n\n\nHi there.')
  texts.cut({ type: 'answer-cut', cuts: [{ step: 2, keepChars: 0 }] })
  expect(texts.join()).toBe('\n')
})

test('an account that goes on in the last answer of its turn does not report again that its rounds are used up', () => {
  const session = new TestSession({ tools: [serverTool('look')], limits: { toolRounds: 1 } }).user('go')
  session.says({ calls: ['look'] }).returns('call_1_0')
  const { state } = session
  expect([state.turn, state.attempt]).toMatchObject([{ rounds: 1 }, { choice: 'none' }])
  const account = TurnAccount.goOn(state, state.turn as Turn, session.spec.limits)
  expect(account.takeEvents(state.nowMs)).toEqual([])
  expect(account.findStop('answered')).toBe('limit')
})

test('a limit that four fifths of it reach at once is told only when it applies', () => {
  const session = new TestSession({ tools: [serverTool('look')], limits: { toolRounds: 3 } }).user('go')
  const limits = session.spec.limits
  const account = new TurnAccount({ deadlineMs: null, turnMs: 1000, limits })
  const finish = (): void =>
    account.finishStep({ type: 'step-finished', calls: [{}], usage: {}, finish: 'tool-calls' } as never)
  for (let round = 0; round < 3; round += 1) finish()
  expect(account.takeEvents(0)).toEqual([])
  account.endRounds()
  expect(account.takeEvents(0)).toEqual([{ type: 'limit', limit: 'rounds', used: 3, max: 3, reached: true }])
})

test('a limit of five rounds warns after the fourth', () => {
  const { spec } = new TestSession({ limits: { toolRounds: 5 } })
  const account = new TurnAccount({ deadlineMs: null, turnMs: 1000, limits: spec.limits })
  const finish = (): void =>
    account.finishStep({ type: 'step-finished', calls: [{}], usage: {}, finish: 'tool-calls' } as never)
  for (let round = 0; round < 5; round += 1) finish()
  expect(account.takeEvents(0)).toEqual([{ type: 'limit', limit: 'rounds', used: 4, max: 5, reached: false }])
})
