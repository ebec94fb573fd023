// Exact replacements: what is found, what is refused and with which words, and what stays as it was.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyEdits } from './text-edits.ts'

const TEXT = 'function a() {\n  return 1\n}\n\nfunction b() {\n  return 1\n}\n'
const edit = (oldText: string, newText: string, all?: boolean) => ({ oldText, newText, all })

test('several edits, each seeing what the one before made', () => {
  expect(
    applyEdits(TEXT, [edit('function a', 'function c'), edit('function c() {\n  return 1', 'const c = () => {')]),
  ).toEqual({
    text: 'const c = () => {\n}\n\nfunction b() {\n  return 1\n}\n',
    replaced: 2,
  })
})

test('every place, where that is said', () => {
  expect(applyEdits(TEXT, [edit('return 1', 'return 2', true)])).toMatchObject({ replaced: 2 })
})

test.each([
  [
    'that is there twice',
    [edit('  return 1', '  return 2')],
    'in the file 2 times, in the lines 2, 6; nothing was changed',
  ],
  ['that is nowhere', [edit('function z() {', '')], 'is not in the file; nothing was changed. Read the file again'],
  ['with other blanks', [edit('function b() {\n return 1', '')], 'Line 5 has it with other blanks: copy them exactly'],
  [
    'whose rest differs',
    [edit('function b() {\n  return 9', '')],
    'Its first line is line 5, and what follows there differs',
  ],
  ['of blanks that are not there', [edit('\n\n\n', '')], 'It is only blanks'],
  ['that changes nothing', [edit('}\n\n', '}\n\n')], 'and the new text are the same'],
  [
    'after another edit took it away',
    [edit('function b', 'function d'), edit('function b', 'x')],
    'of edit 2 is not in the file',
  ],
] as const)('an edit of a text %s', (_, edits, message) => {
  expect(() => applyEdits(TEXT, edits)).toThrow(message)
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
