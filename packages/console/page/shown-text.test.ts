// Hostile texts as a person sees them: nothing hidden, nothing turned around.
import { expect, test } from 'vitest'
import { indentJson, showHidden, showLine } from './shown-text.ts'

test.each([
  ['invoice\u202Egnp.exe', 'invoice⟨U+202E⟩gnp.exe'],
  ['a\u2066b\u2069c', 'a⟨U+2066⟩b⟨U+2069⟩c'],
  ['red \u001B[31mtext', 'red ⟨U+001B⟩[31mtext'],
  ['zero\u200Bwidth\uFEFF', 'zero⟨U+200B⟩width⟨U+FEFF⟩'],
  ['tag \u{E0041}', 'tag ⟨U+E0041⟩'],
  ['bell\u0007 null\u0000 del\u007F next\u0085', 'bell⟨U+0007⟩ null⟨U+0000⟩ del⟨U+007F⟩ next⟨U+0085⟩'],
  ['two\r\nlines\tand a tab', 'two\nlines\tand a tab'],
  ['שלום 👨‍👩‍👧 ä', 'שלום 👨‍👩‍👧 ä'],
])('%j', (text, shown) => {
  expect(showHidden(text)).toBe(shown)
})

test('a line is one line, and is cut between characters', () => {
  expect(showLine(' a\n\nb\tc ')).toBe('a b c')
  expect(showLine('👍👍👍👍', 3)).toBe('👍👍…')
  expect(showLine('x'.repeat(100_000), 5)).toBe('xxxx…')
})

test('text that is not JSON stays', () => {
  expect(indentJson('{"a":1}')).toBe('{\n  "a": 1\n}')
  expect(indentJson('{"a":')).toBe('{"a":')
})
