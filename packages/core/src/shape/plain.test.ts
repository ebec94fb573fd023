// Legal and illegal ids.
import { expect, test } from 'vitest'
import { checkName, checkSessionId, findNameIssue, isLegalName } from './plain.ts'

test.each<[string, string]>([
  ['one character', 'a'],
  ['256 characters', 'a'.repeat(256)],
  ['a space, other scripts, a whole pair', 'Zoë 漢 😀'],
  ['punctuation', '../x:y@1#?%'],
])('%s is a legal name', (_, name) => expect(isLegalName(name)).toBe(true))

test.each<[string, unknown]>([
  ['nothing', ''],
  ['257 characters', 'a'.repeat(257)],
  ['129 pairs, 258 units', '😀'.repeat(129)],
  ['half of a pair', 'a\ud83d'],
  ['the other half of a pair', '\ude00a'],
  ['a zero', 'a\u0000'],
  ['a line break', 'a\nb'],
  ['an escape', '\u001b[31m'],
  ['a delete', 'a\u007f'],
  ['a C1 control', 'a\u0085'],
  ['a turn of the direction of writing', 'a\u202eb'],
  ['an isolate', '\u2066a'],
  ['a mark of direction', 'a\u200f'],
  ['an Arabic mark of direction', 'a\u061c'],
  ['a line separator', 'a\u2028b'],
  ['a paragraph separator', 'a\u2029b'],
  ['a number', 1],
  ['null', null],
  // An object that converts to text does not count.
  ['an object', { toString: () => 'a' }],
])('%s is none', (_, name) => expect(isLegalName(name)).toBe(false))

test.each<[unknown, string]>([
  ['', 'have 1 to 256 characters, not 0'],
  ['a'.repeat(257), 'have 1 to 256 characters, not 257'],
  ['ab\u001b[2J', 'have no control characters; position 2 has U+001B, a control character'],
  ['a\ud800', 'have no control characters; position 1 has U+D800, half of a surrogate pair'],
  ['😀\u202e', 'have no control characters; position 2 has U+202E, a control character'],
  [null, 'be text, not null'],
  [1, 'be text, not number'],
])('what is wrong with %j is said, and where', (name, issue) => {
  expect(findNameIssue(name)).toBe(issue)
  expect(() => checkName('an id', name)).toThrow(`an id must ${issue}`)
})

test('a session is not named like a folder, which an address would lose', () => {
  for (const name of ['.', '..'])
    expect(() => checkSessionId(name)).toThrow(`not be "${name}", which an HTTP address cannot contain`)
  for (const name of ['...', '.a', 'a/..']) expect(() => checkSessionId(name)).not.toThrow()
  expect(() => checkSessionId('')).toThrow('a session’s id must have 1 to 256 characters')
})
