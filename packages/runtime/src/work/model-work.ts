// Performs one model call: builds the request, streams the answer, and reports the result.
import type {
  FinishReason,
  JsonObject,
  LiveFrame,
  Model,
  ModelCallPart,
  ModelEvent,
  ModelPart,
  ModelRequest,
  ToolDeclaration,
  Usage,
} from '@baton/core/internal'
import {
  ANSWER_LIMITS,
  BatonError,
  decodeModelAnswer,
  isBatonError,
  isCallIndex,
  listUntrusted,
} from '@baton/core/internal'
import type { CallCheck, HostReport, State } from '@baton/core/machine'
import {
  CHARS_PER_TOKEN,
  listClientTools,
  nameCall,
  requestTokens,
  RUNS_AFTER,
  TEXT_SEPARATOR,
} from '@baton/core/machine'
import { describeFailure, describeThrown, hideSecrets, isCount } from '../describe-thrown.ts'
import { judgeAnswer } from './answer-check.ts'
import type { CheckedCall } from './call-check.ts'
import { checkCall, fitToolName, withToolName } from './call-check.ts'
import { guardSignal } from './aborting.ts'
import type { CallModel, ModelJob, Summarise } from './jobs.ts'
import { createOutputReader } from './output.ts'
import type { Streaks } from './repeats.ts'
import { repairCall } from './repair-arguments.ts'
import { buildStep, createSummaryRequest } from './request.ts'
import { applyStepChange, askPrepareStep } from './step-plan.ts'
import type { ModelIo, WorkContext } from './work.ts'

interface ModelWork {
  readonly context: WorkContext
  readonly job: ModelJob
  readonly io: ModelIo
  readonly heard: Heard
  /** Names of the tools in force, if `prepareStep` chose them. */
  readonly inForce?: readonly string[] | undefined
  /** Tools offered to the model. */
  readonly offered?: readonly ToolDeclaration[]
  /** Calls of this turn that repeated with the same result. */
  readonly streaks?: Streaks | undefined
}

/** The first error in the pieces of an answer. */
interface Heard {
  failure?: BatonError
}

export function createModelJob(state: State, effect: CallModel | Summarise): ModelJob {
  const { session, principal, birth, turn } = state
  const model = effect.type === 'call-model' ? effect.model : (turn?.models[turn.candidate] ?? '')
  const clientTools = state.clientTools.length === 0 ? [] : listClientTools(state)
  const { settings = {}, rounds = 0, pauses = 0, output, done, refusals } = turn ?? {}
  // The attempt has a size; whatever is not history is overhead.
  let overheadChars = state.attempt?.chars ?? 0
  for (const { chars } of state.index) overheadChars -= chars
  const inputTokens = requestTokens(
    { models: [model], window: { overheadTokens: overheadChars / CHARS_PER_TOKEN } },
    state,
  )
  const contextTokens = state.learntWindows?.find((window) => window.model === model)?.tokens
  const job: { -readonly [Field in keyof ModelJob]: ModelJob[Field] } = {
    session,
    principal,
    birth,
    effect,
    model,
    settings,
    stepNumber: turn?.steps.length ?? 0,
    rounds,
    pauses,
    clientTools,
    inputTokens,
  }
  if (output) job.output = output
  if (done) job.done = done
  if (refusals !== undefined) job.refusals = refusals
  if (contextTokens !== undefined) job.contextTokens = contextTokens
  return job
}

/** Reports `model-finished` or `model-failed`; for a summary, `summary-finished` or `summary-failed`. Never rejects. */
export async function performModel(context: WorkContext, job: ModelJob, io: ModelIo): Promise<HostReport> {
  const { effect, session } = job
  const isStep = effect.type === 'call-model'
  const heard: Heard = {}
  try {
    guardSignal(io.signal, (cause) =>
      context.log.warn('an abort listener of a model failed', { session, cause: describeThrown(cause) }),
    )
    const work = { context, job, io, heard }
    return isStep ? await askStep(work, effect) : await askSummary(work, effect)
  } catch (cause) {
    const thrown = heard.failure ?? cause
    const error = describeFailure(thrown, context.secrets)
    // An abort is intended, so it is not logged. The message is omitted, because providers quote the request in it.
    if (!io.signal.aborted || heard.failure)
      context.log.warn('a model call failed', {
        session,
        model: job.model,
        attempt: effect.attempt,
        code: error.code,
        retryable: error.retryable,
        ...describeResponse(thrown, context.secrets),
      })
    return { type: isStep ? 'model-failed' : 'summary-failed', attempt: effect.attempt, error }
  }
}

async function askStep(asking: ModelWork, effect: CallModel): Promise<HostReport> {
  const { context, job, io } = asking
  const { agent } = context
  const { model, request, streaks } = await buildStep(context, { job, effect, history: io.history })
  const work = { ...asking, streaks, offered: request.tools }
  const stream = streamTo(work, io.live.bind(io))
  if (!agent.prepareStep)
    return await finishStep(work, effect, request, await askInTime(work, effect, { model, request, stream }))
  const change = await askPrepareStep(agent.prepareStep, { job, effect, request, context })
  const chosen = change.model ?? job.model
  const named = typeof chosen === 'string' ? chosen : chosen.id
  const prepared = applyStepChange(request, change, { agent, effect })
  const said = await askInTime(work, effect, { model: context.modelOf(chosen), request: prepared, stream })
  return await finishStep({ ...work, job: { ...job, model: named }, inForce: change.tools }, effect, prepared, said)
}

/** Waits for the first piece of the answer within the turn's remaining time. */
function askInTime(
  { context, heard, io }: ModelWork,
  { firstWordMs }: CallModel,
  asked: { readonly model: Model; readonly request: ModelRequest; readonly stream: (event: ModelEvent) => void },
): Promise<unknown> {
  const { model, request, stream } = asked
  insistOnCall(io)
  if (firstWordMs === undefined) return model.run(request, stream, io.signal)
  const { promise: silence, reject } = Promise.withResolvers<never>()
  const cancel = context.timers.start(firstWordMs, () => {
    const message = `the model did not begin to answer in ${firstWordMs} ms, the time left of limits.firstWordMs`
    heard.failure = new BatonError({ code: 'model_timeout', message })
    io.abort()
    // A model that ignores its signal does not delay the report.
    io.outlive?.(asking.then(ignore, ignore))
    reject(heard.failure)
  })
  const hear = (event: ModelEvent): void => {
    cancel()
    stream(event)
  }
  const ask = async (): Promise<unknown> => await model.run(request, hear, io.signal)
  const asking = ask()
  return Promise.race([asking, silence]).finally(cancel)
}

async function askSummary(work: ModelWork, effect: Summarise): Promise<HostReport> {
  const { context, job, io, heard } = work
  const model = context.modelOf(job.model)
  const told = io.history.messages(effect.fromEntry, effect.toEntry)
  const request = await createSummaryRequest(context, job.session, told)
  insistOnCall(io)
  const decoded = decodeModelAnswer(await model.run(request, streamTo(work, ignore), io.signal), context.agent.limits)
  if (heard.failure) throw heard.failure
  if (!decoded.ok) throw new BatonError(decoded.refusal)
  const { parts, usage } = decoded.value
  const text = joinText(parts)
  return { type: 'summary-finished', attempt: effect.attempt, text, usage: addPrice(context, job, usage) }
}

/** A request may take time to prepare, for example to read its images. @throws BatonError `cancelled` */
function insistOnCall({ signal }: ModelIo): void {
  if (signal.aborted)
    throw new BatonError({ code: 'cancelled', message: 'the model call was given up before it began' })
}

function ignore(): void {}

/**
 * Turns pieces of an answer into frames with offsets. Pieces come from foreign code, at any time and in any shape: a
 * malformed one ends the call, and never throws at the code that passed it.
 */
function streamTo(
  { context, job, io, heard, offered = [] }: ModelWork,
  live: (frame: LiveFrame) => void,
): (event: ModelEvent) => void {
  const { attempt } = job.effect
  const { answerChars } = context.agent.limits
  const calls = new Map<unknown, { readonly name: string; chars: number }>()
  let textChars = 0
  let reasoningChars = 0
  let chars = 0
  let pieces = 0
  /** Half of a surrogate pair; the other half comes with the next piece. */
  let half = ''
  return (event) => {
    if (heard.failure) return
    try {
      const { type } = event
      pieces += 1
      if (pieces > ANSWER_LIMITS.pieces) throw createTooLarge(ANSWER_LIMITS.pieces, 'pieces')
      const given = event as { readonly name?: unknown; readonly text?: unknown } // of any shape
      if (typeof given.name === 'string') chars += given.name.length
      if (typeof given.text === 'string') chars += given.text.length
      if (chars > answerChars) throw createTooLarge(answerChars, 'characters (limits.answerChars)')
      if (type === 'call-start') {
        const { index, name: said } = event
        if (typeof said !== 'string' || !isCallIndex(index)) throw createMalformed(type)
        const name = fitToolName(said, offered) ?? said
        calls.set(index, { name, chars: 0 })
        live({ type: 'call-delta', attempt, index, name, offset: 0, text: '' })
      }
      if (type === 'server-tool') {
        const { name, status } = event
        if (typeof name !== 'string' || (status !== 'started' && status !== 'finished')) throw createMalformed(type)
        live({ type, attempt, name, status })
      }
      if (type !== 'text-delta' && type !== 'reasoning-delta' && type !== 'call-delta') return
      const { text } = event
      if (typeof text !== 'string') throw createMalformed(type)
      if (type === 'text-delta') {
        const said = half + text
        const last = said.charCodeAt(said.length - 1)
        half = last >= 0xd800 && last <= 0xdbff ? said.slice(-1) : ''
        const whole = (half === '' ? said : said.slice(0, -1)).toWellFormed()
        if (whole === '') return
        live({ type, attempt, offset: textChars, text: whole })
        textChars += whole.length
      } else if (type === 'reasoning-delta') {
        if (text === '') return
        live({ type, attempt, offset: reasoningChars, text })
        reasoningChars += text.length
      } else {
        const { index } = event
        const call = calls.get(index)
        if (!call || text === '') return
        live({ type, attempt, index, name: call.name, offset: call.chars, text })
        call.chars += text.length
      }
    } catch (cause) {
      heard.failure = isBatonError(cause) ? cause : createMalformed(describeThrown(cause))
      io.abort()
    }
  }
}

function createMalformed(what: string): BatonError {
  const message = `the model streamed an invalid piece of an answer: ${what}`
  return new BatonError({ code: 'model_malformed_answer', message })
}

function createTooLarge(limit: number, what: string): BatonError {
  const message = `the model streamed an answer of more than ${limit} ${what}`
  return new BatonError({ code: 'model_answer_too_large', message })
}

/** Includes the provider's own tools, which may have run in this answer. */
function nameUntrusted({ io }: ModelWork, said: readonly ModelPart[]): readonly string[] {
  const parts = said.filter((part) => part.type === 'source' || part.type === 'provider')
  return [...new Set([...io.history.untrusted(), ...listUntrusted([{ role: 'assistant', parts }])])]
}

/** Validates arguments and consults policies before the machine sees the answer; both may take time. */
async function finishStep(
  work: ModelWork,
  effect: CallModel,
  request: ModelRequest,
  answer: unknown,
): Promise<HostReport> {
  const { context, job, io, heard, inForce, streaks } = work
  if (heard.failure) throw heard.failure
  const decoded = decodeModelAnswer(answer, context.agent.limits)
  if (!decoded.ok) throw new BatonError(decoded.refusal)
  const { finish, model, requestId } = decoded.value
  const parts = decoded.value.parts.map((part) => (part.type === 'call' ? withToolName(part, request.tools) : part))
  const { session, principal, birth, clientTools } = job
  const calls = parts.filter((part) => part.type === 'call')
  const untrusted = calls.length > 0 && context.agent.approvalPolicy ? nameUntrusted(work, parts) : []
  const about = {
    session,
    principal,
    clientTools,
    untrusted,
    told: () => request.messages,
    ...(inForce && { inForce: new Set(inForce) }),
    ...(streaks && { streaks }),
  }
  const repaired = new Map<ModelPart, string>()
  const checking = calls.map((call, index): CallCheck | Promise<CallCheck> => {
    const { name, arguments: given, unreadable } = call
    if (unreadable !== undefined) return { argumentsHash: context.digest(given), invalid: unreadable, unreadable: true }
    const asked = { ...about, callId: nameCall(birth, effect.step, index), name, arguments: given }
    const check = checkCall(context, asked)
    return 'then' in check || check.invalid !== undefined || call.repairs
      ? mend(context, { call, asked, finish, repaired }, check)
      : check
  })
  // Most are checked synchronously.
  const checks = checking.every((check): check is CallCheck => !('then' in check))
    ? checking
    : await Promise.all(checking.map((check) => Promise.resolve(check)))
  const usage = addPrice(context, job, decoded.value.usage)
  context.log.info('a model answered', {
    session,
    model: job.model,
    attempt: effect.attempt,
    finish,
    calls: calls.length,
    ...(usage.inputTokens !== undefined && { inputTokens: usage.inputTokens }),
    ...(usage.outputTokens !== undefined && { outputTokens: usage.outputTokens }),
    ...(requestId !== undefined && { requestId: hideSecrets(requestId, context.secrets) }),
  })
  const textsBefore = io.history.turnTexts().map(({ text }) => text)
  const reader = job.output ? createOutputReader(job.output, context.validator) : context.output
  const goesOn = finish === 'pause' && (job.pauses ?? 0) < context.agent.limits.pauses
  const isAnswer = calls.length === 0 ? !goesOn : effect.choice === 'none'
  const isJudged = isAnswer && (reader !== undefined || context.agent.checkAnswer !== undefined)
  const said = isJudged && { job, io, request, finish, reader, text: joinText(parts) }
  const judged = said ? await judgeAnswer(context, said) : {}
  const repair = (part: ModelPart): ModelPart =>
    part.type === 'call' ? { ...part, arguments: repaired.get(part) ?? part.arguments } : part
  return {
    type: 'model-finished',
    attempt: effect.attempt,
    model,
    parts: repaired.size === 0 ? parts : parts.map(repair),
    checks,
    finish,
    usage,
    textBefore: textsBefore.join(TEXT_SEPARATOR),
    ...judged,
  }
}

interface Mending {
  readonly call: ModelCallPart
  readonly asked: CheckedCall
  readonly finish: FinishReason
  /** Receives the better arguments. */
  readonly repaired: Map<ModelPart, string>
}

/** Repairs an answer only if its provider calls it complete, never if it was cut off. */
async function mend(
  context: WorkContext,
  { call, asked, finish, repaired }: Mending,
  checking: CallCheck | Promise<CallCheck>,
): Promise<CallCheck> {
  const check = await checking
  const better = check.invalid === undefined || !RUNS_AFTER.has(finish) ? undefined : await repairCall(context, asked)
  if (better) repaired.set(call, better.arguments)
  const told = [...(call.repairs ?? []), ...(better?.check.repairs ?? [])]
  return told.length > 0 ? { ...(better?.check ?? check), repairs: told } : check
}

export function joinText(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** Adds the price of the requested model, whatever name the answer has. */
export function addPrice({ priceOf }: WorkContext, { model }: Pick<ModelJob, 'model'>, usage: Usage): Usage {
  const priced = priceOf?.(model, usage)
  if (priced === undefined) return usage
  const { costMicros: _, ...counts } = usage
  return isCount(priced) ? { ...counts, costMicros: priced } : counts
}

/** Maximum UTF-16 units of a request id in a log line. */
const REQUEST_ID_CHARS = 200

/** The HTTP status and the provider's request id, if the error has them. Never throws. */
function describeResponse(thrown: unknown, secrets?: readonly string[]): JsonObject {
  try {
    const { status, requestId } = (isBatonError(thrown) && thrown.data) || {}
    const hidden = typeof requestId === 'string' ? hideSecrets(requestId, secrets) : undefined
    return {
      ...(typeof status === 'number' && { status }),
      ...(hidden !== undefined && { requestId: hidden.slice(0, REQUEST_ID_CHARS) }),
    }
  } catch {
    return {} // it has a getter that throws
  }
}
