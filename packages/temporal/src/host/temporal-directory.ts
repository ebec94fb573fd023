// Lists the sessions of all gateways and workers, and what waits for people in them. The entries in the store are derived
// from the logs that changed since the last list; the bus reports which have changed.
import type { Host, Logger, SessionDirectory, WaitingApproval } from '@baton/core/internal'
import { applyRecord, createHistory, followRecord, initialState } from '@baton/core/machine'
import type { FoldedSession } from '@baton/runtime'
import { decideFor, Directory, listWaiting, readOpening, SYSTEM_TIME } from '@baton/runtime'
import type { BusMessage, LiveBus } from '../live/live-bus.ts'
import { EVERY_SESSION } from '../live/live-bus.ts'
import type { SessionLog } from '../session-view.ts'

export interface TemporalDirectoryOptions {
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
}

/** Folded sessions to remember, so that a change only costs reading the new records. */
const FOLDED_MAX = 64
/** Maximum milliseconds between writers' clocks, for finding unreported changes. */
const APART_MS = 60_000

export class TemporalDirectory implements Pick<
  SessionDirectory,
  'sessions' | 'approvals' | 'watchApprovals' | 'has' | 'watch'
> {
  readonly #init: TemporalDirectoryOptions
  readonly #directory: Directory
  readonly #folded = new Map<string, FoldedSession>()
  readonly #folding = new Map<string, Promise<FoldedSession | undefined>>()
  #unsubscribe: Promise<() => void> | undefined
  #heardMs = Date.now()

  constructor(init: TemporalDirectoryOptions) {
    this.#init = init
    const { store, log } = init
    this.#directory = new Directory({
      store,
      log,
      // A replica may lag behind the changes reported to watchers; the log does not.
      findOpen: () => undefined,
      fold: (session) => this.#fold(session),
      clock: SYSTEM_TIME.clock,
      timers: SYSTEM_TIME.timers,
    })
  }

  sessions: SessionDirectory['sessions'] = async (query) => await this.#directory.sessions(query)

  approvals: SessionDirectory['approvals'] = async (query) => await this.#directory.approvals(query)

  watchApprovals: SessionDirectory['watchApprovals'] = (query) => {
    this.#subscribe()
    return this.#directory.watchApprovals(query)
  }

  /** The requests of one session that wait for people, from its log. @throws BatonError `store_failed`, `log_damaged` */
  async listRequests(session: string): Promise<readonly WaitingApproval[]> {
    const folded = await this.#fold(session)
    return folded ? listWaiting(folded.state, folded.history) : []
  }

  /** Decides over this host's sessions. */
  decideOver(host: Pick<Host, 'session'>): SessionDirectory['decide'] {
    return decideFor(host, this.#directory)
  }

  has: SessionDirectory['has'] = async (session) => await this.#directory.has(session)

  /** Subscribes to the bus when the first watcher arrives. */
  watch: SessionDirectory['watch'] = (query) => {
    this.#subscribe()
    return this.#directory.watch(query)
  }

  #subscribe(): void {
    const { bus, log } = this.#init
    const hear = (message: BusMessage): void => this.#hear(message)
    this.#unsubscribe ??= bus.subscribe(EVERY_SESSION, hear, () => void this.#findMissed())
    this.#unsubscribe.catch((cause: unknown) => {
      log.warn('changes of sessions cannot be watched', { cause: String(cause) })
    })
  }

  close(): void {
    this.#unsubscribe?.then(
      (unsubscribe) => unsubscribe(),
      () => {}, // it was logged
    )
    this.#directory.close()
  }

  #hear(message: BusMessage): void {
    this.#heardMs = Date.now()
    if (message.type === 'listed') void this.#directory.noteChange(message.session)
    if (message.type !== 'removed' || message.principal === undefined) return
    this.#folded.delete(message.session)
    this.#directory.noteRemoval(message.session, message.principal)
  }

  /** Reports sessions written while Redis was unavailable. Removals during that time are not detected. */
  async #findMissed(): Promise<void> {
    const sinceMs = this.#heardMs - APART_MS
    try {
      for await (const { session, lastMs } of this.#init.store.list())
        if (lastMs >= sinceMs) void this.#directory.noteChange(session)
    } catch (cause) {
      this.#init.log.warn('changes of sessions may have been missed', { cause: String(cause) })
    }
  }

  /** One at a time: a history is folded in place. */
  async #fold(session: string): Promise<FoldedSession | undefined> {
    const before = this.#folding.get(session)?.catch(() => {})
    const folding = before ? before.then(() => this.#foldNow(session)) : this.#foldNow(session)
    this.#folding.set(session, folding)
    try {
      return await folding
    } finally {
      if (this.#folding.get(session) === folding) this.#folding.delete(session)
    }
  }

  async #foldNow(session: string): Promise<FoldedSession | undefined> {
    const { store } = this.#init
    const opening = await readOpening(store, session)
    if (!opening) return undefined
    const known = this.#folded.get(session)
    this.#folded.delete(session) // a fold that fails has changed its history
    const isSame = known?.state.birth === opening.birth
    const { history, ...begun } = isSame ? known : { state: initialState(session), history: createHistory(), lastMs: 0 }
    let { state, lastMs } = begun
    for await (const record of store.read(session, state.pos + 1)) {
      followRecord(state, record)
      state = applyRecord(state, record)
      history.fold(record)
      lastMs = record.wallMs ?? record.nowMs
    }
    const folded = { state, history, lastMs }
    this.#folded.set(session, folded)
    const [oldest] = this.#folded.keys()
    if (this.#folded.size > FOLDED_MAX && oldest !== undefined) this.#folded.delete(oldest)
    return folded
  }
}
