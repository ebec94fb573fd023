// The actor of one session: processes inputs in order, commits what the machine decides, then performs the effects.
import type { Accepted, Clock, LeftBehind, Principal, Refused } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { DecidedBatch, Effect, History, Input, InputType, Spec, State } from '@baton/core/machine'
import {
  applyRecord,
  decideBatch,
  findCall,
  findNewCall,
  losesByRestart,
  openSession,
  outstanding,
  SeenInputs,
} from '@baton/core/machine'
import type { ChildPlace } from '@baton/runtime'
import { describeThrown, EntryWriter, startSessionClock } from '@baton/runtime'
import type { EarlyStart, Performer } from './performer.ts'
import type { LogAccess, LogListener } from './session-log.ts'
import { acquireLog, appendSurely, readLog, refillHistory, resumeLog } from './session-log.ts'
import type { OwnedLog } from './session-leases.ts'

export interface ActorOptions extends LogAccess {
  readonly newId: () => string
  /** Set when the session's previous actor in this process died; then the session must exist too. */
  readonly isReopened: boolean
  /** Whether a session without records is refused: it was removed since it was found. */
  readonly mustExist: boolean
  /** The owner, used if the session is new. */
  readonly principal: Principal
  /** For the session of a delegated call: its place in the tree, used if it is new. */
  readonly child?: ChildPlace | undefined
  /** Called once, after the log was read. @throws BatonError when the session has no agent */
  readonly specFor: (state: State) => Spec | Promise<Spec>
  /** Supplies the wall clock and the monotonic time for measuring waits. */
  readonly clock: Clock
  readonly listener: ActorListener
}

export interface ActorListener extends LogListener {
  /** Called after each commit. */
  onCommit(state: State, history: History): void
  /**
   * Called when the store failed or another owner took over: the actor is dead and its work must stop. A failure before
   * the actor started is thrown from `openActor` instead.
   */
  onDeath(cause: BatonError): void
}

export interface Actor {
  /** Inputs passed in one call are decided together. Rejects with the cause of the actor's death. */
  submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]>
  /**
   * Starts performing effects, beginning with everything outstanding. The performer is created for the first effect.
   * Called once.
   * @throws BatonError when the actor has died, or an effect cannot be performed; the actor is then dead
   */
  start(performer: () => Pick<Performer, 'perform'>): void
  /** Uses this spec for all later decisions. */
  setSpec(spec: Spec): void
  /** The session's time, used for all its deadlines. */
  readonly clock: Clock
  /** The state after the newest commit. */
  readonly state: State
  readonly history: History
  /** Whether inputs are waiting to be decided or stored. */
  isBusy(): boolean
  /** Refuses all further inputs. */
  kill(cause: BatonError): void
  /** Kills the actor after an unexpected failure: a report that must never reject did. */
  fail(cause: unknown): void
  /**
   * Lets other owners have the log while the actor is at rest; `resume` must succeed before the next input. Resolves to
   * whether it can. Never rejects.
   */
  rest(): Promise<boolean>
  /** Takes the log back, unless anything happened to it. @throws BatonError `store_failed` */
  resume(): Promise<boolean>
  /** Releases ownership of the log, after the actor was killed or has died. */
  release(left: LeftBehind): Promise<void>
}

interface Mail {
  readonly inputs: readonly Input[]
  readonly resolve: (answers: readonly (Accepted | Refused)[]) => void
  readonly reject: (cause: BatonError) => void
}

/**
 * Opens a session's log as its only owner, and recovers work that a dead process left unfinished.
 * @throws BatonError `session_held`, `store_failed`, `store_conflict`, `log_damaged`, `log_version_unknown`,
 * `unknown_session`
 */
export async function openActor(init: ActorOptions): Promise<Actor> {
  const owned = await acquireLog(init)
  try {
    return await recoverActor(init, owned)
  } catch (cause) {
    if (!init.under) await init.leases.release(init.session, owned.epoch, 'work')
    throw cause
  }
}

async function recoverActor(init: ActorOptions, owned: OwnedLog): Promise<Actor> {
  const { session } = init
  const { epoch } = owned
  const log = await readLog(init, owned)
  const clock = startSessionClock(init.clock, log.lastMs)
  let state: State = { ...log.state, epoch }
  const isNew = state.pos < 0
  if (isNew && (init.mustExist || init.isReopened)) throw createGoneError(session, init.isReopened)
  const spec = await init.specFor(state)
  if (isNew) {
    const opening = openSession({
      session,
      birth: makeLogId(init.newId()),
      principal: init.principal.id,
      spec,
      nowMs: clock.nowMs(),
      epoch,
      ...(init.child && { child: init.child }),
    })
    const opened = applyRecord(state, opening)
    const records = init.child
      ? [opening]
      : new EntryWriter().addTo({ records: [opening], state: opened }, state, log.history)
    await appendSurely(init, { session, owned, afterPos: state.pos, records })
    state = opened
    log.history.fold(opening)
    init.listener.onRecord(opening, true)
  }
  const actor = new SessionActor(init, { owned, spec, state, history: log.history, clock })
  // A child ends with its root's lease: its parent closes it.
  if (!init.under) init.leases.whenLost(session, epoch, (cause) => actor.kill(cause))
  const downMs = Math.max(0, clock.nowMs() - log.lastMs)
  // A session that was only at rest has lost nothing. If its actor died, this record proves that the store accepts
  // writes again.
  const restarts = init.isReopened || losesByRestart(state) ? [{ type: 'host-restarted', downMs } as const] : []
  if (!isNew) await actor.submit([{ type: 'agent-changed' }, ...restarts])
  return actor
}

function createGoneError(session: string, isReopened: boolean): BatonError {
  return new BatonError({
    code: 'unknown_session',
    message: `session ${session} has no records: it was removed${isReopened ? '' : ', or never created'}`,
    hint: `Open it ${isReopened ? 'again' : 'without `existing`'} to begin a new session.`,
  })
}

/** Short, because it is part of every call id. Letters and digits only, as providers require. */
function makeLogId(id: string): string {
  return id.replace(/[^a-zA-Z0-9]/g, '').slice(0, 8)
}

interface Opened {
  readonly owned: OwnedLog
  readonly spec: Spec
  readonly state: State
  readonly history: History
  readonly clock: Clock
}

class SessionActor implements Actor {
  readonly history: History
  readonly clock: Clock
  state: State
  readonly #init: ActorOptions
  readonly #owned: OwnedLog
  readonly #seen = new SeenInputs()
  #spec: Spec
  /** Inputs waiting to be decided. */
  #mail: Mail[] = []
  #mailCount = 0
  #busy = false
  #dead: BatonError | undefined
  /** Undefined until recovery has finished, and after the actor's death. */
  #makePerformer: (() => Pick<Performer, 'perform'>) | undefined
  #performer: Pick<Performer, 'perform'> | undefined
  /** The turn that ran when the session was opened, or 0. */
  readonly #interruptedTurn: number
  readonly #entries = new EntryWriter()

  constructor(init: ActorOptions, { owned, spec, state, history, clock }: Opened) {
    this.#init = init
    this.#owned = owned
    this.#spec = spec
    this.state = state
    this.history = history
    this.clock = clock
    this.#interruptedTurn = state.turn?.turn ?? 0
  }

  setSpec(spec: Spec): void {
    this.#spec = spec
  }

  isBusy(): boolean {
    return this.#busy
  }

  kill(cause: BatonError): void {
    this.#die(cause, [])
  }

  async release(left: LeftBehind): Promise<void> {
    const { leases, session, under } = this.#init
    if (under) return // it has no lease
    await leases.release(session, this.#owned.epoch, left)
  }

  rest(): Promise<boolean> {
    const { leases, session } = this.#init
    this.#performer = undefined // the next effect gets a new one
    return leases.rest(session, this.#owned.epoch)
  }

  resume(): Promise<boolean> {
    return resumeLog(this.#init, this.#owned, this.state.pos)
  }

  start(performer: () => Pick<Performer, 'perform'>): void {
    if (this.#dead) throw this.#dead // its lease was lost while it was opened: `onDeath` was not called
    this.#makePerformer = performer
    try {
      this.#perform(outstanding(this.state), this.state)
    } catch (cause) {
      // If it stayed alive, it would keep writing alongside its successor. The caller gets the throw instead of
      // `onDeath`.
      this.#makePerformer = undefined
      const failure = isBatonError(cause) ? cause : describeInternal(cause)
      this.#die(failure, [])
      throw failure
    }
  }

  submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]> {
    if (this.#dead) return Promise.reject(this.#dead)
    if (this.#mailCount >= MAILBOX_MAX && !inputs.every((input) => IS_AWAITED.has(input.type)))
      return Promise.resolve(inputs.map(() => FULL))
    const { promise, resolve, reject } = Promise.withResolvers<readonly (Accepted | Refused)[]>()
    this.#mail.push({ inputs, resolve, reject })
    this.#mailCount += inputs.length
    if (!this.#busy) {
      this.#busy = true
      this.commit().catch(this.fail)
    }
    return promise
  }

  /** Decides all waiting inputs in sequence and commits them in one append (group commit). Called only by `submit`. */
  async commit(): Promise<void> {
    await Promise.resolve() // inputs submitted in the same tick, such as results of parallel tools, share one commit
    // If the actor dies, everything waiting is rejected.
    while (this.#mail.length > 0) {
      const mail: Mail[] = []
      const { promise, resolve } = Promise.withResolvers<void>()
      const early: EarlyStart = { records: [], stored: promise, isUrgent: false }
      try {
        const batch = await this.#decideMail(mail, early)
        const { session, under } = this.#init
        const { records } = batch
        const listed = under ? records : this.#entries.addTo(batch, this.state, this.history)
        const append = { session, owned: this.#owned, afterPos: this.state.pos, records: listed }
        if (records.length > 0 && !this.#dead) await appendSurely(this.#init, append)
        // Killed meanwhile: the next owner reads from the log whether the records were stored.
        if (this.#dead) return this.#die(this.#dead, mail)
        if (this.#acknowledge(batch, mail)) await refillHistory(this.#init, this)
        this.#perform(batch.effects, batch.state)
        resolve()
      } catch (cause) {
        return this.#die(isBatonError(cause) ? cause : describeInternal(cause), mail)
      }
    }
    this.#busy = false
  }

  /**
   * Decides the waiting inputs, and adds them to `mail`. Pure tools that they start run at once, and their results join
   * the batch if they come without waiting for anything outside the process.
   */
  async #decideMail(mail: Mail[], early: EarlyStart): Promise<DecidedBatch> {
    let begun: DecidedBatch | undefined
    do {
      const waiting = this.#mail
      this.#mail = []
      this.#mailCount = 0
      mail.push(...waiting)
      const times = { nowMs: this.clock.nowMs(), wallMs: this.#init.clock.nowMs() }
      const [first, ...others] = waiting
      const inputs = first && others.length === 0 ? first.inputs : waiting.flatMap((one) => one.inputs)
      const start = { spec: this.#spec, state: this.state, ...times, seen: this.#seen, begun }
      const batch: DecidedBatch = decideBatch(start, inputs)
      const runs = this.#findEarlyRuns(batch)
      if (runs.length === 0) return batch
      early.records = batch.records
      this.#perform(runs, batch.state, early)
      begun = { ...batch, effects: batch.effects.filter(({ type }) => type !== 'run-tool') }
      for (let left = EARLY_HOPS; left > 0 && this.#mailCount < runs.length; left -= 1) await Promise.resolve()
    } while (this.#mail.length > 0 && !early.isUrgent)
    return begun
  }

  /**
   * Runs of pure tools that may begin while the answer that calls them is being stored: a crash loses both, and the model
   * is asked again. A turn that a restart interrupted keeps the order, so that a tool that kills its process is counted.
   */
  #findEarlyRuns({ effects, records, state }: DecidedBatch): readonly Effect[] {
    const runs: Effect[] = []
    if (!this.#makePerformer || !state.turn || state.turn.turn <= this.#interruptedTurn) return runs
    for (const effect of effects) {
      if (effect.type === 'set-timer' || effect.type === 'clear-timer') continue
      const call = effect.type === 'run-tool' ? findCall(state, effect.callId) : undefined
      if (call?.effect !== 'pure' || !findNewCall(records, call.callId)) return []
      runs.push(effect)
    }
    return runs
  }

  /** The session may have ended through an earlier effect. */
  #perform(effects: readonly Effect[], state: State, early?: EarlyStart): void {
    for (const effect of effects) {
      this.#performer ??= this.#makePerformer?.()
      this.#performer?.perform(effect, state, early)
    }
  }

  /** Returns whether a record is a rewind, which may restore messages that the history has dropped. */
  #acknowledge(batch: DecidedBatch, mail: readonly Mail[]): boolean {
    const { listener } = this.#init
    let isRewound = false
    this.state = batch.state
    for (const record of batch.records) {
      isRewound ||= record.input.type === 'rewind'
      this.history.fold(record)
      listener.onRecord(record, true)
    }
    let next = 0
    for (const { inputs, resolve } of mail) resolve(batch.answers.slice(next, (next += inputs.length)))
    if (batch.records.length > 0) listener.onCommit(this.state, this.history)
    return isRewound
  }

  readonly fail = (cause: unknown): void => this.#die(describeInternal(cause), [])

  #die(cause: BatonError, mail: readonly Mail[]): void {
    for (const one of [...mail, ...this.#mail]) one.reject(this.#dead ?? cause)
    this.#mail = []
    if (this.#dead) return
    this.#dead = cause
    const hasStarted = this.#makePerformer !== undefined
    this.#makePerformer = undefined
    this.#performer = undefined
    if (hasStarted) this.#init.listener.onDeath(cause)
  }
}

/** Maximum number of outside inputs that wait while the store hangs. The store call fails at its own deadline. */
const MAILBOX_MAX = 10_000
/** Microtasks to wait for results. A tool that waits for nothing outside the process needs fewer, and shares its answer's commit. */
const EARLY_HOPS = 64
const FULL: Refused = {
  type: 'refused',
  code: 'queue_full',
  message: `${MAILBOX_MAX} inputs are already waiting for the store`,
}
/**
 * Answers the machine asked for. Their number is bounded by what it asked, and refusing one would leave a wait that
 * never ends.
 */
const IS_AWAITED: ReadonlySet<InputType> = new Set<InputType>([
  'model-finished',
  'model-failed',
  'model-stopped',
  'summary-finished',
  'summary-failed',
  'tool-finished',
  'tool-result',
  'work-lost',
  'timer-fired',
  'child-reported',
  'child-lost',
  'parent-told',
])

function describeInternal(cause: unknown): BatonError {
  const why = cause instanceof Error ? (cause.stack ?? cause.message) : describeThrown(cause)
  return new BatonError({ code: 'internal', message: `a session failed: ${why}`, cause })
}
