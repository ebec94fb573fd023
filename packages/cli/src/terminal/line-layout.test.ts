// Positions of typed characters, and the effect of keys on the text.
import fc from 'fast-check'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import type { EditedText } from './edited-text.ts'
import { applyKey, EMPTY, insert, moveLine } from './edited-text.ts'
import { layOut, splitGraphemes } from './line-layout.ts'

const lay = (text: string, cursor = text.length, columns = 10) =>
  layOut({ prompt: '› ', continued: '… ', text, cursor, columns })

test('a full row ends, and the cursor moves to the next one', () => {
  expect(lay('12345678')).toEqual({ rows: ['› 12345678', ''], cursor: { row: 1, column: 0 } })
  expect(lay('1234567')).toEqual({ rows: ['› 1234567'], cursor: { row: 0, column: 9 } })
})

test('a wide character that does not fit moves to the next row, and so does the cursor before it', () => {
  expect(lay('1234567漢字', 7)).toEqual({ rows: ['› 1234567', '漢字'], cursor: { row: 1, column: 0 } })
})

test('a question that is longer than a row is broken too', () => {
  const laid = layOut({ prompt: 'which size? ', continued: '', text: 'm', cursor: 1, columns: 10 })
  expect(laid).toEqual({ rows: ['which size', '? m'], cursor: { row: 1, column: 3 } })
  expect(layOut({ prompt: '\u001b[1m›\u001b[22m ', continued: '', text: 'm', cursor: 1, columns: 10 }).rows).toEqual([
    '\u001b[1m›\u001b[22m m',
  ])
})

test('each line of a message begins with its mark', () => {
  expect(lay('a\nb\n')).toEqual({ rows: ['› a', '… b', '… '], cursor: { row: 2, column: 2 } })
})

const PIECES = fc.constantFrom('a', ' ', '漢', '👩‍👩‍👧', 'e\u0301', '\n', '🇳🇴', '\t', 'word')

test('no row is wider than the terminal, all that was typed is shown, and the cursor is in its row', () => {
  fc.assert(
    fc.property(
      fc.array(PIECES, { maxLength: 40 }),
      fc.integer({ min: 8, max: 40 }),
      fc.nat(),
      (parts, columns, at) => {
        const text = parts.join('')
        const graphemes = splitGraphemes(text)
        const cursor = graphemes.slice(0, at % (graphemes.length + 1)).join('').length
        const { rows, cursor: place } = lay(text, cursor, columns)
        for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns)
        const shown = rows.join('').replaceAll('› ', '').replaceAll('… ', '').replaceAll(' ', '')
        expect(shown).toBe(text.replaceAll('\n', '').replaceAll('\t', '').replaceAll(' ', ''))
        expect(place.row).toBeLessThan(rows.length)
        expect(place.column).toBeLessThan(columns)
      },
    ),
    { numRuns: 300 },
  )
})

const KEYS = ['left', 'right', 'home', 'end', 'backspace', 'delete'].map((name) => ({ name }))
const CONTROL = ['a', 'b', 'e', 'f', 'u', 'k', 'w', 'd', 'h', 'left', 'right'].map((name) => ({ name, ctrl: true }))
const META = ['b', 'f', 'd', 'backspace'].map((name) => ({ name, meta: true }))

test('whatever keys come, the cursor never stands inside a character', () => {
  const key = fc.constantFrom(...KEYS, ...CONTROL, ...META)
  fc.assert(
    fc.property(fc.array(fc.oneof(PIECES, key), { maxLength: 60 }), (acts) => {
      let edited: EditedText = EMPTY
      for (const act of acts) {
        edited = typeof act === 'string' ? insert(edited, act) : (applyKey(edited, act) ?? edited)
        const ends = [0]
        for (const each of splitGraphemes(edited.text)) ends.push((ends.at(-1) ?? 0) + each.length)
        // A typed letter may combine with its neighbours and leave the cursor inside the combined character.
        expect(typeof act === 'string' || ends.includes(edited.cursor)).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})

test('a character of many code points is taken back whole', () => {
  const family = insert(EMPTY, 'a👩‍👩‍👧')
  expect(applyKey(family, { name: 'backspace' })).toEqual({ text: 'a', cursor: 1 })
  expect(applyKey(family, { name: 'left' })).toEqual({ text: family.text, cursor: 1 })
})

test('keys of words and lines stay in their line', () => {
  const text = 'one two\nthree four'
  const at = (cursor: number, name: string, ctrl = true) => applyKey({ text, cursor }, { name, ctrl })
  expect(at(18, 'w')).toEqual({ text: 'one two\nthree ', cursor: 14 })
  expect(at(18, 'u')).toEqual({ text: 'one two\n', cursor: 8 })
  expect(at(0, 'k')).toEqual({ text: '\nthree four', cursor: 0 })
  expect(at(10, 'a')?.cursor).toBe(8)
  expect(at(3, 'e')?.cursor).toBe(7)
  expect(moveLine({ text, cursor: 18 }, -1)).toEqual({ text, cursor: 7 })
  expect(moveLine({ text, cursor: 2 }, 1)).toEqual({ text, cursor: 10 })
  expect([moveLine({ text, cursor: 2 }, -1), moveLine({ text, cursor: 9 }, 1)]).toEqual([undefined, undefined])
})
