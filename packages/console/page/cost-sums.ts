// Sums of costs by whatever a table is about. Pure.
import type { CostRow } from './api.ts'

export interface CostSum {
  readonly key: string
  readonly steps: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  /** Cost of the rows with a known price, in millionths of a US dollar; absent without any. */
  readonly costMicros?: number
  /** Some rows have no cost. */
  readonly isPartial: boolean
}

const DAY_MS = 86_400_000

/** The dearest first, then those with most tokens. */
export function sumCosts(rows: readonly CostRow[], keyOf: (row: CostRow) => string): readonly CostSum[] {
  const sums = [...Map.groupBy(rows, keyOf)].map(([key, group]) => sumUp(key, group))
  return sums.toSorted(
    (a, b) =>
      (b.costMicros ?? 0) - (a.costMicros ?? 0) || b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens,
  )
}

/** Lists every day from the first to the last, oldest first; with `count`, the last ones. */
export function listDays(rows: readonly CostRow[], count?: number): readonly CostSum[] {
  const byDay = Map.groupBy(rows, ({ day }) => day)
  const days = [...byDay.keys()].toSorted()
  const lastMs = Date.parse(days.at(-1) ?? '')
  const firstMs = count === undefined ? Date.parse(days[0] ?? '') : lastMs - (count - 1) * DAY_MS
  if (Number.isNaN(lastMs) || Number.isNaN(firstMs)) return []
  const all = Array.from({ length: Math.round((lastMs - firstMs) / DAY_MS) + 1 }, (_, index) =>
    new Date(firstMs + index * DAY_MS).toISOString().slice(0, 10),
  )
  return all.map((day) => sumUp(day, byDay.get(day) ?? []))
}

function sumUp(key: string, rows: readonly CostRow[]): CostSum {
  const add = (of: (row: CostRow) => number): number => rows.reduce((sum, row) => sum + of(row), 0)
  const known = rows.filter(({ costMicros }) => costMicros !== undefined)
  return {
    key,
    steps: add(({ steps }) => steps),
    inputTokens: add(({ inputTokens }) => inputTokens),
    outputTokens: add(({ outputTokens }) => outputTokens),
    cachedTokens: add(({ cachedTokens }) => cachedTokens),
    ...(known.length > 0 && { costMicros: known.reduce((sum, { costMicros = 0 }) => sum + costMicros, 0) }),
    isPartial: known.length < rows.length,
  }
}
