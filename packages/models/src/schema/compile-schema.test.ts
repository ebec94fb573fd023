// Schemas in the dialects, and the reported losses.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { compileSchema } from './compile-schema.ts'
import type { DialectName } from './dialects.ts'
import { DIALECTS } from './dialects.ts'

const text = { type: 'string' }

function listLosses(schema: JsonObject, dialect: Parameters<typeof compileSchema>[1]): readonly string[] {
  return compileSchema(schema, dialect).losses.map(({ path, keyword, how }) => `${path} ${keyword} ${how}`.trim())
}

test('plain schemas of tools go to Anthropic, OpenAI and Bedrock as they are', () => {
  const schema = { type: 'object', properties: { q: { ...text, minLength: 2, pattern: 'a+' } }, required: ['q'] }
  for (const dialect of ['anthropic', 'openai', 'bedrock', 'nova'] as const)
    expect(compileSchema(schema, dialect)).toEqual({ schema, losses: [] })
})

test('a strict object has every property, optional ones as null, and no others', () => {
  const schema = {
    type: 'object',
    properties: { a: text, b: { ...text, maxLength: 9 }, c: { $ref: '#/$defs/c' } },
    required: ['a'],
    $defs: { c: text },
  }
  expect(compileSchema(schema, 'openai-strict').schema).toEqual({
    type: 'object',
    properties: {
      a: text,
      b: { type: ['string', 'null'], description: '(maxLength: 9)' },
      c: { anyOf: [{ $ref: '#/$defs/c' }, { type: 'null' }] },
    },
    required: ['a', 'b', 'c'],
    additionalProperties: false,
    $defs: { c: text },
  })
  expect(listLosses(schema, 'openai-strict')).toEqual(['properties.b maxLength described'])
})

test.each([{ not: {} }, { not: true }, false])('a strict object leaves out a property that %j forbids', (never) => {
  const schema = { type: 'object', properties: { a: never, b: { type: 'string' } }, required: ['b'] }
  expect(compileSchema(schema, 'openai-strict').schema).toEqual({
    type: 'object',
    properties: { b: { type: 'string' } },
    required: ['b'],
    additionalProperties: false,
  })
})

test('a map of any keys cannot be said strictly, and is told as such', () => {
  const schema = { type: 'object', properties: { labels: { type: 'object', additionalProperties: text } } }
  expect(listLosses(schema, 'openai-strict')).toContain('properties.labels additionalProperties narrowed')
  expect(listLosses(schema, 'openai')).toEqual([])
})

test('Gemini gets one type, a keyword for null, and what a reference leads to', () => {
  const schema = {
    type: 'object',
    properties: {
      when: { type: ['string', 'null'], format: 'date' },
      node: { $ref: '#/$defs/node' },
      kind: { const: 'x' },
    },
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, name: text } } },
  }
  const anyKey = { type: 'string', description: 'Stands for keys with any name, if there are any.' }
  const anyObject = { type: 'object', properties: { any_key: anyKey } }
  expect(compileSchema(schema, 'gemini').schema).toEqual({
    type: 'object',
    properties: {
      when: { type: 'string', nullable: true, description: '(format: date)' },
      node: { type: 'object', properties: { next: anyObject, name: text } },
      kind: { type: 'string', enum: ['x'] },
    },
  })
  expect(listLosses(schema, 'gemini')).toEqual([
    'properties.when format described',
    'properties.node.properties.next recursion widened',
    'properties.node.properties.next properties narrowed',
  ])
})

test('a choice at the root becomes all that may be given, and what every variant demands', () => {
  const schema = {
    type: 'object',
    oneOf: [
      { properties: { id: text, all: { type: 'boolean' } }, required: ['id'] },
      { properties: { id: text, name: text }, required: ['id', 'name'] },
    ],
  }
  const { schema: compiled, losses } = compileSchema(schema, 'openai')
  expect(compiled).toEqual({
    type: 'object',
    properties: { id: text, all: { type: 'boolean' }, name: text },
    required: ['id'],
  })
  expect(losses).toEqual([{ path: '', keyword: 'oneOf', how: 'widened' }])
})

test('names that a provider refuses are told in words, and no longer demanded', () => {
  const schema = { type: 'object', properties: { '@type': text, q: text }, required: ['@type', 'q'] }
  expect(compileSchema(schema, 'anthropic')).toEqual({
    schema: {
      type: 'object',
      properties: { q: text },
      required: ['q'],
      description: '(also accepts "@type": {"type":"string"})',
    },
    losses: [{ path: '', keyword: 'properties.@type', how: 'described' }],
  })
})

test('definitions that nothing leads to are not sent', () => {
  const schema = {
    type: 'object',
    properties: { a: { $ref: '#/$defs/a' } },
    $defs: { a: { $ref: '#/$defs/b' }, b: text, c: { type: 'number' } },
  }
  expect(Object.keys(compileSchema(schema, 'anthropic').schema['$defs'] ?? {})).toEqual(['a', 'b'])
})

test('a schema that is no schema degrades alone, with a reason', () => {
  const broken = {
    type: 'object',
    get properties(): never {
      throw new Error('a getter that throws')
    },
  } as unknown as JsonObject
  expect(compileSchema(broken, 'gemini')).toEqual({
    schema: { type: 'object', properties: {} },
    losses: [{ path: '', keyword: 'a getter that throws', how: 'degraded' }],
  })
})

test('what a strict dialect would forbid is told: any object, any value, any list, keys beside the named ones', () => {
  const named = { type: 'object', properties: { a: { type: 'string' } } }
  const properties = {
    object: { type: 'object' },
    value: {},
    list: { type: 'array' },
    patterns: { type: 'object', patternProperties: { '^x': { type: 'string' } } },
    more: { ...named, additionalProperties: { type: 'string' } },
    closed: { ...named, additionalProperties: false },
  }
  for (const dialect of ['openai-strict', 'anthropic-strict', 'gguf'] as const)
    expect(listLosses({ type: 'object', properties, required: ['value'] }, dialect).filter(isNarrowed)).toEqual([
      'properties.object additionalProperties narrowed',
      'properties.value type narrowed',
      'properties.list items narrowed',
      'properties.patterns additionalProperties narrowed',
      'properties.more additionalProperties narrowed',
    ])
})

function isNarrowed(loss: string): boolean {
  return loss.endsWith(' narrowed')
}

test('a tag that tells variants at the root apart may be that of any of them', () => {
  const variant = (kind: string, beside: object) => ({ properties: { kind: { const: kind }, ...beside } })
  const at = { at: { type: 'string' } }
  const schema = { type: 'object', oneOf: [variant('a', at), variant('b', { at: { type: 'number' } })] }
  const expected = { kind: { enum: ['a', 'b'] }, at: { anyOf: [{ type: 'string' }, { type: 'number' }] } }
  for (const dialect of ['anthropic', 'openai', 'nova'] as const)
    expect(compileSchema(schema, dialect).schema).toMatchObject({ properties: expected })
})

test('what two parts of allOf say of one property holds together', () => {
  const parts = [{ properties: { a: { type: 'string' } } }, { properties: { a: { minLength: 1 } } }]
  const { schema } = compileSchema({ type: 'object', allOf: parts }, 'openai')
  expect(schema).toMatchObject({ properties: { a: { type: 'string', minLength: 1 } } })
})

test('words of older drafts become today’s', () => {
  const pair = { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false }
  const properties = { pair, above: { type: 'number', minimum: 0, exclusiveMinimum: true } }
  expect(compileSchema({ type: 'object', properties }, 'anthropic')).toEqual({
    schema: {
      type: 'object',
      properties: {
        pair: { type: 'array', prefixItems: pair.items, items: false },
        above: { type: 'number', exclusiveMinimum: 0 },
      },
    },
    losses: [],
  })
})

test.each(['anthropic', 'openai', 'bedrock', 'nova'] as const)(
  'keywords with values of no draft are left out for %s, and told, so that they cost the other tools nothing',
  (dialect) => {
    const odd = { type: 'string', required: true, enum: 'x', pattern: '(?P<name>x', minLength: -1, anyOf: [] }
    const compiled = compileSchema({ type: 'object', properties: { odd }, required: 'odd' as never }, dialect)
    expect(compiled.schema).toEqual({ type: 'object', properties: { odd: { type: 'string' } } })
    expect(compiled.losses.map(({ keyword }) => keyword)).toEqual(
      expect.arrayContaining(['required', 'enum', 'pattern', 'minLength', 'anyOf']),
    )
  },
)

test('a reference with a bare percent sign is a name like any other, and costs the schema nothing', () => {
  const share = { type: 'object', properties: { share: { $ref: '#/$defs/50%' }, name: text } }
  const { schema, losses } = compileSchema({ ...share, $defs: { '50%': { type: 'number' } } }, 'gemini')
  expect([schema['properties'], losses]).toEqual([{ share: { type: 'number' }, name: text }, []])
})

function twice(levels: number, keyword: string): JsonObject {
  const $defs: Record<string, JsonObject> = { [`d${levels}`]: { type: 'string' } }
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { [keyword]: [next, next] }
  }
  return { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }
}

function chain(length: number): JsonObject {
  const links = Array.from({ length }, (_, index): [string, JsonObject] => [
    `d${index}`,
    index === length - 1 ? { type: 'string' } : { $ref: `#/$defs/d${index + 1}` },
  ])
  return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs: Object.fromEntries(links) }
}

function anchors(count: number): JsonObject {
  const numbers = Array.from({ length: count }, (_, index) => index)
  return {
    type: 'object',
    properties: Object.fromEntries(numbers.map((number) => [`a${number}`, { $ref: `#n${number}` }])),
    $defs: Object.fromEntries(numbers.map((number) => [`d${number}`, { $anchor: `n${number}`, type: 'string' }])),
  }
}

// Each took a minute or more, some never finished.
test.each([
  ['a doubling anyOf', twice(40, 'anyOf')],
  ['a doubling oneOf', twice(40, 'oneOf')],
  ['a doubling allOf', twice(40, 'allOf')],
  ['a doubling tuple', twice(40, 'prefixItems')],
  ['a chain of references', chain(30_000)],
  ['many anchors', anchors(20_000)],
  ['a long allOf', { type: 'object', allOf: Array.from({ length: 30_000 }, (_, index) => ({ title: `t${index}` })) }],
] satisfies (readonly [string, JsonObject])[])('%s is compiled in a bounded number of steps', (_, schema) => {
  for (const name of Object.keys(DIALECTS) as DialectName[])
    // the keys of that record
    expect(JSON.stringify(compileSchema(schema, name)).length).toBeLessThan(4_000_000)
})

test('a grammar of node-llama-cpp chooses between a list and null, because it knows no type of both', () => {
  const list = { type: 'array', items: { type: 'string' } } as const
  const schema = {
    type: 'object',
    properties: { given: { ...list, type: ['array', 'null'] }, left: list, note: { type: 'string' } },
    required: ['given'],
    additionalProperties: false,
  }
  expect(compileSchema(schema, 'gguf').schema['properties']).toEqual({
    given: { oneOf: [list, { type: 'null' }] },
    left: { oneOf: [list, { type: 'null' }] },
    note: { type: ['string', 'null'] },
  })
})
