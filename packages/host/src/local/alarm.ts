// The alarm of a host: opens sessions whose reminders are due, by the wall clock, and tells them. It asks the store, which
// knows every session's time from its records, so open and closed sessions, restarts and several hosts are one case.
import type { Clock, DueSession, Logger, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { State } from '@baton/core/machine'
import { findDue } from '@baton/core/machine'
import type { Looked, LooksOptions, OpenedSession } from '@baton/runtime'
import { describeThrown, DueLooks, listDue, readIdentity } from '@baton/runtime'
import type { LimitedStore } from './store-in-time.ts'

export interface AlarmOptions {
  readonly store: LimitedStore
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Whether a session of this agent can be opened here. */
  readonly knows: (agent: string) => boolean
  /** Whether it is open here, with whichever agent. */
  readonly isOpen: (session: string) => boolean
  /** Opens a session for its principal. @throws BatonError */
  readonly open: (session: string, principal: string) => Promise<OpenedSession>
}

/** Sessions opened in parallel. */
const AT_ONCE = 8
/** Maximum remembered sessions that could not be opened. */
const LEFT_MAX = 10_000

const OTHER_AGENT = 'another agent'
/** Reasons that last until the session has another time. */
const LASTING: ReadonlySet<string> = new Set([OTHER_AGENT, 'log_damaged', 'log_version_unknown', 'nothing due'])

interface Left {
  readonly dueMs: number
  readonly reason: string
}

export class Alarm {
  readonly #init: AlarmOptions
  readonly #looks: DueLooks
  /** Sessions that were not told at the last look. */
  #left: ReadonlyMap<string, Left> = new Map()

  constructor(init: AlarmOptions) {
    this.#init = init
    this.#looks = new DueLooks({ ...init, what: 'due sessions', look: () => this.#look() })
  }

  start(options?: LooksOptions): void {
    this.#looks.start(options)
  }

  /** Called when a session has been opened, and after each of its commits. */
  note(state: State): void {
    const dueMs = state.reminders.length === 0 ? null : findDue(state)
    if (dueMs !== null) this.#looks.note(dueMs)
  }

  stop(): void {
    this.#looks.stop()
  }

  /** Tells all that are due. `nextMs`: the earliest time that is not. @throws BatonError `store_failed` */
  async #look(): Promise<Looked> {
    const left = new Map<string, Left>()
    let nextMs = Infinity
    let page: readonly DueSession[] = await this.#init.store.listDue()
    while (page.length > 0 && nextMs === Infinity) {
      const nowMs = this.#init.clock.nowMs()
      const due = page.filter(({ dueMs }) => dueMs <= nowMs)
      nextMs = page[due.length]?.dueMs ?? Infinity
      const rest = due[Symbol.iterator]()
      // The workers share the iterator, so each session goes to one of them.
      const work = async (): Promise<void> => {
        for (const one of { [Symbol.iterator]: () => rest }) await this.#tell(one, left)
      }
      await Promise.all(Array.from({ length: AT_ONCE }, work))
      if (this.#looks.isStopped) break
      if (nextMs === Infinity) page = await this.#init.store.listDue(page.at(-1))
    }
    this.#left = left
    return { nextMs, isDone: [...left.values()].every(({ reason }) => LASTING.has(reason)) }
  }

  /** Never rejects. */
  async #tell({ session, dueMs }: DueSession, left: Map<string, Left>): Promise<void> {
    if (this.#looks.isStopped) return
    const known = this.#left.get(session)
    const note = (reason: string): void => {
      if (left.size < LEFT_MAX) left.set(session, { dueMs, reason })
    }
    const isLasting = known?.dueMs === dueMs && LASTING.has(known.reason) && !this.#init.isOpen(session)
    if (isLasting) return note(known.reason)
    try {
      const failed = await this.#open(session)
      if (failed !== undefined) note(failed)
    } catch (cause) {
      const reason = isBatonError(cause) ? cause.code : 'internal'
      if (reason === 'unknown_session') return // it was removed
      note(reason)
      // Its holder also has an alarm.
      if (reason === 'session_held' || this.#looks.isStopped || known?.reason === reason) return
      this.#init.log.warn('a session could not be told that a reminder is due', {
        session,
        cause: describeThrown(cause),
      })
    }
  }

  /** Returns why the session was not told; undefined if it was. @throws BatonError */
  async #open(session: string): Promise<string | undefined> {
    const { store, clock, knows, isOpen, open } = this.#init
    const identity = await readIdentity(store, session)
    if (!identity) return undefined
    if (!isOpen(session) && !knows(identity.agent)) return OTHER_AGENT
    const { engine, leave } = await open(session, identity.principal)
    try {
      const due = await listDue(engine.state(), clock.nowMs())
      if (due.length === 0) return findDue(engine.state()) === null ? 'nothing due' : undefined
      const answers = await engine.submit(due)
      return answers.flatMap((answer) => (answer.type === 'refused' ? [answer.code] : []))[0]
    } finally {
      leave()
    }
  }
}
