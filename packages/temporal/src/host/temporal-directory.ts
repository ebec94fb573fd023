// The sessions of all gateways and workers as lists show them: their logs tell, and the bus says which of them have changed.
import type { Logger, SessionDirectory } from '@baton/core'
import type { SessionRecord, State } from '@baton/core/machine'
import { applyRecord, followRecord, initialState } from '@baton/core/machine'
import { Directory } from '@baton/runtime'
import type { BusMessage, LiveBus } from '../live/live-bus.ts'
import { EVERY_SESSION } from '../live/live-bus.ts'
import type { SessionLog } from '../session-view.ts'

export interface TemporalDirectoryInit {
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
}

/** States that are remembered as they were folded last; a change then costs what is new. */
const FOLDED_MAX = 256
/** Milliseconds by which the clocks of those who write may differ, when changes are looked for that nobody has told. */
const APART_MS = 60_000

export class TemporalDirectory implements Pick<SessionDirectory, 'sessions' | 'has' | 'watch'> {
  readonly #init: TemporalDirectoryInit
  readonly #directory: Directory
  readonly #folded = new Map<string, State>()
  /** Sessions whose change is being told; `again`: it has changed once more. */
  readonly #telling = new Map<string, 'once' | 'again'>()
  #unsubscribe: Promise<() => void> | undefined
  #heardMs = Date.now()

  constructor(init: TemporalDirectoryInit) {
    this.#init = init
    const { store, log } = init
    this.#directory = new Directory({
      store,
      log,
      // A replica may be behind the changes that watchers hear of; the log is not.
      findOpen: () => undefined,
      fold: (session, first) => this.#fold(session, first),
    })
  }

  sessions: SessionDirectory['sessions'] = async (query) => await this.#directory.sessions(query)

  has: SessionDirectory['has'] = async (session) => await this.#directory.has(session)

  /** The bus is listened to from the first one who watches on. */
  watch: SessionDirectory['watch'] = (query) => {
    const { bus, log } = this.#init
    const hear = (message: BusMessage): void => this.#hear(message)
    this.#unsubscribe ??= bus.subscribe(EVERY_SESSION, hear, () => void this.#findMissed())
    this.#unsubscribe.catch((cause: unknown) => {
      log.warn('changes of sessions cannot be heard of', { cause: String(cause) })
    })
    return this.#directory.watch(query)
  }

  close(): void {
    this.#unsubscribe?.then(
      (unsubscribe) => unsubscribe(),
      () => {}, // it was told
    )
    this.#directory.close()
  }

  #hear(message: BusMessage): void {
    this.#heardMs = Date.now()
    if (message.type === 'listed') this.#tell(message.session)
    if (message.type !== 'removed' || message.principal === undefined) return
    this.#folded.delete(message.session)
    this.#directory.noteRemoval(message.session, message.principal)
  }

  /** One look at a time for each session: what changes meanwhile is seen by the next one. */
  #tell(session: string): void {
    if (this.#telling.has(session)) {
      this.#telling.set(session, 'again')
      return
    }
    this.#telling.set(session, 'once')
    void this.#directory.noteChange(session).finally(() => {
      const isAgain = this.#telling.get(session) === 'again'
      this.#telling.delete(session)
      if (isAgain) this.#tell(session)
    })
  }

  /** Redis was away: what was written meanwhile is told now. Removals of that time are not. */
  async #findMissed(): Promise<void> {
    const sinceMs = this.#heardMs - APART_MS
    try {
      for await (const { session, lastMs } of this.#init.store.list()) if (lastMs >= sinceMs) this.#tell(session)
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
