// Describes the end of a call, with one rule for models, people and programs. An end without its own message says in a
// sentence why it happened and whether the tool may have had its effect, and has a code.
import type { ErrorCode } from '../errors.ts'
import type { Settlement } from './fact.ts'

/** Ends that the machine describes, not a tool or a person. */
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

/** Sentences by the reason in the log. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['deadline', 'no result came in the time of the call'],
  ['turn-over', 'the turn ended before a result arrived'],
  ['interrupt', 'the turn was interrupted'],
  ['grace-over', 'the turn was interrupted, and no result arrived in the remaining time'],
  ['stop', 'the session was stopped'],
  ['restart', 'the process that ran the tool died'],
  ['executor-lost', 'the executor of the tool died'],
  ['recovery_exhausted', 'each process that ran the tool died'],
])
