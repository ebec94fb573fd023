// Arguments against their schema: the errors for wrong ones, and bounded steps for foreign schemas and patterns.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { createArgumentValidator } from './arguments.ts'

const validator = createArgumentValidator()
await validator.load()

function validate(input: JsonObject, argumentsText: string) {
  return validator.validate({ input }, argumentsText)
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

test.each(['^(a)\\1$', '(?<=a)b', '(?<n>a)\\k<n>'])('a text is not tested against the pattern %s', (pattern) => {
  const input = { type: 'object', properties: { a: { type: 'string', pattern } } }
  expect(validate(input, '{"a":"c"}')).toMatchObject({ ok: true })
  expect(validate(input, '{"a":1}')).toEqual({ ok: false, issues: '/a must be string' })
})

test.each(['{"__proto__":{"admin":true}}', '{"a":[{"\\u005f_proto__":1}]}'])(
  'arguments with a property __proto__ are refused: %s',
  (text) => {
    const issues = 'the arguments may not have a property "__proto__"'
    expect(validate({ type: 'object' }, text)).toEqual({ ok: false, issues })
  },
)

// Some took half a minute to compile.
test.each(['$ref', 'allOf', 'anyOf'])(
  'of a schema with very many %s the names and types of fields are checked',
  (keyword) => {
    const many = Array.from({ length: 20_000 }, (_, index) => index)
    const refs = Object.fromEntries(many.map((index) => [`a${index}`, { $ref: '#/$defs/a' }]))
    const variants = many.map((index) => ({ required: [`a${index}`] }))
    const more = keyword === '$ref' ? { $defs: { a: { properties: refs } } } : { [keyword]: variants }
    const properties = { ...(keyword === '$ref' && refs), n: { type: 'number' } }
    const input = { type: 'object', properties, required: ['n'], ...more }
    expect(validate(input, '{"n":1}')).toMatchObject({ ok: true })
    expect(validate(input, '{"n":"x"}')).toEqual({ ok: false, issues: '/n must be number' })
  },
)

test('a check before anything is loaded waits for it, and the next one does not', async () => {
  const fresh = createArgumentValidator()
  const shape = { input: { type: 'object', properties: { n: { type: 'number' } } } }
  const first = fresh.validate(shape, '{"n":"x"}')
  expect(first).toBeInstanceOf(Promise)
  expect(await first).toEqual({ ok: false, issues: '/n must be number' })
  expect(fresh.validate(shape, '{"n":1}')).toEqual({ ok: true, value: { n: 1 } })
})

test('a library’s schema that only describes itself is checked by its description', async () => {
  const described = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const jsonSchema = { input: () => described, output: () => described }
  const input = { '~standard': { version: 1, vendor: 'effect', jsonSchema } } as never // without `validate`
  const validator = createArgumentValidator()
  expect(await validator.validate({ input }, '{"a":"x"}')).toEqual({ ok: true, value: { a: 'x' } })
  expect(await validator.validate({ input }, '{"a":1}')).toEqual({ ok: false, issues: '/a must be string' })
})

const VALUES = Array.from({ length: 3000 }, (_, index) => `v${index}`)
test.each<[string, JsonObject]>([
  ['an enum', { enum: VALUES }],
  ['anyOf of constants', { anyOf: VALUES.map((value) => ({ const: value, type: 'string' })) }],
  ['oneOf of constants', { oneOf: VALUES.map((value) => ({ const: value })) }],
])('a long list may have any values of %s with thousands', async (_, items) => {
  const input = { type: 'object', properties: { a: { type: 'array', items } } }
  const validator = createArgumentValidator()
  const check = (a: readonly string[]) => validator.validate({ input }, JSON.stringify({ a }))
  expect(await check(VALUES)).toMatchObject({ ok: true })
  expect(await check(['v1', 'x'])).toEqual({
    ok: false,
    issues: expect.stringMatching(/^\/a\/1 must be equal to one of the allowed values: \["v0","v1"/) as string,
  })
})

test('objects and lists in an enum are compared as values', async () => {
  const input = { type: 'object', properties: { a: { enum: [{ x: 1, y: [2] }, [1], null, 0] } } }
  const validator = createArgumentValidator()
  const check = async (a: unknown) => (await validator.validate({ input }, JSON.stringify({ a }))).ok
  for (const right of [{ y: [2], x: 1 }, [1], null, 0, -0]) expect(await check(right)).toBe(true)
  for (const wrong of [{ x: 1 }, [2], false, '0', 'null', '']) expect(await check(wrong)).toBe(false)
})

test('two schemas with one address do not get into each other’s way', () => {
  const shape = (type: string) => ({
    input: { $id: 'urn:x', type: 'object', properties: { a: { $id: 'urn:y', type } } },
  })
  expect(validator.validate(shape('string'), '{"a":"x"}')).toMatchObject({ ok: true })
  expect(validator.validate(shape('number'), '{"a":1}')).toMatchObject({ ok: true })
})

test.each<[multipleOf: number, right: readonly number[], wrong: readonly number[]]>([
  [0.01, [19.99, 0, -1.1, 4.35, 1e21], [0.005, 19.991]],
  [1e-8, [1e-8, 0.1, 123456.00000001, 1e300], [1e-9]],
  [0.1, [0.3, 1.1, 0.1 + 0.2], [0.35]],
  [1e100, [3e100, 0], [1e99]],
  [7, [49, -7, 9007199254740988], [50, 0.7, 9007199254740991]],
])('multiples of %s are those of the decimal', (multipleOf, right, wrong) => {
  const input = { type: 'object', properties: { n: { type: 'number', multipleOf } } }
  for (const n of right) expect(validate(input, JSON.stringify({ n }))).toMatchObject({ ok: true })
  for (const n of wrong)
    expect(validate(input, JSON.stringify({ n }))).toEqual({
      ok: false,
      issues: `/n must be multiple of ${multipleOf}`,
    })
})

test('items are compared as values, in a number of steps that grows with their number', () => {
  const input = { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } }
  const items = Array.from({ length: 50_000 }, (_, index) => ({ index, more: { b: 1, a: 2 } }))
  expect(validate(input, JSON.stringify({ a: [...items, 1, '1', [1]] }))).toMatchObject({ ok: true })
  expect(validate(input, '{"a":[{"x":1,"y":[2]},{"y":[2],"x":1}]}')).toMatchObject({ ok: false })
})

test('arguments nest as deep as a schema does', () => {
  const deep = Array.from({ length: 90 }).reduce<JsonObject>((inner) => ({ properties: { in: inner } }), {
    type: 'string',
  })
  const input = { ...deep, type: 'object' }
  expect(validate(input, `${'{"in":'.repeat(90)}"x"${'}'.repeat(90)}`)).toMatchObject({ ok: true })
  expect(validate(input, `${'{"in":'.repeat(90)}1${'}'.repeat(90)}`)).toMatchObject({ ok: false })
})
