// Approvals and questions: they are asked, checked, decided and answered once, and never stay open without a limit.
import { settle } from './calls.ts'
import type { Draft } from './draft.ts'
import type { Call, State } from './state.ts'
import { emit } from './draft.ts'
import { canAsk, findApproval, findCall, findQuestion, findRelayed, openCalls } from './state.ts'
import {
  answerRelayed,
  checkEdit,
  isStranger,
  checkRelayedAnswer,
  checkRelayedApproval,
  decideRelayed,
  expireRelayed,
} from './relayed.ts'
import type { DecidedRequest } from './deciders.ts'
import { checkDecider, countLeft, foreign } from './deciders.ts'
import type { FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import type { Refusal } from '../errors.ts'
import { decideAnswer } from './answer.ts'
import { jsonChars } from './size.ts'
import { RULES } from './spec.ts'

/** `check` has verified that the input answers the open request with this id, in time, by its principal. */
export function decideApproval(draft: Draft, input: InputOf<'approval'>): void {
  const call = findApproval(draft.state, input.approvalId)
  const below = call ? undefined : findRelayed(draft.state, input.approvalId)
  if (below) decideRelayed(draft, below, input)
  if (!call) return
  if (call.answer) {
    decideAnswer(draft, call, input)
    return
  }
  const { approvalId, decision, principal, reason, note, remember, edited } = input
  const left = countLeft(readDecided(draft.state, call), input)
  if (left > 0) {
    emit(draft, {
      type: 'approval-given',
      callId: call.callId,
      approvalId,
      principal,
      ...(note !== undefined && { note }),
      left,
    })
    return
  }
  const denied = decision === 'edit' ? edited?.check.denied : undefined
  emit(draft, {
    type: 'approval-decided',
    callId: call.callId,
    approvalId,
    decision,
    principal,
    ...(reason !== undefined && { reason }),
    ...(note !== undefined && { note }),
    // A policy's denial is not remembered.
    ...(remember && denied === undefined && { remember }),
    ...(decision === 'edit' && edited && { edited: recordEdit(edited, denied === undefined) }),
  })
  if (denied !== undefined) settleDenied(draft, call, denied)
  else if (decision === 'deny') deny(draft, call, reason)
}

/** A program may have decided: the reason says for whom. */
export function deny(draft: Draft, call: Call, reason: string | undefined): void {
  settleDenied(draft, call, reason ? `the call was denied: ${reason}` : 'a person denied the call')
}

type EditedFact = NonNullable<FactOf<'approval-decided'>['edited']>
type Edited = NonNullable<InputOf<'approval'>['edited']>

function recordEdit({ arguments: text, check }: Edited, approved: boolean): EditedFact {
  const { argumentsHash, delegate } = check
  return { arguments: text, argumentsHash, ...(approved && { approved: true }), ...(delegate && { delegate }) }
}

function settleDenied(draft: Draft, call: Call, message: string): void {
  settle(draft, call, { type: 'denied', code: 'call_denied', message }, false)
}

/** A restarted run asks again: an already asked number keeps its question and its answer. */
export function askQuestion(draft: Draft, input: InputOf<'question-asked'>): void {
  const { callId, attempt, n, message, schema, timeoutMs } = input
  const call = findCall(draft.state, callId)
  // A question of another attempt, whose run has ended.
  if (call?.state !== 'started' || call.attempt !== attempt) return
  if (call.questions.some((asked) => asked.n === n)) return
  const questionId = `question_${callId}_${n}`
  const expiresAtMs = draft.state.nowMs + timeoutMs
  emit(draft, { type: 'question-asked', callId, questionId, n, message, schema, expiresAtMs })
  if (!canAsk(draft.state, call)) emit(draft, { type: 'question-answered', callId, questionId, n, declined: 'nobody' })
}

/** `check` has verified that the input answers an open question, in time, by its principal. */
export function answerQuestion(draft: Draft, input: InputOf<'question-answer'>): void {
  const { questionId } = input
  const found = findQuestion(draft.state, questionId)
  const below = found ? undefined : findRelayed(draft.state, questionId)
  if (below) answerRelayed(draft, below, input)
  if (!found) return
  const { callId } = found.call
  const { n } = found.question
  if ('value' in input) emit(draft, { type: 'question-answered', callId, questionId, n, value: input.value })
  else {
    const { reason } = input
    const told = reason === undefined ? {} : { reason }
    emit(draft, { type: 'question-answered', callId, questionId, n, declined: 'person', ...told })
  }
}

export function expireQuestion(draft: Draft, questionId: string, generation: number): void {
  const found = findQuestion(draft.state, questionId)
  if (!found) expireRelayed(draft, findRelayed(draft.state, questionId), generation)
  if (found?.question.deadline?.generation !== generation) return
  const { callId } = found.call
  emit(draft, { type: 'question-answered', callId, questionId, n: found.question.n, declined: 'expired' })
}

/** Asks a person if there is one; otherwise the model learns at once that there is none. */
export function requestApproval(draft: Draft, call: Call): void {
  // Deciders need no connected client: they find the request in their inbox.
  if (!call.answer && !call.deciders && !canAsk(draft.state, call)) {
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

export function checkApproval(state: State, input: InputOf<'approval'>): Refusal | undefined {
  const { approvalId, principal } = input
  const refuse = (why: string): Refusal => ({ code: 'approval_refused', message: `${approvalId}: ${why}` })
  const call = findApproval(state, approvalId)
  const below = call ? undefined : findRelayed(state, approvalId)
  if (below) return checkRelayedApproval(state, below, input)
  const { by } = call?.answer ?? {}
  if (by && !by.includes(principal)) return refuse(`"${principal}" may not decide it; ${by.join(', ')} may`)
  if (!call) return refuse(isStranger(state, principal) ? foreign(principal) : explainMissing(state, approvalId))
  const undecided = by ? undefined : checkDecider(readDecided(state, call), input)
  if (undecided) return undecided
  if (call.state !== 'awaiting-approval' || !call.approval) return refuse(`it was answered; the call is ${call.state}`)
  if (state.nowMs > call.approval.deadline.atMs) return refuse('the request has expired')
  if (!call.answer) return input.decision === 'edit' ? checkEdit(input) : undefined
  if (input.decision === 'edit') return refuse('an answer is approved or denied; deny it with the reason')
  return input.decision === 'approve' && input.answer === undefined
    ? refuse('the text of the answer is missing')
    : undefined
}

function readDecided({ principal }: State, { deciders, given = [] }: Call): DecidedRequest {
  return { owner: principal, deciders, given }
}

/** Request ids contain the call and a number, which distinguishes an old request from an invented one. */
function explainMissing(state: State, approvalId: string): string {
  const asked = (callId: string): number | undefined => {
    const prefix = `approval_${callId}_`
    return approvalId.startsWith(prefix) ? Number(approvalId.slice(prefix.length)) : undefined
  }
  const newer = (call: Call): boolean => {
    const number = asked(call.callId)
    return number !== undefined && number >= 1 && number <= call.approvals
  }
  const call = openCalls(state).find(newer)
  if (call?.state === 'awaiting-approval') return 'a newer request replaced this one'
  if (call) return `it is stale; the call is ${call.state}`
  const isOver = state.recentCalls.some(({ callId }) => asked(callId) !== undefined)
  return isOver ? 'it is stale; the call is settled' : 'there is no such request'
}

export function checkAnswer(state: State, input: InputOf<'question-answer'>): Refusal | undefined {
  const { questionId, principal } = input
  const refuse = (why: string): Refusal => ({ code: 'question_refused', message: `${questionId}: ${why}` })
  if (isStranger(state, principal)) return refuse(foreign(principal))
  const found = findQuestion(state, questionId)
  const below = found ? undefined : findRelayed(state, questionId)
  if (below) return checkRelayedAnswer(below, input, state.nowMs)
  if (!found) return refuse('no such question is open: it was answered or withdrawn, or was never asked')
  if (found.question.deadline && state.nowMs > found.question.deadline.atMs) return refuse('the question has expired')
  const chars = 'value' in input ? jsonChars(input.value) : (input.reason?.length ?? 0)
  if (chars <= RULES.questionJsonChars) return undefined
  return refuse(`the answer must be JSON of at most ${RULES.questionJsonChars} characters`)
}

/** Checks a tool's question. A question of an ended attempt passes, and has no effect. */
export function checkQuestion({
  callId,
  n,
  message,
  schema,
  timeoutMs,
}: InputOf<'question-asked'>): Refusal | undefined {
  const refuse = (why: string): Refusal => ({ code: 'question_refused', message: `${callId}: ${why}` })
  if (!(Number.isInteger(n) && n >= 1 && n <= RULES.questions))
    return refuse(`a call may ask questions 1 to ${RULES.questions}, not ${n}`)
  if (message.trim() === '' || message.length > RULES.questionChars)
    return refuse(`a question must have 1 to ${RULES.questionChars} characters, not ${message.length}`)
  if (jsonChars(schema) > RULES.questionJsonChars)
    return refuse(`the schema of the answer must be JSON of at most ${RULES.questionJsonChars} characters`)
  if (timeoutMs > 0 && Number.isFinite(timeoutMs)) return undefined
  return refuse(`timeoutMs must be above 0, not ${timeoutMs}`)
}
