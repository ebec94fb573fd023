// Rows for answers that are not simply accepted: because of the order of calls, the agent's check, or a person's
// decision. The approval of an answer is a call of the answer's step: it waits, expires, and is shown and logged like
// any approval.
import type { JsonObject } from '../json.ts'
import { isJsonObject, parseJson } from '../json.ts'
import { canAsk } from './ask-person.ts'
import { settle } from './call-event.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { AnswerRefuser } from './fact.ts'
import type { AnswerCheck, InputOf } from './input.ts'
import { ANSWER_APPROVAL, describeEarlyAnswer, findMissing } from './order.ts'
import type { Proposed } from './proposal.ts'
import { nameCall } from './proposal.ts'
import { RULES } from './spec.ts'
import type { Call, RunningAttempt } from './state.ts'
import { closeStep, enterNotes, failTurn, finishTurn } from './turn.ts'

export interface Answered {
  readonly attempt: RunningAttempt
  /** Text of the step. */
  readonly text: string
  /** Text of the turn, over all its steps. */
  readonly whole: string
}

/** The call through which the answer asks a person; undefined if it does not, or if no person can be asked. */
export function proposeApproval(
  draft: Draft,
  input: InputOf<'model-finished'>,
  { attempt, text, whole }: Answered,
): Proposed | undefined {
  const { answer, output } = input
  if (answer?.verdict !== 'ask' || typeof output?.issue === 'string') return undefined
  if (findMissing(draft.spec, draft.state.turn?.done).length > 0 || !canDecide(draft, answer)) return undefined
  const { reason, title = 'Approve the answer', by } = answer
  const parsed = output ? parseJson(text) : undefined
  const shown = parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : { text: output ? text : whole }
  const asked: JsonObject = { message: reason, ...(by && { by }) }
  return {
    proposal: {
      callId: nameCall(draft.state.birth, attempt.step, 0),
      name: ANSWER_APPROVAL,
      runs: 'server',
      effect: 'pure',
      timeoutMs: 0,
      parallel: true,
      onInterrupt: 'cancel',
      argumentsHash: '',
      about: { title, asked },
      asks: true,
      answer: { as: output ? 'value' : 'text', ...(by && { by }) },
    },
    arguments: JSON.stringify(shown),
  }
}

function canDecide(draft: Draft, { by }: Extract<AnswerCheck, { readonly verdict: 'ask' }>): boolean {
  return by !== undefined || canAsk(draft.state)
}

/**
 * Closes the answer's step. The schema is checked before `checkAnswer`: an answer that does not fit is not passed to
 * it.
 */
export function judgeAnswer(draft: Draft, input: InputOf<'model-finished'>, answered: Answered): void {
  const { attempt, text, whole } = answered
  const { step, choice } = attempt
  const { output, answer } = input
  const missing = findMissing(draft.spec, draft.state.turn?.done)
  if (missing.length > 0)
    // Without tools it cannot call the missing ones.
    refuseAnswer(draft, { step, by: 'order', issue: describeEarlyAnswer(missing), isLast: choice === 'none' })
  else if (typeof output?.issue === 'string') refuseOutput(draft, step, output.issue)
  else if (answer?.verdict === 'again')
    refuseAnswer(draft, { step, by: 'check', issue: answer.reason, isValue: output !== undefined })
  else if (answer?.verdict === 'ask')
    failTurn(draft, 'answer_refused', `a person must approve the answer, but no person can be asked: ${answer.reason}`)
  else if (answer?.verdict === 'failed') failTurn(draft, 'internal', answer.message)
  else if (!answer && draft.spec.checksAnswer) failTurn(draft, 'internal', 'the answer was not checked')
  // The answer is the value alone; text of earlier steps with calls is not part of it.
  else finishTurn(draft, 'answered', output ? text : whole)
}

function refuseOutput(draft: Draft, step: number, issue: string): void {
  const told = issue.slice(0, RULES.issueChars)
  const attempts = (draft.state.turn?.misfits ?? 0) + 1
  if (attempts >= draft.spec.limits.outputAttempts) {
    const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
    failTurn(draft, 'invalid_output', `the answer did not fit the output schema in ${tries}: ${told}`, told)
    return
  }
  emit(draft, { type: 'output-refused', step, issue: told })
  tell(
    draft,
    `Your answer does not fit the output schema: ${told}\nAnswer again, with the corrected JSON and nothing else.`,
  )
}

interface Refused {
  readonly step: number
  readonly by: AnswerRefuser
  /** Message for the model. */
  readonly issue: string
  /** Whether it answers with a value. */
  readonly isValue?: boolean
  /** Whether asking again is pointless. */
  readonly isLast?: boolean
}

function refuseAnswer(draft: Draft, { step, by, issue, isValue, isLast }: Refused): void {
  const told = issue.slice(0, RULES.issueChars)
  emit(draft, { type: 'output-refused', step, issue: told, by })
  const { refusals = 0 } = draft.state.turn ?? {}
  if (isLast || refusals > draft.spec.limits.answerRetries) {
    failTurn(draft, 'answer_refused', `the answer was sent back ${refusals} times; last reason: ${told}`)
    return
  }
  const again = isValue ? 'Answer again, with the corrected JSON and nothing else.' : 'Then answer again.'
  const who = by === 'person' ? 'A person did not accept your answer' : 'Your answer was not accepted'
  tell(draft, `${who}: ${told}\n${again}`)
}

function tell(draft: Draft, text: string): void {
  emit(draft, { type: 'note-queued', note: draft.state.counters.note + 1, text })
  enterNotes(draft)
}

/** `check` has verified that the principal may decide, and that the text is present. */
export function decideAnswer(draft: Draft, call: Call, input: InputOf<'approval'>): void {
  const { approvalId, decision, principal, reason } = input
  const { callId, answer } = call
  const step = draft.state.step?.step ?? 0
  const why = reason !== undefined && { reason }
  emit(draft, { type: 'approval-decided', callId, approvalId, decision, principal, ...why })
  if (decision === 'approve') {
    settle(draft, call, { type: 'ok', content: [] }, false)
    closeStep(draft)
    finishTurn(draft, 'answered', input.answer ?? '')
    return
  }
  const issue = reason ?? 'no reason was given'
  settle(draft, call, { type: 'denied', code: 'call_denied', message: `a person denied the answer: ${issue}` }, false)
  closeStep(draft)
  refuseAnswer(draft, { step, by: 'person', issue, isValue: answer?.as === 'value' })
}

/** No decision in time: the model cannot do better, so it is not asked again. */
export function expireAnswer(draft: Draft): void {
  closeStep(draft)
  failTurn(draft, 'approval_expired', 'the answer was not approved in time')
}
