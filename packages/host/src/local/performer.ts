// Performs the effects of one session in this process: it keeps its timers, and the model calls and tools that run. Work
// answers with an input of its own, and never rejects.
import type { Accepted, Environment, LiveFrame, Refused } from '@baton/core'
import type { Effect, Input } from '@baton/core/machine'
import type {
  ModelIo,
  ModelJob,
  SessionFeed,
  SessionReplica,
  SessionWorld,
  ToolIo,
  ToolJob,
  Work,
} from '@baton/runtime'
import { Cancellation, createModelJob, createToolIo, createToolJob, ToolQuestions } from '@baton/runtime'

export interface PerformerInit {
  readonly environment: Pick<Environment, 'clock' | 'timers'>
  readonly world: () => SessionWorld
  readonly feed: SessionFeed
  readonly actor: SessionReplica
  /** Rejects when the session died: its successor begins from the log. */
  readonly submit: (inputs: readonly Input[]) => Promise<readonly (Accepted | Refused)[]>
}

/** Work to be started by the actor itself, so that a stack shows no detour. */
export type Task =
  | { readonly type: 'model'; readonly work: Work; readonly job: ModelJob; readonly io: ModelIo; readonly take: Take }
  | { readonly type: 'tool'; readonly work: Work; readonly job: ToolJob; readonly io: ToolIo; readonly take: Take }

type Take = (report: Input | undefined) => void
type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>

/** Progress is logged after so much time or text, without anybody waiting for it. */
const PROGRESS_MS = 500
const PROGRESS_CHARS = 2048

export class Performer {
  readonly #init: PerformerInit
  readonly #timers = new Map<string, () => void>()
  readonly #models = new Map<number, RunningModel>()
  readonly #tools = new Map<string, Cancellation>()
  readonly #questions: ToolQuestions
  #newestAttempt = 0
  #isClosed = false

  constructor(init: PerformerInit) {
    this.#init = init
    this.#questions = new ToolQuestions({ history: () => init.actor.history(), submit: init.submit })
  }

  /** Called after each commit. */
  notice(): void {
    this.#questions.notice()
  }

  /** Model calls and tools that run. */
  countRunning(): number {
    return this.#models.size + this.#tools.size
  }

  /** Sets and clears timers and aborts work at once; gives the work that is to be started. */
  prepare(effect: Effect): Task | undefined {
    switch (effect.type) {
      case 'call-model':
      case 'summarise':
        return this.#prepareModel(effect)
      case 'run-tool':
        return this.#prepareTool(effect)
      case 'abort-model':
      case 'abort-summary':
        this.#abortModel(effect.attempt)
        return undefined
      case 'abort-tool':
        this.#abortTool(`${effect.callId}:${effect.attempt}`)
        return undefined
      case 'set-timer':
        this.#setTimer(effect)
        return undefined
      case 'clear-timer':
        this.#clearTimer(`${effect.timer}:${effect.generation}`)
        return undefined
      // Their facts are frames already: a reader of the session sees the offer or the question.
      case 'offer-call':
      case 'withdraw-offer':
      case 'ask-approval':
      case 'withdraw-approval':
      case 'ask-question':
      case 'withdraw-question':
        return undefined
      default:
        return effect satisfies never
    }
  }

  /** Aborts all, without an answer. */
  close(): void {
    this.#isClosed = true
    this.#questions.close()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    const running = [...this.#models.values()].map(({ cancellation }) => cancellation)
    this.#models.clear()
    for (const cancellation of running) cancellation.abort()
    for (const key of this.#tools.keys()) this.#abortTool(key)
  }

  #prepareModel(effect: EffectOf<'call-model' | 'summarise'>): Task {
    const { attempt } = effect
    const { actor, environment } = this.#init
    const run = new RunningModel(attempt, environment.clock.nowMs())
    this.#models.set(attempt, run)
    this.#newestAttempt = attempt
    return {
      type: 'model',
      work: this.#init.world().work,
      job: createModelJob(actor.state(), effect),
      io: { history: actor.history(), signal: run.cancellation.signal, live: (frame) => this.#stream(run, frame) },
      // An aborted attempt has answered already; what it brings now would be stale.
      take: (report) => {
        if (this.#models.delete(attempt) && report) this.#init.submit([report]).catch(ignoreDeath)
      },
    }
  }

  #prepareTool(effect: EffectOf<'run-tool'>): Task | undefined {
    const job = createToolJob(this.#init.actor.state(), this.#init.actor.history(), effect)
    if (!job) return undefined
    const key = `${effect.callId}:${effect.attempt}`
    const cancellation = new Cancellation()
    this.#tools.set(key, cancellation)
    const live = (frame: LiveFrame): void => {
      if (this.#tools.has(key)) this.#init.feed.publishLive(frame)
    }
    return {
      type: 'tool',
      work: this.#init.world().work,
      job,
      io: createToolIo(effect, {
        cancellation,
        live,
        questions: this.#questions,
        isClosed: () => this.#isClosed,
        report: (report) => this.#report(report),
      }),
      // Late or not: the machine knows, and logs it.
      take: (report) => {
        this.#tools.delete(key)
        if (report) this.#init.submit([report]).catch(ignoreDeath)
      },
    }
  }

  /** Text goes to the readers at once; the log follows now and then, and nobody waits for it. */
  #stream(run: RunningModel, frame: LiveFrame): void {
    if (this.#models.get(run.attempt) !== run) return
    this.#init.feed.publishLive(frame)
    if (frame.type !== 'text-delta') return
    const progress = run.add(frame.text, this.#init.environment.clock.nowMs())
    if (progress) this.#report(progress)
  }

  #abortModel(attempt: number): void {
    const run = this.#models.get(attempt)
    // One that has answered is stale; one that was withdrawn in the commit that began it has said nothing.
    if (!run && attempt <= this.#newestAttempt) return
    this.#models.delete(attempt)
    run?.cancellation.abort()
    // Only an interrupt wants to know what had been said; it does not wait for the model to notice.
    if (!this.#init.actor.state().interrupting) return
    this.#report({ type: 'model-stopped', attempt, text: run?.text ?? '' })
  }

  /** A tool that ignores its signal may never end: it is forgotten here and now. */
  #abortTool(key: string): void {
    const cancellation = this.#tools.get(key)
    this.#tools.delete(key)
    cancellation?.abort()
  }

  #setTimer(effect: EffectOf<'set-timer'>): void {
    const { timer, generation, atMs } = effect
    const { clock, timers } = this.#init.environment
    const key = `${timer}:${generation}`
    const cancel = timers.start(Math.max(0, atMs - clock.nowMs()), () => {
      this.#timers.delete(key)
      // A system timer takes no more than 24 days and may fire early: then it is set again.
      if (clock.nowMs() < atMs) this.#setTimer(effect)
      else this.#report({ type: 'timer-fired', timer, generation })
    })
    this.#timers.set(key, cancel)
  }

  #clearTimer(key: string): void {
    this.#timers.get(key)?.()
    this.#timers.delete(key)
  }

  /** A session that died takes no reports; its successor begins its work anew. */
  #report(report: Input): void {
    this.#init.submit([report]).catch(ignoreDeath)
  }
}

function ignoreDeath(): void {}

class RunningModel {
  readonly attempt: number
  readonly cancellation = new Cancellation()
  text = ''
  #loggedChars = 0
  #loggedMs: number

  constructor(attempt: number, nowMs: number) {
    this.attempt = attempt
    this.#loggedMs = nowMs
  }

  /** The progress to be logged now, if any. */
  add(text: string, nowMs: number): Input | undefined {
    this.text += text
    const { attempt } = this
    const offset = this.#loggedChars
    if (nowMs - this.#loggedMs < PROGRESS_MS && this.text.length - offset < PROGRESS_CHARS) return undefined
    this.#loggedChars = this.text.length
    this.#loggedMs = nowMs
    return { type: 'attempt-progress', attempt, offset, text: this.text.slice(offset) }
  }
}
