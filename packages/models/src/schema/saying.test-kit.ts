// Values under a compiled schema, for the tests of the dialects: how a model writes a value, and whether it is allowed.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { DialectName } from './dialects.ts'
import { DIALECTS } from './dialects.ts'

export interface Saying {
  /** The value as a model writes it: with null for omitted properties if the dialect requires every property. */
  write(value: JsonValue): JsonValue
  /** Whether the dialect's schema allows the written value. */
  allows(written: JsonValue): boolean
}

/** @throws Error if the compiled schema is not a valid JSON Schema */
export function createSaying(compiled: JsonObject, dialect: DialectName): Saying {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, logger: false, validateFormats: false })
  const root = asJsonSchema(compiled, dialect)
  const whole = ajv.addSchema(root, 'root').compile({ $ref: 'root#' })
  const allows = (at: string, value: JsonValue): boolean => ajv.getSchema(`root#${at}`)?.(value) === true
  const { optionalsAsNull = false } = DIALECTS[dialect]

  /** `at` is the JSON pointer of `part`. */
  const write = (part: JsonValue | undefined, value: JsonValue, at: string): JsonValue => {
    if (!isJsonObject(part)) return value
    const reference = part['$ref']
    if (typeof reference === 'string') return write(follow(root, reference), value, reference.slice(1))
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const variants = part[keyword]
      if (!Array.isArray(variants)) continue
      const { [keyword]: _, ...beside } = part
      const base = write(beside, value, at)
      const written = (variants as readonly JsonValue[]).map((one, index) => {
        const place = `${at}/${keyword}/${index}`
        return { place, said: write(one, base, place) }
      })
      // Chooses the variant with the fewest nulls.
      const fitting = written.filter(({ place, said }) => allows(place, said)).map(({ said }) => said)
      const [meant = base] = fitting.toSorted((one, other) => countNulls(one) - countNulls(other))
      return meant
    }
    if (Array.isArray(value)) {
      const { items, prefixItems } = part
      const places = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[]) : []
      return (value as readonly JsonValue[]).map((one, index) =>
        index < places.length
          ? write(places[index], one, `${at}/prefixItems/${index}`)
          : write(items, one, `${at}/items`),
      )
    }
    if (!isJsonObject(value)) return value
    const properties = isJsonObject(part['properties']) ? part['properties'] : {}
    const given = Object.entries(value).map(([name, one]) => [
      name,
      Object.hasOwn(properties, name) ? write(properties[name], one, `${at}/properties/${escapeStep(name)}`) : one,
    ])
    const absent = optionalsAsNull ? Object.keys(properties).filter((name) => !Object.hasOwn(value, name)) : []
    return Object.fromEntries([...given, ...absent.map((name) => [name, null])]) as JsonObject // JSON values
  }
  return { write: (value) => write(root, value, ''), allows: (written) => whole(written) }
}

function countNulls(value: JsonValue): number {
  return JSON.stringify(value).split('null').length
}

function escapeStep(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))
}

function follow(root: JsonObject, reference: string): JsonValue | undefined {
  let at: JsonValue | undefined = root
  for (const step of reference
    .slice(2)
    .split('/')
    .filter((one) => one !== ''))
    at = isJsonObject(at) ? at[decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return at
}

function asJsonSchema(compiled: JsonObject, dialect: DialectName): JsonObject {
  if (DIALECTS[dialect].nullable === 'keyword') return withNullTypes(compiled)
  // A grammar uses the first variant that matches, so `oneOf` acts as `anyOf`.
  if (dialect === 'gguf') return JSON.parse(JSON.stringify(compiled).replaceAll('"oneOf":', '"anyOf":')) as JsonObject
  return compiled
}

/** OpenAPI's `nullable`, translated to JSON Schema. */
function withNullTypes(schema: JsonObject): JsonObject {
  const { nullable, anyOf, properties, items, ...rest } = schema
  const inner = {
    ...rest,
    ...(Array.isArray(anyOf) && { anyOf: (anyOf as readonly JsonValue[]).filter(isJsonObject).map(withNullTypes) }),
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, isJsonObject(one) ? withNullTypes(one) : one]),
      ),
    }),
    ...(isJsonObject(items) && { items: withNullTypes(items) }),
  }
  return nullable === true ? { anyOf: [inner, { type: 'null' }] } : inner
}
