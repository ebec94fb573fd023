// Sessions that apps have started but in which no message was sent yet: the host does not have them, and they leave no
// record. The first message creates the session; all connections that started it then follow it. This server is not
// notified when that happens at a peer, so it polls.
import type { Logger, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describeThrown, within } from '@baton/runtime'

/** Set if other servers share the store. */
export interface SharedStore {
  readonly hasSession: (session: string) => Promise<boolean>
  readonly timers: Timers
  readonly log: Logger
}

/** Milliseconds between checks for sessions created at a peer. */
const LOOK_MS = 2000
/** Sessions checked per look, one after another; if more are waiting, they take turns. */
const LOOKS_MAX = 100
/** Milliseconds that one check may take. */
const QUESTION_MS = 10_000

export class SessionStarts {
  readonly #shared: SharedStore | undefined
  /** Ordered by last check, oldest first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #isLooking = false
  /** Logged once, until a look succeeds. */
  #hasFailed = false

  constructor(shared?: SharedStore) {
    this.#shared = shared
  }

  /** Calls `onOpened` once, when the session is opened, unless the returned function was called before. */
  wait(session: string, onOpened: () => void): () => void {
    const waiting = this.#waiting.get(session) ?? new Set()
    waiting.add(onOpened)
    this.#waiting.set(session, waiting)
    this.#planLook()
    return () => {
      waiting.delete(onOpened)
      if (waiting.size === 0 && this.#waiting.get(session) === waiting) this.#waiting.delete(session)
    }
  }

  /** Called when the session was opened. */
  noteOpened(session: string): void {
    const waiting = this.#waiting.get(session)
    this.#waiting.delete(session)
    for (const onOpened of waiting ?? []) onOpened()
  }

  #planLook(): void {
    if (!this.#shared || this.#isLooking || this.#waiting.size === 0) return
    this.#isLooking = true
    const { timers, log } = this.#shared
    const look = async (): Promise<void> => {
      try {
        await this.#look()
        this.#hasFailed = false
      } catch (cause) {
        if (!this.#hasFailed)
          log.warn('sessions created at peers could not be checked', { cause: describeThrown(cause) })
        this.#hasFailed = true
      }
      this.#isLooking = false
      this.#planLook()
    }
    timers.start(LOOK_MS, () => void look(), { isBackground: true })
  }

  async #look(): Promise<void> {
    for (const session of [...this.#waiting.keys()].slice(0, LOOKS_MAX)) {
      const waiting = this.#waiting.get(session)
      if (!waiting) continue // it is no longer waited for
      this.#waiting.delete(session)
      this.#waiting.set(session, waiting)
      if (await this.#isThere(session)) this.noteOpened(session)
    }
  }

  async #isThere(session: string): Promise<boolean> {
    if (!this.#shared) return false
    const { hasSession, timers } = this.#shared
    const message = `the store did not answer within ${QUESTION_MS} ms whether session ${session} exists`
    const error = (): BatonError => new BatonError({ code: 'store_failed', message })
    return await within(timers, { timeoutMs: QUESTION_MS, error }, hasSession(session))
  }
}
