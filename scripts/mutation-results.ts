// Formats Stryker's results as tables and lines for a page: what each mutant replaced, and how many were detected.
import { readFileSync } from 'node:fs'

interface Place {
  readonly line: number
  readonly column: number
}

export interface Mutant {
  readonly mutatorName: string
  readonly replacement?: string
  readonly status: string
  readonly location: { readonly start: Place; readonly end: Place }
}

export interface MutatedFile {
  readonly source: string
  readonly mutants: readonly Mutant[]
}

/** Results by path. The shape is Stryker's own (mutation-testing-report-schema). */
export function readResults(path: string): ReadonlyMap<string, MutatedFile> {
  const report = JSON.parse(readFileSync(path, 'utf8')) as { readonly files: Record<string, MutatedFile> }
  return new Map(Object.entries(report.files))
}

export const TABLE_HEAD = ['file', 'mutants', 'killed', 'survived', 'timed out', 'not covered', 'score']

function count(mutants: readonly Mutant[], status: string): number {
  return mutants.filter((mutant) => mutant.status === status).length
}

/** A mutant that timed out counts as detected. */
export function renderTotals(name: string, mutants: readonly Mutant[]): string {
  const [killed, survived, timeout, uncovered] = ['Killed', 'Survived', 'Timeout', 'NoCoverage'].map((status) =>
    count(mutants, status),
  )
  const found = (killed ?? 0) + (timeout ?? 0)
  const all = found + (survived ?? 0) + (uncovered ?? 0)
  const score = all === 0 ? '' : `${((found / all) * 100).toFixed(1)} %`
  return `| ${[name, all, killed, survived, timeout, uncovered, score].join(' | ')} |`
}

export function readOriginal(file: MutatedFile, { start, end }: Mutant['location']): string {
  const lines = file.source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  return lines
    .map((line, at) => line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined).trim())
    .join(' ')
}

export function shorten(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 87)}...` : line
}
