// Performs one model call: materialises the request, streams what is said, and reports the whole answer.
import type { LiveFrame, StoredMessage, ModelAnswer, ModelEvent, ModelPart, ModelRequest, Usage } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { Failure, HostReport } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from './call-check.ts'
import type { CallModel, ModelJob } from './jobs.ts'
import { createRequest } from './request.ts'
import { applyStepChange, askPrepareStep } from './step-plan.ts'
import type { ModelIo, WorkContext } from './work.ts'

interface ModelWork {
  readonly context: WorkContext
  readonly job: ModelJob
  readonly io: ModelIo
  /** Names of the tools in force, where `prepareStep` chose them. */
  readonly inForce?: readonly string[] | undefined
}

/**
 * Reports `model-finished` or `model-failed`, of a summary `summary-finished` or `summary-failed`. Never rejects.
 */
export async function performModel(context: WorkContext, job: ModelJob, io: ModelIo): Promise<HostReport> {
  const { effect } = job
  const isStep = effect.type === 'call-model'
  try {
    return isStep ? await askStep({ context, job, io }, effect) : await askSummary({ context, job, io })
  } catch (cause) {
    return { type: isStep ? 'model-failed' : 'summary-failed', attempt: effect.attempt, error: describeFailure(cause) }
  }
}

async function askStep(work: ModelWork, effect: CallModel): Promise<HostReport> {
  const { context, job, io } = work
  const { agent } = context
  const asked = context.modelOf(job.model)
  const request = await createRequest({ context, model: asked, history: io.history }, job)
  const stream = streamTo(io.live.bind(io), effect.attempt)
  if (!agent.prepareStep) return await finishStep(work, request, await asked.run(request, stream, io.signal))
  const change = await askPrepareStep(agent.prepareStep, { job, effect, request, context })
  const model = change.model ?? job.model
  const prepared = applyStepChange(request, change, effect)
  const said = await context.modelOf(model).run(prepared, stream, io.signal)
  return await finishStep({ ...work, job: { ...job, model }, inForce: change.tools }, prepared, said)
}

async function askSummary(work: ModelWork): Promise<HostReport> {
  const { context, job, io } = work
  const model = context.modelOf(job.model)
  const request = await createRequest({ context, model, history: io.history }, job)
  return finishSummary(context, job, await model.run(request, ignore, io.signal))
}

function ignore(): void {}

/** From pieces of an answer to frames with offsets. */
function streamTo(live: (frame: LiveFrame) => void, attempt: number): (event: ModelEvent) => void {
  let textChars = 0
  let reasoningChars = 0
  const calls = new Map<number, { readonly name: string; chars: number }>()
  return (event) => {
    switch (event.type) {
      case 'text-delta':
        if (event.text === '') return
        live({ type: 'text-delta', attempt, offset: textChars, text: event.text })
        textChars += event.text.length
        break
      case 'reasoning-delta':
        if (event.text === '') return
        live({ type: 'reasoning-delta', attempt, offset: reasoningChars, text: event.text })
        reasoningChars += event.text.length
        break
      case 'call-start':
        calls.set(event.index, { name: event.name, chars: 0 })
        live({ type: 'call-delta', attempt, index: event.index, name: event.name, offset: 0, text: '' })
        break
      case 'call-delta': {
        const call = calls.get(event.index)
        if (!call || event.text === '') return
        const { name, chars: offset } = call
        live({ type: 'call-delta', attempt, index: event.index, name, offset, text: event.text })
        call.chars += event.text.length
        break
      }
      default:
        break
    }
  }
}

/** Arguments are validated, and policies asked, before the machine sees the answer: both may take time. */
async function finishStep(work: ModelWork, request: ModelRequest, said: ModelAnswer): Promise<HostReport> {
  const { context, job, io, inForce } = work
  const { session, principal, clientTools, effect } = job
  const calls = said.parts.filter((part) => part.type === 'call')
  const untrusted = calls.length > 0 && context.agent.approvalPolicy ? listUntrusted(request.messages) : []
  const about = { session, principal, clientTools, untrusted, ...(inForce && { inForce: new Set(inForce) }) }
  const checks = await Promise.all(
    calls.map(async (call) => checkCall(context, { ...about, name: call.name, arguments: call.arguments })),
  )
  const { parts, finish, model } = said
  const usage = countUsage(context, job, said.usage)
  const textBefore = io.history.turnTexts().join('\n\n')
  const output = calls.length === 0 && finish !== 'pause' ? await context.output?.check(joinText(parts)) : undefined
  const { attempt } = effect
  return { type: 'model-finished', attempt, model, parts, checks, finish, usage, textBefore, ...(output && { output }) }
}

/** Names of tools whose results in these messages are marked as untrusted. */
export function listUntrusted(messages: readonly StoredMessage[]): readonly string[] {
  const names = new Set<string>()
  for (const message of messages)
    if (message.role === 'tool')
      for (const part of message.parts) if (part.provenance?.trust === 'untrusted') names.add(part.name)
  return [...names]
}

function finishSummary(context: WorkContext, job: ModelJob, said: ModelAnswer): HostReport {
  const usage = countUsage(context, job, said.usage)
  return { type: 'summary-finished', attempt: job.effect.attempt, text: joinText(said.parts), usage }
}

function joinText(parts: readonly ModelPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

const COUNTS = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'costMicros',
] as const

/**
 * The counts that can be kept, with the price of the model that was asked, whatever it calls itself. JSON writes NaN as
 * null: what was folded live would not be what is replayed.
 */
function countUsage({ priceOf }: WorkContext, { model }: ModelJob, usage: Usage): Usage {
  const kept: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  const priced = priceOf?.(model, usage)
  for (const name of COUNTS) {
    const count = name === 'costMicros' ? (priced ?? usage.costMicros) : usage[name]
    if (isCount(count)) kept[name] = count
  }
  return kept
}

/** Above what a number holds exactly, sums would be wrong, and in the end infinite. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

/** UTF-16 units of a failure's message: it stands in the log. */
const MESSAGE_CHARS = 4096

/** What a throw of a model means to the machine. */
export function describeFailure(cause: unknown): Failure {
  const message = describeThrown(cause).slice(0, MESSAGE_CHARS) || 'the model did not say why it failed'
  if (!isBatonError(cause)) return { code: 'model_provider_failed', message, retryable: false }
  const { code, retryable } = cause
  const retryAfterMs = (cause.data as { readonly retryAfterMs?: unknown } | undefined)?.retryAfterMs
  return { code, message, retryable, ...(isCount(retryAfterMs) && { retryAfterMs }) }
}
