// The dim usage line below an answer, and folded results.
import { expect, test } from 'vitest'
import { createShownCalls } from './shown-calls.ts'
import { describeUsage } from './usage-line.ts'

test.each([
  [{ inputTokens: 1234, outputTokens: 56, costMicros: 1200 }, 'm · 1,234 tokens in, 56 out · $0.0012 · context 12 %'],
  [{ inputTokens: 1, costMicros: 0 }, 'm · 1 tokens in, 0 out · $0.00 · context 12 %'],
  [{ outputTokens: 1, costMicros: 2_345_678 }, 'm · 0 tokens in, 1 out · $2.35 · context 12 %'],
  [{ outputTokens: 1, costMicros: 1 }, 'm · 0 tokens in, 1 out · $0.000001 · context 12 %'],
  [{}, 'm · context 12 %'],
])('%j is %s', (usage, line) => {
  expect(describeUsage({ model: 'm', usage, context: { used: 1200, size: 10_000 } })).toBe(line)
})

test('a window of unknown size is shown in tokens', () => {
  expect(describeUsage({ model: 'm', usage: {}, context: { used: 1200 } })).toBe('m · context 1,200 tokens')
})

test('a short result is shown on its line, a long one is folded, and the oldest are forgotten', () => {
  const calls = createShownCalls()
  const add = (text: string): string => calls.add('look', { type: 'ok', content: [{ type: 'text', text }] })
  expect([add('short'), add(''), add('a\nb'), add('x'.repeat(61))]).toEqual([
    ': short',
    '',
    ' (2 lines, /show 3)',
    ' (1 line, /show 4)',
  ])
  expect(add(JSON.stringify({ list: ['x'.repeat(70)] }))).toBe(' (5 lines, /show 5)')
  expect([calls.find(3)?.text, calls.find(undefined)?.number, calls.find(9)]).toEqual(['a\nb', 5, undefined])
  for (let count = 0; count < 300; count++) add('more')
  expect([calls.find(3), calls.find(305)?.text]).toEqual([undefined, 'more'])
})
