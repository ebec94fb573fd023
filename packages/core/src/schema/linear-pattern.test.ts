// Patterns accept what JavaScript's RegExp accepts, in steps that grow linearly with the text.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLinearPattern } from './linear-pattern.ts'

const PATTERNS = String.raw`
^[a-z]+$
^\d{3}-\d{4}$
a|b|
(?:ab)*c
^(?<year>\d{4})-(\d\d)$
^.{0,5}$
^.{2,}$
[^\w\s]
[\]\\a-]+$
\bab\b
\Ba
^\p{Lu}\p{L}*$
^(?=.*\d)(?=.*[a-z]).{3,}$
^(?!a)b?
^[\u{1F600}-\u{1F64F}]$
\uD83D\uDE00
\u0061\x62\cA?
(a{0}){3}b
(a*)*b
(?:)
^$
^(?:a?){3}a{3}$
a+?b??c*?
[]
[^]
\/\.\$\{
(?=a)b|ab
^(a|(b|(c)))+$`
  .trim()
  .split('\n')

const text = fc.string({
  unit: fc.constantFrom(...'abcABC019 -_.$/{\\]\n\r😀é\ud83d\u0001'.match(/[^]/gu)!, '\u2028'), // it has characters
  maxLength: 9,
})

test.each(PATTERNS)('the pattern %s reads what JavaScript reads', (pattern) => {
  const native = new RegExp(pattern, 'u')
  const linear = createLinearPattern(pattern, () => undefined)
  fc.assert(
    fc.property(text, (one) => {
      expect([one, linear.test(one)]).toEqual([one, native.test(one)])
    }),
    { numRuns: 300 },
  )
})

test('patterns of chance read what JavaScript reads', () => {
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'b', '.', '[^a]', '\\b', '^', '$', '\\w', ''),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => one + other),
      fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}', '*?'))
        .map(([one, sign]) => `(${one})${sign}`),
      tie('pattern').map((one) => `(?=${one})`),
      tie('pattern').map((one) => `(?!${one})`),
    ),
  }))
  fc.assert(
    fc.property(pattern, fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 7 }), (source, one) => {
      const native = new RegExp(source, 'u')
      expect([source, one, createLinearPattern(source, () => undefined).test(one)]).toEqual([
        source,
        one,
        native.test(one),
      ])
    }),
    { numRuns: 3000 },
  )
})

test('the steps of a test grow with the text, not with the ways through it', () => {
  let steps = 0
  const pattern = createLinearPattern('^(?:(a|aa)+)+$', (count) => {
    steps += count
  })
  expect(pattern.test(`${'a'.repeat(10_000)}!`)).toBe(false)
  expect(steps).toBeLessThan(300_000)
})

test.each(['((a{0}){99999}){99999}', '(?:a{1000}){1000}', '(a{9,}){99999}', `${'('.repeat(300)}${')'.repeat(300)}`])(
  'a pattern is built within a bound',
  (pattern) => {
    let refused = ''
    try {
      createLinearPattern(pattern, () => undefined)
    } catch (thrown) {
      refused = String(thrown)
    }
    expect(refused === '' || /has (?:too much|more than 200 nested groups)/.test(refused)).toBe(true)
  },
)

test.each([
  '^.{0,120}$',
  '^a{101,}b',
  'a{101,}',
  'ba{110,120}b',
  '(?:a{105,110}|b)*c$',
  '^(?=a{102})a*b',
  '^[^b]{3,101}$',
])('the pattern %s counts its repeats as JavaScript does', (pattern) => {
  const native = new RegExp(pattern, 'u')
  const linear = createLinearPattern(pattern, () => undefined)
  const run = fc.integer({ min: 98, max: 125 }).map((count) => 'a'.repeat(count))
  const runs = fc.array(fc.oneof(run, fc.constantFrom('b', 'c', 'a', '')), { maxLength: 5 })
  fc.assert(
    fc.property(runs, (parts) => {
      const one = parts.join('')
      expect([one, linear.test(one)]).toEqual([one, native.test(one)])
    }),
    { numRuns: 300 },
  )
})

test('a repeat of very many characters is built at once', () => {
  const linear = createLinearPattern('^.{0,262144}$', () => undefined)
  expect([linear.test('x'.repeat(262_144)), linear.test('x'.repeat(262_145))]).toEqual([true, false])
})
