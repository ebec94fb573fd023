// Findings of rules: places in a text, with a category and a weight.
export const CATEGORIES = ['hidden-text', 'look-alikes', 'links', 'injection', 'phishing', 'secrets', 'script'] as const
/** Kinds of findings: what a text tries to do. */
export type Category = (typeof CATEGORIES)[number]

/** One place of a text that a rule found. */
export interface Finding {
  readonly category: Category
  /** Such as `links/other-target`. */
  readonly rule: string
  /** UTF-16 offsets in the text, from `start` up to, but not including, `end`. */
  readonly start: number
  readonly end: number
  /** `malicious`: hardly ever found in legitimate texts. `suspicious`: sometimes found in them. */
  readonly weight: 'suspicious' | 'malicious'
  /** Text that a reader does not see, or sees differently. */
  readonly reveals?: string
}

/** Maximum findings per rule; more would add nothing. */
export const RULE_MAX = 50

/** Returns all matches of a pattern with the flag `g` as findings. */
export function findAll(
  text: string,
  pattern: RegExp,
  make: (match: RegExpExecArray) => Omit<Finding, 'start' | 'end'> | undefined,
): readonly Finding[] {
  const found: Finding[] = []
  for (const match of text.matchAll(pattern)) {
    const about = make(match)
    if (about) found.push({ ...about, start: match.index, end: match.index + match[0].length })
    if (found.length === RULE_MAX) break
  }
  return found
}
