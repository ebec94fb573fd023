// Limits on the schemas that a validator may be given.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { listVariants, walkSchemas } from './schema-walk.ts'

/** Maximum references and variants of one schema: compile time grows with their square. */
export const JOINTS_MAX = 3000

/** Maximum values of one schema, at any depth; larger schemas are only read in outline, so that reading stays fast. */
export const VALUES_MAX = 50_000

/** Whether a schema has more values than the limit, where counting stops. */
export function isTooLarge(schema: JsonObject): boolean {
  let count = 0
  const open: (readonly JsonValue[])[] = [[schema]]
  for (let values = open.pop(); values; values = open.pop()) {
    count += values.length
    if (count > VALUES_MAX) return true
    for (const value of values)
      if (typeof value === 'object' && value !== null) open.push(Object.values(value as JsonObject)) // lists as well
  }
  return false
}

export function countJoints(schema: JsonObject): number {
  let count = 0
  for (const next of walkSchemas(schema))
    count += listVariants(next, 'allOf', 'anyOf', 'oneOf').length + (next['$ref'] === undefined ? 0 : 1)
  return count
}

/** The names and types of a schema's fields, for a schema that cannot be compiled in full. */
export function outlineSchema({ type, required, properties }: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? Object.entries(properties) : []
  const outlined = fields.map(([name, one]): [string, JsonValue] => [
    name,
    isJsonObject(one) && one['type'] !== undefined ? { type: one['type'] } : true,
  ])
  return {
    ...(type !== undefined && { type }),
    ...(required !== undefined && { required }),
    ...(fields.length > 0 && { properties: Object.fromEntries(outlined) }),
  }
}
