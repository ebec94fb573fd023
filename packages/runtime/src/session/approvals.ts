// Approvals and questions as people see them, and decisions as the machine takes them. Edited input and answers are
// validated here, where their schemas are known.
import type { JsonObject, PendingApproval, PendingQuestion, Principal } from '@baton/core/internal'
import { checkName, isJsonObject, parseJson, readAbout } from '@baton/core/internal'
import type { DecodedDecision, DecodedQuestionAnswer } from '@baton/core/internal'
import type { Call, History, Input, RelayedRequest } from '@baton/core/machine'
import { findApproval, listClientTools, TEXT_SEPARATOR } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from '../work/call-check.ts'
import { createPrincipalError } from './principal-error.ts'

/** Open questions of tools. */
export function listQuestions(engine: Pick<SessionEngine, 'state' | 'history'>): readonly PendingQuestion[] {
  const history = engine.history()
  const own = history.openQuestions().map(({ callId, questionId, message, schema, expiresAtMs }) => ({
    callId,
    questionId,
    message,
    schema,
    expiresAtMs,
  }))
  const below = listRelayed(engine).flatMap(({ id: questionId, asking, path, expiresAtMs }) => {
    if (asking.type !== 'question') return []
    const { callId, message, schema } = asking
    return [{ callId, questionId, message, schema, expiresAtMs, path }]
  })
  return [...own, ...below]
}

/** Requests of sessions below that wait here. */
function listRelayed(engine: Pick<SessionEngine, 'state' | 'history'>): readonly WaitingRequest[] {
  const { relayed } = engine.state()
  if (relayed.length === 0) return []
  const shown = engine.history().relayed()
  return shown.flatMap((request) => {
    const deadline = relayed.find(({ id }) => id === request.id)?.deadline
    return deadline ? [{ ...request, expiresAtMs: deadline.atMs }] : []
  })
}

type WaitingRequest = RelayedRequest & { readonly expiresAtMs: number }

export function listApprovals(engine: Pick<SessionEngine, 'state' | 'history'>): readonly PendingApproval[] {
  const history = engine.history()
  const below = listRelayed(engine).flatMap(
    ({ id: approvalId, asking, path, expiresAtMs }): readonly PendingApproval[] => {
      if (asking.type !== 'approval') return []
      const { callId, name, about } = asking
      const input = readObject(asking.arguments)
      return [{ ...(about && readAbout(about)), approvalId, callId, name, input, expiresAtMs, path }]
    },
  )
  const calls = engine.state().step?.calls ?? []
  const own = calls.flatMap(({ callId, name, state, approval }): readonly PendingApproval[] => {
    if (state !== 'awaiting-approval' || !approval) return []
    const call = history.openCall(callId)
    const input = readObject(call?.arguments ?? '{}')
    const { id: approvalId, deadline } = approval
    return [{ ...(call?.about && readAbout(call.about)), approvalId, callId, name, input, expiresAtMs: deadline.atMs }]
  })
  return [...own, ...below]
}

function readObject(text: string): JsonObject {
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
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
  if (call?.answer) return decision === 'approve' ? { ...given, answer: readAnswer(history, call.answer) } : given
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
function readAnswer(history: Pick<History, 'turnTexts'>, { as }: NonNullable<Call['answer']>): string {
  const texts = history.turnTexts().map(({ text }) => text)
  return as === 'value' ? (texts.at(-1) ?? '') : texts.join(TEXT_SEPARATOR)
}

/** Describes what is wrong with an answer; undefined if it fits or the question is not open. */
export async function findAnswerIssues(
  engine: SessionEngine,
  answer: DecodedQuestionAnswer,
): Promise<string | undefined> {
  if (!('value' in answer)) return undefined
  const question = listQuestions(engine).find(({ questionId }) => questionId === answer.questionId)
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
