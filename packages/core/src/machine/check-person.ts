// Whether a person's answer may be acted on: it must name an open request, be in time, and come from the session's own
// principal.
import type { ErrorCode } from '../errors.ts'
import { isJsonObject, parseJson } from '../json.ts'
import type { InputOf } from './input.ts'
import { jsonChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Refusal } from './refusal.ts'
import type { Call, State } from './state.ts'
import { findApproval, findQuestion, openCalls } from './state.ts'

export function checkApproval(state: State, input: InputOf<'approval'>): Refusal | undefined {
  const { approvalId, principal } = input
  const refuse = (why: string): Refusal => ({ code: 'approval_refused', message: `${approvalId}: ${why}` })
  const call = findApproval(state, approvalId)
  const { by } = call?.answer ?? {}
  if (by && !by.includes(principal)) return refuse(`"${principal}" may not decide it; ${by.join(', ')} may`)
  if (!by && isStranger(state, principal)) return refuse(`the session belongs to a principal other than "${principal}"`)
  if (!call) return refuse(explainMissing(state, approvalId))
  if (call.state !== 'awaiting-approval' || !call.approval) return refuse(`it was answered; the call is ${call.state}`)
  if (state.nowMs > call.approval.deadline.atMs) return refuse('the request has expired')
  if (!call.answer) return input.decision === 'edit' ? checkEdit(input) : undefined
  if (input.decision === 'edit') return refuse('an answer is approved or denied; deny it with the reason')
  return input.decision === 'approve' && input.answer === undefined
    ? refuse('the text of the answer is missing')
    : undefined
}

/** A refused edit leaves the request open: nothing is lost. */
function checkEdit({ approvalId, edited }: InputOf<'approval'>): Refusal | undefined {
  const refuse = (code: ErrorCode, why: string): Refusal => ({ code, message: `${approvalId}: ${why}` })
  if (!edited) return refuse('approval_refused', 'the edited arguments are missing')
  const parsed = parseJson(edited.arguments)
  if (!parsed.ok || !isJsonObject(parsed.value))
    return refuse('invalid_arguments', 'the edited arguments are not a JSON object')
  if (edited.check.invalid === undefined) return undefined
  return refuse('invalid_arguments', edited.check.invalid)
}

/** Sessions without a principal do not check the speaker. */
function isStranger(state: State, principal: string): boolean {
  return state.principal !== '' && principal !== state.principal
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
  if (isStranger(state, principal)) return refuse(`the session belongs to a principal other than "${principal}"`)
  const found = findQuestion(state, questionId)
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
