// Control characters never reach the terminal, whoever wrote them.
import { expect, test } from 'vitest'
import { escapeControls, escapeLine } from './escape-controls.ts'

test.each<[string, string, string]>([
  ['an escape sequence', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['a C1 control, which begins a sequence too', 'a\u009b31mb', 'a\\u009b31mb'],
  ['a bell, a backspace and a delete', '\u0007\b\u007f', '\\u0007\\u0008\\u007f'],
  ['a return that would write over the line', 'rm -rf /\rls', 'rm -rf /\\rls'],
  ['a turn of the direction of writing', 'a\u202eb\u2066c', 'a\\u202eb\\u2066c'],
  ['line separators', 'a\u2028b\u2029c', 'a\\u2028b\\u2029c'],
  ['half of a surrogate pair', 'a\ud800', 'a\\ud800'],
  ['other scripts and whole pairs', 'Zoë 漢 😀 שלום', 'Zoë 漢 😀 שלום'],
])('%s is shown and not obeyed', (_, text, shown) => {
  expect(escapeControls(text)).toBe(shown)
  expect(escapeLine(text)).toBe(shown)
})

test('lines stay lines, unless there may be only one', () => {
  expect(escapeControls('a\r\nb\tc\n')).toBe('a\nb\tc\n')
  expect(escapeLine('a\nb\tc')).toBe('a\\nb\\tc')
})

test('no control gets through', () => {
  const every = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).join('')
  expect(escapeLine(every)).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
  expect(escapeControls(every).replace(/[\t\n]/g, '')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
})
