// Approvals and questions as people see them, and decisions as the machine takes them. Edited input and answers are
// validated here, where their schemas are known.
import type { PendingApproval, PendingQuestion, Principal } from '@baton/core/internal'
import { checkName, isJsonObject, parseJson, readAbout } from '@baton/core/internal'
import type { DecodedDecision, DecodedQuestionAnswer } from '@baton/core/internal'
import type { Call, History, Input } from '@baton/core/machine'
import { findApproval, listClientTools, TEXT_SEPARATOR } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from '../work/call-check.ts'
import { createPrincipalError } from './principal-error.ts'

/** Open questions of tools. */
export function listQuestions(engine: Pick<SessionEngine, 'history'>): readonly PendingQuestion[] {
  return engine
    .history()
    .openQuestions()
    .map(({ callId, questionId, message, schema, expiresAtMs }) => ({
      callId,
      questionId,
      message,
      schema,
      expiresAtMs,
    }))
}

export function listApprovals(engine: Pick<SessionEngine, 'state' | 'history'>): readonly PendingApproval[] {
  const history = engine.history()
  return (engine.state().step?.calls ?? []).flatMap(({ callId, name, state, approval }): readonly PendingApproval[] => {
    if (state !== 'awaiting-approval' || !approval) return []
    const call = history.openCall(callId)
    const parsed = parseJson(call?.arguments ?? '{}')
    const input = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const { id: approvalId, deadline } = approval
    return [{ ...(call?.about && readAbout(call.about)), approvalId, callId, name, input, expiresAtMs: deadline.atMs }]
  })
}

/** The person on whose behalf a program decides. @throws BatonError `invalid_option` */
export function readDecider(principal: Principal | undefined): Principal | undefined {
  if (principal === undefined) return undefined
  if (typeof principal !== 'object' || principal === null) throw createPrincipalError(principal)
  checkName('principal.id', principal.id)
  return principal
}

/** Passes on a request that is not open: the machine knows what became of it. */
export async function createApproval(
  engine: SessionEngine,
  { id: principal }: Principal,
  decided: DecodedDecision,
): Promise<Input> {
  const { approvalId, decision, reason, remember } = decided
  const given = {
    type: 'approval',
    approvalId,
    principal,
    decision,
    ...(reason !== undefined && { reason }),
    ...(remember && { remember }),
  } as const
  const state = engine.state()
  const call = findApproval(state, approvalId)
  const history = engine.history()
  if (call?.answer) return decision === 'approve' ? { ...given, answer: readWaitingAnswer(history, call.answer) } : given
  if (decided.decision !== 'edit') return given
  const text = JSON.stringify(decided.input)
  // All that the session still has: at least what the model had read when it made the call.
  const told = history.messages(0, state.counters.entry)
  const check = await checkCall(engine.world, {
    session: engine.session,
    principal,
    callId: call?.callId ?? '',
    told: () => told,
    name: call?.name ?? '',
    arguments: text,
    clientTools: listClientTools(state),
    untrusted: history.untrusted(),
  })
  return { ...given, edited: { arguments: text, check } }
}

/** The answer that waits for approval: the newest step's text for a value, else the texts of all steps. */
export function readWaitingAnswer(history: Pick<History, 'turnTexts'>, { as }: NonNullable<Call['answer']>): string {
  const texts = history.turnTexts().map(({ text }) => text)
  return as === 'value' ? (texts.at(-1) ?? '') : texts.join(TEXT_SEPARATOR)
}

/** Describes what is wrong with an answer; undefined if it fits or the question is not open. */
export async function findAnswerIssues(
  engine: SessionEngine,
  answer: DecodedQuestionAnswer,
): Promise<string | undefined> {
  if (!('value' in answer)) return undefined
  const question = engine
    .history()
    .openQuestions()
    .find(({ questionId }) => questionId === answer.questionId)
  if (!question) return undefined
  const { questionId, schema } = question
  try {
    const checked = await engine.world.validator.validate(
      { input: schema, subject: 'the answer is' },
      JSON.stringify(answer.value),
    )
    return checked.ok ? undefined : `${questionId}: the answer does not fit: ${checked.issues}`
  } catch (cause) {
    return `${questionId}: the question's schema cannot check answers: ${describeThrown(cause)}`
  }
}
