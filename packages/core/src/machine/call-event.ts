// Turns the outcome of a call event, from the table, into facts.
import { describeEffect } from './call-end.ts'
import type { Fact, Settlement } from './fact.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import { isAttached } from './effect.ts'
import { RULES } from './spec.ts'
import type { CallEvent, CallOutcome } from './table.ts'
import { CALL_TABLE } from './table.ts'
import type { Call, State } from './state.ts'
import { mayHaveRun, waitsForAnswer } from './state.ts'

export function callOutcome(call: Call, event: CallEvent): CallOutcome {
  // A user may let a tool finish silently; only the end of its grace stops it then.
  if (event === 'interrupt' && call.state === 'started' && call.onInterrupt !== 'cancel') return 'stay'
  const cell = CALL_TABLE[event][call.state]
  return call.effect === 'once' ? cell.once : cell.repeatable
}

/** Applies an event that needs no further data. */
export function applyCallEvent(draft: Draft, call: Call, event: CallEvent): void {
  const { callId } = call
  switch (callOutcome(call, event)) {
    case 'settle-cancelled':
      settle(draft, call, { type: 'cancelled', reason: event, ...(hadEffect(call) && { begun: true }) }, true)
      break
    case 'settle-unknown':
      settle(draft, call, { type: 'unknown', reason: event }, true)
      break
    case 'settle-timed-out': {
      const begun = hadEffect(call)
      settle(draft, call, { type: 'timed-out', reason: event, ...(begun && { begun }) }, begun)
      break
    }
    case 'settle-expired':
      settleUnrun(draft, call, {
        type: 'denied',
        code: 'approval_expired',
        message: 'the call was not approved in time',
      })
      break
    case 'settle-gone': {
      const message = `the tool "${call.name}" was removed while its call was open`
      settleUnrun(draft, call, { type: 'error', code: 'tool_gone', message })
      break
    }
    case 'return':
      emit(draft, { type: 'call-returned', callId, reason: event })
      break
    case 'again':
      startAgain(draft, call)
      break
    default:
      break
  }
}

/** Whether the call may already have had its effect, including through a client that claimed it and left. */
function hadEffect(call: Call): boolean {
  return call.effect !== 'pure' && (mayHaveRun(call) || call.mayHaveActed === true)
}

/** Settles a call that was waiting to begin, although a client that left may have run it. */
function settleUnrun(draft: Draft, call: Call, settlement: Extract<Settlement, { readonly message: string }>): void {
  const begun = hadEffect(call)
  const message = begun ? `${settlement.message}: ${describeEffect(begun)}` : settlement.message
  settle(draft, call, { ...settlement, message }, begun)
}

/**
 * Restarts a pure or idempotent tool whose process died, a limited number of times in case the tool kills its process.
 */
function startAgain(draft: Draft, call: Call): void {
  if (call.attempt < RULES.recoveries) {
    startTool(draft, call)
    return
  }
  // It was started each time, and may have had its effect.
  if (call.effect === 'idempotent') {
    settle(draft, call, { type: 'unknown', reason: 'recovery_exhausted' }, true)
    return
  }
  const message = `the tool was started ${call.attempt} times, and the process died each time`
  settle(draft, call, { type: 'error', code: 'recovery_exhausted', message }, true)
}

/** Committed before the tool runs; `once` tools never get here twice. */
export function startTool(draft: Draft, call: Call): void {
  const deadlineMs = draft.state.nowMs + call.timeoutMs
  emit(draft, { type: 'call-started', callId: call.callId, attempt: call.attempt + 1, deadlineMs })
}

/**
 * Whether its tool may continue without the turn: not while it waits for the user's answer, and at most
 * `RULES.detached` at once.
 */
export function mayDetach(state: State, call: Call): boolean {
  const isRunning = call.state === 'started' && call.onInterrupt === 'detach' && !waitsForAnswer(call)
  return isRunning && state.detached.length < RULES.detached
}

/** Settles the call while its tool keeps running: see `State.detached`. */
export function detachCall(draft: Draft, call: Call): void {
  const begun = hadEffect(call) && ({ begun: true } as const)
  settle(draft, call, { type: 'cancelled', reason: 'interrupt', ...begun, detached: true }, true)
}

/**
 * Adds a note about a call. `words` are the tool's own and are quoted, because the note appears next to the user's
 * words.
 */
export function noteOutcome(draft: Draft, call: NotedCall, said: string, words?: string): void {
  emit(draft, makeNote(draft.state, call, said, words))
}

function makeNote({ counters }: State, call: NotedCall, said: string, words?: string): Fact {
  const { callId, name, provenance } = call
  const text = `The tool "${name}" (${callId}) ${said}${words === undefined ? '' : `: ${JSON.stringify(words)}`}`
  const untrusted = words !== undefined && provenance?.trust === 'untrusted' && { untrusted: name }
  return { type: 'note-queued', note: counters.note + 1, text, ...untrusted }
}

export type NotedCall = Pick<Call, 'callId' | 'name' | 'provenance'>

/** Ends a detached tool without an outcome. `why` follows the tool's name, such as `did not end in its time`. */
export function loseDetached(draft: Draft, call: Call, why: string): void {
  emit(draft, { type: 'result-ignored', callId: call.callId, reason: 'late', outcome: 'error', preview: why })
  noteOutcome(draft, call, `${why}: ${hadEffect(call) ? 'it may have had its effect' : 'it has no effect'}`)
}

/** Facts with which a copied session drops a detached tool, which runs for the original session. */
export function leaveToOriginal(state: State, call: Call): readonly Fact[] {
  const why = 'continues in the original conversation, which will report its outcome'
  const { callId } = call
  return [
    { type: 'result-ignored', callId, reason: 'late', outcome: 'error', preview: why },
    makeNote(state, call, why),
  ]
}

export function applyCallEventToAll(draft: Draft, event: CallEvent): void {
  for (const call of draft.state.step?.calls ?? []) applyCallEvent(draft, call, event)
}

/** A client is unreachable or has detached: the calls that it did not accept may be offered to another. */
export function dropClient(draft: Draft, connection: string): void {
  if (!isAttached(draft.state, connection)) return
  emit(draft, { type: 'client-detached', connection })
  for (const call of draft.state.step?.calls ?? [])
    if (call.offer?.connection === connection) applyCallEvent(draft, call, 'detach')
}

/** @param tellLate whether the model learns about a late result, because it was told that there is none */
export function settle(draft: Draft, call: Call, settlement: Settlement, tellLate: boolean): void {
  emit(draft, { type: 'call-settled', callId: call.callId, settlement, tellLate })
}
