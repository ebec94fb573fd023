// Applies the rules to a text and derives the verdict from the findings.
import type { Category, Finding } from './finding.ts'
import { CATEGORIES } from './finding.ts'
import { findHidden } from './hidden-rules.ts'
import { findLinks } from './link-rules.ts'
import { findPhrases } from './phrase-rules.ts'
import { ReadThrough } from './read-through.ts'
import { findSecretTexts } from './secret-rules.ts'

/** The verdict on a text. */
export type Verdict = 'clean' | 'suspicious' | 'malicious'

/** The result of `scanText`. */
export interface Scan {
  readonly verdict: Verdict
  readonly categories: readonly Category[]
  /** In text order. */
  readonly findings: readonly Finding[]
}

/**
 * Looks in a text for attempts to steer a model: hidden characters, misleading links, injected instructions. Uses no
 * model and no network.
 */
export async function scanText(text: string): Promise<Scan> {
  const hidden = findHidden(text)
  const found = [
    ...hidden.map((finding) => weighHidden(finding, text)),
    ...findLinks(text),
    ...findPhrases(new ReadThrough(text)),
    ...(await findSecretTexts(text)),
  ]
  return judge(found)
}

/** Hidden text with orders leaves no doubt. */
function weighHidden(finding: Finding, text: string): Finding {
  const shown = finding.reveals ?? text.slice(finding.start, finding.end + HIDDEN_CHARS)
  const orders = finding.weight === 'suspicious' && findPhrases(new ReadThrough(shown)).length > 0
  return orders ? { ...finding, weight: 'malicious' } : finding
}

/** UTF-16 units examined after a hiding style. */
const HIDDEN_CHARS = 1000

export function judge(found: readonly Finding[]): Scan {
  // Legitimate texts can be pushy too, so pressure counts only together with other findings.
  const hasMore = found.some(
    ({ rule, category }) => rule !== PRESSURE && (category === 'phishing' || category === 'links'),
  )
  const counted = hasMore ? found : found.filter(({ rule }) => rule !== PRESSURE)
  const findings = dropRepeats(counted.toSorted((one, other) => one.start - other.start || other.end - one.end))
  const categories = CATEGORIES.filter((category) => findings.some((finding) => finding.category === category))
  const isMalicious = findings.some(({ weight }) => weight === 'malicious') || isPhishing(findings)
  return {
    verdict: isMalicious ? 'malicious' : findings.length > 0 ? 'suspicious' : 'clean',
    categories,
    findings,
  }
}

/** Rules have patterns for several languages that may match the same words; the longest match is kept. */
function dropRepeats(sorted: readonly Finding[]): readonly Finding[] {
  const ends = new Map<string, number>()
  return sorted.filter(({ rule, start, end }) => {
    const isRepeat = start < (ends.get(rule) ?? 0)
    if (!isRepeat) ends.set(rule, end)
    return !isRepeat
  })
}

const PRESSURE = 'phishing/pressure'

/** A threat or request alone may be legitimate; two of them with a link that hides its target are not. */
function isPhishing(findings: readonly Finding[]): boolean {
  const rules = new Set(findings.filter(({ category }) => category === 'phishing').map(({ rule }) => rule))
  const hasLink = findings.some(({ category }) => category === 'links')
  return (
    rules.size >= 3 ||
    (rules.size >= 2 && hasLink) ||
    (rules.size >= 1 && findings.some(({ rule }) => rule === 'links/foreign-letters'))
  )
}
