// Entries of requests of sessions below, in a state and, with their texts, in a history: their fold.
import { noteTold } from './child-entries.ts'
import type { FactOf } from './fact.ts'
import { RULES } from './spec.ts'
import type { Call, ClosedCall, Relayed, State } from './state.ts'
import type { Asking, PathStep } from './tree-values.ts'

export type RelayedFact = FactOf<'request-relayed' | 'request-withdrawn'>

export function applyRelayedFact(state: State, fact: RelayedFact): State {
  if (fact.type === 'request-relayed') return { ...state, relayed: [...state.relayed, relayedFrom(state, fact)] }
  const gone = state.relayed.find(({ id, via }) => id === fact.id && via === fact.callId)
  const isTold = fact.reason === 'nobody' || fact.reason === 'expired'
  const next = isTold ? noteTold(state, fact.callId) : state
  if (!gone) return next
  if (fact.reason !== 'ended' || !gone.call) return forget(next, gone)
  const relayed = state.relayed.map((one) => (one === gone ? { ...one, isLeaving: true as const } : one))
  return { ...next, relayed }
}

function forget(state: State, gone: Relayed): State {
  const relayed = state.relayed.filter((one) => one !== gone)
  if (!gone.call) return { ...state, relayed }
  // A late result of its client is known by its call.
  const { callId, name, runs, offer, settlement } = gone.call
  const closed: ClosedCall = { callId, name, runs, offer, settlement: settlement ?? 'cancelled', tellLate: false }
  return { ...state, relayed, recentCalls: [...state.recentCalls, closed].slice(-RULES.remembered) }
}

function relayedFrom(state: State, fact: FactOf<'request-relayed'>): Relayed {
  const { callId: via, id, path, asking, expiresAtMs, isKnown } = fact
  const deadline = expiresAtMs === undefined ? null : { atMs: expiresAtMs, generation: state.pos }
  const one = {
    id,
    type: asking.type,
    via,
    callId: asking.callId,
    agents: path.map(({ agent }) => agent),
    deadline,
    askedMs: state.nowMs,
    isDecided: false,
  }
  if (asking.type === 'question') return one
  if (asking.type === 'call') return { ...one, call: callFrom(asking, { via, isKnown: isKnown === true }) }
  const { name, argumentsHash, asksFor, asksEach, deciders, answer } = asking
  return {
    ...one,
    asked: {
      name,
      argumentsHash,
      ...(asksFor !== undefined && { asksFor }),
      ...(asksEach && { asksEach }),
      ...(deciders && { deciders }),
      ...(answer && { answer }),
    },
  }
}

type AskedCall = Extract<FactOf<'request-relayed'>['asking'], { readonly type: 'call' }>

function callFrom(asking: AskedCall, { via, isKnown }: { readonly via: string; readonly isKnown: boolean }): Call {
  const { callId, name, effect, runs, timeoutMs, parallel, onInterrupt, provenance, argumentsHash, awayMs } = asking
  return {
    callId,
    name,
    effect,
    runs,
    timeoutMs,
    parallel,
    onInterrupt,
    ...(provenance && { provenance }),
    argumentsHash,
    state: 'ready',
    attempt: 0,
    approvals: 0,
    approval: null,
    offer: null,
    clock: { mode: 'held', deadline: null, remainingMs: timeoutMs, awayRemainingMs: awayMs, graces: 0 },
    deadline: null,
    heldMs: null,
    questions: [],
    settlement: null,
    resultChars: 0,
    editedChars: 0,
    tellLate: false,
    relayed: { via, isKnown, fallback: asking.fallback === true },
  }
}

/** A decision about a request of a session below, which stays until the child has closed it. */
export function applyDecision(state: State, fact: FactOf<'approval-decided' | 'question-answered'>): State {
  const { via } = fact
  const id = fact.type === 'approval-decided' ? fact.approvalId : fact.questionId
  const relayed = state.relayed.map((one) => (one.id === id ? { ...one, isDecided: true, deadline: null } : one))
  return noteTold({ ...state, relayed }, via)
}

/** One of several people approved a request of a session below. */
export function applyGiven(state: State, { approvalId, principal }: FactOf<'approval-given'>): State {
  const relayed = state.relayed.map((one) =>
    one.id === approvalId && one.asked
      ? { ...one, asked: { ...one.asked, given: [...(one.asked.given ?? []), principal] } }
      : one,
  )
  return { ...state, relayed }
}

/** A fact about a relayed call; `change` is its effect on any call. */
export function changeRelayedCall(state: State, callId: string, change: (call: Call) => Call): State {
  const relayed = state.relayed.map((one) => (one.call?.callId === callId ? { ...one, call: change(one.call) } : one))
  return { ...state, relayed }
}

/** The call of a session below settled here, or goes back to be run there. */
export function applyRelayedEnd(state: State, fact: FactOf<'call-settled' | 'call-taken-over'>): State {
  const { callId, via } = fact
  const relayed = state.relayed.flatMap((one) => {
    if (one.call?.callId !== callId) return [one]
    return fact.type === 'call-taken-over' ? [] : [{ ...one, isDecided: true }]
  })
  return noteTold({ ...state, relayed }, via)
}

/** A request of a session below, as it is shown. */
export interface RelayedRequest {
  readonly id: string
  /** The session's own call through which it came. */
  readonly via: string
  readonly path: readonly PathStep[]
  readonly asking: Asking
  /** At the root, for an approval or a question. */
  readonly expiresAtMs?: number
  /** A person's decision about an approval. */
  readonly decided?: { readonly edited?: true; readonly denied?: { readonly reason?: string } }
}

/** Keeps the requests that are not closed, with their texts. */
export function foldRelayed(kept: Map<string, RelayedRequest>, fact: RelayedFact): void {
  const { id, callId: via } = fact
  if (fact.type === 'request-relayed') {
    const { path, asking, expiresAtMs } = fact
    kept.set(id, { id, via, path, asking, ...(expiresAtMs !== undefined && { expiresAtMs }) })
  } else if (fact.reason !== 'ended' || kept.get(id)?.asking.type !== 'call') kept.delete(id)
}

/** Keeps a person's decision about an approval. */
export function decideRelayed(
  kept: Map<string, RelayedRequest>,
  { approvalId, decision, edited, reason }: FactOf<'approval-decided'>,
): void {
  const one = kept.get(approvalId)
  if (one?.asking.type !== 'approval') return
  const asking = edited ? { ...one.asking, arguments: edited.arguments } : one.asking
  const denied = decision === 'deny' && { denied: reason === undefined ? {} : { reason } }
  kept.set(approvalId, { ...one, asking, decided: { ...(edited && { edited: true }), ...denied } })
}

/** A call of a session below that came here for a client, as `History.openCall` has it. */
export function findRelayedCall(relayed: ReadonlyMap<string, RelayedRequest>, id: string) {
  const asking = relayed.get(id)?.asking
  if (asking?.type !== 'call') return undefined
  const { callId, name, about } = asking
  return { callId, name, arguments: asking.arguments, settled: false, ...(about && { about }) }
}
