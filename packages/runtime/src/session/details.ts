// A session as people see it beside its events: its state, media, open approvals and questions, and their decisions as
// the machine takes them. Edited input and answers are validated here, where their schemas are known.
import type {
  PendingApproval,
  PendingQuestion,
  Principal,
  DecodedDecision,
  DecodedQuestionAnswer,
  SessionDetails,
} from '@baton/core/internal'
import { checkName, isJsonObject, parseJson, readAbout, readStart, SessionProjection } from '@baton/core/internal'
import type { Call, History, Input } from '@baton/core/machine'
import { findApproval, listClientTools, TEXT_SEPARATOR, requestTokens } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from '../work/call-check.ts'
import { createPrincipalError } from './session-directory.ts'
import { inTime, nameMediaBlob } from '../work/media.ts'

export type ReadEngine = Pick<SessionEngine, 'session' | 'stream' | 'state' | 'history' | 'world'>

/** SHA-256 in hex. */
const HANDLE = /^[0-9a-f]{64}$/

/** The bytes as base64. @throws BatonError `store_failed` */
export async function readMedia(
  { session, world }: Pick<ReadEngine, 'session' | 'world'>,
  handle: string,
): Promise<string | undefined> {
  if (!HANDLE.test(handle)) return undefined
  return await inTime(world.timers, () => world.blobs.get(session, nameMediaBlob(handle)))
}

export function readDetails(engine: ReadEngine): SessionDetails {
  const state = engine.state()
  const history = engine.history()
  const { spec } = engine.world
  const { cursor, activity } = new SessionProjection({ start: readStart(state, history) })
  const models = state.turn?.models ?? spec.models
  const model = state.model ?? spec.models[0] ?? ''
  const { contextTokens: size } = spec.window
  return {
    id: engine.session,
    agent: state.agent,
    principal: { id: state.principal },
    ...(state.title !== null && { title: state.title }),
    meta: state.meta,
    activity,
    model,
    models,
    queued: state.queue.map(({ inputId, delivery }) => ({ inputId, delivery })),
    approvals: listApprovals(engine),
    questions: listQuestions(engine),
    plan: history.plan(),
    context: { used: requestTokens(spec, state), ...(size !== undefined && { size }) },
    lastMs: state.nowMs,
    head: cursor,
  }
}

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
