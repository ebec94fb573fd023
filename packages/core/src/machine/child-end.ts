// Ends of children: a fact for the child, and the withdrawal of its requests. The call settles by the child's report, or without.
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf, Settlement } from './fact.ts'
import { RULES } from './spec.ts'
import type { Call, Child, Relayed } from './state.ts'
import { findChild, findRelayed, isRoot } from './state.ts'
import type { Rewound } from './step-place.ts'
import { isRemoved } from './step-place.ts'

/** The child is told to end; what it asks is withdrawn. Its call settles by what it reports, or at the end of its time. */
export function endChild(draft: Draft, callId: string, reason: string): void {
  const child = findChild(draft.state, callId)
  if (!child || child.phase === 'ending') return
  const untilMs = draft.state.nowMs + RULES.childEndMs * (child.grant.depth + 1)
  emit(draft, { type: 'child-ending', callId, reason, untilMs })
  endRelayed(draft, callId)
}

/** Children whose calls a rewind removes: no model learns of them. */
export function endRewound(draft: Draft, rewound: Rewound): void {
  for (const child of draft.state.children) if (isRemoved(child, rewound)) endChild(draft, child.callId, 'rewind')
}

/** Nothing is called undone that may have been done: the child has not said how it ended. */
export function describeUnheard(child: Child | undefined, reason: string): Settlement {
  if (!child || child.acts || child.acted) return { type: 'unknown', reason }
  return isTimeUp(reason) ? { type: 'timed-out', reason } : { type: 'cancelled', reason }
}

export function isTimeUp(reason: string): boolean {
  return reason === 'deadline' || reason === 'turn-over'
}

/** Ends the requests of a child that has to end. A client may still report the result of a claimed call. */
export function endRelayed(draft: Draft, callId: string): void {
  for (const one of draft.state.relayed) {
    if (one.via !== callId || one.isDecided) continue
    if (!one.call) withdraw(draft, one, 'ended')
    else leaveCall(draft, one, one.call)
  }
}

/** The root knows whether a client has claimed a call; a level between asks it, and keeps the call until it says so. */
function leaveCall(draft: Draft, one: Relayed, { state, mayHaveActed }: Call): void {
  if (!isRoot(draft.state)) {
    if (!one.isLeaving) withdraw(draft, one, 'ended')
  } else if ((state === 'ready' || state === 'offered') && !mayHaveActed) withdraw(draft, one, 'nobody')
}

/** A level between has ended these calls: no further client may run them. No client has a call that was not relayed this far. */
export function leaveEnded(draft: Draft, callId: string, ended: readonly string[]): void {
  for (const id of ended) {
    const one = findRelayed(draft.state, id)
    if (!one) emit(draft, { type: 'request-withdrawn', callId, id, reason: 'nobody' })
    else if (one.call && !one.isDecided) leaveCall(draft, one, one.call)
  }
}

/** The child was closed, with all its requests. */
export function closeRelayed(draft: Draft, callId: string): void {
  for (const one of draft.state.relayed) if (one.via === callId) withdraw(draft, one, 'closed')
}

export function withdraw(draft: Draft, one: Relayed, reason: WithdrawReason): void {
  const { via, id, type, isDecided, callId } = one
  const undecided = type === 'approval' && !isDecided && { undecided: callId }
  emit(draft, { type: 'request-withdrawn', callId: via, id, reason, ...undecided })
}

type WithdrawReason = FactOf<'request-withdrawn'>['reason']
