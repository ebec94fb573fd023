// An answer shortened to the part that was spoken.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readText } from '../messages.ts'
import type { AssistantPart } from '../messages.ts'
import { cutParts, wholeChars } from './size.ts'

const state = { provider: 'p', model: 'm', data: 1 }
const call: AssistantPart = { type: 'call', callId: 'c', name: 'n', arguments: '{}' }

test('keeps texts up to the cut, calls and thoughts, and the state of what was not cut', () => {
  const parts: readonly AssistantPart[] = [
    { type: 'reasoning', text: 'hm', state },
    { type: 'text', text: 'abc', state },
    call,
    { type: 'text', text: 'def', state },
  ]
  expect(cutParts(parts, 6)).toEqual(parts)
  expect(cutParts(parts, 4)).toEqual([...parts.slice(0, 3), { type: 'text', text: 'd' }])
  expect(cutParts(parts, 3)).toEqual(parts.slice(0, 3))
  expect(cutParts(parts, 2)).toEqual([parts[0], { type: 'text', text: 'ab' }, call])
  expect(cutParts(parts, 0)).toEqual([parts[0], call])
})

test('keeps the sources: they are not spoken', () => {
  const source: AssistantPart = { type: 'source', id: 's', title: 'A page' }
  expect(cutParts([{ type: 'text', text: 'abc' }, source], 1)).toEqual([{ type: 'text', text: 'a' }, source])
  expect(readText([{ type: 'text', text: 'abc' }, source])).toBe('abc')
})

test('a text of which blanks are left is left out; one that was blank stays', () => {
  expect(cutParts([{ type: 'text', text: '  a' }], 2)).toEqual([])
  expect(cutParts([{ type: 'text', text: '  ' }], 2)).toEqual([{ type: 'text', text: '  ' }])
})

test('a cut between the halves of a pair keeps the whole pair', () => {
  expect(['a😀b'].map((text) => [0, 1, 2, 3, 4, 9].map((chars) => wholeChars(text, chars)))).toEqual([
    [0, 1, 3, 3, 4, 4],
  ])
  expect(wholeChars('ab', -1)).toBe(0)
  expect([0xd7ff, 0xd800, 0xdbff, 0xdc00].map((code) => wholeChars(`${String.fromCharCode(code)}x`, 1))).toEqual([
    1, 2, 2, 1,
  ])
})

test('whatever is cut where: a beginning, at most one unit longer than asked for, of whole characters', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.nat(40), (texts, chars) => {
      const whole = texts.join('')
      const kept = readText(
        cutParts(
          texts.map((text) => ({ type: 'text', text })),
          chars,
        ),
      )
      expect(kept.length).toBeLessThanOrEqual(chars + 1)
      expect(/\p{Surrogate}/u.test(kept)).toBe(false)
      const asked = whole.slice(0, wholeChars(whole, chars))
      // Only blank pieces may be missing.
      expect(asked.replaceAll(/\s/g, '').startsWith(kept.replaceAll(/\s/g, ''))).toBe(true)
    }),
    { seed: 7 },
  )
})
