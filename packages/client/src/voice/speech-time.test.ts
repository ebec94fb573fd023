// Words of spoken texts, and the time that saying them takes.
import { expect, test } from 'vitest'
import { countWords, estimateSpeechMs } from './speech-time.ts'

test.each([
  ['It leaves at 9.40, from platform 3.', undefined, 7],
  ['It leaves at 9.40, from platform 3.', 'It leaves at'.length, 3],
  ['It leaves at 9.40, from platform 3.', 'It leaves at 9'.length, 3],
  ["Don't!", undefined, 1],
  ['…', undefined, 0],
  ['', undefined, 0],
])('words of %j within %j characters', (text, chars, words) => {
  expect(countWords(text, chars)).toBe(words)
})

test('a text takes its time by its length, and a Chinese one longer', () => {
  expect(estimateSpeechMs('x'.repeat(960))).toBe(60_000)
  expect(estimateSpeechMs('x'.repeat(960), 320)).toBe(30_000)
  expect(estimateSpeechMs('火车')).toBe(estimateSpeechMs('x'.repeat(8)))
  expect(estimateSpeechMs('')).toBe(0)
})
