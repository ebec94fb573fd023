// Arguments against their schema: what is told of wrong ones, and that schemas and patterns of strangers cost bounded steps.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { createArgumentValidator } from './arguments.ts'

function validate(input: JsonObject, argumentsText: string) {
  return createArgumentValidator().validate({ input }, argumentsText)
}

function twice(levels: number, keyword: string): JsonObject {
  const $defs: Record<string, JsonObject> = { [`d${levels}`]: { type: 'string' } }
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { [keyword]: [next, next] }
  }
  return { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }
}

test.each(['anyOf', 'oneOf', 'allOf'])(
  'references that double with each of 40 levels of %s are given up',
  (keyword) => {
    const checked = validate(twice(40, keyword), keyword === 'anyOf' ? '{"x":1}' : '{"x":"a"}')
    expect(checked).toMatchObject({ ok: false, issues: expect.stringContaining('too many steps') as string })
  },
)

test('a schema in itself that doubles with each level of the value is given up', () => {
  const node = { properties: { in: { $ref: '#/$defs/node' }, n: { type: 'string' } } }
  const input = {
    type: 'object',
    $defs: { node: { anyOf: [{ ...node, required: ['n'] }, node] } },
    $ref: '#/$defs/node',
  }
  const checked = validate(input, `${'{"in":'.repeat(60)}{"n":1}${'}'.repeat(60)}`)
  expect(checked).toMatchObject({ ok: false, issues: expect.stringContaining('too many steps') as string })
})

test('all that is wrong with short arguments is told', () => {
  const input = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'number' } },
    required: ['a', 'b', 'c'],
  }
  const checked = validate(input, '{"a":1,"b":"x"}')
  const issues = "the value must have required property 'c'; /a must be string; /b must be number"
  expect(checked).toEqual({ ok: false, issues })
})

test('the first thing that is wrong with long arguments is told', () => {
  const input = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } }
  const checked = validate(input, JSON.stringify({ list: Array.from({ length: 200_000 }, () => 1) }))
  expect(checked).toEqual({ ok: false, issues: '/list/0 must be string' })
})

test('unevaluated properties are seen behind counted references', () => {
  const input = {
    type: 'object',
    allOf: [{ $ref: '#/$defs/a' }],
    $defs: { a: { properties: { a: { type: 'string' } } } },
    unevaluatedProperties: false,
  }
  expect(validate(input, '{"a":"x"}')).toMatchObject({ ok: true })
  expect(validate(input, '{"a":"x","b":1}')).toMatchObject({ ok: false })
})

test.each(['^(a+)+$', '^(a|a)*$', '^(?:a?){40}a{40}$', '(x+x+)+y', '^(?=(a+)+$)'])(
  'the pattern %s is tested against what a model writes without backtracking',
  (pattern) => {
    const input = { type: 'object', properties: { a: { type: 'string', pattern } } }
    const checked = validate(input, JSON.stringify({ a: `${'a'.repeat(2000)}${'x'.repeat(2000)}!` }))
    expect(checked).toMatchObject({ ok: false })
  },
)

test.each(['^(a)\\1$', '(?<=a)b', '(?<n>a)\\k<n>'])('a schema with the pattern %s is refused', (pattern) => {
  const input = { type: 'object', properties: { a: { type: 'string', pattern } } }
  expect(() => validate(input, '{"a":"b"}')).toThrow(/has a (?:backreference|look back), so that its time has no bound/)
})

test.each(['{"__proto__":{"admin":true}}', '{"a":[{"\\u005f_proto__":1}]}'])(
  'arguments with a property __proto__ are refused: %s',
  (text) => {
    const issues = 'the arguments may not have a property "__proto__"'
    expect(validate({ type: 'object' }, text)).toEqual({ ok: false, issues })
  },
)

test('a schema that cannot be compiled is told as one', () => {
  const input = { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } }
  expect(() => validate(input, '{}')).toThrow(expect.objectContaining({ code: 'invalid_schema' }) as Error)
})

// Some took half a minute to compile.
test.each(['$ref', 'allOf', 'anyOf'])('a schema with very many %s is refused', (keyword) => {
  const many = Array.from({ length: 20_000 }, (_, index) => index)
  const refs = Object.fromEntries(many.map((index) => [`a${index}`, { $ref: '#/$defs/a' }]))
  const variants = many.map((index) => ({ required: [`a${index}`] }))
  const more = keyword === '$ref' ? { properties: refs, $defs: { a: { properties: refs } } } : { [keyword]: variants }
  expect(() => validate({ type: 'object', ...more }, '{}')).toThrow(/references and variants; at most 3000 are taken/)
})
