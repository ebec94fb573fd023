// The actor of one session: it takes inputs one after another, commits what the machine decides, then performs the effects.
import type { Accepted, Clock, LeftBehind, Principal, Refused } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type {
  AwaitedEffect,
  Effect,
  History,
  Input,
  InputType,
  SessionRecord,
  Spec,
  State,
  WithdrawingEffect,
} from '@baton/core/machine'
import { applyRecord, decide, effectKey, openSession, outstanding, recordOf } from '@baton/core/machine'
import type { Performers } from './perform.ts'
import type { LogAccess, LogListener } from './session-log.ts'
import { acquireLog, appendSurely, readLog } from './session-log.ts'
import type { OwnedLog } from './session-leases.ts'
import { messageOf } from './thrown-message.ts'

export interface ActorInit extends LogAccess {
  readonly newId: () => string
  /** Whose session it becomes, if it is new. */
  readonly principal: Principal
  readonly spec: Spec
  readonly clock: Clock
  readonly listener: ActorListener
}

export interface ActorListener extends LogListener {
  /** After each commit. */
  onCommit(state: State, history: History): void
  /**
   * The store failed or another owner took over: the actor is dead and its work must stop. Of one that has not begun its
   * opening tells.
   */
  onDeath(cause: BatonError): void
}

export interface Actor {
  submit(input: Input): Promise<Accepted | Refused>
  /**
   * Begins to perform effects, first everything that is outstanding. The performers are made for the first. Called once.
   * @throws BatonError when an effect cannot be performed; then the actor is dead
   */
  begin(performers: () => Performers): void
  state(): State
  history(): History
  /** Inputs wait to be decided or stored. */
  isBusy(): boolean
  /** Refuses everything from now on. */
  kill(cause: BatonError): void
  /** Ends the ownership of the log, after the actor was killed or has died. */
  release(left: LeftBehind): Promise<void>
}

interface Letter {
  readonly input: Input
  readonly resolve: (answer: Accepted | Refused) => void
  readonly reject: (cause: BatonError) => void
}

/**
 * Opens a session's log as its only owner, and recovers what a dead process left undone.
 * @throws BatonError `session_held`, `store_failed`, `store_conflict`, `log_damaged`, `log_version_unknown`
 */
export async function openActor(init: ActorInit): Promise<Actor> {
  const owned = await acquireLog(init)
  try {
    return await recoverActor(init, owned)
  } catch (cause) {
    await init.leases.release(init.session, owned.epoch, 'work')
    throw cause
  }
}

async function recoverActor(init: ActorInit, owned: OwnedLog): Promise<Actor> {
  const { session, spec, clock } = init
  const { epoch } = owned
  const log = await readLog(init, owned)
  let state: State = { ...log.state, epoch }
  const isNew = state.pos < 0
  if (isNew) {
    const opening = openSession({
      session,
      birth: birthFrom(init.newId()),
      principal: init.principal.id,
      spec,
      nowMs: clock.nowMs(),
      epoch,
    })
    await appendSurely(init, { session, epoch, afterPos: state.pos, records: [opening] })
    state = applyRecord(state, opening)
    log.history.fold(opening)
    init.listener.onRecord(opening)
  }
  const actor = new SessionActor(init, state, log.history)
  init.leases.whenLost(session, epoch, (cause) => actor.kill(cause))
  if (!isNew) {
    await actor.submit({ type: 'agent-changed' })
    await actor.submit({ type: 'host-restarted', downMs: Math.max(0, clock.nowMs() - log.lastMs) })
  }
  return actor
}

/** Short, since it stands in every call's id, and of letters and digits only, as providers want ids. */
function birthFrom(id: string): string {
  return id.replace(/[^a-zA-Z0-9]/g, '').slice(0, 8)
}

class SessionActor implements Actor {
  readonly #init: ActorInit
  readonly #history: History
  #state: State
  /** What waits to be decided. */
  #mail: Letter[] = []
  #busy = false
  #dead: BatonError | undefined
  /** None until recovery is through. */
  #makePerformers: (() => Performers) | undefined
  /** Each takes the effects of its own type. */
  #performers: Performers | undefined

  constructor(init: ActorInit, state: State, history: History) {
    this.#init = init
    this.#state = state
    this.#history = history
  }

  state(): State {
    return this.#state
  }

  history(): History {
    return this.#history
  }

  isBusy(): boolean {
    return this.#busy
  }

  kill(cause: BatonError): void {
    this.#die(cause, [])
  }

  release(left: LeftBehind): Promise<void> {
    const { leases, session } = this.#init
    return leases.release(session, this.#state.epoch, left)
  }

  begin(performers: () => Performers): void {
    this.#makePerformers = performers
    try {
      for (const effect of outstanding(this.#state)) if (!this.#isDead()) this.#performerOf(effect)?.(effect as never)
    } catch (cause) {
      // Alive it would go on to write beside its successor. Who begins it is told by what is thrown, not as of a death.
      this.#makePerformers = undefined
      const failure = isBatonError(cause) ? cause : internal(cause)
      this.#die(failure, [])
      throw failure
    }
  }

  submit(input: Input): Promise<Accepted | Refused> {
    if (this.#dead) return Promise.reject(this.#dead)
    const answer = this.#post(input)
    if (!this.#busy) {
      this.#busy = true
      this.commit().catch((cause: unknown) => this.#die(internal(cause), []))
    }
    return answer
  }

  #post(input: Input): Promise<Accepted | Refused> {
    if (this.#mail.length >= MAILBOX_MAX && !IS_AWAITED.has(input.type)) return Promise.resolve(FULL)
    const { promise, resolve, reject } = Promise.withResolvers<Accepted | Refused>()
    this.#mail.push({ input, resolve, reject })
    return promise
  }

  #takeMail(): readonly Letter[] {
    const letters = this.#mail
    this.#mail = []
    return letters
  }

  /** Decides all that waits on top of each other and commits it in one append: the group commit. For `submit` only. */
  async commit(): Promise<void> {
    const { session, spec, clock } = this.#init
    await Promise.resolve() // what is submitted in the same moment, as results of tools side by side, is one commit
    while (this.#mail.length > 0 && !this.#isDead()) {
      const letters = this.#takeMail()
      try {
        const { epoch, pos } = this.#state
        const batch = decideAll(letters, { spec, state: this.#state, nowMs: clock.nowMs() })
        const append = { session, epoch, afterPos: pos, records: batch.records }
        if (batch.records.length > 0) await appendSurely(this.#init, append)
        // Killed in the meantime: whether the records are there, the next owner reads from the log.
        if (this.#dead) return this.#die(this.#dead, letters)
        this.#acknowledge(batch, letters)
        for (const effect of batch.effects) if (!this.#isDead()) this.#performerOf(effect)?.(effect as never)
      } catch (cause) {
        return this.#die(isBatonError(cause) ? cause : internal(cause), letters)
      }
    }
    this.#busy = false
  }

  #acknowledge(batch: Batch, letters: readonly Letter[]): void {
    const { listener } = this.#init
    this.#state = batch.state
    for (const record of batch.records) {
      this.#history.fold(record)
      listener.onRecord(record)
    }
    letters.forEach((letter, index) => letter.resolve(batch.answers[index] ?? LOST))
    listener.onCommit(this.#state, this.#history)
  }

  #performerOf({ type }: Effect): Performers[Effect['type']] | undefined {
    this.#performers ??= this.#makePerformers?.()
    return this.#performers?.[type]
  }

  /** Asked after each effect: one that is performed may kill the session itself. */
  #isDead(): boolean {
    return this.#dead !== undefined
  }

  #die(cause: BatonError, letters: readonly Letter[]): void {
    for (const letter of [...letters, ...this.#takeMail()]) letter.reject(this.#dead ?? cause)
    if (this.#dead) return
    this.#dead = cause
    if (this.#makePerformers) this.#init.listener.onDeath(cause)
  }
}

/** Inputs from outside that may wait while the store hangs; it fails by its own deadline. */
const MAILBOX_MAX = 10_000
const FULL: Refused = {
  type: 'refused',
  code: 'queue_full',
  message: `${MAILBOX_MAX} inputs wait for the store already`,
}
/** Answers to what the machine asked for: no more come than were asked, and a refused one would leave a wait without an end. */
const IS_AWAITED: ReadonlySet<InputType> = new Set<InputType>([
  'model-finished',
  'model-failed',
  'model-stopped',
  'summary-finished',
  'summary-failed',
  'tool-finished',
  'tool-result',
  'timer-fired',
])
const LOST: Refused = { type: 'refused', code: 'internal', message: 'the input was lost' }

interface Batch {
  readonly state: State
  readonly records: SessionRecord[]
  readonly effects: Effect[]
  readonly answers: (Accepted | Refused)[]
}

function decideAll(
  letters: readonly Letter[],
  start: { readonly spec: Spec; readonly state: State; readonly nowMs: number },
): Batch {
  const batch = {
    state: start.state,
    records: [] as SessionRecord[],
    effects: [] as Effect[],
    answers: [] as Batch['answers'],
  }
  for (const { input } of letters) {
    const decision = decide(start.spec, batch.state, input, start.nowMs)
    if (decision.type === 'refused') {
      batch.answers.push({ type: 'refused', ...decision.refusal })
      continue
    }
    if (decision.facts.length > 0) {
      batch.records.push(recordOf(input, decision))
      batch.effects.push(...decision.effects)
      batch.state = decision.state
    }
    batch.answers.push({ type: 'accepted', pos: decision.seenAt ?? batch.state.pos })
  }
  if (letters.length === 1) return batch
  return { ...batch, effects: settledEffects(batch.effects, outstanding(batch.state)) }
}

/** Several inputs in one commit: an effect that a later one withdrew again is not begun at all. */
function settledEffects(effects: readonly Effect[], owed: readonly AwaitedEffect[]): Effect[] {
  const keys = new Set(owed.map(effectKey))
  return effects.filter((effect) => isWithdrawing(effect) || keys.has(effectKey(effect)))
}

function isWithdrawing(effect: Effect): effect is WithdrawingEffect {
  return effect.type.startsWith('abort-') || effect.type.startsWith('withdraw-') || effect.type === 'clear-timer'
}

function internal(cause: unknown): BatonError {
  const why = cause instanceof Error ? (cause.stack ?? cause.message) : messageOf(cause)
  return new BatonError({ code: 'internal', message: `a session failed: ${why}`, cause })
}
