// Performs the requests of version 2. The session validates their fields, and its refusal names the invalid one.
import type { Accepted, Decision, FrontSession, JsonObject, QuestionAnswer, Refused } from '@baton/core/internal'
import {
  BatonError,
  checkFields,
  decodeUserInput,
  isDeeper,
  JSON_DEPTH_MAX,
  parseJson,
  readTurnOf,
  frontOf,
} from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import type { AnswerOf, CallOutcome, RequestType, Requests } from '@baton/protocol'
import { findFieldIssue, REQUEST_FIELDS } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import { CHOICE_HINT, findChoiceIssue } from '../shared/allowed-settings.ts'
import { encodeAppView } from '../shared/app-errors.ts'
import type { V2Device } from './v2-device.ts'
import type { V2Models } from './v2-models.ts'
import { leaveFollowed, takeDevice } from './v2-follow.ts'
import type { Followed, V2State } from './v2-state.ts'

/** All except the request that the connection answers itself. */
export type AnsweredType = Exclude<RequestType, 'session.open'>
type Given<Type extends RequestType> = Requests[Type]['given']
type Answer<Type extends RequestType> = AnswerOf<Type> | Promise<AnswerOf<Type>>

/** @throws BatonError the refusal */
export async function answerRequest<Type extends AnsweredType>(
  state: V2State,
  type: Type,
  fields: Given<Type>,
): Promise<AnswerOf<Type>> {
  checkGiven(type, fields)
  const answers: { readonly [Each in AnsweredType]: (state: V2State, given: Given<Each>) => Answer<Each> } = ANSWERS
  return await answers[type](state, fields)
}

/** @throws BatonError `invalid_event` for a field that is unknown, missing, or has the wrong type */
export function checkGiven(type: RequestType, fields: object): void {
  checkFields(fields, { what: type, code: 'invalid_event', fields: REQUEST_FIELDS[type] })
  const issue = findFieldIssue(type, { ...fields })
  if (issue !== undefined) throw new BatonError({ code: 'invalid_event', message: `${type}: ${issue}` })
}

const ANSWERS: { readonly [Type in AnsweredType]: (state: V2State, given: Given<Type>) => Answer<Type> } = {
  ping: () => ({}),
  'session.close': async (state) => {
    await leaveFollowed(state)
    return {}
  },
  'session.info': async (state) => ({ info: await demandSession(state).session.info() }),
  'session.messages': async (state, given) => {
    const { messages, more } = await demandSession(state).session.messages(given)
    return { messages: messages.map(encodeAppView), more }
  },
  'session.describe': describeSession,
  'session.configure': async (state, given) => {
    const { session } = demandSession(state)
    checkChoice(state, given)
    return accept(await session.configure(given))
  },
  'session.control': async (state, { action }) => accept(await demandSession(state).session.control(action)),
  'session.fork': async (state, given) => ({ session: await demandSession(state).session.fork(given) }),
  'session.list': async ({ init }, given) => {
    const { host, principal } = init
    if (!host.sessions) throw createNoListError()
    return await host.sessions({ ...given, principal })
  },
  'session.watch': watchSessions,
  'session.delete': async ({ init }, { session }) => {
    const { host, principal } = init
    if (!host.remove) throw new BatonError({ code: 'invalid_option', message: 'this host cannot remove sessions' })
    await host.remove(session, principal)
    return {}
  },
  'input.send': sendInput,
  'input.hear': async (state, { input, ...entry }) => {
    const { session } = await beginTurn(state)
    return accept(await session.hear({ ...entry, inputId: input }))
  },
  'input.notify': async (state, { input, ...event }) => {
    const { session } = await beginTurn(state)
    return accept(await session.notify({ ...event, inputId: input }))
  },
  'input.withdraw': async (state, { input }) => accept(await demandSession(state).session.withdraw(input)),
  'input.rewind': async (state, { input, ...at }) => {
    const { session } = at.again || at.replace !== undefined ? await beginTurn(state) : demandSession(state)
    const { turn } = await session.rewind({ ...at, inputId: input })
    return turn === undefined ? {} : { turn }
  },
  'turn.interrupt': async (state, given) => await demandSession(state).session.interrupt(given),
  'call.tasks': async (state) => ({ tasks: (await demandSession(state).session.tasks()).map(encodeAppView) }),
  'call.cancel': async (state, { callId }) => accept(await demandSession(state).session.cancel(callId)),
  'speech.played': notePlayed,
  // The session decodes both: which fields go together, and what they may hold.
  'approval.list': async ({ init: { host, principal } }, { asked = false, ...query }) => {
    if (!host.approvals) throw createNoListError()
    return await host.approvals({ ...query, ...(asked ? { principal } : { decider: principal }) })
  },
  'approval.decide': async (state, { session, ...given }) => {
    const { host, principal } = state.init
    if (session === undefined) return accept(await demandSession(state).session.decide(given as Decision))
    if (!host.decide) throw createNoListError()
    return accept(await host.decide(session, given as Decision, { by: principal }))
  },
  'question.answer': async (state, given) => accept(await demandSession(state).session.answer(given as QuestionAnswer)),
  'device.attach': async (state, device) => {
    const followed = demandSession(state)
    await takeDevice(state, followed, device)
    return { leaseMs: demandDevice(followed).leaseMs }
  },
  'device.release': async (state) => {
    const followed = demandSession(state)
    followed.models?.leave()
    followed.models = undefined
    await demandDevice(followed).release()
    followed.device = undefined
    state.forgetDevice?.()
    return {}
  },
  'call.claim': async (state, { callId }) => {
    const { name, arguments: text, again } = await demandDevice(demandSession(state)).claim(callId)
    const parsed = parseJson(text)
    const input = parsed.ok ? (parsed.value as JsonObject) : {} // validated: an object
    return { call: { callId, name, input }, ...(again && { again }) }
  },
  'call.result': takeResult,
  'model.pieces': (state, given) => demandModels(demandSession(state)).take(given),
  'model.result': (state, given) => demandModels(demandSession(state)).finish(given),
}

function accept(_accepted: Accepted): object {
  return {}
}

function demandSession({ followed }: V2State): Followed {
  return demand(followed, 'does not follow a session', 'Send session.open first.')
}

function demandDevice({ device }: Followed): V2Device {
  return demand(device, 'is not a device', 'Send device.attach first, or name a device in session.open.')
}

function demandModels({ models }: Followed): V2Models {
  return demand(models, 'runs no models', 'Send device.attach with `models` first, or name them in session.open.')
}

/** @throws BatonError `illegal_input` */
function demand<Value>(value: Value | undefined, why: string, hint: string): Value {
  if (value !== undefined) return value
  throw new BatonError({ code: 'illegal_input', message: `this connection ${why}`, hint })
}

/** @throws BatonError `invalid_event` for a message that is not an answer of the session, or an invalid count */
async function notePlayed(state: V2State, { message, chars }: Given<'speech.played'>): Promise<object> {
  const { session } = demandSession(state)
  const turn = readTurnOf(String(message))
  if (turn === undefined || turn > (session.lastTurn()?.turn ?? 0))
    throw new BatonError({
      code: 'invalid_event',
      message: `message is not the id of an answer of this session: "${String(message).slice(0, 100)}"`,
      hint: 'Send the `message` of the sentence that was played.',
    })
  return insist(await session.submit({ type: 'display-written', turn, chars }))
}

/** @throws BatonError `server_draining`, `quota_exceeded` */
async function beginTurn(state: V2State): Promise<Followed> {
  const followed = demandSession(state)
  const { isDraining, quotas, address = '', principal, countsPrincipal = false } = state.init
  if (isDraining())
    throw new BatonError({
      code: 'server_draining',
      message: 'the server is shutting down and starts no new turn',
      hint: 'Connect again in a moment, and send it again with the same id.',
    })
  const origin = { address, principal: countsPrincipal ? principal.id : undefined }
  const tooMany = quotas?.checkTurn(origin, followed.session.id)
  if (tooMany !== undefined) throw new BatonError({ code: 'quota_exceeded', message: tooMany })
  await followed.device?.wake()
  return followed
}

async function sendInput(state: V2State, given: Given<'input.send'>): Promise<object> {
  const { input, content, asks = true, ...options } = given
  checkChoice(state, given)
  const { session } = await beginTurn(state)
  const parts = decodeUserInput(content)
  if (!parts.ok) throw new BatonError(parts.refusal)
  return insist(await session.submit({ type: 'user-input', inputId: input, parts: parts.value, asks, ...options }))
}

/** @throws BatonError `invalid_option` */
function checkChoice({ init }: V2State, choice: { readonly model?: unknown; readonly settings?: unknown }): void {
  const issue = findChoiceIssue(choice, init.allow)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_option', message: issue, hint: CHOICE_HINT })
}

async function describeSession(
  state: V2State,
  { session: id, ...description }: Given<'session.describe'>,
): Promise<object> {
  const { followed, init } = state
  if (id === undefined || id === followed?.session.id) {
    await demandSession(state).session.describe(description)
    return {}
  }
  const session = await openKnown(init, id)
  try {
    await session.describe(description)
  } finally {
    await session.close()
  }
  return {}
}

/** @throws BatonError `unknown_session` if it does not exist: opening it would create it */
async function openKnown({ host, principal }: V2State['init'], id: string): Promise<FrontSession> {
  if (!host.has) throw createNoListError()
  if (typeof id !== 'string' || !(await host.has(id)))
    throw new BatonError({ code: 'unknown_session', message: `there is no session "${String(id).slice(0, 100)}"` })
  return frontOf(await host.session(id, { principal, existing: true }))
}

function watchSessions(state: V2State): object {
  const { host, principal, log, connection } = state.init
  if (state.stopWatching || state.isGone()) return {}
  if (!host.watch) throw createNoListError()
  const changes = host.watch({ principal })[Symbol.asyncIterator]()
  state.stopWatching = () => void changes.return?.()
  const tell = async (): Promise<void> => {
    for (let next = await changes.next(); next.done !== true; next = await changes.next())
      state.writer.write({ type: 'session.changed', change: next.value })
  }
  tell().catch((cause: unknown) => {
    log.warn('changes of sessions could not be sent', { connection, cause: describeThrown(cause) })
  })
  return {}
}

async function takeResult(state: V2State, given: Given<'call.result'>): Promise<AnswerOf<'call.result'>> {
  const { callId, outcome, device } = given
  const followed = demandSession(state)
  const ready = readOutcome(outcome, state.init.limits.resultBytes)
  const { ignored } = await (await findResultDevice(state, followed, device)).result(callId, ready)
  return ignored === undefined ? {} : { ignored }
}

async function findResultDevice(
  { init }: V2State,
  followed: Followed,
  name: string | undefined,
): Promise<Pick<V2Device, 'result'>> {
  if (name === undefined || name === followed.device?.name) return demandDevice(followed)
  const { session } = followed
  // Attaching it again would take the lease and tools from a live copy. Without one, an earlier copy of the app claimed
  // the call, and its page was reloaded.
  return (
    init.deviceNames.find(session.id, name) ??
    (await session.client({ client: name, leaseMs: EARLIER_MS, onlyResults: true }))
  )
}

/** Milliseconds that a device submitting one late result counts as attached. */
const EARLIER_MS = 5000

const FAILED_BY_ERROR = 'report a failure as { error: "why" } alone'

/** @throws BatonError `invalid_event` */
function readOutcome(outcome: CallOutcome, mostBytes: number): Outcome {
  if (typeof outcome !== 'object' || outcome === null) throw createOutcomeError()
  checkFields(outcome, { what: 'outcome', code: 'invalid_event', fields: OUTCOME_FIELDS, elsewhere: FAILURE_FIELDS })
  // One of two would be dropped silently: a failure would read as a success, or a success as a failure.
  if (Object.keys(outcome).length !== 1) throw createOutcomeError(Object.keys(outcome))
  // It was parsed from JSON; anything deeper could not be written again. One level is the outcome's own.
  if (isDeeper(outcome, JSON_DEPTH_MAX + 1)) {
    const message = `the result is nested more than ${JSON_DEPTH_MAX} levels deep`
    return { type: 'error', code: 'result_invalid', message }
  }
  const bytes = Buffer.byteLength(JSON.stringify(outcome))
  if (bytes > mostBytes) {
    const message = `the result has ${bytes} bytes; at most ${mostBytes} are accepted`
    return { type: 'error', code: 'result_too_large', message }
  }
  if ('error' in outcome) {
    if (typeof outcome.error !== 'string') throw createOutcomeError()
    return { type: 'error', code: 'tool_failed', message: outcome.error }
  }
  if ('content' in outcome) {
    const content = decodeUserInput(outcome.content)
    if (!content.ok) throw new BatonError(content.refusal)
    return { type: 'ok', content: content.value }
  }
  const { output } = outcome
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return { type: 'ok', content: [{ type: 'text', text }], value: output }
}

const OUTCOME_FIELDS: ReadonlySet<string> = new Set(['output', 'content', 'error'])
/** Names for a failure in MCP and the AI SDK. */
const FAILURE_FIELDS = { isError: FAILED_BY_ERROR, is_error: FAILED_BY_ERROR, errorText: FAILED_BY_ERROR }

function createOutcomeError(given: readonly string[] = []): BatonError {
  const both = given.length > 1 ? `, not ${given.join(' and ')} together` : ''
  return new BatonError({
    code: 'invalid_event',
    message: `outcome must be { output: … }, { content: [ … ] } or { error: "…" }${both}`,
  })
}

function createNoListError(): BatonError {
  return new BatonError({ code: 'invalid_option', message: 'this host cannot list sessions' })
}

/** @throws BatonError the refusal */
function insist(answer: Accepted | Refused): object {
  if (answer.type === 'accepted') return {}
  throw new BatonError(answer)
}
