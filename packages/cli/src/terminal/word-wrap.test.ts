// Layout of streamed text in a narrow terminal.
import { expect, test } from 'vitest'
import { createWordWrap } from './word-wrap.ts'

function wrapped(pieces: readonly string[], columns: number, indent = ''): readonly string[] {
  let written = ''
  const wrap = createWordWrap({ write: (text) => void (written += text), columns: () => columns, indent })
  for (const piece of pieces) wrap.push(piece)
  wrap.flush()
  return written.split('\n')
}

test.each<[string, readonly string[], number, readonly string[]]>([
  ['words stay whole', ['the quick brown fox'], 10, ['the quick', 'brown fox']],
  ['a line that is just full', ['1234 67890 x'], 10, ['1234 67890', 'x']],
  ['a word that comes in pieces', ['the qu', 'ick bro', 'wn'], 10, ['the quick', 'brown']],
  ['a word longer than a line is not moved away', ['a', 'b'.repeat(25), ' end'], 10, [`a${'b'.repeat(25)} end`]],
  [
    'lines of the text stay lines, with their indents',
    ['- one\n  - two\n\nthree'],
    20,
    ['- one', '  - two', '', 'three'],
  ],
  ['wide characters count twice, and may be broken anywhere', ['日本語日本語'], 6, ['日本語', '日本語']],
])('%s', (_situation, pieces, columns, lines) => {
  expect(wrapped(pieces, columns)).toEqual(lines)
})

test('any cut into pieces gives the same lines', () => {
  const text = 'one two three\n  four 五六 seven eight nine ten'
  const whole = wrapped([text], 12)
  for (let at = 1; at < text.length; at++) expect(wrapped([text.slice(0, at), text.slice(at)], 12)).toEqual(whole)
  expect(wrapped(Array.from(text), 12)).toEqual(whole)
})

test('further lines of a note are indented', () => {
  expect(wrapped(['one two three'], 9, '  ')).toEqual(['one two', '  three'])
})
