// Sessions that apps have started and nobody has said anything in yet: they are no sessions of the host, and leave no record.
// Whoever speaks first makes the session; the others that started it follow it then. Nobody tells this server when that
// happens at a peer, so it looks.
import type { Logger, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import { describeThrown, within } from '@baton/runtime'

/** Present where other servers share the store. */
export interface SharedStore {
  readonly hasSession: (session: string) => Promise<boolean>
  readonly timers: Timers
  readonly log: Logger
}

/** Milliseconds between two looks at what was begun at a peer. */
const LOOK_MS = 2000
/** Sessions that are asked for in one look, one after another; where more wait, they take turns. */
const LOOKS_MAX = 100
/** Milliseconds that one question may take. */
const QUESTION_MS = 10_000

export class SessionStarts {
  readonly #shared: SharedStore | undefined
  /** The one that was looked for longest ago stands first. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #isLooking = false
  /** Told once, until a look succeeds. */
  #hasFailed = false

  constructor(shared?: SharedStore) {
    this.#shared = shared
  }

  /** `onOpened` is called once, when the session is opened, unless the returned function was called before. */
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

  /** Somebody has opened the session. */
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
        if (!this.#hasFailed) log.warn('nobody knows what was begun at a peer', { cause: describeThrown(cause) })
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
      if (!waiting) continue // nobody waits for it any more
      this.#waiting.delete(session)
      this.#waiting.set(session, waiting)
      if (await this.#isThere(session)) this.noteOpened(session)
    }
  }

  async #isThere(session: string): Promise<boolean> {
    if (!this.#shared) return false
    const { hasSession, timers } = this.#shared
    const message = `the store did not say in ${QUESTION_MS} ms whether session ${session} is there`
    const error = (): BatonError => new BatonError({ code: 'store_failed', message })
    return await within(timers, { timeoutMs: QUESTION_MS, error }, hasSession(session))
  }
}
