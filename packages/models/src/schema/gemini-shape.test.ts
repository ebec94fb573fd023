// Rejections by Gemini's validator, verbatim, and the schemas that avoid them.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { compileSchema } from './compile-schema.ts'

const text = { type: 'string' } as const
const object = { type: 'object', properties: { x: text }, required: ['x'] } as const
const anyKey = (type: string) => ({ type, description: 'Stands for keys with any name, if there are any.' })

function compiled(schema: JsonObject) {
  const { schema: root, losses } = compileSchema({ type: 'object', properties: { a: schema } }, 'gemini')
  const { a } = root['properties'] as Readonly<Record<string, JsonObject>> // as given
  return { a, losses: losses.map(({ keyword, how }) => `${keyword} ${how}`) }
}

test.each<[string, JsonObject, JsonObject, readonly string[]]>([
  [
    'specified other fields alongside any_of: a list or a text',
    { type: ['array', 'string'], items: { type: 'number' }, description: 'Which.' },
    {
      anyOf: [
        { type: 'array', items: { type: 'number' }, description: 'Which.' },
        { type: 'string', description: 'Which.' },
      ],
    },
    [],
  ],
  [
    'properties: only allowed for OBJECT type: an object or a text',
    { ...object, type: ['object', 'string', 'null'] },
    {
      anyOf: [
        { ...object, nullable: true },
        { type: 'string', nullable: true },
      ],
    },
    [],
  ],
  [
    'choices inside of a choice',
    { anyOf: [{ anyOf: [text, { type: 'boolean' }], description: 'In.' }, text], description: 'Out.' },
    {
      anyOf: [
        { ...text, description: 'Out. In.' },
        { type: 'boolean', description: 'Out. In.' },
        { ...text, description: 'Out.' },
      ],
    },
    [],
  ],
  ['a choice of one, or of none but null', { anyOf: [text, { type: 'null' }] }, { ...text, nullable: true }, []],
  ['properties on a text', { type: 'string', properties: { x: text }, required: ['x'] }, text, []],
  ['an object that does not say so', { properties: { x: text } }, { type: 'object', properties: { x: text } }, []],
  [
    'any_of[0].required: only allowed for OBJECT type',
    { ...object, anyOf: [{ required: ['x'] }, { required: ['y'] }] },
    object,
    ['anyOf widened'],
  ],
  ['required[0]: property is not defined', { ...object, required: ['ghost', 'x'] }, object, []],
  [
    'properties: should be non-empty for OBJECT type: a map',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', properties: { any_key: anyKey('number') } },
    ['additionalProperties narrowed'],
  ],
  [
    'properties: should be non-empty for OBJECT type: any object',
    { type: 'object' },
    { type: 'object', properties: { any_key: anyKey('string') } },
    ['properties narrowed'],
  ],
  [
    'schema didn’t specify the schema type field: anything',
    { description: 'Any.' },
    { ...text, description: 'Any.' },
    ['type narrowed'],
  ],
  ['items: missing field: a list of anything', { type: 'array' }, { type: 'array', items: text }, ['type narrowed']],
  ['a format of another type', { type: 'number', format: 'date-time' }, { type: 'number' }, []],
])('%s', (_refusal, schema, shaped, losses) => {
  expect(compiled(schema)).toEqual({ a: shaped, losses })
})

test('a tool without arguments loses nothing', () => {
  expect(compileSchema({ type: 'object' }, 'gemini')).toEqual({
    schema: { type: 'object', properties: {} },
    losses: [],
  })
})

test('choices in choices end at a bound', () => {
  let schema: JsonObject = text
  for (let depth = 0; depth < 20; depth++)
    schema = { type: 'object', properties: { p: schema }, anyOf: [{ title: 'A' }, { title: 'B' }] }
  expect(JSON.stringify(compiled(schema)).length).toBeLessThan(2_000_000)
})
