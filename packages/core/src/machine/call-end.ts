// How the end of a call reads: one rule for a model, a person and a program. An end without a message of its own says in a
// sentence why it came and whether the tool may have had its effect, and has a code beside it.
import type { ErrorCode } from '../errors.ts'
import type { Settlement } from './fact.ts'

/** The ends for which the machine, and not a tool or a person, has the words. */
export type SilentEnd = Extract<Settlement, { readonly type: 'timed-out' | 'cancelled' | 'unknown' }>

export interface CallEnd {
  readonly code: Extract<ErrorCode, 'tool_result_timeout' | 'tool_result_unknown' | 'cancelled'>
  /** For people and programs. */
  readonly message: string
  /** The tool may have had its effect. */
  readonly mayHaveRun: boolean
}

export function describeEnd(settlement: SilentEnd): CallEnd {
  const mayHaveRun = settlement.type === 'unknown' || settlement.begun === true
  const { reason = 'deadline' } = settlement
  const code = findCode(settlement.type, reason)
  const why = REASONS.get(reason) ?? 'the call ended without a result'
  if (settlement.type === 'unknown' && settlement.message !== undefined)
    return { code, message: `${settlement.message}: ${describeEffect(mayHaveRun)}`, mayHaveRun }
  // Older logs do not say whether a tool that timed out had begun.
  if (settlement.reason === undefined) return { code, message: why, mayHaveRun }
  return { code, message: `${why}: ${describeEffect(mayHaveRun)}`, mayHaveRun }
}

export function describeEffect(mayHaveRun: boolean): string {
  return mayHaveRun ? 'it may have run' : 'it has no effect'
}

function findCode(type: SilentEnd['type'], reason: string): CallEnd['code'] {
  if (type === 'cancelled') return 'cancelled'
  const isTimeout = type === 'timed-out' || reason === 'deadline' || reason === 'turn-over'
  return isTimeout ? 'tool_result_timeout' : 'tool_result_unknown'
}

/** By the word that the log has. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['deadline', 'no result came in the time of the call'],
  ['turn-over', 'the turn ended before a result came'],
  ['interrupt', 'the turn was interrupted'],
  ['grace-over', 'the turn was interrupted, and no result came in the time that was left'],
  ['stop', 'the session was stopped'],
  ['restart', 'the process that ran the tool died'],
  ['executor-lost', 'what ran the tool died'],
  ['recovery_exhausted', 'each process that ran the tool died'],
])
