// Schemas whose keywords exclude each other, are absent, or are written as another language does, with arguments that
// their authors mean.
import type { JsonObject } from '@baton/core'
import type { StrangeSchema } from './strange-schema.ts'

function field(schema: JsonObject): JsonObject {
  return { type: 'object', properties: { a: schema }, required: ['a'] }
}

/** A schema as a program writes it, with fields that are `undefined`. */
function written(schema: Readonly<Record<string, unknown>>): JsonObject {
  return schema as JsonObject // but for those fields
}

/** Keywords that no value fits together; the tool could never be called. */
export const CONTRADICTORY: Readonly<Record<string, StrangeSchema>> = {
  'texts listed under a number': {
    input: field({ type: 'integer', enum: ['1', '2'] }),
    right: [{ a: '1' }],
    wrong: [{ a: '3' }],
    told: 'properties.a: type "integer" has no value of enum, so it is not checked',
  },
  'a const of another type': {
    input: field({ type: 'string', const: 5 }),
    right: [{ a: 5 }],
    wrong: [{ a: 'x' }],
    told: 'properties.a: type "string" does not have the const, so it is not checked',
  },
  'limits in the wrong order': {
    input: field({ type: 'integer', minimum: 10, maximum: 1 }),
    right: [{ a: 5 }],
    wrong: [{ a: 'x' }],
    told: 'properties.a: minimum 10 is above the maximum of 1, so neither is checked',
  },
  'lengths in the wrong order': {
    input: field({ type: 'array', minItems: 3, maxItems: 1 }),
    right: [{ a: ['x'] }],
    wrong: [{ a: 'x' }],
    told: 'properties.a: minItems 3 is above the maxItems of 1, so neither is checked',
  },
  'a demand that a closed object forbids': {
    input: { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b'], additionalProperties: false },
    right: [{ a: 'x' }, { a: 'x', b: 1 }],
    wrong: [{ b: 1 }, { a: 1 }],
    told: 'additionalProperties forbids the required property "b", so neither is checked',
  },
  'a closed object beside parts with demands': {
    input: {
      type: 'object',
      allOf: [{ $ref: '#/$defs/b' }, { properties: { a: { type: 'string' } }, required: ['a'] }],
      additionalProperties: false,
      $defs: { b: { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] } },
    },
    right: [{ a: 'x', b: 1 }],
    wrong: [{ a: 'x' }, { a: 1, b: 1 }],
    told: 'additionalProperties forbids the required property "a", so it is not checked',
  },
  'what contradicts inside a denial': {
    input: field({ type: 'string', not: { type: 'integer', enum: ['x'] } }),
    right: [{ a: 'y' }],
    wrong: [{ a: 1 }],
    told: 'properties.a.not: type "integer" has no value of enum, so it is not checked',
  },
  'keywords without a value': {
    input: written({ ...field(written({ type: 'string', description: undefined })), $defs: undefined }),
    right: [{ a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'a property without a value': {
    input: { ...field({}), properties: written({ a: { type: 'string' }, b: undefined }) },
    right: [{ a: 'x' }],
    wrong: [{ a: 1 }],
  },
  'a pattern between slashes, with a flag': {
    input: field({ type: 'string', pattern: '/^[a-z]+$/i' }),
    right: [{ a: 'Abc' }],
    wrong: [{ a: 'a1' }],
  },
}
