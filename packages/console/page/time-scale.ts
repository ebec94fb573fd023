// The time axis of one turn. What works has its true length; where everything waits, as for a person's lunch, the axis is
// shortened, so that the work stays visible.
import type { Segment, TimelineRow } from './timeline-row.ts'

export interface TimeScale {
  /** From 0 to 1. */
  place(ms: number): number
  /** Stretches that are shorter than they lasted. */
  readonly breaks: readonly { readonly fromMs: number; readonly toMs: number }[]
}

/** Waits are shortened to this share of the work. */
const WAIT_SHARE = 0.3
const WORK_MS_MIN = 1000

/** @param endMs end of what is still open */
export function createTimeScale(rows: readonly TimelineRow[], endMs: number): TimeScale {
  const segments = rows.flatMap((row) => row.segments.map((segment) => ({ ...segment, isWork: isWork(row, segment) })))
  const moments = [...new Set(segments.flatMap(({ fromMs, toMs = endMs }) => [fromMs, toMs]))].toSorted((a, b) => a - b)
  const working = segments.filter(({ isWork }) => isWork).toSorted((a, b) => a.fromMs - b.fromMs)
  const stretches = moments.slice(1).map((toMs, index) => {
    const fromMs = moments[index] ?? toMs
    const works = working.some((one) => one.fromMs <= fromMs && (one.toMs ?? endMs) >= toMs)
    return { fromMs, toMs, works, ms: toMs - fromMs }
  })
  const workMs = stretches.reduce((sum, { works, ms }) => sum + (works ? ms : 0), 0)
  const most = WAIT_SHARE * Math.max(workMs, WORK_MS_MIN)
  const weights = stretches.map(({ works, ms }) => (works ? ms : Math.min(ms, most)))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const breaks = stretches.filter(({ works, ms }) => !works && ms > most)
  const place = (ms: number): number => {
    if (total === 0) return 0
    let before = 0
    for (const [index, stretch] of stretches.entries()) {
      const weight = weights[index] ?? 0
      if (ms <= stretch.fromMs) break
      before += ms >= stretch.toMs ? weight : (weight * (ms - stretch.fromMs)) / stretch.ms
    }
    return before / total
  }
  return { place, breaks }
}

/** A turn and a step are as long as what is in them. */
function isWork({ kind }: TimelineRow, { state }: Segment): boolean {
  const waits = state === 'person' || state === 'client' || state === 'time' || state === 'child' || state === 'queued'
  return !waits && (kind === 'call' || kind === 'attempt')
}
