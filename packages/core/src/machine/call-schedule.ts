// Which calls of the open step begin now: approvals are asked, server tools start, client calls are offered.
import { requestApproval } from './ask-person.ts'
import { applyCallEvent, startTool } from './call-event.ts'
import { findHolder } from './client-tools.ts'
import { setCallClock } from './clocks.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Call } from './state.ts'

/**
 * Does nothing while the session is paused or the step's turn is over. One pass: what begins changes its own call alone, so
 * the calls that run are counted once and kept in count.
 */
export function scheduleCalls(draft: Draft): void {
  if (draft.state.phase !== 'calling') return
  const running: Running = { calls: 0, server: 0, alone: 0, isHeldUp: false }
  for (const call of draft.state.step?.calls ?? []) count(running, call)
  const calls = draft.state.step?.calls.length ?? 0
  for (let index = 0; index < calls; index++) {
    const call = draft.state.step?.calls[index]
    if (call?.state === 'proposed') requestApproval(draft, call)
    if (call?.state !== 'ready') continue
    if (mayBegin(draft, call, running)) {
      begin(draft, call)
      const begun = draft.state.step?.calls[index]
      if (begun) count(running, begun)
    }
    if (!call.parallel && draft.state.step?.calls[index]?.state === 'ready') running.isHeldUp = true
  }
}

interface Running {
  calls: number
  server: number
  /** Running calls that must run alone. */
  alone: number
  /** An earlier call that must run alone is waiting for the others to end. */
  isHeldUp: boolean
}

function count(running: Running, call: Call): void {
  if (call.state !== 'started' && call.state !== 'offered' && call.state !== 'claimed') return
  running.calls += 1
  if (call.runs === 'server') running.server += 1
  if (!call.parallel) running.alone += 1
}

/** A call that wants no other beside it waits for all that run, and all wait for it. */
function mayBegin({ spec, state }: Draft, call: Call, running: Running): boolean {
  if (running.isHeldUp || running.alone > 0 || (!call.parallel && running.calls > 0)) return false
  if (call.runs === 'client') return findHolder(state, call) !== undefined
  return running.server < spec.limits.parallelCalls
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
