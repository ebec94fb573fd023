// Checks the style rules over the whole repository: `node scripts/tidy.ts`. Exceptions are listed in tidy-ratchet.json
// with their exact size; the list may only shrink, so an entry that is larger than needed counts as a failure.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY, readSource, sourcePaths } from './source-files.ts'
import type { Finding, Rule } from './tidy-rules.ts'
import { FILE_LINES_HARD_LIMIT, checkSource } from './tidy-rules.ts'

/** Maps `file:rule` to the largest size of a finding (or to the number of findings for a rule that only forbids). */
export type Ratchet = Readonly<Record<string, number>>

export function checkRepository(): readonly string[] {
  const findings = sourcePaths().flatMap((path) => checkSource(readSource(path)))
  const ratchet = JSON.parse(readFileSync(join(REPOSITORY, 'scripts/tidy-ratchet.json'), 'utf8')) as Ratchet
  return applyRatchet(findings, ratchet)
}

/** Complaints, one readable line each. */
export function applyRatchet(findings: readonly Finding[], ratchet: Ratchet): readonly string[] {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    const key = `${finding.path}:${finding.rule}`
    groups.set(key, [...(groups.get(key) ?? []), finding])
  }
  const complaints: string[] = []
  for (const [key, group] of groups) {
    const allowed = ratchet[key]
    if (allowed === undefined || measure(group) > allowed) complaints.push(...group.map(say))
    else if (measure(group) < allowed)
      complaints.push(`scripts/tidy-ratchet.json: "${key}" can shrink from ${allowed} to ${measure(group)}`)
  }
  for (const [key, allowed] of Object.entries(ratchet)) {
    if (!groups.has(key)) complaints.push(`scripts/tidy-ratchet.json: "${key}" is no longer needed`)
    if (key.endsWith(':file-lines') && allowed > FILE_LINES_HARD_LIMIT)
      complaints.push(`scripts/tidy-ratchet.json: "${key}" is over the hard limit of ${FILE_LINES_HARD_LIMIT} lines`)
  }
  return complaints
}

const COUNTED: ReadonlySet<Rule> = new Set([
  'syntax',
  'file-name',
  'opening-comment',
  'comment-start',
  'module-state',
  'machine-purity',
  'test-wait',
])

function measure(group: readonly Finding[]): number {
  return group.some(({ rule }) => COUNTED.has(rule)) ? group.length : Math.max(...group.map(({ size }) => size))
}

function say({ path, line, rule, message }: Finding): string {
  return `${path}:${line}: ${rule}: ${message}`
}

if (process.argv[1] === import.meta.filename) {
  const complaints = checkRepository()
  for (const complaint of complaints) console.error(complaint)
  console.log(`tidy: ${sourcePaths().length} files, ${complaints.length} complaints`)
  process.exitCode = complaints.length > 0 ? 1 : 0
}
