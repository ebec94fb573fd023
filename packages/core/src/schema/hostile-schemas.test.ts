// Foreign schemas built to cost time, memory or a crash. Schemas that take too long fail by the test's time limit.
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { readSchema } from './read-schema.ts'
import { createLinearPattern } from './linear-pattern.ts'

function objectOf(count: number, make: (index: number) => readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => make(index)).flat())
}

function nest(levels: number): JsonValue {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as JsonValue
}

test('definitions whose names become the same each get a name of their own', () => {
  const names = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
  const $defs = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const { schema } = readSchema({ $defs })
  expect(new Set(Object.keys(schema['$defs'] as JsonObject)).size).toBe(20_000)
})

test('places that get a definition of the same name each get their own', () => {
  const properties = objectOf(8000, (index) => [
    [`p${index}`, { items: { const: index } }],
    [`q${index}`, { $ref: `#/properties/p${index}/items` }],
  ])
  const { schema } = readSchema({ properties })
  expect((schema['$defs'] as JsonObject)['items_8000']).toEqual({ const: 7999 })
})

test('as many addresses as anchors are looked up at once', () => {
  const properties = objectOf(8000, (index) => [
    [`p${index}`, { $id: `http://x/${index}`, $anchor: `a${index}` }],
    [`q${index}`, { $ref: `#a${index}` }],
  ])
  expect(readSchema({ properties }).faults.filter(({ keyword }) => keyword === '$ref')).toEqual([])
})

test('very many fields that mean nothing are told one by one', () => {
  const properties = objectOf(10_000, (index) => [[`p${index}`, { type: 'any' }]])
  expect(readSchema({ properties }).faults).toHaveLength(10_000)
})

test('each of many denials may hold what is not checked', () => {
  const fields = objectOf(4000, (index) => [[`p${index}`, { not: { $ref: `#/$defs/d${index}` } }]])
  const $defs = objectOf(4000, (index) => [[`d${index}`, { properties: { x: { $ref: `#/$defs/d${index + 1}` } } }]])
  const { schema } = readSchema({ properties: fields, $defs: { ...$defs, d4000: { pattern: '(?<=a)b' } } })
  expect((schema['properties'] as JsonObject)['p0']).toEqual({})
})

test('a schema of very many values keeps the names and types of its fields', () => {
  const $defs = objectOf(60_000, (index) => [[`d${index}`, { type: 'string', title: 'x' }]])
  const { schema, faults } = readSchema({
    type: 'object',
    properties: { city: { type: 'string', maxLength: 3 } },
    $defs,
  })
  expect(schema).toEqual({ type: 'object', properties: { city: { type: 'string' } } })
  expect(faults).toMatchObject([{ keyword: 'the schema', how: 'unchecked' }])
})

test('very many fields leave an object of any fields', () => {
  const properties = objectOf(60_000, (index) => [[`d${index}`, { type: 'any' }]])
  expect(readSchema({ properties }, { isObject: true }).schema).toEqual({ type: 'object' })
})

test('patterns that are large together are left out from some point on, and told', () => {
  const properties = objectOf(1000, (index) => [[`p${index}`, { pattern: `(ab){0,${40_000 + index}}` }]])
  const { schema, faults } = readSchema({ properties })
  const fields = schema['properties'] as JsonObject
  expect([fields['p0'], fields['p999']]).toEqual([{ pattern: '(ab){0,40000}' }, {}])
  expect(faults.at(-1)).toMatchObject({ path: 'properties.p999', keyword: 'pattern', how: 'unchecked' })
})

test.each(['type', 'properties', 'minimum', 'pattern', '$ref'])(
  '%s that nests too deeply for JSON is told',
  (keyword) => {
    const { schema, faults } = readSchema({ [keyword]: nest(20_000) })
    expect(schema).toEqual({})
    expect(faults.map((fault) => fault.keyword)).toContain(keyword)
  },
)

test('a pattern of very many empty alternatives is refused or read, and never ends the process', () => {
  const read = createLinearPattern(`(?:${'|'.repeat(140_000)}a)b`, () => undefined)
  expect(read.test('b')).toBe(true)
  expect(() => createLinearPattern('|'.repeat(200_000), () => undefined)).toThrow('too much')
})

test('names of what every object has are names like others', () => {
  const text = '{"$defs":{"__proto__":{"type":"string"}},"properties":{"__proto__":{"$ref":"#/$defs/__proto__"}}}'
  expect(JSON.stringify(readSchema(JSON.parse(text) as JsonObject).schema)).toBe(text)
  expect(Object.keys(Object.prototype)).toEqual([])
})
