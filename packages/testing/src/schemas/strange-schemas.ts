// Schemas as strangers write them, each with valid arguments, for tests of how they are read and of the check.
import type { JsonObject } from '@baton/core'
import { CONTRADICTORY } from './contradictory-schemas.ts'
import type { StrangeSchema } from './strange-schema.ts'

export type { StrangeSchema } from './strange-schema.ts'

function field(schema: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', properties: { a: schema }, required: ['a'], ...more }
}

function text(pattern: string): JsonObject {
  return field({ type: 'string', pattern })
}

const DRAFT_4 = { $schema: 'http://json-schema.org/draft-04/schema#' }
const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' }
const PAIR = { type: 'array', items: [{ type: 'number' }, { type: 'string' }], minItems: 2, maxItems: 2 }
const POINTS = { type: 'array', items: [{ type: 'number' }], additionalItems: { type: 'string' } }

const OLDER: Readonly<Record<string, StrangeSchema>> = {
  'a tuple of draft 7': { input: field(PAIR, DRAFT_7), right: [{ a: [1, 'x'] }], wrong: [{ a: ['x', 1] }] },
  'a tuple that names no draft': { input: field(PAIR), right: [{ a: [1, 'x'] }], wrong: [{ a: ['x', 1] }] },
  'items beside a tuple': { input: field(POINTS), right: [{ a: [1, 'x', 'y'] }], wrong: [{ a: [1, 2] }] },
  'an empty tuple': { input: field({ type: 'array', items: [] }), right: [{ a: [1] }] },
  'additionalItems without a tuple': {
    input: field({ type: 'array', items: { type: 'number' }, additionalItems: false }, DRAFT_7),
    right: [{ a: [1, 2] }],
    wrong: [{ a: ['x'] }],
  },
  'an exclusive limit of draft 4': {
    input: field({ type: 'integer', minimum: 0, exclusiveMinimum: true }),
    right: [{ a: 1 }],
    wrong: [{ a: 0 }],
  },
  'a limit of draft 4 that is not exclusive': {
    input: field({ type: 'integer', maximum: 3, exclusiveMaximum: false }, DRAFT_4),
    right: [{ a: 3 }],
    wrong: [{ a: 4 }],
  },
  'dependencies of both kinds': {
    input: {
      type: 'object',
      properties: { a: {}, b: {}, c: { type: 'number' } },
      dependencies: { a: ['b'], b: { required: ['c'] } },
    },
    right: [{ a: 1, b: 1, c: 1 }, { c: 1 }],
    wrong: [{ a: 1 }, { b: 1 }],
  },
  'words beside a reference of draft 7': {
    input: { ...field({ $ref: '#/definitions/d', minLength: 9 }, DRAFT_7), definitions: { d: { type: 'string' } } },
    right: [{ a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'words beside a reference of today': {
    input: { ...field({ $ref: '#/$defs/d', minLength: 3 }), $defs: { d: { type: 'string' } } },
    right: [{ a: 'xyz' }],
    wrong: [{ a: 'x' }],
  },
  'id of draft 4, as an address and as an anchor': {
    input: {
      ...DRAFT_4,
      id: 'https://example.com/order.json',
      ...field({ allOf: [{ $ref: '#sku' }, { $ref: 'order.json#/definitions/short' }] }),
      definitions: { sku: { id: '#sku', type: 'string' }, short: { maxLength: 3 } },
    },
    right: [{ a: 'abc' }],
    wrong: [{ a: 1 }, { a: 'abcd' }],
  },
  'draft 3': {
    input: {
      $schema: 'http://json-schema.org/draft-03/schema#',
      type: 'object',
      properties: {
        a: { type: 'string', required: true },
        b: { type: 'any' },
        c: { type: 'number', divisibleBy: 2 },
        d: { type: ['string', { type: 'object' }] },
        e: { disallow: 'null' },
      },
    },
    right: [{ a: 'x', b: null, c: 4, d: {}, e: 1 }],
    wrong: [{ b: 1 }, { a: 'x', c: 3 }, { a: 'x', d: 1 }, { a: 'x', e: null }],
  },
  'a schema in itself of 2019-09': {
    input: {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      type: 'object',
      properties: { a: { $recursiveRef: '#' }, n: { type: 'number' } },
      additionalProperties: false,
    },
    right: [{ a: { a: {}, n: 1 } }],
    wrong: [{ a: { n: 'x' } }, { a: { b: 1 } }],
  },
  'a dynamic reference': {
    input: { $dynamicAnchor: 'node', ...field({ $dynamicRef: '#node' }), required: [], additionalProperties: false },
    right: [{ a: { a: {} } }],
    wrong: [{ a: { b: 1 } }],
  },
  'nullable of OpenAPI 3.0': {
    input: field({ type: 'string', enum: ['x'], nullable: true }),
    right: [{ a: null }, { a: 'x' }],
    wrong: [{ a: 'y' }],
  },
  'nullable beside a reference': {
    input: { ...field({ $ref: '#/definitions/d', nullable: true }), definitions: { d: { type: 'string' } } },
    right: [{ a: null }, { a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'an address of a draft that nobody knows': {
    input: field({ type: 'integer', minimum: 0, exclusiveMinimum: true }, { $schema: 'https://example.com/mine' }),
    right: [{ a: 1 }],
    wrong: [{ a: 0 }],
  },
}

const REFERENCES: Readonly<Record<string, StrangeSchema>> = {
  'a reference to nowhere': {
    input: field({ $ref: '#/$defs/Gone' }),
    right: [{ a: 1 }, { a: 'x' }],
    told: 'properties.a: $ref "#/$defs/Gone" leads nowhere, so any value is accepted there',
  },
  'a reference out of the schema': {
    input: field({ $ref: 'https://example.com/pet.json#/Pet' }),
    right: [{ a: { name: 'x' } }],
    told: 'properties.a: $ref "https://example.com/pet.json#/Pet" leads out of the schema, and nothing is fetched, so any value is accepted there',
  },
  'a reference in a circle': {
    input: {
      ...field({ $ref: '#/$defs/b' }),
      $defs: { b: { allOf: [{ $ref: '#/$defs/c' }] }, c: { $ref: '#/$defs/b' } },
    },
    right: [{ a: 1 }],
    told: '$ref "#/$defs/c" only leads back to itself, so it is dropped',
  },
  'definitions in a part': {
    input: field({
      type: 'object',
      properties: { b: { $ref: '#/$defs/b' } },
      $defs: { b: { type: 'array', items: { $ref: '#/$defs/c' } }, c: { type: 'number' } },
    }),
    right: [{ a: { b: [1] } }],
    wrong: [{ a: { b: ['x'] } }],
  },
  'definitions under other names': {
    input: {
      ...field({ $ref: '#/components/schemas/Pet' }),
      components: { schemas: { Pet: { type: 'object', properties: { kin: { $ref: '#/components/schemas/Pet' } } } } },
    },
    right: [{ a: { kin: { kin: {} } } }],
    wrong: [{ a: { kin: { kin: 1 } } }],
  },
  'a definition with an odd name': {
    input: { ...field({ $ref: '#/$defs/Page%3COrder%3E' }), $defs: { 'Page<Order>': { type: 'number' } } },
    right: [{ a: 1 }],
    wrong: [{ a: 'x' }],
  },
  'an odd name that is not encoded': {
    input: { ...field({ $ref: '#/definitions/a b~1c' }), definitions: { 'a b/c': { type: 'number' } } },
    right: [{ a: 1 }],
    wrong: [{ a: 'x' }],
  },
  'a reference to another field': {
    input: { type: 'object', properties: { a: { $ref: '#/properties/b' }, b: { type: 'string', nullable: true } } },
    right: [{ a: null }, { a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'a reference to a place of a tuple': {
    input: { type: 'object', properties: { t: PAIR, a: { $ref: '#/properties/t/items/1' } } },
    right: [{ a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'a definition with an address of its own': {
    input: {
      $id: 'https://example.com/root',
      ...field({ $ref: 'part' }),
      $defs: { p: { $id: 'part', $ref: '#/$defs/n', $defs: { n: { type: 'number' } } } },
    },
    right: [{ a: 1 }],
    wrong: [{ a: 'x' }],
  },
  'a root that only refers': {
    input: { $ref: '#/definitions/Order', definitions: { Order: field({ type: 'string' }) }, ...DRAFT_7 },
    right: [{ a: 'x' }],
    wrong: [{}],
  },
  'a root without a type that stands in itself': {
    input: { properties: { a: { anyOf: [{ type: 'string' }, { $ref: '#' }] } }, additionalProperties: false },
    right: [{ a: { a: 'x' } }, { a: 'x' }],
    wrong: [{ a: { b: 1 } }],
  },
  'a root of all': {
    input: { allOf: [field({ type: 'string' }), { properties: { b: { type: 'number' } } }] },
    right: [{ a: 'x', b: 1 }],
    wrong: [{ a: 'x', b: 'y' }],
  },
}

const PATTERNS: Readonly<Record<string, StrangeSchema>> = {
  'needless escapes': {
    input: text('^https\\:\\/\\/[a-z\\_\\-\\@]+$'),
    right: [{ a: 'https://a_b' }],
    wrong: [{ a: 'x' }],
  },
  'a set in a range': { input: text('^[\\w-\\.]+@$'), right: [{ a: 'a.b-c@' }], wrong: [{ a: '@' }] },
  'names and ends of Python': { input: text('\\A(?P<y>\\d{4})\\Z'), right: [{ a: '2026' }], wrong: [{ a: '2026x' }] },
  'any case': { input: text('(?i)^ab[c-e]$'), right: [{ a: 'aBD' }], wrong: [{ a: 'abf' }] },
  'any case in a group': { input: text('^(?i:a)b$'), right: [{ a: 'Ab' }], wrong: [{ a: 'AB' }] },
  'classes of POSIX': { input: text('^[[:alpha:]_]+[[:digit:]]$'), right: [{ a: 'a_1' }], wrong: [{ a: '1' }] },
  'possessive and atomic': { input: text('^(?>a|b)++\\z'), right: [{ a: 'abba' }], wrong: [{ a: 'c' }] },
  'very many repeats': { input: text('^.{0,262144}$'), right: [{ a: 'x'.repeat(9) }], wrong: [{ a: 'x\n' }] },
  'properties of Java': { input: text('^\\p{Alpha}\\p{Punct}\\p{L}$'), right: [{ a: 'a!é' }], wrong: [{ a: 'a1é' }] },
  'a look back': {
    input: text('^(?!.*--)(?<!-)[a-z-]+$'),
    right: [{ a: 'a-b' }],
    told: 'properties.a: pattern "^(?!.*--)(?<!-)[a-z-]+$" has a lookbehind, so its matching time is unbounded, and it is not checked',
  },
  'a backreference of Python': {
    input: text('^(?P<q>[ab])x(?P=q)$'),
    right: [{ a: 'axa' }],
    told: 'properties.a: pattern "^(?<q>[ab])x\\\\k<q>$" has a backreference, so its matching time is unbounded, and it is not checked',
  },
  'no pattern': {
    input: text('(['),
    right: [{ a: 'x' }],
    told: 'properties.a: pattern "([" is not a pattern (a class has no end), so it is dropped',
  },
  'names by patterns that cannot be checked, and no others': {
    input: { type: 'object', patternProperties: { '^(a)\\1': { type: 'number' } }, additionalProperties: false },
    right: [{ aa: 1 }],
    told: 'patternProperties.^(a)\\1: pattern "^(a)\\\\1" has a backreference, so its matching time is unbounded, and it is not checked',
  },
  'a pattern that cannot be checked, forbidden': {
    input: field({ not: { pattern: '^(a)\\1$' } }),
    right: [{ a: 'ab' }],
    told: 'properties.a.not: pattern "^(a)\\\\1$" has a backreference, so its matching time is unbounded, and it is not checked',
  },
  'a pattern that cannot be checked in one of several': {
    input: field({
      oneOf: [
        { type: 'string', pattern: '^(a)\\1$' },
        { type: 'string', maxLength: 1 },
      ],
    }),
    right: [{ a: 'b' }, { a: 'aa' }],
    wrong: [{ a: 1 }],
    told: 'properties.a.oneOf.0: pattern "^(a)\\\\1$" has a backreference, so its matching time is unbounded, and it is not checked',
  },
}

const MEANINGLESS: Readonly<Record<string, StrangeSchema>> = {
  'a type that other languages have': {
    input: field({ type: 'float' }),
    right: [{ a: 1.5 }],
    wrong: [{ a: 'x' }],
    told: 'properties.a: type "float" is not a JSON Schema type, and is read as "number"',
  },
  'a type in capitals': { input: field({ type: 'STRING' }), right: [{ a: 'x' }], wrong: [{ a: 1 }] },
  'any among the types': {
    input: field({ type: ['string', 'any'] }),
    right: [{ a: 1 }],
    told: 'properties.a: type "any" is not a JSON Schema type, so any value is accepted there',
  },
  'no values': {
    input: field({ type: 'string', enum: [] }),
    right: [{ a: 'x' }],
    wrong: [{ a: 1 }],
    told: 'properties.a: enum is [], which is not a list of at least one value, so it is dropped',
  },
  'values twice': { input: field({ enum: ['x', 'x'] }), right: [{ a: 'x' }], wrong: [{ a: 'y' }] },
  'names twice': { input: { ...field({}), required: ['a', 'a'] }, right: [{ a: 1 }], wrong: [{}] },
  'required that is no list': {
    input: { type: 'object', properties: { a: { type: 'string', required: true } } },
    right: [{ a: 'x' }, {}],
    told: 'properties.a: required is true, which is not a list of names, so it is dropped',
  },
  'properties that are none': {
    input: { type: 'object', properties: ['a'] as never, additionalProperties: false },
    right: [{ a: 1 }],
    told: 'properties is ["a"], which is not an object of schemas, so it is dropped',
  },
  'a limit that is text': {
    input: field({ type: 'string', minLength: '1' }),
    right: [{ a: 'x' }],
    told: 'properties.a: minLength is "1", which is not a whole number of 0 or more, so it is dropped',
  },
  'a property that is text': {
    input: { type: 'object', properties: { a: 'string' } },
    right: [{ a: 1 }],
    told: 'properties.a: a is "string", which is not a schema, so any value is accepted',
  },
  'a variant that is no schema': {
    input: field({ anyOf: [{ type: 'string' }, 'number'] }),
    right: [{ a: 1 }],
    told: 'properties.a.anyOf.1: anyOf has "number", which is not a schema',
  },
  'a format that nobody knows': { input: field({ type: 'string', format: 'int64' }), right: [{ a: 'x' }] },
  'a default of another type': { input: field({ type: 'integer', default: 'x' }), right: [{ a: 1 }] },
  hundredths: { input: field({ type: 'number', multipleOf: 0.01 }), right: [{ a: 19.99 }], wrong: [{ a: 0.001 }] },
  'parts of a hundred millions': {
    input: field({ type: 'number', multipleOf: 1e-8 }),
    right: [{ a: 0.12345678 }, { a: 123456789012 }, { a: 1e300 }],
    wrong: [{ a: 1.5e-9 }],
  },
  'true and false as schemas': {
    input: { type: 'object', properties: { a: true, b: false } },
    right: [{ a: 1 }],
    wrong: [{ b: 1 }],
  },
  'words of a validator': {
    input: { ...field({}), $async: true, id: 7 } as JsonObject,
    right: [{ a: 1 }],
    wrong: [{}],
  },
}

export const STRANGE: Readonly<Record<string, StrangeSchema>> = {
  ...OLDER,
  ...REFERENCES,
  ...PATTERNS,
  ...MEANINGLESS,
  ...CONTRADICTORY,
}
