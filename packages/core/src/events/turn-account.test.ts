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
  expect(account.isReached('rounds')).toBe(true)
})
