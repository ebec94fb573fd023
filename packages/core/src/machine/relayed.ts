// Requests of sessions below: approvals, questions and calls for clients. Each level passes them up under the id that they
// have below; the root shows, decides and times them, and what it says goes down again.
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { ErrorCode, Refusal } from '../errors.ts'
import { canAskFor, noteTold } from './children.ts'
import { recallDecision } from './answer.ts'
import { rememberDecided } from './calls.ts'
import type { FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import { checkEdit, isStranger } from './people.ts'
import { jsonChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Call, ClosedCall, Relayed, State } from './state.ts'
import { findChild, findRelayed, isRoot } from './state.ts'
import type { Asking, ChildRequest, PathStep } from './tree-values.ts'

/** A child asks. What an ended one asks is shown to nobody, and nobody will run its calls. */
export function relay(draft: Draft, callId: string, { id, path, asking }: ChildRequest): void {
  const { state, spec } = draft
  const child = findChild(state, callId)
  if (!child || findRelayed(state, id)) return
  if (child.phase === 'ending') {
    if (asking.type === 'call') emit(draft, { type: 'request-withdrawn', callId, id, reason: 'nobody' })
    return
  }
  const whole = [{ callId, agent: child.agent }, ...path]
  if (!isRoot(state)) {
    emit(draft, { type: 'request-relayed', callId, id, path: whole, asking })
    return
  }
  if (asking.type === 'call') {
    const isKnown = spec.tools.some(({ name, runs }) => name === asking.name && runs === 'client')
    emit(draft, { type: 'request-relayed', callId, id, path: whole, asking, ...(isKnown && { isKnown }) })
    return
  }
  const agents = whole.map(({ agent }) => agent)
  const remembered = asking.type === 'approval' ? recallDecision(state, asking.name, asking, agents) : undefined
  const isNamed = asking.type === 'approval' && asking.answer?.by !== undefined
  if (remembered && asking.type === 'approval' && !asking.answer) {
    const { principal } = state
    const call = { callId: asking.callId, via: callId }
    emit(draft, { type: 'approval-decided', ...call, approvalId: id, decision: remembered, principal })
  } else if (!isNamed && !canAskFor(state, callId))
    emit(draft, { type: 'request-withdrawn', callId, id, reason: 'nobody' })
  else {
    const expiresAtMs = state.nowMs + asking.withinMs
    emit(draft, { type: 'request-relayed', callId, id, path: whole, asking, expiresAtMs })
  }
}

/** The child has closed these; the id of a call closes all requests of that call. */
export function withdrawClosed(draft: Draft, callId: string, closed: readonly string[]): void {
  if (closed.length === 0) return
  const ids = new Set(closed)
  for (const one of draft.state.relayed)
    if (one.via === callId && (ids.has(one.id) || ids.has(one.callId))) withdraw(draft, one, 'closed')
}

/** The child has to end. A client that has claimed a call may bring its result; nobody else will run one. */
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

/** A level between has ended these: nobody new may run them. One that never came this far is with nobody. */
export function leaveEnded(draft: Draft, callId: string, ended: readonly string[]): void {
  for (const id of ended) {
    const one = findRelayed(draft.state, id)
    if (!one) emit(draft, { type: 'request-withdrawn', callId, id, reason: 'nobody' })
    else if (one.call && !one.isDecided) leaveCall(draft, one, one.call)
  }
}

/** The child is gone, with everything that it asked. */
export function closeRelayed(draft: Draft, callId: string): void {
  for (const one of draft.state.relayed) if (one.via === callId) withdraw(draft, one, 'closed')
}

type WithdrawReason = FactOf<'request-withdrawn'>['reason']

export function withdraw(draft: Draft, { via, id }: Relayed, reason: WithdrawReason): void {
  emit(draft, { type: 'request-withdrawn', callId: via, id, reason })
}

/** The time of an approval or a question is over: the root alone says so. */
export function expireRelayed(draft: Draft, one: Relayed | undefined, generation: number): void {
  if (one?.deadline?.generation === generation) withdraw(draft, one, 'expired')
}

export function findRelayedApproval({ relayed }: State, callId: string): Relayed | undefined {
  return relayed.find(({ type, callId: asked, deadline }) => type === 'approval' && asked === callId && deadline)
}

/** `check` has verified that it is open. */
export function decideRelayed(draft: Draft, one: Relayed, input: InputOf<'approval'>): void {
  const { approvalId, decision, principal, reason, remember, edited } = input
  emit(draft, {
    type: 'approval-decided',
    callId: one.callId,
    via: one.via,
    approvalId,
    decision,
    principal,
    ...(reason !== undefined && { reason }),
    ...(remember && { remember }),
    ...(decision === 'edit' && edited && { edited: editOf(edited) }),
  })
}

type Edited = NonNullable<InputOf<'approval'>['edited']>

function editOf({ arguments: text, check }: Edited): NonNullable<FactOf<'approval-decided'>['edited']> {
  const { argumentsHash, delegate } = check
  return { arguments: text, argumentsHash, approved: true, ...(delegate && { delegate }) }
}

export function checkRelayedApproval(state: State, one: Relayed, input: InputOf<'approval'>): Refusal | undefined {
  const { approvalId, principal, decision, edited } = input
  const refuse = (why: string, code: ErrorCode = 'approval_refused'): Refusal => ({
    code,
    message: `${approvalId}: ${why}`,
  })
  const { by } = one.asked?.answer ?? {}
  if (by && !by.includes(principal)) return refuse(`"${principal}" may not decide it; ${by.join(', ')} may`)
  if (!by && isStranger(state, principal)) return refuse(`the session belongs to a principal other than "${principal}"`)
  if (one.isDecided || !one.deadline) return refuse('it was answered')
  if (state.nowMs > one.deadline.atMs) return refuse('the request has expired')
  if (decision !== 'edit') return undefined
  if (one.asked?.answer) return refuse('an answer is approved or denied; deny it with the reason')
  // The person stays in charge: a refused edit leaves the request open.
  return checkEdit(input) ?? (edited?.check.denied === undefined ? undefined : refuse(edited.check.denied))
}

export function checkRelayedAnswer(
  one: Relayed,
  input: InputOf<'question-answer'>,
  nowMs: number,
): Refusal | undefined {
  const { questionId } = input
  const refuse = (why: string): Refusal => ({ code: 'question_refused', message: `${questionId}: ${why}` })
  if (one.isDecided || !one.deadline) return refuse('it was answered')
  if (nowMs > one.deadline.atMs) return refuse('the question has expired')
  const chars = 'value' in input ? jsonChars(input.value) : (input.reason?.length ?? 0)
  if (chars <= RULES.questionJsonChars) return undefined
  return refuse(`the answer must be JSON of at most ${RULES.questionJsonChars} characters`)
}

export function answerRelayed(draft: Draft, one: Relayed, input: InputOf<'question-answer'>): void {
  const question = { callId: one.callId, via: one.via, questionId: one.id, n: readN(one.id) }
  if ('value' in input) emit(draft, { type: 'question-answered', ...question, value: input.value })
  else {
    const reason = input.reason === undefined ? {} : { reason: input.reason }
    emit(draft, { type: 'question-answered', ...question, declined: 'person', ...reason })
  }
}

/** An id of a question ends with its number. */
export function readN(questionId: string): number {
  return Number(questionId.slice(questionId.lastIndexOf('_') + 1))
}

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
    isDecided: false,
  }
  if (asking.type === 'question') return one
  if (asking.type === 'call') return { ...one, call: callFrom(asking, { via, isKnown: isKnown === true }) }
  const { name, argumentsHash, asksFor, asksEach, answer } = asking
  return {
    ...one,
    asked: {
      name,
      argumentsHash,
      ...(asksFor !== undefined && { asksFor }),
      ...(asksEach && { asksEach }),
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
  const next = noteTold({ ...state, relayed }, via)
  const one = findRelayed(state, id)
  if (fact.type !== 'approval-decided' || !one?.asked || !isRoot(state)) return next
  return rememberDecided(next, fact, { ...one.asked, agents: one.agents })
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
}

/** Keeps the requests that are not closed, with their texts. */
export function foldRelayed(kept: Map<string, RelayedRequest>, fact: RelayedFact): void {
  const { id, callId: via } = fact
  if (fact.type === 'request-relayed') {
    const { path, asking, expiresAtMs } = fact
    kept.set(id, { id, via, path, asking, ...(expiresAtMs !== undefined && { expiresAtMs }) })
  } else if (fact.reason !== 'ended' || kept.get(id)?.asking.type !== 'call') kept.delete(id)
}

export function editRelayed(
  kept: Map<string, RelayedRequest>,
  { approvalId, edited }: FactOf<'approval-decided'>,
): void {
  const one = kept.get(approvalId)
  if (one && edited && one.asking.type !== 'question')
    kept.set(approvalId, { ...one, asking: { ...one.asking, arguments: edited.arguments } })
}
