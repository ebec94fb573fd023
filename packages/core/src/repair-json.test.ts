// JSON that is repaired or refused, but never guessed.
import { expect, test } from 'vitest'
import { readPartialJson, repairJson } from './repair-json.ts'

test.each([
  ['a comma before a bracket', '{"a": [1, 2,], }', { a: [1, 2] }, ['trailing-comma']],
  ['a fence', '```json\n{"a": 1}\n```', { a: 1 }, ['fence']],
  ['a fence without a language', '```\n[1]\n```', [1], ['fence']],
  ['literals of Python', '{"a": True, "b": [False, None]}', { a: true, b: [false, null] }, ['python-literal']],
  ['a dict of Python', `{'a': 'say "hi"', 'b': 'it\\'s'}`, { a: 'say "hi"', b: "it's" }, ['single-quotes']],
  ['raw line breaks', '{"a": "x\ny\tz"}', { a: 'x\ny\tz' }, ['raw-control']],
  ['an escaped single quote', `{"a": "it\\'s"}`, { a: "it's" }, ['python-escape']],
  ['a bracket too many', '{"a": {"b": 1}}}', { a: { b: 1 } }, ['extra-bracket']],
  ['escapes as they are', `{'a': "\\u00e9\\n\\\\"}`, { a: 'é\n\\' }, ['single-quotes']],
  ['strict JSON', ' {"a": [true, null, -1.5e3]} ', { a: [true, null, -1500] }, []],
  ['a key that is no literal', '{"True": True}', { True: true }, ['python-literal']],
])('%s', (_, text, value, repairs) => {
  expect(repairJson(text)).toMatchObject({ value, repairs })
})

test.each([
  ['a text that does not end', '{"a": "x'],
  ['a bracket too few', '{"a": {"b": 1}'],
  ['two brackets too many', '{"a": 1}}}'],
  ['brackets of the wrong kind', '{"a": [1}}'],
  ['a quote inside single quotes', "{'a': 'it's'}"],
  ['a quote that was forgotten', '{"a": "x, "b": 1}'],
  ['a comma without a value', '[,]'],
  ['two commas', '[1,,]'],
  ['names without quotes', '{a: 1}'],
  ['a name of Python', '{"a": open}'],
  ['a number of Python', '{"a": 1_000}'],
  ['words behind the value', '{"a": 1} and'],
  ['a comment', '{"a": 1 // one\n}'],
  ['nothing', ''],
  ['a fence with words', '``` look at this\n{"a": 1}\n```'],
  ['a word of a prototype', '{"a": constructor}'],
  ['a cut literal', '{"a": Tru}'],
])('refused: %s', (_, text) => {
  expect(repairJson(text)).toBeUndefined()
})

test('one bracket too few is added between marks only, and never two, and never inside of a text', () => {
  expect(repairJson('{"a": {"b": 1}', { isEnclosed: true })).toMatchObject({
    value: { a: { b: 1 } },
    repairs: ['missing-bracket'],
  })
  for (const text of ['{"a": {"b": 1', '{"a": "x', '{"a": 1,', '{"a":', '{"a": [1}'])
    expect(repairJson(text, { isEnclosed: true })).toBeUndefined()
})

test('no beginning of a text is completed', () => {
  const whole = `{'a': ["x", {'b': True, }, 1.5], "c": "d\ne"}`
  for (let length = 0; length < whole.length; length++) expect(repairJson(whole.slice(0, length))).toBeUndefined()
  expect(repairJson(whole)?.value).toEqual({ a: ['x', { b: true }, 1.5], c: 'd\ne' })
})

// JSON while it is written: at every cut, its value agrees with the complete text.

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
