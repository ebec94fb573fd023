// Rows for people's decisions about calls.
import { settle } from './call-event.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import type { Call } from './state.ts'
import { findApproval } from './state.ts'
import { decideAnswer } from './rows-answer.ts'

/** `check` has verified that the input answers the open request with this id, in time, by its principal. */
export function decideApproval(draft: Draft, input: InputOf<'approval'>): void {
  const call = findApproval(draft.state, input.approvalId)
  if (!call) return
  if (call.answer) {
    decideAnswer(draft, call, input)
    return
  }
  const { approvalId, decision, principal, reason, remember, edited } = input
  const denied = decision === 'edit' ? edited?.check.denied : undefined
  emit(draft, {
    type: 'approval-decided',
    callId: call.callId,
    approvalId,
    decision,
    principal,
    ...(reason !== undefined && { reason }),
    // A policy's denial is not remembered.
    ...(remember && denied === undefined && { remember }),
    ...(decision === 'edit' && edited && { edited: recordEdit(edited, denied === undefined) }),
  })
  if (denied !== undefined) deny(draft, call, denied)
  else if (decision === 'deny')
    deny(draft, call, reason ? `a person denied the call: ${reason}` : 'a person denied the call')
}

type EditedFact = NonNullable<FactOf<'approval-decided'>['edited']>
type Edited = NonNullable<InputOf<'approval'>['edited']>

function recordEdit({ arguments: text, check }: Edited, approved: boolean): EditedFact {
  return { arguments: text, argumentsHash: check.argumentsHash, ...(approved && { approved: true }) }
}

function deny(draft: Draft, call: Call, message: string): void {
  settle(draft, call, { type: 'denied', code: 'call_denied', message }, false)
}
