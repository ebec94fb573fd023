// The report of a wire validator, and the small readers that all of them share. Validators are pure and never throw: they
// look at a request's body as the provider would and say what it would refuse.
import type { JsonObject } from '@baton/core'
import { isJsonObject } from '@baton/core'

export interface WireIssue {
  /** The rule that was broken, snake_case. */
  readonly code: string
  /** Where: `messages.2.content.0.id`. */
  readonly path: string
  readonly message: string
  /** Source of the rule: a literal error of the provider, its types, or its documentation. */
  readonly source: string
}

export type Report<Code extends string> = (code: Code, path: string, message: string) => void

/** Runs `check` and collects what it reports; `sources` names every rule of a wire with where it comes from. */
export function collectIssues<Code extends string>(
  sources: Readonly<Record<Code, string>>,
  check: (report: Report<Code>) => void,
): readonly WireIssue[] {
  const issues: WireIssue[] = []
  check((code, path, message) => issues.push({ code, path, message, source: sources[code] }))
  return issues
}

/** The objects of an array with their paths; nothing where there is no array. */
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

/** The values that stand more than once, each once. */
export function repeated(values: readonly string[]): readonly string[] {
  return [...new Set(values.filter((value, index) => values.indexOf(value) !== index))]
}

export function show(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80)
}
