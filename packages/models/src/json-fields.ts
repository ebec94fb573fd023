// Reads single fields of provider data. A field that is missing or has an undocumented type counts as absent, never as
// an error.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

/** Returns an empty object if the field is absent. */
export function readObject(object: JsonObject, key: string): JsonObject {
  const value = object[key]
  return isJsonObject(value) ? value : {}
}

/** Reads a number of at least 0. Some gateways send it as a string. */
export function readCount(object: JsonObject, key: string): number | undefined {
  const value = object[key]
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === 'number' && value >= 0 ? value : undefined
}

export function readString(object: JsonObject, key: string): string | undefined {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

/** Returns an empty string if the field is absent. */
export function readText(object: JsonObject, key: string): string {
  return readString(object, key) ?? ''
}

/** Returns the objects of a list, or none if the value is not a list. */
export function listObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
}
