// Requests of sessions below: approvals, questions and calls for clients. Each level passes them up under the id that they
// have below; the root shows, decides and times them, and what it says goes down again.
import type { ErrorCode, Refusal } from '../errors.ts'
import { isJsonObject, parseJson } from '../json.ts'
import { withdraw } from './child-end.ts'
import { canAskFor } from './child-entries.ts'
import type { DecidedRequest } from './deciders.ts'
import { checkDecider, countLeft } from './deciders.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import type { ChildRequest } from './lane-values.ts'
import { recallDecision } from './remembered.ts'
import { jsonChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Relayed, State } from './state.ts'
import { findChild, findRelayed, isRoot } from './state.ts'

/** Relays a child's request. Requests of an ended child are not shown, and no client will run its calls. */
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
  const deciders = asking.type === 'approval' ? asking.deciders : undefined
  const recalls = asking.type === 'approval' && !deciders
  const remembered = recalls ? recallDecision(state, asking.name, asking, agents) : undefined
  const isNamed = asking.type === 'approval' && (asking.answer?.by !== undefined || deciders !== undefined)
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

/** The child has closed these. */
export function withdrawClosed(draft: Draft, callId: string, closed: readonly string[]): void {
  for (const one of findClosed(draft.state, callId, closed)) withdraw(draft, one, 'closed')
}

/** Requests of a child among these ids; the id of a call stands for all requests of that call. */
export function findClosed(state: State, callId: string, closed: readonly string[]): readonly Relayed[] {
  if (closed.length === 0) return []
  const ids = new Set(closed)
  return state.relayed.filter((one) => one.via === callId && (ids.has(one.id) || ids.has(one.callId)))
}

/** The time of an approval or a question has passed at the root. */
export function expireRelayed(draft: Draft, one: Relayed | undefined, generation: number): void {
  if (one?.deadline?.generation === generation) withdraw(draft, one, 'expired')
}

export function findRelayedApproval({ relayed }: State, callId: string): Relayed | undefined {
  return relayed.find(({ type, callId: asked, deadline }) => type === 'approval' && asked === callId && deadline)
}

/** `check` has verified that it is open. */
export function decideRelayed(draft: Draft, one: Relayed, input: InputOf<'approval'>): void {
  const { approvalId, decision, principal, reason, note, remember, edited } = input
  const { callId, via } = one
  const noted = note !== undefined && { note }
  const left = countLeft(readDecided(draft.state, one), input)
  if (left > 0) {
    emit(draft, { type: 'approval-given', callId, via, approvalId, principal, ...noted, left })
    return
  }
  emit(draft, {
    type: 'approval-decided',
    callId,
    via,
    approvalId,
    decision,
    principal,
    ...(reason !== undefined && { reason }),
    ...noted,
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
  const undecided = by ? undefined : checkDecider(readDecided(state, one), input)
  if (undecided) return undecided
  if (one.isDecided || !one.deadline) return refuse('it was answered')
  if (state.nowMs > one.deadline.atMs) return refuse('the request has expired')
  if (decision !== 'edit') return undefined
  if (one.asked?.answer) return refuse('an answer is approved or denied; deny it with the reason')
  // The person stays in charge: a refused edit leaves the request open.
  return checkEdit(input) ?? (edited?.check.denied === undefined ? undefined : refuse(edited.check.denied))
}

function readDecided({ principal }: State, { asked }: Relayed): DecidedRequest {
  return { owner: principal, deciders: asked?.deciders, given: asked?.given ?? [] }
}

/** A refused edit leaves the request open: nothing is lost. */
export function checkEdit({ approvalId, edited }: InputOf<'approval'>): Refusal | undefined {
  const refuse = (code: ErrorCode, why: string): Refusal => ({ code, message: `${approvalId}: ${why}` })
  if (!edited) return refuse('approval_refused', 'the edited arguments are missing')
  const parsed = parseJson(edited.arguments)
  if (!parsed.ok || !isJsonObject(parsed.value))
    return refuse('invalid_arguments', 'the edited arguments are not a JSON object')
  if (edited.check.invalid === undefined) return undefined
  return refuse('invalid_arguments', edited.check.invalid)
}

/** Sessions without a principal do not check the speaker. */
export function isStranger(state: State, principal: string): boolean {
  return state.principal !== '' && principal !== state.principal
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
