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

/** Whether a value is a count of more than 0. */
export function isCount(value: JsonValue | undefined): boolean {
  return Number(typeof value === 'object' ? 0 : value) > 0
}

/**
 * Overwrites earlier counts of a stream, which are cumulative. Absent and null ones do not, nor do zeros: some gateways
 * end with counts that they never made.
 */
export function overlayCounts(before: JsonObject, now: JsonObject): JsonObject {
  const after: Record<string, JsonValue> = { ...before }
  for (const [name, value] of Object.entries(now)) {
    const isZero = (value === 0 || value === '0') && isCount(before[name])
    // Assigning `__proto__` would set the prototype.
    if (value !== undefined && value !== null && !isZero && name !== '__proto__') after[name] = value
  }
  return after
}

/** The text of a content part, in any field that servers use; empty if there is none. */
export function readPartText(part: JsonValue): string {
  if (typeof part === 'string') return part
  if (!isJsonObject(part)) return ''
  const { text, content } = part
  if (isJsonObject(text)) return readText(text, 'value')
  return typeof text === 'string' ? text : typeof content === 'string' ? content : ''
}

/** Returns a list, wrapping a single item if the server omitted the list. */
export function asList(value: JsonValue | undefined): readonly JsonValue[] {
  if (Array.isArray(value)) return value as readonly JsonValue[]
  return isJsonObject(value) ? [value] : []
}

/** The object with its own keys in camel case, not those inside: some proxies write protocol buffers in snake case. */
export function inCamelCase(object: JsonObject): JsonObject {
  const names = Object.keys(object)
  if (!names.some((name) => /[a-z]_[a-z]/.test(name))) return object
  return Object.fromEntries(
    names.map((name) => [name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()), object[name] ?? null]),
  )
}
