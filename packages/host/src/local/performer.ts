// Performs the effects of one session in this process: owns its timers, model calls and running tools. Work answers
// with an input and never rejects.
import type { Accepted, Clock, LiveFrame, Refused, Timers } from '@baton/core/internal'
import { GrowingText } from '@baton/core/internal'
import type { Effect, History, Input, SessionRecord, State } from '@baton/core/machine'
import { findNewCall } from '@baton/core/machine'
import type { AbortedCalls, ModelIo, ModelJob, SessionEngine, SessionStream } from '@baton/runtime'
import { createModelJob, createToolIo, createToolJob, performModel, performTool, ToolQuestions } from '@baton/runtime'

export interface PerformerOptions {
  readonly timers: Timers
  /** The session's agent may change. */
  readonly session: Pick<SessionEngine, 'session' | 'world'> & Pick<SessionStream, 'publishLive'>
  /** Shared by all performers of the session. */
  readonly aborted: AbortedCalls
  /** The sessions of delegated calls. */
  readonly children: { start(callId: string): void; leave(callId: string): void }
  readonly actor: {
    /** The session's time. */
    readonly clock: Clock
    readonly history: History
    /** Rejects when the session has died; its successor starts from the log. */
    submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]>
    /** Called when work rejects, which must never happen; the session then restarts from its log. */
    fail(cause: unknown): void
  }
}

/** A run that begins while the records that begin it are being stored. */
export interface EarlyStart {
  records: readonly SessionRecord[]
  /** Resolves when they are published and their effects performed. Stays pending if the session dies first. */
  readonly stored: Promise<void>
  /** Whether nothing more may join them, so that readers see them before anything that follows. */
  isUrgent: boolean
}

type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>

/** Progress is logged after this much time or text, in the background. */
const PROGRESS_MS = 500
const PROGRESS_CHARS = 2048
/** Notes of a tool that wait while its call is being stored. Only the newest are kept: a later note replaces what earlier ones show. */
const NOTES_MAX = 1000

export class Performer {
  readonly #init: PerformerOptions
  readonly #timers = new Map<string, () => void>()
  /** Rarely more than one. */
  #models: readonly RunningModel[] = []
  readonly #tools = new Map<string, AbortController>()
  /** Created with the first question. */
  questions: ToolQuestions | undefined
  #newestAttempt = 0
  #isClosed = false

  constructor(init: PerformerOptions) {
    this.#init = init
  }

  /** Number of running model calls and tools. */
  countRunning(): number {
    return this.#models.length + this.#tools.size
  }

  /** Sets and clears timers, and starts and aborts work. `state` is that of the commit; with `early`, it is still being stored. */
  perform(effect: Effect, state: State, early?: EarlyStart): void {
    switch (effect.type) {
      case 'call-model':
      case 'summarise':
        this.#askModel(effect, state)
        break
      case 'run-tool':
        this.#runTool(effect, state, early)
        break
      case 'abort-model':
      case 'abort-summary':
        this.#abortModel(effect.attempt, state)
        break
      case 'abort-tool':
        this.#abortTool(`${effect.callId}:${effect.attempt}`)
        break
      case 'run-child':
        this.#init.children.start(effect.callId)
        break
      case 'leave-child':
        this.#init.children.leave(effect.callId)
        break
      case 'set-timer':
        this.#setTimer(effect)
        break
      case 'clear-timer':
        this.#clearTimer(`${effect.timer}:${effect.generation}`)
        break
      // Nothing to do: their facts already reach readers as frames.
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

  /** Aborts everything, without reports. */
  close(): void {
    this.#isClosed = true
    this.questions?.close()
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
    const running = this.#models
    this.#models = []
    for (const run of running) this.#abort(run)
    for (const key of this.#tools.keys()) this.#abortTool(key)
  }

  #askModel(effect: EffectOf<'call-model' | 'summarise'>, state: State): void {
    const { attempt } = effect
    const { session, actor, aborted } = this.#init
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
    const io = {
      history: actor.history,
      signal: controller.signal,
      abort: () => controller.abort(),
      outlive: (running: Promise<void>) => aborted.note(session.session, running),
      live: this.#stream.bind(this, run),
    }
    const job = createModelJob(state, effect)
    const before = aborted.count > 0 ? aborted.settled(session.session) : undefined
    const asking = before ? this.#askAfter(before, job, io) : performModel(session.world, job, io)
    // An aborted attempt has already answered, so its late report would be stale.
    const take = (report: Input | undefined): void => {
      settle()
      run.stopTimer?.()
      const isAwaited = this.#models.includes(run)
      this.#models = this.#models.filter((one) => one !== run)
      if (isAwaited && report) this.#report(report)
    }
    asking.then(take).catch(actor.fail)
  }

  /**
   * Calls the model once earlier calls have settled. The wait counts towards `firstWordMs`. `undefined` if the call was
   * aborted meanwhile.
   */
  async #askAfter(before: Promise<void>, job: ModelJob, io: ModelIo): Promise<Input | undefined> {
    const { session, actor } = this.#init
    const { effect } = job
    const limitMs = effect.type === 'call-model' ? effect.firstWordMs : undefined
    const beganMs = limitMs === undefined ? 0 : actor.clock.nowMs()
    await before
    if (io.signal.aborted) return undefined
    if (limitMs === undefined || effect.type !== 'call-model') return await performModel(session.world, job, io)
    const firstWordMs = Math.max(0, limitMs - (actor.clock.nowMs() - beganMs))
    return await performModel(session.world, { ...job, effect: { ...effect, firstWordMs } }, io)
  }

  #runTool(effect: EffectOf<'run-tool'>, state: State, early: EarlyStart | undefined): void {
    const { session, actor } = this.#init
    const { history } = actor
    const call = early ? findNewCall(early.records, effect.callId) : history.openCall(effect.callId)
    if (!call) return
    const job = createToolJob(state, call, effect)
    const key = `${effect.callId}:${effect.attempt}`
    const cancellation = new AbortController()
    this.#tools.set(key, cancellation)
    const notes: LiveFrame[] = [] // published when the call is stored
    const io = createToolIo(job, {
      history,
      cancellation,
      questions: { ask: (...given) => this.#openQuestions().ask(...given) },
      live: (frame) => {
        if (!this.#tools.has(key)) return
        if (!early) return session.publishLive(frame)
        early.isUrgent = true
        if (notes.push(frame) > NOTES_MAX) notes.shift()
        if (notes.length > 1) return
        early.stored.then(() => this.#tellNotes(notes.splice(0), cancellation.signal)).catch(actor.fail)
      },
      isClosed: () => this.#isClosed,
      report: (report) => this.#report(report),
    })
    // Reported even when late: the machine decides, and logs it.
    const take = (report: Input | undefined): void => {
      this.#tools.delete(key)
      if (report) this.#report(report)
    }
    performTool(session.world, job, io).then(take).catch(actor.fail)
  }

  #openQuestions(): ToolQuestions {
    const { actor } = this.#init
    return (this.questions ??= new ToolQuestions({
      history: () => actor.history,
      submit: (inputs) => actor.submit(inputs),
    }))
  }

  /** Drops the notes of an aborted run. */
  #tellNotes(notes: readonly LiveFrame[], { aborted }: AbortSignal): void {
    if (!aborted) for (const note of notes) this.#init.session.publishLive(note)
  }

  /** Sends text to readers at once. Progress is logged in the background now and then. */
  #stream(run: RunningModel, frame: LiveFrame): void {
    if (!this.#models.includes(run)) return
    this.#init.session.publishLive(frame)
    if (frame.type !== 'text-delta') return
    run.text.add(frame.text)
    if (run.text.length - run.loggedChars >= PROGRESS_CHARS) this.#logProgress(run)
    run.stopTimer ??= this.#init.timers.start(PROGRESS_MS, () => {
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
    // Without a run, the attempt has either answered (its stop is stale) or was withdrawn in the commit that began it
    // (it has no text).
    if (!run && attempt <= this.#newestAttempt) return
    this.#models = this.#models.filter((one) => one !== run)
    if (run) this.#abort(run)
    // Only an interrupt needs the text so far; it does not wait for the model to stop.
    if (!state.interrupting) return
    this.#report({ type: 'model-stopped', attempt, text: run?.text.read() ?? '' })
  }

  #abort({ controller, stopTimer, settled }: RunningModel): void {
    const { aborted, session } = this.#init
    stopTimer?.()
    controller.abort()
    aborted.note(session.session, settled)
  }

  /** Forgets the tool at once, because a tool that ignores its signal may never end. */
  #abortTool(key: string): void {
    const cancellation = this.#tools.get(key)
    this.#tools.delete(key)
    cancellation?.abort()
  }

  #setTimer(effect: EffectOf<'set-timer'>): void {
    const { timer, generation, atMs } = effect
    const { timers, actor } = this.#init
    const { clock } = actor
    const key = `${timer}:${generation}`
    const cancel = timers.start(Math.max(0, atMs - clock.nowMs()), () => {
      this.#timers.delete(key)
      // A system timer lasts 24 days at most, so a longer wait sets it again.
      if (clock.nowMs() < atMs) this.#setTimer(effect)
      else this.#report({ type: 'timer-fired', timer, generation })
    })
    this.#timers.set(key, cancel)
  }

  #clearTimer(key: string): void {
    this.#timers.get(key)?.()
    this.#timers.delete(key)
  }

  /** A dead session accepts no reports; its successor starts its work again. */
  #report(report: Input): void {
    this.#init.actor.submit([report]).catch(() => {})
  }
}

interface RunningModel {
  readonly attempt: number
  readonly controller: AbortController
  /** Never rejects. */
  readonly settled: Promise<void>
  readonly text: GrowingText
  /** Length of the text that was logged. */
  loggedChars: number
  /** Set while some text may not have been logged. */
  stopTimer: (() => void) | undefined
}
