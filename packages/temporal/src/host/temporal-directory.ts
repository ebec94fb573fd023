// Lists the sessions of all gateways and workers from their logs; the bus reports which have changed.
import type { Logger, SessionDirectory } from '@baton/core/internal'
import type { SessionRecord, State } from '@baton/core/machine'
import { applyRecord, followRecord, initialState } from '@baton/core/machine'
import { Directory } from '@baton/runtime'
import type { BusMessage, LiveBus } from '../live/live-bus.ts'
import { EVERY_SESSION } from '../live/live-bus.ts'
import type { SessionLog } from '../session-view.ts'

export interface TemporalDirectoryOptions {
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
}

/** Folded states to remember, so that a change only costs reading the new records. */
const FOLDED_MAX = 256
/** Maximum milliseconds between writers' clocks, for finding unreported changes. */
const APART_MS = 60_000

export class TemporalDirectory implements Pick<SessionDirectory, 'sessions' | 'has' | 'watch'> {
  readonly #init: TemporalDirectoryOptions
  readonly #directory: Directory
  readonly #folded = new Map<string, State>()
  /** Sessions whose change is being reported; `again` if another change arrived meanwhile. */
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
      fold: (session, first) => this.#fold(session, first),
    })
  }

  sessions: SessionDirectory['sessions'] = async (query) => await this.#directory.sessions(query)

  has: SessionDirectory['has'] = async (session) => await this.#directory.has(session)

  /** Subscribes to the bus when the first watcher arrives. */
  watch: SessionDirectory['watch'] = (query) => {
    const { bus, log } = this.#init
    const hear = (message: BusMessage): void => this.#hear(message)
    this.#unsubscribe ??= bus.subscribe(EVERY_SESSION, hear, () => void this.#findMissed())
    this.#unsubscribe.catch((cause: unknown) => {
      log.warn('changes of sessions cannot be watched', { cause: String(cause) })
    })
    return this.#directory.watch(query)
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

  async #fold(session: string, first: SessionRecord): Promise<State> {
    const known = this.#folded.get(session)
    const [opened] = first.facts
    const isSame = opened?.type === 'session-opened' && known?.birth === opened.birth
    let state = isSame ? known : initialState(session)
    for await (const record of this.#init.store.read(session, state.pos + 1)) {
      followRecord(state, record)
      state = applyRecord(state, record)
    }
    this.#folded.delete(session)
    this.#folded.set(session, state)
    const [oldest] = this.#folded.keys()
    if (this.#folded.size > FOLDED_MAX && oldest !== undefined) this.#folded.delete(oldest)
    return state
  }
}
