// Calls that go on after their turns: tasks, and children whose calls have settled. A reader that returns needs the
// records of their turns, also if the tasks are forgotten by then.
import type { Fact } from './fact.ts'

export interface CallSpan {
  readonly callId: string
  /** Position of the record that began the turn of the call. */
  readonly since: number
  /** Number of its open parts: the task, and its child. */
  readonly open: number
  /** Position of the record that ended the last of them. */
  readonly endedPos?: number
}

/** Ended calls to remember. */
const ENDED_MAX = 256

/** Folds a receipt, or a fact of a task or a child. `turnPos`: position of the record that began the newest turn. */
export function foldSpans(spans: readonly CallSpan[], fact: Fact, pos: number, turnPos: number): readonly CallSpan[] {
  switch (fact.type) {
    case 'call-settled':
    case 'child-begun':
      return open(spans, fact.callId, turnPos)
    case 'task-settled':
    case 'child-closed':
    case 'child-lost':
      return close(spans, fact.callId, pos, turnPos)
    default:
      return spans
  }
}

/** Position from which a reader at `pos` needs records; undefined if it needs none of an earlier turn. */
export function findSpanStart(spans: readonly CallSpan[], pos: number): number | undefined {
  const starts = spans.flatMap(({ since, endedPos = pos }) => (endedPos >= pos ? [since] : []))
  return starts.length > 0 ? Math.min(...starts) : undefined
}

function open(spans: readonly CallSpan[], callId: string, since: number): readonly CallSpan[] {
  const isIt = (one: CallSpan): boolean => one.callId === callId && one.open > 0
  if (!spans.some(isIt)) return [...spans, { callId, since, open: 1 }]
  return spans.map((one) => (isIt(one) ? { ...one, open: one.open + 1 } : one))
}

function close(spans: readonly CallSpan[], callId: string, pos: number, turnPos: number): readonly CallSpan[] {
  const next = spans.flatMap((one): readonly CallSpan[] => {
    if (one.callId !== callId || one.open === 0) return [one]
    if (one.open > 1) return [{ ...one, open: one.open - 1 }]
    // A reader reads its own turn anyway.
    return one.since === turnPos ? [] : [{ ...one, open: 0, endedPos: pos }]
  })
  const ended = next.filter((one) => one.open === 0)
  const oldest = new Set(ended.slice(0, Math.max(0, ended.length - ENDED_MAX)))
  return oldest.size === 0 ? next : next.filter((one) => !oldest.has(one))
}
