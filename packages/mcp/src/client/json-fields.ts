// Fields of JSON as strangers write them.
import type { JsonObject, JsonValue } from '@baton/core'

export function isNothing(value: JsonValue | undefined): value is null | undefined {
  return value === null || value === undefined
}

/** The object without its fields that are null: languages that have no absent field write it. Fields of fields stay. */
export function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => !isNothing(field)))
}

/** A text as it is, and anything else as JSON. */
export function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
