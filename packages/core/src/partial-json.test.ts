// JSON while it is written: at every cut, its value agrees with the complete text.
import { expect, test } from 'vitest'
import { readPartialJson } from './partial-json.ts'

test.each([
  ['', undefined],
  ['Here it is: ', undefined],
  ['{', {}],
  ['Sure! {"na', {}],
  ['{"name"', {}],
  ['{"name": ', {}],
  ['{"name": "A', { name: 'A' }],
  ['{"name": "A\\', { name: 'A' }],
  ['{"name": "A\\\\', { name: 'A\\' }],
  ['{"name": "A\\u00e', { name: 'A' }],
  ['{"name": "😀'.slice(0, -1), { name: '' }],
  ['{"count": 12', {}],
  ['{"count": 12,', { count: 12 }],
  ['{"ok": tru', {}],
  ['{"ok": true}', { ok: true }],
  ['{"list": ["a", "b', { list: ['a', 'b'] }],
  ['{"list": [1, 2', { list: [1] }],
  ['{"list": [{"a": 1}, {"b', { list: [{ a: 1 }, {}] }],
  ['```json\n{"a": {"b": "}"}}\n```', { a: { b: '}' } }],
  ['{no JSON, at all', undefined],
])('%s', (text, value) => {
  expect(readPartialJson(text)).toEqual(value)
})

test('at every cut it is a beginning of the whole, and of all that follows', () => {
  const deep = {
    list: [
      [1, 2.5],
      [true, null],
    ],
    text: 'tail',
  }
  const whole = { title: 'A "quoted" \\ title 😀', tags: ['one', 'two'], deep, end: 'x' }
  const text = JSON.stringify(whole, null, 1)
  let before: unknown = {}
  for (let cut = 1; cut <= text.length; cut++) {
    const value = readPartialJson(text.slice(0, cut))
    expect([cut, isBeginning(before, value), isBeginning(value, whole)]).toEqual([cut, true, true])
    before = value
  }
  expect(before).toEqual(whole)
})

function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (typeof part !== 'object' || part === null) return part === whole
  const fields = whole as Readonly<Record<string, unknown>>
  return Object.entries(part).every(([name, value]) => isBeginning(value, fields[name]))
}
