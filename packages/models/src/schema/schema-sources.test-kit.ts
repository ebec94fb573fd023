// Several hundred schemas for the tests of the dialects: GitHub's published ones and random ones.
import type { JsonObject } from '@baton/core'
import webhooks from '@octokit/webhooks-schemas/schema.json' with { type: 'json' }
import fc from 'fast-check'

const SEED = 20_261_122

/** Definitions published by GitHub, each as a separate schema. */
export function listPublished(): readonly (readonly [string, JsonObject])[] {
  const definitions = webhooks.definitions as unknown as Readonly<Record<string, JsonObject>>
  return Object.entries(definitions)
    .filter(([, one]) => one['type'] === 'object' || one['oneOf'] !== undefined)
    .map(([name, one]) => [name, { type: 'object', ...one, definitions }])
}

const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record(
    { type: fc.constant('string'), minLength: fc.nat(9), pattern: fc.constant('^a+$') },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { type: fc.constantFrom('integer', 'number'), minimum: fc.nat(9), exclusiveMaximum: fc.nat(99) },
    { requiredKeys: ['type'] },
  ),
  fc.constant({ type: ['string', 'null'], format: 'date' }),
  fc.constantFrom<JsonObject>(
    { const: 7 },
    { enum: ['a', 'b'] },
    { enum: [1, null] },
    {},
    { type: 'boolean', default: true },
  ),
)
const { node } = fc.letrec<{ node: JsonObject }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.record({ type: fc.constant('array'), items: tie('node'), maxItems: fc.nat(5) }, { requiredKeys: ['type'] }),
    fc.record({ anyOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }), description: fc.string() }),
    fc.record({ allOf: fc.array(tie('node'), { minLength: 1, maxLength: 2 }) }),
    wrapObject(tie('node')),
    fc.record({ type: fc.constant('object'), additionalProperties: tie('node') }),
    fc.record(
      {
        type: fc.constant('array'),
        prefixItems: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
        items: fc.boolean(),
      },
      { requiredKeys: ['type', 'prefixItems'] },
    ),
    fc.record({ oneOf: fc.array(wrapObject(tie('node')), { minLength: 2, maxLength: 3 }) }),
    fc
      .tuple(wrapObject(tie('node')), fc.array(wrapObject(tie('node')), { minLength: 1, maxLength: 2 }))
      .map(([one, anyOf]) => ({ ...one, anyOf })),
  ),
}))
function wrapObject(inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  return fc
    .dictionary(fc.constantFrom('a', 'b', 'items', 'type', 'odd name', '$x', '1'), inner, { maxKeys: 4 })
    .chain((properties) =>
      fc.subarray(Object.keys(properties)).map((required) => ({ type: 'object', properties, required })),
    )
}

export function generateSchemas(count: number, seed = SEED): readonly (readonly [string, JsonObject])[] {
  return fc
    .sample(wrapObject(node), { numRuns: count, seed })
    .map((schema, index) => [`random ${index}`, index % RECURSIVE_EVERY === 0 ? withItself(schema) : schema])
}

/** One schema in this many is recursive. */
const RECURSIVE_EVERY = 12

function withItself(schema: JsonObject): JsonObject {
  const { properties } = schema
  return { ...schema, properties: { ...(properties as JsonObject), next: { $ref: '#' } } } // as made above
}
