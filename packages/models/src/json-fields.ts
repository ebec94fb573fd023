// Fields of what a provider said, read one by one: a field that is absent, or of another kind than documented, is as good as
// nothing and never an error.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** Empty where there is none. */
export function readObject(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

/** A number of 0 or more; some gateways write it as a text. */
export function readCount(object: JsonObject, key: string): number | undefined {
  const value = object[key]
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === 'number' && value >= 0 ? value : undefined
}

export function readString(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

/** Empty where there is none. */
export function readText(object: JsonObject, key: string): string {
  return readString(object, key) ?? ''
}

/** The objects of a list; none where it is no list. */
export function listObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
}
