// Performs model calls: materialises the request, streams its text to the readers, and answers with one input.
import type { Environment, Frame, Model, ModelAnswer, ModelEvent, ModelPart, ModelRequest, Usage } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { CallCheck, Effect, Failure, Input, State } from '@baton/core/machine'
import type { Actor } from './actor.ts'
import type { OutputReader } from './output.ts'
import { messageOf } from './thrown-message.ts'

type CallModel = Extract<Effect, { readonly type: 'call-model' }>
type Summarise = Extract<Effect, { readonly type: 'summarise' }>

export interface ModelRunnerInit {
  readonly environment: Environment
  /** @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf: (id: string) => Model
  readonly request: (effect: CallModel | Summarise, model: Model) => ModelRequest
  readonly check: (name: string, argumentsText: string) => Promise<CallCheck>
  /** Of an agent with an output schema. */
  readonly output: OutputReader | undefined
  /** Millionths of a US dollar; undefined where the price is not known. */
  readonly priceOf: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly actor: Actor
  readonly publish: (frame: Frame) => void
}

export interface ModelRunner {
  /** Never rejects: whatever happens is the answer that it hands in. */
  call(effect: CallModel): Promise<void>
  summarise(effect: Summarise): Promise<void>
  abort(attempt: number): void
  /** How many are under way. */
  count(): number
  /** Aborts all, without an answer. */
  close(): void
}

/** Progress is logged after so much time or text, without anybody waiting for it. */
const PROGRESS_MS = 500
const PROGRESS_CHARS = 2048

interface Running {
  readonly controller: AbortController
  text: string
  logged: number
  loggedMs: number
}

export function createModelRunner(init: ModelRunnerInit): ModelRunner {
  const { actor } = init
  const running = new Map<number, Running>()
  let newest = 0

  const begin = (attempt: number): Running => {
    const run = { controller: new AbortController(), text: '', logged: 0, loggedMs: init.environment.clock.nowMs() }
    running.set(attempt, run)
    newest = attempt
    return run
  }

  const callModel = async (effect: CallModel): Promise<void> => {
    const { attempt, model } = effect
    const run = begin(attempt)
    const sink = (event: ModelEvent): void => {
      if (running.has(attempt)) stream(init, attempt, run, event)
    }
    let input: Input
    try {
      const asked = init.modelOf(model)
      const said = await asked.run(init.request(effect, asked), sink, run.controller.signal)
      input = await finished(init, attempt, said)
    } catch (cause) {
      input = { type: 'model-failed', attempt, error: failureOf(cause) }
    }
    // An aborted attempt has answered already; what it brings now would be stale.
    if (running.delete(attempt)) actor.submit(input).catch(ignoreDeath)
  }

  const summarise = async (effect: Summarise): Promise<void> => {
    const { attempt } = effect
    const run = begin(attempt)
    let input: Input
    try {
      const model = init.modelOf(summaryModel(actor.state()))
      const said = await model.run(init.request(effect, model), () => {}, run.controller.signal)
      const text = textIn(said.parts)
      input = { type: 'summary-finished', attempt, text, usage: countsOf(priced(init, attempt, said.usage)) }
    } catch (cause) {
      input = { type: 'summary-failed', attempt, error: failureOf(cause) }
    }
    if (running.delete(attempt)) actor.submit(input).catch(ignoreDeath)
  }

  const abort = (attempt: number): void => {
    const run = running.get(attempt)
    // One that has answered is stale; one that was withdrawn in the commit that began it has said nothing.
    if (!run && attempt <= newest) return
    running.delete(attempt)
    run?.controller.abort()
    // Only an interrupt wants to know what had been said; it does not wait for the model to notice.
    if (!actor.state().interrupting) return
    actor.submit({ type: 'model-stopped', attempt, text: run?.text ?? '' }).catch(ignoreDeath)
  }

  const close = (): void => {
    const open = [...running.values()]
    running.clear()
    for (const { controller } of open) controller.abort()
  }
  return { call: callModel, summarise, abort, count: () => running.size, close }
}

/** A session that died takes no answers; its successor starts the attempt again. */
function ignoreDeath(): void {}

/** Text goes to the readers at once; the log follows now and then, and nobody waits for it. */
function stream(init: ModelRunnerInit, attempt: number, run: Running, event: ModelEvent): void {
  if (event.type === 'reasoning-delta') init.publish({ type: 'reasoning-delta', attempt, text: event.text })
  if (event.type !== 'text-delta' || event.text === '') return
  init.publish({ type: 'text-delta', attempt, offset: run.text.length, text: event.text })
  run.text += event.text
  const nowMs = init.environment.clock.nowMs()
  if (nowMs - run.loggedMs < PROGRESS_MS && run.text.length - run.logged < PROGRESS_CHARS) return
  const progress: Input = { type: 'attempt-progress', attempt, offset: run.logged, text: run.text.slice(run.logged) }
  run.logged = run.text.length
  run.loggedMs = nowMs
  init.actor.submit(progress).catch(ignoreDeath)
}

function summaryModel(state: State): string {
  return state.turn?.models[state.turn.candidate] ?? ''
}

/** The price is that of the model that was asked, whatever it calls itself. */
function priced({ actor, priceOf }: ModelRunnerInit, attempt: number, usage: Usage): Usage {
  const asked = actor.state().attempt
  const costMicros = asked?.attempt === attempt ? priceOf?.(asked.model, usage) : undefined
  return costMicros === undefined ? usage : { ...usage, costMicros }
}

/** Arguments are validated, and approvals asked for, before the machine sees the answer: both may take time. */
async function finished(init: ModelRunnerInit, attempt: number, said: ModelAnswer): Promise<Input> {
  const calls = said.parts.filter((part) => part.type === 'call')
  const checks = await Promise.all(calls.map((call) => init.check(call.name, call.arguments)))
  const { parts, finish, model } = said
  const usage = countsOf(priced(init, attempt, said.usage))
  const textBefore = init.actor.history().turnTexts().join('\n\n')
  const output = calls.length === 0 && finish !== 'pause' ? await init.output?.check(textIn(parts)) : undefined
  return { type: 'model-finished', attempt, model, parts, checks, finish, usage, textBefore, ...(output && { output }) }
}

function textIn(parts: readonly ModelPart[]): string {
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
function countsOf(usage: Usage): Usage {
  const kept = COUNTS.map((name) => [name, usage[name]] as const).filter(([, count]) => isCount(count))
  return Object.fromEntries(kept)
}

/** Above what a number holds exactly, sums would be wrong, and in the end infinite. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER
}

/** UTF-16 units of a failure's message: it stands in the log. */
const MESSAGE_CHARS = 4096

/** What a throw of a model means to the machine. */
export function failureOf(cause: unknown): Failure {
  const message = messageOf(cause).slice(0, MESSAGE_CHARS) || 'the model did not say why it failed'
  if (!isBatonError(cause)) return { code: 'model_provider_failed', message, retryable: false }
  const { code, retryable } = cause
  const retryAfterMs = (cause.data as { readonly retryAfterMs?: unknown } | undefined)?.retryAfterMs
  return { code, message, retryable, ...(isCount(retryAfterMs) && { retryAfterMs }) }
}
