// Follows a session that another process may write. All readers share one fold of its log, which is polled for new records.
// The readers end if the log was replaced.
import type { BlobStore, Environment, Logger, LogStore, Refusal } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { ReplicatedSession } from './replicated-session.ts'

export type ViewedStore = Pick<LogStore, 'read' | 'children'> & { readonly blobs: BlobStore }

/** Milliseconds between two polls of the log. */
const LOOK_MS = 1000
/** Milliseconds to keep a session without readers; the next reader then reads only new records. */
const REST_MS = 30_000

export const READ_ONLY: Refusal = { code: 'illegal_input', message: 'the session was opened for reading' }

interface FollowedOptions {
  readonly session: string
  readonly world: { current: SessionWorld }
  readonly store: ViewedStore
  readonly timers: Environment['timers']
  readonly log: Logger
  /** Joins the session of a delegated call. */
  readonly follow: (callId: string) => Promise<FollowedSession | undefined>
  /** Called when its last reader has left. */
  readonly onRest: () => void
  readonly onClose: () => void
}

/** Polls the log while it has readers. */
export class FollowedSession {
  readonly engine: SessionEngine
  readonly #init: FollowedOptions
  readonly #replica: ReplicatedSession
  readonly #children = new Map<string, Promise<FollowedSession | undefined>>()
  readonly world: FollowedOptions['world']
  /** The newest model that its log names. */
  model: string | undefined
  #readers = 0
  /** The newest record as JSON. A new session of the same name has a different record at that position. */
  #newest: string | undefined
  #stopTimer = (): void => {}
  #isClosed = false
  #hasFailed = false

  constructor(init: FollowedOptions) {
    this.#init = init
    const { session, world, store } = init
    this.world = world
    const readPast = (fromPos: number): AsyncIterable<SessionRecord> => store.read(session, fromPos)
    const update = (): Promise<never> => Promise.reject(new BatonError(READ_ONLY))
    this.#replica = new ReplicatedSession({ session, world, update, readPast })
    const replica = this.#replica
    this.engine = {
      session,
      get world() {
        return world.current
      },
      stream: replica.stream,
      state: () => replica.state(),
      history: () => replica.history(),
      submit: update,
      child: (callId) => this.#child(callId),
      readBelow: (below, fromPos) => store.read(below, fromPos),
    }
  }

  get isResting(): boolean {
    return this.#readers === 0
  }

  /** Adds a reader. Returns false if the session was removed. @throws BatonError as `read` */
  async join(): Promise<boolean> {
    if (this.isResting) this.#stopTimer()
    this.#readers += 1
    try {
      await this.read()
    } catch (cause) {
      this.leave()
      throw cause
    }
    if (!this.#isClosed) this.#look()
    return !this.#isClosed
  }

  leave(): void {
    this.#readers -= 1
    if (this.#readers > 0 || this.#isClosed) return
    this.#leaveChildren()
    this.#stopTimer()
    this.#stopTimer = this.#init.timers.start(REST_MS, () => this.close(), { isBackground: true })
    this.#init.onRest()
  }

  /** Ends its readers. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopTimer()
    this.#replica.end(new BatonError({ code: 'session_closed', message: 'the view was closed' }))
    this.#leaveChildren()
    this.#init.onClose()
  }

  #leaveChildren(): void {
    for (const child of this.#children.values()) void child.then((joined) => joined?.leave())
    this.#children.clear()
  }

  async #child(callId: string): Promise<SessionEngine | undefined> {
    const known = this.#children.get(callId)
    const opening = known ?? this.#init.follow(callId)
    this.#children.set(callId, opening)
    const child = await opening
    if (!child && this.#children.get(callId) === opening) this.#children.delete(callId)
    return child?.engine
  }

  /**
   * Reads new records. Closes if the log was replaced.
   * @throws BatonError `store_failed`, `log_damaged`, `log_version_unknown`
   */
  async read(): Promise<void> {
    const { session, store } = this.#init
    const known = this.#newest
    let isSame = known === undefined
    for await (const record of store.read(session, Math.max(0, this.#replica.state().pos))) {
      if (this.#isClosed) return
      if (!isSame && JSON.stringify(record) !== known) break
      isSame = true
      this.#take(record)
    }
    if (!isSame) this.close()
  }

  #take(record: SessionRecord): void {
    if (record.pos <= this.#replica.state().pos) return // another look has read it
    this.#replica.publishRecords([record])
    this.#newest = JSON.stringify(record)
    for (const fact of record.facts) if (fact.type === 'model-started') this.model = fact.model
  }

  #look(): void {
    const { timers } = this.#init
    const look = async (): Promise<void> => {
      try {
        await this.read()
        this.#hasFailed = false
      } catch (cause) {
        this.#noteFailure(cause)
      }
      if (this.#readers > 0 && !this.#isClosed) this.#look()
    }
    this.#stopTimer()
    this.#stopTimer = timers.start(LOOK_MS, () => void look(), { isBackground: true })
  }

  #noteFailure(cause: unknown): void {
    const { log, session } = this.#init
    if (!this.#hasFailed)
      log.warn('the log of a session cannot be read and will be looked at again', {
        session,
        cause: describeThrown(cause),
      })
    this.#hasFailed = true
  }
}
