// Which calls of the open step begin now: approvals are asked, server tools start, client calls are offered.
import { requestApproval } from './ask-person.ts'
import { applyCallEvent, startTool } from './call-event.ts'
import { findHolder } from './client-tools.ts'
import { setCallClock } from './clocks.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Call } from './state.ts'
import { findCall } from './state.ts'

/** Does nothing while the session is paused or the step's turn is over. */
export function scheduleCalls(draft: Draft): void {
  const { state } = draft
  if (state.phase !== 'calling') return
  for (const { callId } of state.step?.calls ?? []) {
    const call = findCall(draft.state, callId)
    if (call?.state === 'proposed') requestApproval(draft, call)
    else if (call?.state === 'ready' && mayBegin(draft, call)) begin(draft, call)
  }
}

/** A call that wants no other beside it waits for all that run, and all wait for it. */
function mayBegin(draft: Draft, call: Call): boolean {
  const calls = draft.state.step?.calls ?? []
  const running = calls.filter(isRunning)
  if (!call.parallel && running.length > 0) return false
  if (running.some((other) => !other.parallel)) return false
  const earlier = calls.slice(0, calls.indexOf(call))
  if (earlier.some((other) => !other.parallel && other.state === 'ready')) return false
  if (call.runs === 'client') return findHolder(draft.state, call) !== undefined
  return running.filter((other) => other.runs === 'server').length < draft.spec.limits.parallelCalls
}

function isRunning(call: Call): boolean {
  return call.state === 'started' || call.state === 'offered' || call.state === 'claimed'
}

function begin(draft: Draft, call: Call): void {
  if (call.approval && draft.state.nowMs > call.approval.deadline.atMs) {
    applyCallEvent(draft, call, 'approval-expiry')
    return
  }
  if (call.runs === 'server') {
    startTool(draft, call)
    return
  }
  const client = findHolder(draft.state, call)
  if (!client) return
  const { callId } = call
  const { connection } = client
  // It moves from one client straight to the next: the new one's clock starts when that one comes to the call.
  if (call.clock.mode === 'running') setCallClock(draft, call, 'held')
  emit(draft, { type: 'call-offered', callId, connection, offer: draft.state.counters.offer + 1 })
  // A client without claims acts on what it reads, so delivery is the claim and is committed before it.
  if (!client.claims) emit(draft, { type: 'call-claimed', callId, connection })
}
