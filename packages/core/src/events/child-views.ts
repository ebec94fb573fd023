// Views of a tree for readers of its root: the progress of a delegated call's session, and calls below that wait here.
import type { FactOf } from '../machine/fact.ts'
import type { RelayedRequest } from '../machine/relayed-entries.ts'
import type { Child } from '../machine/state.ts'
import type { CallResult, CallView, ChildView } from './session-event.ts'

export type ChildFact = FactOf<'child-begun' | 'child-reported' | 'child-ending' | 'child-lost' | 'child-closed'>

export function changeChild(child: ChildView | undefined, fact: ChildFact): ChildView {
  const known: ChildView = child ?? { agent: '', depth: 1, status: 'opening' }
  switch (fact.type) {
    case 'child-begun':
      return { agent: fact.agent, depth: fact.depth, status: 'opening' }
    case 'child-reported':
      if (known.status === 'ending') return { ...known, spent: fact.spent }
      return { ...known, status: fact.waits ? 'waiting' : 'running', spent: fact.spent }
    case 'child-ending':
      return { ...known, status: 'ending' }
    case 'child-closed':
      return { ...known, status: 'ended', spent: fact.spent }
    case 'child-lost':
      return { ...known, status: 'lost' }
    default:
      return fact satisfies never
  }
}

export function viewChild({ agent, phase, waits, spent, pos }: Child, depth: number): ChildView {
  const status = phase === 'running' && waits ? 'waiting' : phase
  return { agent, depth, status, ...(pos >= 0 && { spent }) }
}

/** A call below is shown at the message and step of the session's own call. */
export function viewRelayed(
  { message, step }: Pick<CallView, 'message' | 'step'>,
  { asking, path, expiresAtMs }: RelayedRequest,
  shown: Pick<CallView, 'input'>,
): CallView | undefined {
  if (asking.type === 'question') return undefined
  const { callId, name, effect } = asking
  const isCall = asking.type === 'call'
  return {
    callId,
    message,
    step,
    name,
    ...shown,
    runs: isCall ? 'client' : 'server',
    effect,
    ...(isCall && asking.provenance && { provenance: asking.provenance }),
    status: isCall ? 'proposed' : 'awaiting-approval',
    ...(expiresAtMs !== undefined && { deadlineMs: expiresAtMs }),
    path,
  }
}

export function readWithdrawal({ status }: CallView, reason: FactOf<'request-withdrawn'>['reason']): CallResult {
  if (reason === 'expired')
    return { type: 'denied', code: 'approval_expired', message: 'the call was not approved in time' }
  if (status === 'running') return KNOWN_BELOW
  return { type: 'cancelled', code: 'cancelled', message: 'the agent that asked goes on without it' }
}

/** The result of a call below whose outcome is told to its own agent alone. */
export const KNOWN_BELOW: CallResult = {
  type: 'unknown',
  code: 'tool_result_unknown',
  message: 'its outcome is known to the agent that called it',
}

/** A request that was decided, and that the session below has not closed yet. `view` has no deadline. */
export function viewDecided(view: CallView, { edited, denied }: NonNullable<RelayedRequest['decided']>): CallView {
  if (denied) return viewDenied(view, denied)
  return { ...view, ...(edited && { inputEdited: true }), status: 'running' }
}

export function viewDenied(view: CallView, { reason }: { readonly reason?: string }): CallView {
  const message = reason === undefined ? 'a person denied the call' : `the call was denied: ${reason}`
  return { ...view, status: 'settled', result: { type: 'denied', code: 'call_denied', message, byPerson: true } }
}
