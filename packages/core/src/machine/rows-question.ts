// Rows for a running tool's questions to its user: asked once, answered once, and never open without a limit.
import { canAsk } from './ask-person.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { InputOf } from './input.ts'
import { findCall, findQuestion } from './state.ts'

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
  if (!canAsk(draft.state)) emit(draft, { type: 'question-answered', callId, questionId, n, declined: 'nobody' })
}

/** `check` has verified that the input answers an open question, in time, by its principal. */
export function answerQuestion(draft: Draft, input: InputOf<'question-answer'>): void {
  const { questionId } = input
  const found = findQuestion(draft.state, questionId)
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
  if (found?.question.deadline?.generation !== generation) return
  const { callId } = found.call
  emit(draft, { type: 'question-answered', callId, questionId, n: found.question.n, declined: 'expired' })
}
