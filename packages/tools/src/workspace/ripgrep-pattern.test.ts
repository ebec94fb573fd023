// RE2 patterns as passed to ripgrep.
import { expect, test } from 'vitest'
import { toRipgrepPattern } from './ripgrep-pattern.ts'

test.each([
  ['needle', 'needle'],
  [String.raw`\d+\w\s`, String.raw`[0-9]+[0-9A-Za-z_][\t\f\r\x20]`],
  [String.raw`a\Wb`, String.raw`a(?-i:[^0-9A-Za-z_])b`],
  [String.raw`\bfoo\.`, String.raw`(?-u:\b)foo\x{2e}`],
  [String.raw`[a-z\d_]`, String.raw`[a-z0-9\x{5f}]`],
  ['[]a]', String.raw`[\x{5d}a]`],
  ['[^[]', String.raw`[^\x{5b}]`],
  ['[a&&b]', String.raw`[a\x{26}\x{26}b]`],
  ['[a-c-e]', String.raw`[a-c\x{2d}e]`],
  ['[-a-]', String.raw`[\x{2d}a\x{2d}]`],
  ['[[:alpha:]→]', String.raw`[[:alpha:]\x{2192}]`],
  [String.raw`[\W]`, String.raw`[[^0-9A-Za-z_]]`],
  [String.raw`\x41\x{1F600}`, String.raw`\x41\x{1F600}`],
])('%s is said as %s', (pattern, said) => expect(toRipgrepPattern(pattern)).toBe(said))

test.each([String.raw`\pL`, String.raw`\Aa`, String.raw`a\z`, String.raw`\Qa.b\E`, String.raw`\B`, String.raw`\101`])(
  '%s is left to RE2',
  (pattern) => expect(toRipgrepPattern(pattern)).toBeUndefined(),
)

test('a negated class that folds is left to RE2, because folding reaches beyond ASCII', () => {
  expect(toRipgrepPattern(String.raw`(?i)[^\w]`)).toBeUndefined()
  expect(toRipgrepPattern(String.raw`(?i)[\W]`)).toBeUndefined()
  expect(toRipgrepPattern('(?i)[^"]')).toBe(String.raw`(?i)[^\x{22}]`)
})
