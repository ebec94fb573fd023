// One session in this process: its actor, which is replaced when it dies, its readers and its snapshots.
import type {
  JsonObject,
  Accepted,
  Agent,
  Environment,
  ErrorCode,
  LeftBehind,
  LiveFrame,
  Logger,
  Principal,
  Refused,
  Store,
  Under,
} from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { History, Input, Phase, SessionRecord, Spec, State } from '@baton/core/machine'
import { outstanding } from '@baton/core/machine'
import type {
  AbortedCalls,
  Catalog,
  ChildOpening,
  ChildPlace,
  CopyingEngine,
  Directory,
  Notices,
  SessionWorld,
} from '@baton/runtime'
import {
  ChildLinks,
  copySession,
  describeThrown,
  isListedOtherwise,
  OpenWorld,
  SessionStream,
  within,
} from '@baton/runtime'
import type { Alarm } from './alarm.ts'
import type { Actor, ActorListener } from './actor.ts'
import { openActor } from './actor.ts'
import { Performer } from './performer.ts'
import type { ObservedSession, SessionObserver } from '../observer.ts'
import type { SessionLeases } from './session-leases.ts'
import { SnapshotTaker } from './session-log.ts'
import type { LimitedStore } from './store-in-time.ts'
import { createLateError, STORE_ACT_MS } from './store-in-time.ts'

export interface LocalSessionOptions {
  readonly session: string
  readonly leases: SessionLeases
  /** Overrides the catalog's choice. */
  readonly agent: Agent | undefined
  /** The owner, used if the session is new. */
  readonly principal: Principal
  /** The metadata of a new session. */
  readonly meta: JsonObject
  /** Whether a session without records is refused with `unknown_session`. */
  readonly mustExist: boolean
  /** For the session of a delegated call. */
  readonly child?: OpenedChild
  /** Names of the open children of all sessions. */
  readonly openChildren: Set<string>
  readonly catalog: Catalog
  readonly store: LimitedStore
  readonly disk: Store
  readonly environment: Environment
  readonly aborted: AbortedCalls
  readonly log: Logger
  /** Records between two snapshots. */
  readonly snapshotRecords: number
  readonly observer: SessionObserver | undefined
  /** Notified when the session's entry in a list would change. */
  readonly directory: Pick<Directory, 'isWatched' | 'noteChange'>
  /** Tells destinations what happens. */
  readonly notices: Pick<Notices, 'begin' | 'note' | 'settled'>
  /** Notified of each new state: a reminder may be due. */
  readonly alarm: Pick<Alarm, 'note'>
}

/** Place of a child, and the root whose epoch allows writing it. */
export interface OpenedChild {
  readonly place: ChildPlace
  readonly under: Under
}

/** Attempts to reopen a session whose store fails, before it is closed until the next request. */
const REOPEN_TRIES = 5
const REOPEN_MS = 200
/** Estimated bytes of a session, of an entry of its window, and of a character; lingering-memory.deep.test.ts measures them. */
const BYTES = { session: 16_384, entry: 1024, char: 2 } as const
/** Inputs that may wait while a session is being reopened. */
const WAITING_MAX = 1000

/** @throws BatonError when the log cannot be read or owned */
export async function openLocalSession(init: LocalSessionOptions): Promise<LocalSession> {
  const session = new LocalSession(init)
  await session.open()
  return session
}

export class LocalSession implements CopyingEngine, ActorListener {
  readonly session: string
  readonly #init: LocalSessionOptions
  readonly stream: SessionStream
  readonly #observed: ObservedSession | undefined
  /** Records committed while opening. The observer gets them once the session has a state. */
  #untold: SessionRecord[] | undefined
  readonly #snapshots: SnapshotTaker
  /** Set by `open`. */
  #actor!: Actor
  readonly #world: OpenWorld
  #performer: Performer | undefined
  /** Position of the newest record committed by this process. */
  #committedPos = -1
  /** The state last reported to session lists. */
  #listed: State | undefined
  #closed: BatonError | undefined
  /** Set when closing starts; resolves when it has finished. */
  #ending: Promise<void> | undefined
  /** Set for good once the session could not be reopened. */
  #failure: BatonError | undefined
  #reopening: Reopening | undefined
  #lingering: Lingering | undefined
  readonly #links: ChildLinks

  constructor(init: LocalSessionOptions) {
    const { session, store } = init
    this.session = session
    this.#init = init
    this.stream = new SessionStream({
      session,
      world: () => this.#world.current,
      readLog: (fromPos) => store.read(session, fromPos),
      state: () => this.state(),
      history: () => this.history(),
    })
    this.#observed = init.observer && this.#describe()
    this.#snapshots = new SnapshotTaker(init)
    const { catalog } = init
    this.#world = new OpenWorld({
      catalog,
      onChange: () => this.#changeAgent(),
      isClosed: () => this.isClosed(),
    })
    const { environment, log } = init
    const open = (opening: ChildOpening): Promise<LocalSession> => this.#openChild(opening)
    this.#links = new ChildLinks({ session: this, open, timers: environment.timers, log })
  }

  /** Called once, before anything else. */
  async open(): Promise<void> {
    if (this.#init.child) this.#init.openChildren.add(this.session)
    try {
      this.#actor = await this.#openActor(false)
      await this.#beginNotices()
      this.#startActor()
    } catch (cause) {
      if (!this.#untold) this.#tellClose()
      await this.#actor?.release('work') // an actor that could not be opened has released its log itself
      await this.#world.dispose()
      this.#init.openChildren.delete(this.session)
      throw cause
    }
  }

  #beginNotices(): Promise<void> {
    const { state } = this.#actor
    return this.#init.notices.begin(this.session, this.#untold?.[0]?.pos ?? state.pos + 1)
  }

  get world(): SessionWorld {
    return this.#world.current
  }

  state(): State {
    return this.#actor.state
  }

  history(): History {
    return this.#actor.history
  }

  /** Commits through the actor, or through its successor while the session is being reopened. */
  submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]> {
    // These inputs are users' words and clients' completed actions, so they wait for the successor.
    if (this.#reopening) return this.#submitLater(this.#reopening, inputs)
    if (this.#failure) return Promise.reject(createClosedError(this.session, this.#failure))
    return this.#actor.submit(inputs)
  }

  /**
   * Switches to this agent if it differs; running work finishes with the old agent's tools. Changes are applied one at
   * a time.
   * @throws BatonError `invalid_agent`, `unknown_model`
   */
  async adopt(agent: Agent): Promise<void> {
    const before = this.world
    await this.#world.adopt(agent, () => this.state())
    // Another spec is passed on by `#changeAgent`; here, functions that no spec shows.
    if (this.world !== before && this.world.spec.hash === before.spec.hash) await this.#links.adopt()
  }

  child(callId: string): LocalSession | undefined {
    return this.#links.find(callId) as LocalSession | undefined // opened by this class
  }

  childOpened(): Promise<void> {
    return this.#links.opened()
  }

  readBelow(session: string, fromPos: number): AsyncIterable<SessionRecord> {
    return this.#init.store.read(session, fromPos)
  }

  abortedCalls(): Promise<void> | undefined {
    return this.#init.aborted.settled(this.session)
  }

  /** @throws BatonError `session_exists`, `store_failed`, `log_damaged` */
  copyTo(to: string): Promise<void> {
    return copySession(this.#init.store, { from: this.session, to, birth: this.state().birth })
  }

  /** Whether the log has another owner or the store failed permanently. Ask the host for the session again. */
  isClosed(): boolean {
    return this.#closed !== undefined
  }

  /** Whether nothing is outstanding and no turn is waiting or running. */
  isAtRest(): boolean {
    return !this.#closed && !this.#reopening && !this.#actor.isBusy() && isResting(this.#actor.state)
  }

  /** Estimated bytes in memory, rather too many: see `BYTES`. */
  countBytes(): number {
    return this.state().index.reduce<number>((sum, { chars }) => sum + BYTES.entry + BYTES.char * chars, BYTES.session)
  }

  /**
   * Lets other owners have a session that is at rest and has no holder, and keeps it in memory. Resolves to whether
   * `wake` may succeed; close it otherwise. Calls `onStale` when it can no longer be woken. Never rejects.
   */
  linger(onStale: () => void): Promise<boolean> {
    this.#performer?.close()
    this.#performer = undefined
    // Parts made for this session alone are freed at once. The next owner waits for aborted model calls.
    const mayLinger = !this.world.hasOwnParts && !this.abortedCalls()
    const isKept = mayLinger ? this.#rest(this.#init.notices.settled(this.session)) : Promise.resolve(false)
    this.#lingering = { isKept, onStale, isStale: false }
    return isKept
  }

  async #rest(noting: Promise<boolean> | undefined): Promise<boolean> {
    if (noting && !(await noting)) return false
    return await this.#actor.rest()
  }

  /**
   * Continues as after an opening, without reading the log. `agent` wins over the catalog's choice. Resolves to whether
   * nothing happened to the session meanwhile; close it otherwise.
   * @throws BatonError `store_failed`, `invalid_agent`, `unknown_model`, or what `agentOf` throws
   */
  async wake(agent: Agent | undefined): Promise<boolean> {
    const lingering = this.#lingering
    if (!lingering || !(await lingering.isKept)) return false
    const isResumed = await this.#actor.resume().catch((cause: unknown) => {
      lingering.isStale = true
      throw cause
    })
    // Its tools may have changed meanwhile.
    if (isResumed && !lingering.isStale && !this.isClosed()) {
      this.#lingering = undefined
      await this.#world.adopt(agent, () => this.state())
      return true
    }
    lingering.isStale = true
    if (isResumed) await this.#actor.release('nothing')
    return false
  }

  /**
   * Resolves when the session has read its log again, which it does after a failure because another owner may have
   * continued it meanwhile. `undefined` if it is up to date. Never rejects.
   */
  get reopened(): Promise<void> | undefined {
    return this.#reopening?.done
  }

  /**
   * Stops the session's work here and records in the store whether it needs recovery. Resolves when that is done.
   * Closing happens once, also for a session that was lost.
   */
  close(): Promise<void> {
    return (this.#ending ??= this.#close())
  }

  async #close(): Promise<void> {
    const rests = this.isAtRest()
    this.#closed ??= new BatonError({ code: 'session_closed', message: `session ${this.session} was closed` })
    const actor = this.#actor
    actor.kill(this.#closed)
    this.#performer?.close()
    this.stream.end()
    this.#tellClose()
    await this.#links.close()
    await this.#awaitSuccessor()
    // A removal of the session waits for its snapshots. If this owner committed nothing, the state has an epoch
    // that no record has, so no snapshot is taken.
    const isOwn =
      actor.state.pos === this.#committedPos && (!this.#lingering || (await this.#takeBack(this.#lingering)))
    await (rests && isOwn ? this.#snapshots.finish(actor.state, actor.history) : this.#snapshots.settled())
    // Waits for aborted model calls, because the log's next owner may call a model at once.
    const aborted = this.abortedCalls()
    if (aborted) await aborted
    const noting = this.#init.notices.settled(this.session)
    const isNoted = !noting || (await noting)
    await this.#end(actor, rests && isNoted ? 'nothing' : 'work')
  }

  /** Waits for a successor that is being opened: it could write after a removal. Never rejects. */
  async #awaitSuccessor(): Promise<void> {
    if (!this.#reopening) return
    const limit = { timeoutMs: STORE_ACT_MS, error: () => createLateError('opening a session again') }
    await within(this.#init.environment.timers, limit, this.#reopening.done).catch(() => {})
  }

  /** Takes a lingering session back for its last snapshot. Never rejects. */
  async #takeBack({ isKept, isStale }: Lingering): Promise<boolean> {
    const isWorth = !isStale && (await isKept) && this.#snapshots.isWorth(this.#actor.state.pos)
    return isWorth && (await this.#actor.resume().catch(() => false))
  }

  async #end(actor: Actor, left: LeftBehind): Promise<void> {
    await this.#links.close()
    await actor.release(left)
    this.#init.openChildren.delete(this.session)
    await this.#world.dispose()
  }

  /** Called without waiting for anything: the session may be opened again at once, and is then another one to observers. */
  #tellClose(): void {
    if (this.#observed) this.#init.observer?.onClose?.(this.#observed)
  }

  onRecord(record: SessionRecord, isNew: boolean): void {
    this.stream.publishRecord(record)
    if (!isNew) return
    if (this.#untold) return void this.#untold.push(record)
    this.#init.notices.note(this.session, record)
    if (this.#observed) this.#init.observer?.onRecord?.(record, this.#observed)
  }

  publishLive(frame: LiveFrame): void {
    this.stream.publishLive(frame)
    if (this.#observed) this.#init.observer?.onLive?.(frame, this.#observed)
  }

  onSnapshot(pos: number): void {
    this.stream.startAfter(pos)
    this.#snapshots.startAfter(pos)
  }

  onCommit(state: State, history: History): void {
    this.#committedPos = state.pos
    const { directory } = this.#init
    if (state.pos >= this.#snapshots.dueAtPos) this.#snapshots.take(state, history)
    if (directory.isWatched && (!this.#listed || isListedOtherwise(this.#listed, state)))
      void directory.noteChange(this.session)
    this.#listed = state
    if (state.reminders.length > 0) this.#init.alarm.note(state)
    if (this.#performer?.questions?.isWaiting) this.#performer.questions.notice()
  }

  onDeath(cause: BatonError): void {
    if (this.#closed) return // closed on purpose: closing also stores everything and releases the log
    if (this.#lingering) return this.#spoil(this.#lingering)
    const again = { done: this.#reopen(cause).catch(() => {}), waiting: 0 } // the one thing that can throw in it is a logger
    this.#reopening = again
    void again.done.then(() => {
      if (this.#reopening !== again) return
      this.#reopening = undefined
      this.#failure = this.#closed
    })
  }

  /** A session of a delegated call, in the tree of this one. */
  #openChild({ name, place, agent, mustExist }: ChildOpening): Promise<LocalSession> {
    const { child } = this.#init
    const { epoch, principal } = this.#actor.state
    const under = child?.under ?? { root: this.session, rootEpoch: epoch }
    return openLocalSession({
      ...this.#init,
      session: name,
      agent,
      // The caller's owner. Its opener may be a stranger, who is refused.
      principal: principal === '' ? this.#init.principal : { id: principal },
      meta: {},
      mustExist,
      child: { place, under },
      directory: NO_DIRECTORY,
      notices: NO_NOTICES,
    })
  }

  /** The session as an observer sees it. */
  #describe(): ObservedSession {
    const { store } = this.#init
    return {
      id: this.session,
      state: () => this.#actor.state,
      lastTurn: () => this.#actor.history.lastTurn(),
      read: (fromPos) => store.read(this.session, fromPos),
    }
  }

  async #submitLater(reopening: Reopening, inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]> {
    if (reopening.waiting >= WAITING_MAX) return inputs.map(() => FULL)
    reopening.waiting += inputs.length
    await reopening.done
    return await this.#actor.submit(inputs)
  }

  #openActor(isReopened: boolean): Promise<Actor> {
    this.#untold = []
    const { leases, principal, mustExist, child, store, disk, environment } = this.#init
    return openActor({
      session: this.session,
      isReopened,
      mustExist,
      child: child?.place,
      under: child?.under,
      leases,
      store,
      disk,
      principal,
      clock: environment.clock,
      timers: environment.timers,
      newId: () => environment.newId(),
      pause: (tries) => this.#pause(tries),
      specFor: (state) => this.#specFor(state),
      listener: this,
    })
  }

  /** Chooses the agent after the log was read, because the log has the session's owner and metadata. */
  async #specFor({ agent, principal, meta, pos }: State): Promise<Spec> {
    if (!this.#world.isOpen) {
      const isNew = pos < 0
      const identity = {
        id: this.session,
        agent,
        principal: principal === '' ? this.#init.principal : { id: principal },
        meta: isNew ? this.#init.meta : meta,
      }
      const isForeign = principal !== '' && principal !== this.#init.principal.id
      await this.#world.open(identity, isForeign ? undefined : this.#init.agent)
    }
    return this.world.spec
  }

  /** Switches to the new tools; calls of removed tools are settled. */
  #changeAgent(): void {
    if (this.#lingering) return this.#spoil(this.#lingering)
    this.#actor.setSpec(this.world.spec)
    void this.#links.adopt() // reports its failures
    // If the session has died, its successor starts with the new agent anyway.
    this.submit([{ type: 'agent-changed' }]).catch(() => {})
  }

  #spoil(lingering: Lingering): void {
    lingering.isStale = true
    lingering.onStale()
  }

  /** @throws BatonError when an outstanding effect cannot be performed; then all effects are stopped */
  #startActor(): void {
    const actor = this.#actor
    const untold = this.#untold ?? []
    this.#untold = undefined
    if (this.#observed) for (const record of untold) this.#init.observer?.onRecord?.(record, this.#observed)
    try {
      const { aborted, environment } = this.#init
      const init = { timers: environment.timers, session: this, aborted, children: this.#links, actor }
      actor.start(() => (this.#performer = new Performer(init)))
      this.stream.notice()
      this.#init.alarm.note(actor.state)
    } catch (cause) {
      this.#performer?.close()
      throw cause
    }
  }

  /** Starts a new actor from the log after any failure, as after a restart: the log is the truth. */
  async #reopen(cause: BatonError): Promise<void> {
    const { log } = this.#init
    const { session } = this
    this.#performer?.close()
    await this.#links.leaveAll() // its successor opens them under a new epoch
    for (let tries = 1; tries <= REOPEN_TRIES && !this.isClosed() && !IS_FINAL.has(cause.code); tries++) {
      log.warn('a session failed and is being reopened', { session, cause: cause.message })
      await this.#pause(tries)
      if (this.isClosed()) return
      try {
        this.#actor = await this.#openActor(true)
        await this.#beginNotices()
        if (!this.#closed) return this.#startActor()
        this.#actor.kill(this.#closed)
        return await this.#actor.release('work')
      } catch (failure) {
        log.warn('a session could not be reopened', { session, cause: describeThrown(failure) })
        if (isBatonError(failure) && failure.code === 'unknown_session') cause = failure // it was removed
      }
    }
    if (this.isClosed()) return // closed on purpose: closing does the rest
    this.#closed = cause
    this.stream.end()
    this.#tellClose()
    await (this.#ending ??= this.#end(this.#actor, 'work'))
  }

  /** Waits, twice as long each time. */
  #pause(tries: number): Promise<void> {
    const { timers } = this.#init.environment
    return new Promise((resolve) => void timers.start(REOPEN_MS * 2 ** (tries - 1), resolve))
  }
}

/** Errors that retrying cannot fix: another owner has the log, it was removed, or this process has lost the store's file. */
const IS_FINAL: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['store_conflict', 'store_gone', 'unknown_session'])

/** The store may have recovered since: its hint is only repeated for a final error. */
function createClosedError(session: string, cause: BatonError): BatonError {
  return new BatonError({
    code: cause.code,
    message: `session ${session} was closed here after a failure: ${cause.message}`,
    hint: (IS_FINAL.has(cause.code) && cause.hint) || 'Open the session again; accepted inputs are kept.',
    cause,
  })
}

/** Its root tells what its children ask. */
const NO_NOTICES: LocalSessionOptions['notices'] = {
  begin: async () => {},
  note: () => {},
  settled: () => undefined,
}

/** A child is in no list. */
const NO_DIRECTORY: LocalSessionOptions['directory'] = { isWatched: false, noteChange: async () => {} }

interface Lingering {
  /** Whether the store let the session go so that it can be taken back. Never rejects. */
  readonly isKept: Promise<boolean>
  /** Whether it must be opened from its log next time. */
  isStale: boolean
  readonly onStale: () => void
}

interface Reopening {
  /** Never rejects. */
  readonly done: Promise<void>
  /** Number of inputs waiting for it. */
  waiting: number
}

/** Phases in which the session waits for a command. */
const RESTING: ReadonlySet<Phase> = new Set<Phase>(['idle', 'paused', 'stopped'])

function isResting(state: State): boolean {
  return RESTING.has(state.phase) && outstanding(state).length === 0
}

const FULL: Refused = {
  type: 'refused',
  code: 'queue_full',
  message: `${WAITING_MAX} inputs are already waiting for the session to be reopened`,
}
