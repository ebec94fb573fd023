// Performs one model call: materialises the request, streams what is said, and reports the whole answer.
import type { LiveFrame, ModelAnswer, ModelEvent, ModelPart, Usage } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { Failure, HostReport } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import { checkCall } from './call-check.ts'
import type { ModelJob } from './jobs.ts'
import { createRequest } from './request.ts'
import type { ModelIo, SharedWork, WorkContext } from './work.ts'

interface ModelWork extends SharedWork {
  readonly job: ModelJob
  readonly io: ModelIo
}

export async function performModel(shared: SharedWork, job: ModelJob, io: ModelIo): Promise<HostReport> {
  const { context } = shared
  const { effect } = job
  const isStep = effect.type === 'call-model'
  try {
    const model = context.modelOf(job.model)
    const request = createRequest({ agent: context.agent, tools: context.tools(), model, history: io.history }, job)
    const said = await model.run(request, isStep ? streamTo(io.live.bind(io), effect.attempt) : ignore, io.signal)
    return isStep ? await finishStep({ ...shared, job, io }, said) : finishSummary(context, job, said)
  } catch (cause) {
    return { type: isStep ? 'model-failed' : 'summary-failed', attempt: effect.attempt, error: describeFailure(cause) }
  }
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

/** Arguments are validated, and approvals asked for, before the machine sees the answer: both may take time. */
async function finishStep({ context, validated, job, io }: ModelWork, said: ModelAnswer): Promise<HostReport> {
  const { session, clientTools, effect } = job
  const calls = said.parts.filter((part) => part.type === 'call')
  const checks = await Promise.all(
    calls.map(async (call) =>
      checkCall(context, validated, { session, clientTools, name: call.name, arguments: call.arguments }),
    ),
  )
  const { parts, finish, model } = said
  const usage = keepCounts(addPrice(context, job, said.usage))
  const textBefore = io.history.turnTexts().join('\n\n')
  const output = calls.length === 0 && finish !== 'pause' ? await context.output?.check(joinText(parts)) : undefined
  const { attempt } = effect
  return { type: 'model-finished', attempt, model, parts, checks, finish, usage, textBefore, ...(output && { output }) }
}

function finishSummary(context: WorkContext, job: ModelJob, said: ModelAnswer): HostReport {
  const usage = keepCounts(addPrice(context, job, said.usage))
  return { type: 'summary-finished', attempt: job.effect.attempt, text: joinText(said.parts), usage }
}

/** The price is that of the model that was asked, whatever it calls itself. */
function addPrice({ priceOf }: WorkContext, { model }: ModelJob, usage: Usage): Usage {
  const costMicros = priceOf?.(model, usage)
  return costMicros === undefined ? usage : { ...usage, costMicros }
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

/** The counts that can be kept. JSON writes NaN as null: what was folded live would not be what is replayed. */
function keepCounts(usage: Usage): Usage {
  const kept: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  for (const name of COUNTS) {
    const count = usage[name]
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
