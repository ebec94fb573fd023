// Choices between many constants, as TypeBox and Zod write a long list of values: as an enum, which is looked up at once.
// Variant by variant, a list of arguments would take too many steps to check.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, stringifySorted } from '@baton/core/internal'

/** Shorter choices stay: their errors name the variants. */
const MANY = 16
/** Keywords that contain values rather than schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])
/** Keywords that do not restrict a constant. Its type agrees with it: `readSchema` drops any other. */
const BESIDE: ReadonlySet<string> = new Set('const type title description deprecated $comment'.split(' '))

/** The same schema; the schema itself if it has no such choice. */
export function withChoicesAsEnums(schema: JsonObject): JsonObject {
  const known = new Map<JsonObject, JsonObject>()
  const read = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) {
      const list = value as readonly JsonValue[]
      const made = list.map(read)
      return made.every((one, index) => one === list[index]) ? list : made
    }
    return isJsonObject(value) ? readObject(value) : value
  }
  const readObject = (given: JsonObject): JsonObject => {
    const before = known.get(given)
    if (before) return before
    const entries = Object.entries(given).map(
      ([name, value]) => [name, VALUES.has(name) ? value : read(value)] as const,
    )
    const isSame = entries.every(([name, value]) => given[name] === value)
    const made = withEnum(isSame ? given : (Object.fromEntries(entries) as JsonObject)) // JSON values
    known.set(given, made)
    return made
  }
  return readObject(schema)
}

function withEnum(schema: JsonObject): JsonObject {
  const keyword = isChoice(schema['anyOf']) ? 'anyOf' : 'oneOf'
  const { [keyword]: variants, ...rest } = schema
  if (!isChoice(variants) || rest['enum'] !== undefined) return schema
  const values = variants.map((one) => one['const'] ?? null)
  // A value that equals two constants does not match `oneOf`.
  const isExclusive = keyword === 'anyOf' || new Set(values.map(stringifySorted)).size === values.length
  return isExclusive ? { ...rest, enum: values } : schema
}

function isChoice(variants: JsonValue | undefined): variants is readonly JsonObject[] {
  if (!Array.isArray(variants) || variants.length <= MANY) return false
  return (variants as readonly JsonValue[]).every(
    (one) => isJsonObject(one) && 'const' in one && Object.keys(one).every((name) => BESIDE.has(name)),
  )
}
