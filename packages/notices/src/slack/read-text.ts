// Fields of values that came from outside.
import type { JsonValue } from '@baton/core/internal'

/** A field that is text or a number, as text; empty for anything else. */
export function readText(fields: Readonly<Record<string, JsonValue | undefined>> | undefined, name: string): string {
  const value = fields?.[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}
