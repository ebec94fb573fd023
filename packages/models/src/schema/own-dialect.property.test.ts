// If a second validator accepts a value under the schema's own dialect, so does the check of a call, or the difference
// was reported when the tool was defined. Covers third-party, handwritten, GitHub and random schemas, and a published
// OpenAPI document.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, makeTool, readSchema } from '@baton/core/internal'
import { createArgumentValidator } from '@baton/runtime'
import { chooseCount, chooseSample } from '@baton/testing/depth'
import { STRANGE } from '@baton/testing/strange-schemas'
import { fromOpenApi } from '@baton/tools/openapi'
import type { SchemaDraft } from '@cfworker/json-schema'
import { Validator } from '@cfworker/json-schema'
import { generateSync } from 'json-schema-faker'
import { createRequire } from 'node:module'
import { afterAll, expect, test } from 'vitest'
import { generateSchemas, listPublished } from './schema-sources.test-kit.ts'
import { WRITTEN } from './written-schemas.test-kit.ts'

type Named = readonly [name: string, schema: JsonObject]

const SAMPLES = 6
const counts = { schemas: 0, judged: 0, accepted: 0, told: 0, called: 0 }
afterAll(() => {
  const { schemas, judged, accepted, told, called } = counts
  console.log(
    `dialects: ${schemas} schemas, ${judged} judged by a second validator, which accepts ${accepted} examples; ${told} told as not checked whole; ${called} operations of a published document take arguments`,
  )
})

const DRAFTS: readonly (readonly [words: RegExp, draft: SchemaDraft])[] = [
  [/draft-0[34]/, '4'],
  [/draft-0[67]/, '7'],
  [/2019-09/, '2019-09'],
]

/** Chosen by `$schema`, otherwise by the schema's keywords; `undefined` if the validator cannot read the schema. */
function secondValidator(schema: JsonObject): ((value: JsonValue) => boolean) | undefined {
  const text = JSON.stringify(schema)
  const said = typeof schema['$schema'] === 'string' ? schema['$schema'] : ''
  const isOld = /"(?:exclusiveMinimum|exclusiveMaximum)":(?:true|false)/.test(text)
  const isTuple = /"(?:additionalItems|dependencies)":|"items":\[/.test(text)
  // It supports neither draft 3 nor, without an address, dynamic references.
  if (said.includes('draft-03') || text.includes('"$dynamicRef"')) return undefined
  const shaped = isOld ? '4' : isTuple ? '7' : '2020-12'
  const draft = DRAFTS.find(([words]) => words.test(said))?.[1] ?? shaped
  try {
    // Formats are annotations, as 2020-12 has them by default. Inside `oneOf`, checking them would accept more.
    const plain = JSON.parse(text, (name, value: unknown) =>
      name === 'format' && typeof value === 'string' ? undefined : value,
    ) as never // a schema like the given one
    const validator = new Validator(plain, draft, true)
    validator.validate({})
    return (value) => {
      try {
        return validator.validate(value).valid
      } catch {
        return false
      }
    }
  } catch {
    return undefined
  }
}

function sample(schema: JsonObject, seeds: number): readonly JsonObject[] {
  return Array.from({ length: seeds }, (_, seed) => {
    try {
      const made = generateSync(schema as never, { seed, optionalsProbability: (seed % 3) / 2 } as never) as JsonValue
      return isJsonObject(made) ? [made] : []
    } catch {
      return [] // it knows no valid value
    }
  }).flat()
}

const validator = createArgumentValidator()
await validator.load()

function findRefused([name, schema]: Named, more: readonly JsonObject[] = []): readonly unknown[] {
  counts.schemas += 1
  const { input, schemaWarnings } = makeTool({ name: 't', description: '', input: { type: 'object', ...schema } })
  if (schemaWarnings) counts.told += 1
  const accepts = secondValidator(schema)
  if (!accepts || /__proto__/.test(JSON.stringify(schema))) return []
  counts.judged += 1
  const examples = [...more, ...sample(schema, SAMPLES), ...sample(readSchema(schema).schema, SAMPLES)]
  return examples.filter(accepts).flatMap((value): readonly unknown[] => {
    counts.accepted += 1
    const checked = validator.validate({ input }, JSON.stringify(value))
    if ('ok' in checked && checked.ok) return []
    return schemaWarnings ? [] : [{ name, value, checked }]
  })
}

test.each<[string, () => readonly Named[]]>([
  ['people', () => WRITTEN],
  ['GitHub', () => chooseSample(listPublished(), chooseCount({ quick: 6, deep: 400 }))],
  ['chance', () => generateSchemas(chooseCount({ quick: 30, deep: 400 }))],
])('what the dialect of a schema of %s accepts, the check of a call accepts', (_, list) => {
  expect(list().flatMap((one) => findRefused(one))).toEqual([])
})

test('what the dialect of a stranger’s schema accepts, the check of a call accepts', () => {
  const all = Object.entries(STRANGE)
  expect(all.flatMap(([name, { input, right }]) => findRefused([name, input], right))).toEqual([])
})

test('a tuple of each draft is accepted only with its items in their places', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'array', items: [{ type: 'string' }, { type: 'number' }] } },
  }
  expect(secondValidator(schema)?.({ a: [1, 'x'] })).toBe(false)
  expect(findRefused(['pair', schema], [{ a: ['x', 1] }])).toEqual([])
})

test('each operation of a published document takes arguments made from its schema', () => {
  const document = createRequire(import.meta.url)(
    '@notionhq/notion-mcp-server/scripts/notion-openapi.json',
  ) as JsonObject
  const paths = document['paths'] as Readonly<Record<string, JsonObject>>
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((method) => ['get', 'put', 'post', 'delete', 'patch'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path}`),
  )
  const fetch = (): Promise<Response> => Promise.resolve(Response.json({}))
  for (const operation of operations) {
    const [tool] = fromOpenApi(document, { operations: [operation], fetch })
    const [given] = sample(tool?.inputSchema ?? {}, 20).filter((one) => {
      const checked = validator.validate({ input: tool?.inputSchema ?? {} }, JSON.stringify(one))
      return 'ok' in checked && checked.ok
    })
    expect({ operation, hasArguments: given !== undefined, told: tool?.schemaWarnings }).toEqual({
      operation,
      hasArguments: true,
      told: undefined,
    })
    counts.called += 1
  }
})
