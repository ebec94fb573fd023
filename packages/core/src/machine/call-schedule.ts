// Starts the calls of the open step that can begin now: requests approvals, starts server tools, offers client calls.
import { requestApproval } from './ask-person.ts'
import { applyCallEvent, startTool } from './call-event.ts'
import { findHolder } from './client-tools.ts'
import { setCallClock } from './clocks.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Call } from './state.ts'

/**
 * Does nothing while the session is paused or the step's turn has ended. One pass: a starting call changes only itself,
 * so running calls are counted once and kept in count.
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

/** A call that must run alone waits for all running ones, and all others wait for it. */
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
  // The call moves directly from one client to the next: the new client's clock starts when it reaches the call.
  if (call.clock.mode === 'running') setCallClock(draft, call, 'held')
  emit(draft, { type: 'call-offered', callId, connection, offer: draft.state.counters.offer + 1 })
  // A client without claims acts on what it reads, so delivery is the claim and is committed before it.
  if (!client.claims) emit(draft, { type: 'call-claimed', callId, connection })
}
