// Asks a person about a call, if there is one.
import { settle } from './call-event.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Call, State } from './state.ts'

/** Asks a person if there is one; otherwise the model learns at once that there is none. */
export function requestApproval(draft: Draft, call: Call): void {
  if (!call.answer && !canAsk(draft.state)) {
    const message = 'no connected client can approve the call'
    settle(draft, call, { type: 'denied', code: 'call_denied', message }, false)
    return
  }
  emit(draft, {
    type: 'approval-requested',
    callId: call.callId,
    approvalId: `approval_${call.callId}_${call.approvals + 1}`,
    argumentsHash: call.argumentsHash,
    expiresAtMs: draft.state.nowMs + draft.spec.limits.approvalMs,
  })
}

/** Whether a person can be asked: behind one of the turn's inputs, or behind a client. */
export function canAsk(state: State): boolean {
  return state.turn?.asks === true || state.clients.some((client) => client.asks)
}
