// Performs model calls: materialises the request, streams its text to the readers, and answers with one input.
import type { Environment, Frame, Model, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { CallCheck, Effect, Failure, History, Input, State } from '@baton/core/machine'

type CallModel = Extract<Effect, { readonly type: 'call-model' }>
type Summarise = Extract<Effect, { readonly type: 'summarise' }>

export interface ModelRunnerInit {
  readonly environment: Environment
  /** @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf: (id: string) => Model
  readonly request: (effect: CallModel | Summarise) => ModelRequest
  readonly check: (name: string, argumentsText: string) => Promise<CallCheck>
  readonly submit: (input: Input) => Promise<unknown>
  readonly publish: (frame: Frame) => void
  readonly state: () => State
  readonly history: () => History
}

export interface ModelRunner {
  call(effect: CallModel): void
  summarise(effect: Summarise): void
  abort(attempt: number): void
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
  const running = new Map<number, Running>()

  const answer = (input: Input): void => {
    // A session that died takes no answers; its successor starts the attempt again.
    init.submit(input).catch(() => {})
  }

  const sinkFor = (attempt: number, run: Running) => (event: ModelEvent) => {
    if (!running.has(attempt)) return
    if (event.type === 'reasoning-delta') init.publish({ type: 'reasoning-delta', attempt, text: event.text })
    if (event.type !== 'text-delta' || event.text === '') return
    init.publish({ type: 'text-delta', attempt, offset: run.text.length, text: event.text })
    run.text += event.text
    logProgress(attempt, run)
  }

  const logProgress = (attempt: number, run: Running): void => {
    const nowMs = init.environment.clock.nowMs()
    if (nowMs - run.loggedMs < PROGRESS_MS && run.text.length - run.logged < PROGRESS_CHARS) return
    const [offset, text] = [run.logged, run.text.slice(run.logged)]
    run.logged = run.text.length
    run.loggedMs = nowMs
    answer({ type: 'attempt-progress', attempt, offset, text })
  }

  const begin = (attempt: number): Running => {
    const run = { controller: new AbortController(), text: '', logged: 0, loggedMs: init.environment.clock.nowMs() }
    running.set(attempt, run)
    return run
  }

  const run = async (effect: CallModel): Promise<void> => {
    const { attempt, model } = effect
    const current = begin(attempt)
    let input: Input
    try {
      const chosen = init.modelOf(model)
      const said = await chosen.run(init.request(effect), sinkFor(attempt, current), current.controller.signal)
      input = await finished(init, attempt, said)
    } catch (cause) {
      input = { type: 'model-failed', attempt, error: failureOf(cause) }
    }
    // An aborted attempt has answered already; what it brings now would be stale.
    if (running.delete(attempt)) answer(input)
  }

  const runSummary = async (effect: Summarise): Promise<void> => {
    const { attempt } = effect
    const current = begin(attempt)
    let input: Input
    try {
      const model = init.modelOf(summaryModel(init.state()))
      const said = await model.run(init.request(effect), () => {}, current.controller.signal)
      const text = said.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
      input = { type: 'summary-finished', attempt, text, usage: said.usage }
    } catch (cause) {
      input = { type: 'summary-failed', attempt, error: failureOf(cause) }
    }
    if (running.delete(attempt)) answer(input)
  }

  const abort = (attempt: number): void => {
    const current = running.get(attempt)
    if (!current) return
    running.delete(attempt)
    current.controller.abort()
    // Only an interrupt wants to know what had been said; it does not wait for the model to notice.
    if (init.state().interrupting) answer({ type: 'model-stopped', attempt, text: current.text })
  }

  return {
    call: (effect) => void run(effect),
    summarise: (effect) => void runSummary(effect),
    abort,
    close: () => {
      const open = [...running.values()]
      running.clear()
      for (const { controller } of open) controller.abort()
    },
  }
}

function summaryModel(state: State): string {
  return state.turn?.models[state.turn.candidate] ?? ''
}

/** Arguments are validated, and approvals asked for, before the machine sees the answer: both may take time. */
async function finished(init: ModelRunnerInit, attempt: number, said: ModelAnswer): Promise<Input> {
  const calls = said.parts.filter((part) => part.type === 'call')
  const checks = await Promise.all(calls.map((call) => init.check(call.name, call.arguments)))
  const { parts, finish, usage, model } = said
  const textBefore = init.history().turnTexts().join('\n\n')
  return { type: 'model-finished', attempt, model, parts, checks, finish, usage, textBefore }
}

/** What a throw of a model means to the machine. */
export function failureOf(cause: unknown): Failure {
  if (!isBatonError(cause)) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return { code: 'model_provider_failed', message, retryable: false }
  }
  const { code, message, retryable, data } = cause
  const retryAfterMs = data['retryAfterMs']
  return { code, message, retryable, ...(typeof retryAfterMs === 'number' && { retryAfterMs }) }
}
