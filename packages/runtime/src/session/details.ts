// A session as people see it beside its events: its state, media, open approvals and questions, and their decisions as
// the machine takes them. Edited input and answers are validated here, where their schemas are known.
import type {
  DecodedDecision,
  DecodedQuestionAnswer,
  PendingQuestion,
  Principal,
  SessionDetails,
} from '@baton/core/internal'
import { BatonError, checkName, readStart, SessionProjection, viewTasks } from '@baton/core/internal'
import type { Call, History, InputOf, Relayed } from '@baton/core/machine'
import { findApproval, findRelayed, listClientTools, requestTokens, TEXT_SEPARATOR } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { findBelow } from '../engine.ts'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from '../work/call-check.ts'
import { listApprovals, listOpen } from './approvals.ts'
import { checkPrincipal, createPrincipalError } from './session-list.ts'
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
    approvals: listApprovals(state, history),
    questions: listQuestions(engine),
    tasks: viewTasks(state, history).filter(({ task }) => task === 'running'),
    plan: history.plan(),
    context: { used: requestTokens(spec, state), ...(size !== undefined && { size }) },
    lastMs: state.nowMs,
    head: cursor,
  }
}

/** Open questions of tools, those of sessions below included. */
export function listQuestions(engine: Pick<SessionEngine, 'state' | 'history'>): readonly PendingQuestion[] {
  const own = engine.history().openQuestions()
  const below = listOpen(engine.state(), engine.history()).flatMap(
    ({ id: questionId, asking, path, expiresAtMs }): readonly PendingQuestion[] => {
      if (asking.type !== 'question') return []
      const { callId, message, schema } = asking
      return [{ callId, questionId, message, schema, expiresAtMs, path }]
    },
  )
  return [
    ...own.map(({ callId, questionId, message, schema, expiresAtMs }) => ({
      callId,
      questionId,
      message,
      schema,
      expiresAtMs,
    })),
    ...below,
  ]
}

/** A person on whose behalf a program acts. @throws BatonError `invalid_option` */
export function readPerson(principal: Principal | undefined, field: 'principal' | 'by'): Principal | undefined {
  if (principal === undefined) return undefined
  if (typeof principal !== 'object' || principal === null) throw createPrincipalError(principal, field)
  checkName(`${field}.id`, principal.id)
  checkPrincipal(principal, field)
  return principal
}

/** Passes on a request that is not open: the machine knows what became of it. */
export async function createApproval(
  engine: SessionEngine,
  { id: principal, roles }: Principal,
  decided: DecodedDecision,
): Promise<InputOf<'approval'>> {
  const { approvalId, decision, reason, note, remember } = decided
  const given = {
    type: 'approval',
    approvalId,
    principal,
    ...(roles && { roles }),
    decision,
    ...(reason !== undefined && { reason }),
    ...(note !== undefined && { note }),
    ...(remember && { remember }),
  } as const
  const state = engine.state()
  const call = findApproval(state, approvalId)
  const history = engine.history()
  if (call?.answer)
    return decision === 'approve' ? { ...given, answer: readWaitingAnswer(history, call.answer) } : given
  if (decided.decision !== 'edit') return given
  const below = findRelayed(state, approvalId)
  const place = below ? await findAsking(engine, below) : { engine, callId: call?.callId ?? '', name: call?.name ?? '' }
  return { ...given, edited: await checkEdited(place, state.principal, JSON.stringify(decided.input)) }
}

interface EditedCall {
  /** The session that made the call. */
  readonly engine: SessionEngine
  readonly callId: string
  readonly name: string
}

/** @throws BatonError `approval_refused` while the session that asks is being opened */
async function findAsking(root: SessionEngine, { id, callId, asked, agents }: Relayed): Promise<EditedCall> {
  const engine = await findBelow(root, id)
  if (engine) return { engine, callId, name: asked?.name ?? '' }
  throw new BatonError({
    code: 'approval_refused',
    message: `${id}: the session of agent "${agents.at(-1)}" is being opened, so the changed arguments cannot be checked`,
    hint: 'Decide again in a moment; the request is still open.',
  })
}

/** `principal`: the owner, as at the first check, whoever decides. */
async function checkEdited({ engine, callId, name }: EditedCall, principal: string, text: string) {
  const state = engine.state()
  const history = engine.history()
  // All that the session still has: at least what the model had read when it made the call.
  const told = history.messages(0, state.counters.entry)
  const check = await checkCall(engine.world, {
    session: engine.session,
    principal,
    callId,
    told: () => told,
    name,
    arguments: text,
    clientTools: listClientTools(state),
    untrusted: history.untrusted(),
  })
  return { arguments: text, check }
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
