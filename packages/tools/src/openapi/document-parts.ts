// Shared by the readers of an OpenAPI document: entries of its objects, and the error for an unusable document.
import type { JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'

export function entryOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

export function entriesOf(value: JsonValue | undefined): readonly [string, JsonValue][] {
  return isJsonObject(value) ? Object.entries(value) : []
}

export function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

export function wrongDocument(why: string, hint?: string): BatonError {
  const message = `the OpenAPI document: ${why}`
  return new BatonError({
    code: 'invalid_option',
    message,
    hint: hint ?? 'Correct the document, or leave out the operation.',
  })
}
