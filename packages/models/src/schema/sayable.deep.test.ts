// Values that a schema allows can be expressed in every provider's dialect, or the compiler reports that they cannot:
// then an answer is requested in words, and a tool is not strict. Covers handwritten, GitHub, random and MCP server
// schemas.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, readSchema, withoutForcedNulls } from '@baton/core/internal'
import { createArgumentValidator } from '@baton/runtime'
import { chooseCount, chooseRotating, chooseSample, describeRotation, isDeep } from '@baton/testing/depth'
import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generateSync } from 'json-schema-faker'
import { toStrictJsonSchema } from 'openai/lib/transform'
import { afterAll, expect, test } from 'vitest'
import { compileSchema } from './compile-schema.ts'
import type { DialectName } from './dialects.ts'
import { DIALECTS } from './dialects.ts'
import { listMcpTools } from './mcp-tools.test-kit.ts'
import { withoutUnusedDefinitions } from './references.ts'
import { isNarrowed } from './sayable-output.ts'
import type { Saying } from './saying.test-kit.ts'
import { createSaying } from './saying.test-kit.ts'
import { generateSchemas, listPublished } from './schema-sources.test-kit.ts'
import { WRITTEN } from './written-schemas.test-kit.ts'

const NAMES = Object.keys(DIALECTS) as readonly DialectName[] // the keys of that record
const RANDOM = chooseCount({ quick: 20, deep: 60 })
const SAMPLES = 8
/** Names that the reference validator itself confuses with those of every object. */
const UNREADABLE = /__proto__/

type Named = readonly [string, JsonObject]
const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, validateFormats: false })
const counts = { schemas: 0, compiled: 0, values: 0, narrowed: 0 }
afterAll(() => {
  const { schemas, compiled, values, narrowed } = counts
  console.log(
    `sayable: ${schemas} schemas, ${compiled} compiled, ${narrowed} of them narrowed and told; ${values} values said and read; of GitHub’s ${describeRotation()}`,
  )
})

test.each<[string, () => readonly Named[] | Promise<readonly Named[]>]>([
  ['people', () => WRITTEN],
  ['GitHub', () => (isDeep() ? chooseRotating(listPublished()) : chooseSample(listPublished(), 3))],
  ['chance', () => generateSchemas(RANDOM)],
  ['MCP servers', listMcpTools],
  ['those who double', listDoubling],
])('every value that schemas of %s allow can be said, and is read as it was meant', async (_source, list) => {
  for (const [name, whole] of await list()) {
    const schema = withoutUnusedDefinitions(whole)
    const validate = validatorOf(schema)
    if (!validate || UNREADABLE.test(JSON.stringify(schema))) continue
    const values = sample(schema, validatorOf(withoutStrays(schema)) ?? validate)
    counts.schemas += 1
    const sayings: Case['sayings'] = new Map()
    for (const dialect of NAMES) expect(findUnsayable({ name, schema, dialect, values, validate, sayings })).toEqual([])
  }
})

/** References that double at each level, as deep as the reference validator can follow. */
function listDoubling(): readonly Named[] {
  return ['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((keyword) =>
    [1, 4, 8].map((levels): Named => {
      const $defs: Record<string, JsonObject> = { [`d${levels}`]: { type: 'string' } }
      for (let level = 0; level < levels; level++) {
        const next = { $ref: `#/$defs/d${level + 1}` }
        $defs[`d${level}`] = { [keyword]: [next, next] }
      }
      return [`${keyword} ${levels}`, { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }]
    }),
  )
}

interface Case {
  readonly name: string
  readonly schema: JsonObject
  readonly dialect: DialectName
  readonly values: readonly JsonValue[]
  readonly validate: (value: JsonValue) => boolean
  /** Keyed by the compiled form, since several dialects share one. */
  readonly sayings: Map<string, Saying>
}

function findUnsayable({ name, schema, dialect, values, validate, sayings }: Case): readonly unknown[] {
  const compiled = compileSchema(schema, dialect)
  counts.compiled += 1
  if (isNarrowed(schema, dialect)) {
    counts.narrowed += 1
    return []
  }
  vendorTakes(dialect, compiled.schema)
  const saying = createSayingOnce(sayings, compiled.schema, dialect)
  return values.flatMap((value): readonly object[] => {
    counts.values += 1
    const said = saying.write(value)
    if (!saying.allows(said)) return [{ name, dialect, value, said, compiled: compiled.schema }]
    const read = withoutForcedNulls(schema, said)
    return validate(read) ? [] : [{ name, dialect, said, read, schema }]
  })
}

function createSayingOnce(known: Case['sayings'], schema: JsonObject, dialect: DialectName): Saying {
  const { nullable, optionalsAsNull } = DIALECTS[dialect]
  const key = JSON.stringify([schema, nullable, optionalsAsNull, dialect === 'gguf'])
  const saying = known.get(key) ?? createSaying(schema, dialect)
  known.set(key, saying)
  return saying
}

/** Schemas compiled by the vendors' own libraries, which throw for anything their provider rejects. */
function vendorTakes(dialect: DialectName, schema: JsonObject): void {
  if (dialect === 'openai-strict') toStrictJsonSchema(structuredClone(schema) as never)
  if (dialect === 'anthropic-strict') transformJSONSchema(structuredClone(schema) as never)
}

/** Returns `undefined` if the schema itself is invalid: an unknown type, or a broken or circular reference. */
function validatorOf(schema: JsonObject): Case['validate'] | undefined {
  try {
    const validate = ajv.compile(schema)
    validate({})
    return (value) => validate(value)
  } catch {
    return undefined
  } finally {
    ajv.removeSchema(schema)
  }
}

const COMBINING: ReadonlySet<string> = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'if',
  'then',
  'else',
  '$defs',
  'definitions',
])

/** Forbids undeclared keys in an object, unless the schema asks for arbitrary keys. */
function withoutStrays(schema: JsonObject): JsonObject {
  const inner = Object.entries(schema).map(([keyword, value]): [string, JsonValue] => {
    if (COMBINING.has(keyword)) return [keyword, value]
    if (keyword === 'properties' && isJsonObject(value))
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, closeOne(one)]))]
    if (keyword === 'items') return [keyword, closeOne(value)]
    if (keyword === 'prefixItems' && Array.isArray(value))
      return [keyword, (value as readonly JsonValue[]).map(closeOne)]
    return [keyword, value]
  })
  const isOpen = schema['additionalProperties'] === undefined && schema['patternProperties'] === undefined
  const declares = JSON.stringify(schema).includes('"properties":') // or one of its variants does
  return { ...Object.fromEntries(inner), ...(isOpen && declares && { unevaluatedProperties: false }) }
}

function closeOne(schema: JsonValue): JsonValue {
  return isJsonObject(schema) ? withoutStrays(schema) : schema
}

function sample(schema: JsonObject, validate: Case['validate']): readonly JsonValue[] {
  const values: JsonValue[] = []
  for (let seed = 1; seed <= SAMPLES; seed++)
    try {
      const value = generateSync(schema as never, { seed, optionalsProbability: (seed % 3) / 2 } as never) as JsonValue
      if (validate(value)) values.push(value)
    } catch {
      // it knows no valid value
    }
  return values
}

test('the schemas of published MCP servers are read whole, and arguments made from each are accepted', async () => {
  const validator = createArgumentValidator()
  await validator.load()
  let called = 0
  for (const [name, input] of await listMcpTools()) {
    const { schema, faults } = readSchema(input)
    const given = sample(schema, validatorOf(schema) ?? (() => false)).map((value) =>
      validator.validate({ input }, JSON.stringify(value)),
    )
    expect({ name, faults, given: given.filter((one) => !('ok' in one && one.ok)) }).toEqual({
      name,
      faults: [],
      given: [],
    })
    called += given.length > 0 ? 1 : 0
  }
  console.log(`MCP servers: ${called} tools take arguments made from their schemas`)
  expect(called).toBeGreaterThan(60)
})
