// Exact replacements: what is found, what is rejected with which message, and what stays unchanged.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TextEdit } from './text-edits.ts'
import { applyEdits as applyWith } from './text-edits.ts'

const TEXT = 'function a() {\n  return 1\n}\n\nfunction b() {\n  return 1\n}\n'
const applyEdits = (text: string, edits: readonly TextEdit[]) => applyWith(text, edits, { shows: true })
const edit = (oldText: string, newText: string, all?: boolean) => ({ oldText, newText, all })

test('several edits, each seeing what the one before made', () => {
  expect(
    applyEdits(TEXT, [edit('function a', 'function c'), edit('function c() {\n  return 1', 'const c = () => {')]),
  ).toEqual({
    text: 'const c = () => {\n}\n\nfunction b() {\n  return 1\n}\n',
    replaced: 2,
    near: [],
  })
})

test('every place, where that is said', () => {
  expect(applyEdits(TEXT, [edit('return 1', 'return 2', true)])).toMatchObject({ replaced: 2 })
})

test.each([
  ['that is there twice', [edit('  return 1', '  return 2')], 'occurs 2 times, in lines 2, 6; nothing was changed'],
  [
    'that is nowhere',
    [edit('throw new Error()', '')],
    'does not occur in the file; nothing was changed. Read the file again',
  ],
  [
    'that is there twice with other blanks',
    [edit('{\n\treturn 1', '')],
    'with other quotes or spaces it occurs 2 times, in lines 1, 5. Nothing was changed. The nearest lines start at line 1',
  ],
  [
    'whose rest differs',
    [edit('function b() {\n  return 9', '')],
    'The nearest lines start at line 5: "function b() {\\n  return 1"; read the file again',
  ],
  [
    'whose words differ',
    [edit('async function b(input) {', '')],
    'The nearest lines start at line 5: "function b() {"; read the file again',
  ],
  ['of blanks that are not there', [edit('\n\n\n', '')], 'It is only whitespace'],
  ['that changes nothing', [edit('}\n\n', '}\n\n')], 'and the new text are the same'],
  [
    'after another edit took it away',
    [edit('function b', 'function d'), edit('function b', 'x')],
    'in edit 2 does not occur in the file',
  ],
] as const)('an edit of a text %s', (_, edits, message) => {
  expect(() => applyEdits(TEXT, edits)).toThrow(message)
})

test.each([
  ['with straight quotes for curly ones', 'say “it’s”\n', `say "it's"`, 'say nothing', 'say nothing\n'],
  ['with curly quotes for straight ones', `say "it's"\n`, 'say “it’s”', 'say nothing', 'say nothing\n'],
  ['with blanks for ones that do not break', 'a\u00a0b\u202fc\n', 'a b c', 'd', 'd\n'],
  ['without blanks at the end of a line', 'a  \nb\t\nc\n', 'a\nb\nc', 'd', 'd\n'],
  ['with blanks at the end of a line that are not there', 'a\nb\n', 'a  \nb ', 'd', 'd\n'],
  [
    'with blanks for tabs, which the new text gets',
    'if x:\n\tgo()\n',
    'if x:\n    go()',
    'if x:\n    stop()',
    'if x:\n\tstop()\n',
  ],
  ['with the accents of another Unicode form', 'cafe\u0301 open\n', 'caf\u00e9 open', 'closed', 'closed\n'],
  ['without a character that nobody sees', 'to\u200bday\n', 'today', 'tomorrow', 'tomorrow\n'],
  ['with a hyphen for a dash', 'now – or never…\n', 'now - or never...', 'now', 'now\n'],
  ['whose place has line ends of its own', 'a\r\nb \r\nc\n', 'a\nb', 'x\ny', 'x\r\ny \r\nc\n'],
])('a text %s is replaced in its one place, and that is told', (...[, text, oldText, newText, expected]) => {
  expect(applyEdits(text, [edit(oldText, newText)])).toEqual({
    text: expected,
    replaced: 1,
    near: [{ edit: 1, line: 1 }],
  })
})

test('where the text is not to be believed, an error names the lines and shows none', () => {
  const apply = (oldText: string) => applyWith(TEXT, [edit(oldText, '')], { shows: false })
  expect(() => apply('function b() {\n  return 9')).toThrow(/The nearest lines start at line 5; read the file again$/)
  expect(() => apply('{\n\treturn 1')).toThrow(
    /in lines 1, 5\. Nothing was changed\. The nearest lines start at line 1$/,
  )
})

test('a text that is there exactly is replaced there alone, whatever is near', () => {
  expect(applyEdits('“a”\n"a"\n', [edit('"a"', 'b')])).toEqual({ text: '“a”\nb\n', replaced: 1, near: [] })
})

test('line ends stay those of the file', () => {
  const windows = 'a\r\nb\r\nc\r\n'
  expect(applyEdits(windows, [edit('a\nb', 'x\ny\nz')]).text).toBe('x\r\ny\r\nz\r\nc\r\n')
  expect(applyEdits('a\r\nb\nc', [edit('b\nc', 'd')]).text).toBe('a\r\nd')
})

test('an edit and its opposite give the text back; dollar signs mean nothing', () => {
  const part = fc.string({ minLength: 1, unit: fc.constantFrom('a', 'b', '$', '&', '\n', ' ') })
  fc.assert(
    fc.property(part, part, part, (before, middle, after) => {
      const text = `${before}<${after}`
      const there = applyEdits(text, [edit('<', `[${middle}]`)]).text
      expect(there).toBe(`${before}[${middle}]${after}`)
      expect(applyEdits(there, [edit(`[${middle}]`, '<')]).text).toBe(text)
    }),
  )
})

test('letters with very many marks take no longer than they are long', () => {
  const text = `e${'\u0301\u0323'.repeat(200_000)}\nsay “so”\n`
  expect(applyEdits(text, [{ oldText: 'say "so"', newText: 'say no' }]).text).toBe(text.replace('say “so”', 'say no'))
})
