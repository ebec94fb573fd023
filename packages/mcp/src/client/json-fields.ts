// Helpers for JSON from untrusted servers.
import type { JsonObject, JsonValue } from '@baton/core'

export function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === null || value === undefined
}

/** Removes fields that are null: languages without absent fields write them. Nested fields stay. */
export function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => !isNothing(field)))
}

/** Returns a string as is, and anything else as JSON. */
export function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
