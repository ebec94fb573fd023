// Spans of a turn's steps and of their model calls: each attempt is its own span, with its outcome.
import type { Fact, FactOf } from '@baton/core/machine'
import type { Usage } from '@baton/core'
import { describeAnswer } from './span-data.ts'
import type { Attributes, SpanEnd, SpanWriter } from './span-data.ts'

export function foldModel(fold: SpanWriter, fact: Fact): void {
  const { trace } = fold
  if ('usage' in fact) addUsage(fold, fact.usage)
  switch (fact.type) {
    case 'model-started':
      if (trace) beginAttempt(fold, fact, `turn/${trace.turn}`)
      return
    case 'summary-started':
      if (!trace) return
      fold.begin({
        key: `attempt/${fact.attempt}`,
        parentKey: `turn/${trace.turn}`,
        name: 'chat',
        kind: 'client',
        attributes: { ...describeOperation(fold), 'baton.attempt': fact.attempt, 'baton.purpose': 'summary' },
      })
      return
    case 'attempt-superseded': {
      const { attempt, reason, retryAtMs } = fact
      const wait = retryAtMs === undefined ? {} : { 'baton.retry_at': new Date(retryAtMs).toISOString() }
      fold.end(
        `attempt/${attempt}`,
        { 'baton.outcome': 'superseded', 'baton.reason': reason, ...wait },
        findError(fact),
      )
      return
    }
    case 'attempt-failed':
    case 'summary-failed':
      fold.end(`attempt/${fact.attempt}`, { 'baton.outcome': 'failed' }, toError(fact.error))
      return
    case 'summary-finished':
      fold.end(`attempt/${fact.attempt}`, { 'baton.outcome': 'answered', ...describeUsage(fact.usage) })
      return
    case 'step-finished':
      finishStep(fold, fact)
      return
    case 'step-salvaged':
      fold.end(`attempt/${fact.attempt}`, { 'baton.outcome': 'cancelled' })
      return
    case 'step-closed': {
      const key = fold.stepKeys.get(fact.step)
      fold.stepKeys.delete(fact.step)
      if (key !== undefined) fold.end(key)
      return
    }
    default:
  }
}

function beginAttempt(fold: SpanWriter, fact: FactOf<'model-started'>, turnKey: string): void {
  const { attempt, step, model } = fact
  const stepKey = `${turnKey}/step/${step}`
  fold.stepKeys.set(step, stepKey)
  fold.begin({
    key: stepKey,
    parentKey: turnKey,
    name: `step ${step}`,
    kind: 'internal',
    attributes: { 'gen_ai.conversation.id': fold.init.session, 'baton.step': step },
  })
  const { provider, name } = splitModel(model)
  fold.begin({
    key: `attempt/${attempt}`,
    parentKey: stepKey,
    name: `chat ${name}`,
    kind: 'client',
    attributes: {
      ...describeOperation(fold),
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': name,
      'baton.attempt': attempt,
    },
  })
}

function finishStep(fold: SpanWriter, fact: FactOf<'step-finished'>): void {
  const { attempt, model, finish, usage, interrupted } = fact
  fold.end(`attempt/${attempt}`, {
    'baton.outcome': interrupted ? 'cancelled' : 'answered',
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [finish],
    ...describeUsage(usage),
    ...(fold.init.content && describeAnswer(fact.parts, finish)),
  })
}

function describeOperation({ init }: SpanWriter): Attributes {
  return { 'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': init.session }
}

function describeUsage({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  costMicros,
}: Usage): Attributes {
  return {
    ...(inputTokens !== undefined && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens !== undefined && { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(cacheReadTokens !== undefined && { 'gen_ai.usage.cache_read.input_tokens': cacheReadTokens }),
    ...(cacheWriteTokens !== undefined && { 'gen_ai.usage.cache_creation.input_tokens': cacheWriteTokens }),
    ...(costMicros !== undefined && { 'baton.cost_usd': costMicros / 1_000_000 }),
  }
}

function addUsage({ usage }: SpanWriter, { inputTokens = 0, outputTokens = 0, costMicros = 0 }: Usage): void {
  usage.inputTokens += inputTokens
  usage.outputTokens += outputTokens
  usage.costMicros += costMicros
}

/** Switching models or pausing is not an error. */
function findError({ reason, error }: FactOf<'attempt-superseded'>): SpanEnd['error'] {
  if (error) return toError(error)
  if (reason === 'restart') return { type: 'host_restarted' }
  if (reason === 'empty') return { type: 'empty_answer' }
  return undefined
}

function toError({ code, message }: { readonly code: string; readonly message: string }): SpanEnd['error'] {
  return { type: code, message }
}

/** Providers whose name in the convention differs from the one in a model id. */
const PROVIDERS: Readonly<Record<string, string>> = {
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  bedrock: 'aws.bedrock',
  azure: 'azure.ai.openai',
  mistral: 'mistral_ai',
  xai: 'x_ai',
}

function splitModel(id: string): { readonly provider: string; readonly name: string } {
  const slash = id.indexOf('/')
  const prefix = slash < 0 ? 'unknown' : id.slice(0, slash)
  return {
    provider: Object.hasOwn(PROVIDERS, prefix) ? (PROVIDERS[prefix] ?? prefix) : prefix,
    name: id.slice(slash + 1),
  }
}
