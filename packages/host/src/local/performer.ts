// Performs the effects of one session in this process: it keeps its timers, and the model calls and tools that run. Work
// answers with an input of its own, and never rejects.
import type { Accepted, Environment, LiveFrame, Refused } from '@baton/core'
import type { Effect, History, Input, State } from '@baton/core/machine'
import type { AbortedCalls, ModelIo, ModelJob, SessionEngine, SessionFeed } from '@baton/runtime'
import {
  createModelJob,
  createToolIo,
  createToolJob,
  GrowingText,
  performModel,
  performTool,
  ToolQuestions,
} from '@baton/runtime'

export interface PerformerInit {
  /** Its clock is the session's time. */
  readonly environment: Pick<Environment, 'clock' | 'timers'>
  /** Its agent may change. */
  readonly session: Pick<SessionEngine, 'session' | 'world'>
  /** Shared by all performers of the session. */
  readonly aborted: AbortedCalls
  readonly history: History
  readonly feed: Pick<SessionFeed, 'publishLive'>
  /** Rejects when the session died: its successor begins from the log. */
  readonly submit: (inputs: readonly Input[]) => Promise<readonly (Accepted | Refused)[]>
  /** Work never rejects; where that rule is broken, the session begins anew from its log. */
  readonly fail: (cause: unknown) => void
}

type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>

/** Progress is logged after so much time or text, without anybody waiting for it. */
const PROGRESS_MS = 500
const PROGRESS_CHARS = 2048

export class Performer {
  readonly #init: PerformerInit
  readonly #timers = new Map<string, () => void>()
  /** Hardly ever more than one. */
  #models: readonly RunningModel[] = []
  readonly #tools = new Map<string, AbortController>()
  readonly questions: ToolQuestions
  #newestAttempt = 0
  #isClosed = false

  constructor(init: PerformerInit) {
    this.#init = init
    this.questions = new ToolQuestions({ history: () => init.history, submit: init.submit })
  }

  /** Model calls and tools that run. */
  countRunning(): number {
    return this.#models.length + this.#tools.size
  }

  /** Sets and clears timers, aborts work and starts it. `state` is that of the commit. */
  perform(effect: Effect, state: State): void {
    switch (effect.type) {
      case 'call-model':
      case 'summarise':
        this.#askModel(effect, state)
        break
      case 'run-tool':
        this.#runTool(effect, state)
        break
      case 'abort-model':
      case 'abort-summary':
        this.#abortModel(effect.attempt, state)
        break
      case 'abort-tool':
        this.#abortTool(`${effect.callId}:${effect.attempt}`)
        break
      case 'set-timer':
        this.#setTimer(effect)
        break
      case 'clear-timer':
        this.#clearTimer(`${effect.timer}:${effect.generation}`)
        break
      // Their facts are frames already: a reader of the session sees the offer or the question.
      case 'offer-call':
      case 'withdraw-offer':
      case 'ask-approval':
      case 'withdraw-approval':
      case 'ask-question':
      case 'withdraw-question':
        break
      default:
        effect satisfies never
    }
  }

  /** Aborts all, without an answer. */
  close(): void {
    this.#isClosed = true
    this.questions.close()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    const running = this.#models
    this.#models = []
    for (const run of running) this.#abort(run)
    for (const key of this.#tools.keys()) this.#abortTool(key)
  }

  #askModel(effect: EffectOf<'call-model' | 'summarise'>, state: State): void {
    const { attempt } = effect
    const { session, history, submit, aborted } = this.#init
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
    const run: RunningModel = {
      attempt,
      settled,
      controller: new AbortController(),
      text: new GrowingText(),
      loggedChars: 0,
      stopTimer: undefined,
    }
    this.#models = [...this.#models, run]
    this.#newestAttempt = attempt
    const { controller } = run
    const live = this.#stream.bind(this, run)
    const io = {
      history,
      signal: controller.signal,
      abort: () => controller.abort(),
      outlive: (running: Promise<void>) => aborted.note(session.session, running),
      live,
    }
    const job = createModelJob(state, effect)
    const before = aborted.count > 0 ? aborted.settled(session.session) : undefined
    const asking = before ? this.#askAfter(before, job, io) : performModel(session.world, job, io)
    // An aborted attempt has answered already; what it brings now would be stale.
    this.#takeReport(asking, (report) => {
      settle()
      run.stopTimer?.()
      const isAwaited = this.#models.includes(run)
      this.#models = this.#models.filter((one) => one !== run)
      if (isAwaited && report) submit([report]).catch(ignoreDeath)
    })
  }

  /** Asks once earlier calls have settled. The wait counts towards `firstWordMs`. Undefined if the call was aborted meanwhile. */
  async #askAfter(before: Promise<void>, job: ModelJob, io: ModelIo): Promise<Input | undefined> {
    const { session, environment } = this.#init
    const { effect } = job
    const limitMs = effect.type === 'call-model' ? effect.firstWordMs : undefined
    const beganMs = limitMs === undefined ? 0 : environment.clock.nowMs()
    await before
    if (io.signal.aborted) return undefined
    if (limitMs === undefined || effect.type !== 'call-model') return await performModel(session.world, job, io)
    const firstWordMs = Math.max(0, limitMs - (environment.clock.nowMs() - beganMs))
    return await performModel(session.world, { ...job, effect: { ...effect, firstWordMs } }, io)
  }

  #runTool(effect: EffectOf<'run-tool'>, state: State): void {
    const { session, history, submit, feed } = this.#init
    const job = createToolJob(state, history, effect)
    if (!job) return
    const key = `${effect.callId}:${effect.attempt}`
    const cancellation = new AbortController()
    this.#tools.set(key, cancellation)
    const io = createToolIo(job, {
      history,
      cancellation,
      questions: this.questions,
      live: (frame) => {
        if (this.#tools.has(key)) feed.publishLive(frame)
      },
      isClosed: () => this.#isClosed,
      report: (report) => this.#report(report),
    })
    // Late or not: the machine knows, and logs it.
    this.#takeReport(performTool(session.world, job, io), (report) => {
      this.#tools.delete(key)
      if (report) submit([report]).catch(ignoreDeath)
    })
  }

  #takeReport(work: Promise<Input | undefined>, take: (report: Input | undefined) => void): void {
    work.then(take).catch(this.#init.fail)
  }

  /** Text goes to the readers at once; the log follows now and then, and nobody waits for it. */
  #stream(run: RunningModel, frame: LiveFrame): void {
    if (!this.#models.includes(run)) return
    this.#init.feed.publishLive(frame)
    if (frame.type !== 'text-delta') return
    run.text.add(frame.text)
    if (run.text.length - run.loggedChars >= PROGRESS_CHARS) this.#logProgress(run)
    run.stopTimer ??= this.#init.environment.timers.start(PROGRESS_MS, () => {
      run.stopTimer = undefined
      this.#logProgress(run)
    })
  }

  #logProgress(run: RunningModel): void {
    const { attempt, text, loggedChars: offset } = run
    if (text.length === offset) return
    run.loggedChars = text.length
    this.#report({ type: 'attempt-progress', attempt, offset, text: text.read(offset) })
  }

  #abortModel(attempt: number, state: State): void {
    const run = this.#models.find((one) => one.attempt === attempt)
    // One that has answered is stale; one that was withdrawn in the commit that began it has said nothing.
    if (!run && attempt <= this.#newestAttempt) return
    this.#models = this.#models.filter((one) => one !== run)
    if (run) this.#abort(run)
    // Only an interrupt wants to know what had been said; it does not wait for the model to notice.
    if (!state.interrupting) return
    this.#report({ type: 'model-stopped', attempt, text: run?.text.read() ?? '' })
  }

  #abort({ controller, stopTimer, settled }: RunningModel): void {
    const { aborted, session } = this.#init
    stopTimer?.()
    controller.abort()
    aborted.note(session.session, settled)
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
      // A system timer takes no more than 24 days: then it is set again.
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

interface RunningModel {
  readonly attempt: number
  readonly controller: AbortController
  /** Never rejects. */
  readonly settled: Promise<void>
  readonly text: GrowingText
  /** How much of the text was logged. */
  loggedChars: number
  /** While there may be text that was not logged. */
  stopTimer: (() => void) | undefined
}
