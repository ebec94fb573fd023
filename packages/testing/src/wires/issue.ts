// The report of a wire validator, and small readers shared by all of them. Validators are pure and never throw: they
// check a request's body like the provider and report what it would reject.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

export interface WireIssue {
  /** The rule that was broken, in snake_case. */
  readonly code: string
  /** Location: `messages.2.content.0.id`. */
  readonly path: string
  readonly message: string
  /** Source of the rule: a verbatim error of the provider, its types, or its documentation. */
  readonly source: string
}

export type Report<Code extends string> = (code: Code, path: string, message: string) => void

/** Runs `check` and collects its reports; `sources` names every rule of a wire with its source. */
export function collectIssues<Code extends string>(
  sources: Readonly<Record<Code, string>>,
  check: (report: Report<Code>) => void,
): readonly WireIssue[] {
  const issues: WireIssue[] = []
  check((code, path, message) => issues.push({ code, path, message, source: sources[code] }))
  return issues
}

/** The objects of an array with their paths; empty if there is no array. */
export function objectsIn(
  value: unknown,
  path: string,
): readonly { readonly item: JsonObject; readonly path: string }[] {
  if (!Array.isArray(value)) return []
  const found: { item: JsonObject; path: string }[] = []
  for (const [index, item] of (value as readonly unknown[]).entries()) {
    if (isJsonObject(item)) found.push({ item, path: `${path}.${index}` })
  }
  return found
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === ''
}

/** Values that occur more than once, each listed once. */
export function repeated(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}

export function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80)
}
