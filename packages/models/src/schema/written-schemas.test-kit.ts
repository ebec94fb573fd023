// Schemas as people and libraries write them, each with one difficulty, for the tests of the dialects.
import type { JsonObject } from '@baton/core'

const text = { type: 'string' }

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...more }
}

export const WRITTEN: readonly (readonly [string, JsonObject])[] = [
  ['nothing at all', { type: 'object' }],
  ['no properties', object({})],
  ['one text', object({ q: text }, { required: ['q'] })],
  ['an optional text', object({ q: text })],
  ['a closed object', object({ q: text }, { additionalProperties: false })],
  ['a map of texts', object({ labels: { type: 'object', additionalProperties: text } })],
  ['a map at the root', { type: 'object', additionalProperties: { type: 'number' } }],
  ['names by pattern', object({}, { patternProperties: { '^x-': text }, propertyNames: { maxLength: 9 } })],
  ['a list without items', object({ list: { type: 'array' } })],
  ['a list of lists', object({ rows: { type: 'array', items: { type: 'array', items: { type: 'number' } } } })],
  [
    'a tuple',
    object({ point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'number' }], items: false } }),
  ],
  ['a set', object({ tags: { type: 'array', items: text, uniqueItems: true, minItems: 1, maxItems: 9 } })],
  ['limits of numbers', object({ n: { type: 'number', minimum: 0, exclusiveMaximum: 1, multipleOf: 0.1 } })],
  ['limits of texts', object({ t: { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$' } })],
  ['formats', object({ d: { type: 'string', format: 'date' }, u: { type: 'string', format: 'uri-template' } })],
  ['an enum', object({ unit: { type: 'string', enum: ['c', 'f'] } })],
  ['an enum of numbers', object({ n: { enum: [1, 2, 3] } })],
  ['an enum with null', object({ n: { enum: ['a', null] } })],
  ['an enum with an empty text', object({ n: { type: 'string', enum: ['', 'a'] } })],
  ['a constant', object({ kind: { const: 'cat' }, n: { const: 3 } }, { required: ['kind'] })],
  ['text or null', object({ t: { type: ['string', 'null'] } })],
  ['text, number or null', object({ t: { type: ['string', 'number', 'null'] } })],
  ['nullable of OpenAPI', object({ t: { type: 'string', nullable: true } })],
  ['null among variants', object({ t: { anyOf: [text, { type: 'null' }] } })],
  ['only null', object({ t: { type: 'null' } })],
  ['anything', object({ t: {} })],
  ['true and false', { type: 'object', properties: { yes: true, no: false } }],
  ['one of two', object({ pet: { oneOf: [object({ cat: text }), object({ dog: text })] } })],
  [
    'a choice by a tag',
    object({ pet: { oneOf: [object({ kind: { const: 'cat' } })], discriminator: { propertyName: 'kind' } } }),
  ],
  ['all of two', object({ p: { allOf: [object({ a: text }, { required: ['a'] }), object({ b: text })] } })],
  ['a root of all', { type: 'object', allOf: [object({ a: text }, { required: ['a'] }), object({ b: text })] }],
  ['a root of one', { type: 'object', oneOf: [object({ a: text }, { required: ['a'] }), object({ b: text })] }],
  [
    'a root of any, all with the same demand',
    {
      type: 'object',
      anyOf: [object({ a: text }, { required: ['a'] }), object({ a: text, b: text }, { required: ['a', 'b'] })],
    },
  ],
  [
    'if and then',
    JSON.parse('{"type":"object","properties":{},"if":{},"then":{"required":["b"]},"else":{}}') as JsonObject,
  ],
  ['not', object({ a: { not: { type: 'string' } } })],
  ['dependent demands', object({ a: text, b: text }, { dependentRequired: { a: ['b'] } })],
  ['a reference', { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: text } }],
  [
    'a reference with words beside it',
    { ...object({ a: { $ref: '#/$defs/a', description: 'an a' } }), $defs: { a: text } },
  ],
  [
    'a reference of draft 7',
    { ...object({ a: { $ref: '#/definitions/a' } }), definitions: { a: object({ b: text }) } },
  ],
  [
    'a reference to a reference',
    { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { $ref: '#/$defs/b' }, b: text } },
  ],
  ['a root that is a reference', { type: 'object', $ref: '#/$defs/a', $defs: { a: object({ b: text }) } }],
  ['a schema in itself', { ...object({ next: { $ref: '#' }, name: text }) }],
  [
    'a tree',
    {
      ...object({ root: { $ref: '#/$defs/node' } }),
      $defs: { node: object({ left: { $ref: '#/$defs/node' }, right: { $ref: '#/$defs/node' } }) },
    },
  ],
  ['a reference that leads nowhere', object({ a: { $ref: '#/$defs/missing' } })],
  ['a reference to elsewhere', object({ a: { $ref: 'https://example.com/schema.json' } })],
  ['a reference in a circle', { ...object({ a: { $ref: '#/$defs/a' } }), $defs: { a: { $ref: '#/$defs/a' } } }],
  ['an anchor', { ...object({ a: { $ref: '#here' } }), $defs: { a: { $anchor: 'here', ...text } } }],
  [
    'what zod writes',
    {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      ...object({ a: { ...text, format: 'email' } }, { required: ['a'], additionalProperties: false }),
    },
  ],
  [
    'what pydantic writes',
    {
      title: 'Order',
      ...object({ item: { title: 'Item', anyOf: [text, { type: 'null' }], default: null } }),
      $defs: {},
    },
  ],
  [
    'what TypeBox writes',
    {
      $id: 'T',
      ...object(
        {
          kind: {
            anyOf: [
              { const: 'a', type: 'string' },
              { const: 'b', type: 'string' },
            ],
          },
        },
        { required: ['kind'] },
      ),
    },
  ],
  ['defaults and examples', object({ a: { ...text, default: 'x', examples: ['y'] } })],
  ['read only and deprecated', object({ a: { ...text, readOnly: true, deprecated: true } })],
  [
    'properties named like keywords',
    object({ type: text, items: text, properties: object({ required: text }), $ref: text }, { required: ['type'] }),
  ],
  [
    'a property named __proto__',
    JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    ) as JsonObject,
  ],
  [
    'names that providers refuse',
    object(
      { 'with space': text, '@type': text, ['x'.repeat(80)]: text, ä: text },
      { required: ['@type', 'with space'] },
    ),
  ],
  ['deep', Array.from({ length: 60 }).reduce<JsonObject>((inner) => object({ in: inner }), text)],
  ['wide', object(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, text])))],
  ['unevaluated', object({ a: text }, { unevaluatedProperties: false })],
  ['contains', object({ a: { type: 'array', items: text, contains: { const: 'x' }, minContains: 1 } })],
  ['a type that nobody knows', object({ a: { type: 'date' } })],
]
