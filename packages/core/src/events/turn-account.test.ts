// The text of an answer that ended early: offsets of heard text refer to it, so it is joined like any other answer.
import { expect, test } from 'vitest'
import { TurnTexts } from './turn-account.ts'

test('steps with blanks alone count like others, and those without text do not', () => {
  const texts = new TurnTexts()
  for (const [step, text] of ['\n', '', 'Hi there.'].entries()) texts.note(step, text)
  expect(texts.join()).toBe('\n\n\nHi there.')
  texts.cut({ type: 'answer-cut', cuts: [{ step: 2, keepChars: 0 }] })
  expect(texts.join()).toBe('\n')
})
