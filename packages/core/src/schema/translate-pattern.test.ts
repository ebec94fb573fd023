// Patterns of other languages translated to ECMA 262 with Unicode.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { translatePattern } from './translate-pattern.ts'

test.each([
  ['^a+$', '^a+$'],
  ['^https\\:\\/\\/', '^https://'],
  ['^[\\w-\\.]+@', '^[\\w\\-.]+@'],
  ['^(?P<y>\\d{4})(?P=y)$', '^(?<y>\\d{4})\\k<y>$'],
  ['\\A\\d+\\Z', '^\\d+$'],
  ['(?i)^abc[a-f]$', '^[aA][bB][cC][a-fA-F]$'],
  ['a(?i)b|(c)', 'a[bB]|([cC])'],
  ['(?:(?i)a)b', '(?:[aA])b'],
  ['(?i:a(?-i:b))c', '(?:[aA](?:b))c'],
  ['(?i)[^a-z\\d_]', '[^a-zA-Z\\d_]'],
  ['(?i)é', '[éÉ]'],
  ['(?s).', '[\\s\\S]'],
  ['(?x) a b # rest\n c', 'abc'],
  ['(?m)^a$', '(?:^|(?<=\\n))a(?=\\n|$)'],
  ['a++b*+c?+d{2}+', 'a+b*c?d{2}'],
  ['(?>a|b)(?#why)c', '(?:a|b)c'],
  ['a{,5}', 'a{0,5}'],
  ['{a}]', '\\{a\\}\\]'],
  ['^[[:alpha:]_][[:^digit:]]$', '^[A-Za-z_][\\D]$'],
  ['[]a]', '[\\]a]'],
  ['[a-\\d]', '[a\\-\\d]'],
  ['\\p{Latin}\\p{IsAlphabetic}\\pL', '\\p{Script=Latin}\\p{Alphabetic}\\p{L}'],
  ['\\p{Punct}x\\-', '[!-\\/:-@\\[-`\\{-~]x-'],
  ['\\Qa.b\\E+', 'a\\.b+'],
  ['\\101\\x{1F600}\\e', 'A😀\\u001b'],
  ['(a)\\1\\_', '(a)\\1_'],
  ["(?'n'a)\\k{n}", '(?<n>a)\\k<n>'],
  ['/^\\d{4}$/', '^\\d{4}$'],
  ['/^[a-z]+$/i', '^[a-zA-Z]+$'],
  ['/ab$/gu', 'ab$'],
  ['/api/v1/', '/api/v1/'],
  ['/a\\$/', '/a\\$/'],
])('%s is %s', (source, pattern) => {
  expect(translatePattern(source)).toEqual({ pattern })
})

test.each([
  ['(', 'is not a pattern (a group has no end)'],
  ['a)', 'is not a pattern (a group has no beginning)'],
  ['[a', 'is not a pattern (a class has no end)'],
  ['a\\', 'is not a pattern (a backslash is at the end)'],
  ['[z-a]', 'is not a pattern (the range z-a is out of order)'],
  ['*', 'is not a pattern (Nothing to repeat)'],
  ['[a-z&&[^b]]', 'has a class subtraction, which cannot be translated'],
  ['(?R)', 'has the flag "R", which cannot be translated'],
  ['(?(1)a|b)', 'has the group "(?(1)a", which cannot be translated'],
  ['\\X', 'has "\\X", which cannot be translated'],
])('%s %s', (source, why) => {
  expect(translatePattern(source)).toEqual({ pattern: undefined, why })
})

test.each([
  `[${'\\\\'.repeat(40)}`,
  `\\-${'['.repeat(50_000)}`,
  `[\\--${'-['.repeat(50_000)}`,
  `\\_${'('.repeat(50_000)}`,
  `\\_${'(?P<a>'.repeat(20_000)}`,
  `\\_${'\\Q'.repeat(50_000)}`,
  `\\_${'a{'.repeat(50_000)}`,
])('a pattern that is written to take long is read all the same: %#', (source) => {
  const { pattern, why } = translatePattern(source)
  expect(typeof (pattern ?? why)).toBe('string')
})

const piece = fc.constantFrom(
  ...'a b - _ \\- \\_ \\: \\/ [\\w-.] [a\\-z] [\\d\\-] {x } ] \\. .* \\d+ ^ $ | (a) \\@ [^\\s-x] \\, [(] a{2}'.split(
    ' ',
  ),
)

test('what JavaScript reads without Unicode is read as JavaScript reads it', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 5 }),
      fc.string({ unit: fc.constantFrom(...'a b - _ : / . { } ] x 1 @ , ( z'.split(' '), ' '), maxLength: 8 }),
      (pieces, text) => {
        const source = pieces.join('')
        let plain: RegExp
        try {
          plain = new RegExp(source)
        } catch {
          return
        }
        // A double quantifier has no meaning.
        const { pattern = source, why } = translatePattern(source)
        const read = why === undefined ? new RegExp(pattern, 'u') : plain
        expect([source, read.test(text)]).toEqual([source, plain.test(text)])
      },
    ),
    { numRuns: 5000 },
  )
})
