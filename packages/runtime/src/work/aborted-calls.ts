// Aborted model calls that have not settled, by session. A model may take time to notice its signal: until then its
// call runs, and the session's next call waits. It knows nothing of attempts and phases.
import type { Logger, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

export interface AbortedCallsOptions {
  readonly timers: Timers
  readonly log: Logger
  /** Milliseconds to wait for an aborted call; 0 to 60,000, 5,000 by default. */
  readonly abortMs?: number | undefined
}

const ABORT_MS = 5000
const ABORT_MAX_MS = 60_000

export class AbortedCalls {
  readonly #init: AbortedCallsOptions
  readonly #abortMs: number
  /** Calls by session. A session without such calls has no entry. */
  readonly #calls = new Map<string, Set<Promise<void>>>()
  /** Number of sessions with such calls; changed only by this class. */
  count = 0

  /** @throws BatonError `invalid_option` */
  constructor(init: AbortedCallsOptions) {
    const { abortMs = ABORT_MS } = init
    if (!(abortMs >= 0 && abortMs <= ABORT_MAX_MS))
      throw new BatonError({ code: 'invalid_option', message: `abortMs must be 0 to ${ABORT_MAX_MS}, not ${abortMs}` })
    this.#init = init
    this.#abortMs = abortMs
  }

  /** Notes an aborted call. `settled` never rejects. */
  note(session: string, settled: Promise<void>): void {
    const calls = this.#calls.get(session) ?? new Set()
    this.#calls.set(session, calls)
    const ended = this.#endInTime(session, settled).then(() => {
      calls.delete(ended)
      if (calls.size === 0) this.#calls.delete(session)
      this.count = this.#calls.size
    })
    calls.add(ended)
    this.count = this.#calls.size
  }

  /**
   * Resolves when all of the session's aborted calls have settled or timed out; undefined if it has none. Never
   * rejects.
   */
  settled(session: string): Promise<void> | undefined {
    const calls = this.#calls.get(session)
    return calls && Promise.all(calls).then(() => {})
  }

  #endInTime(session: string, settled: Promise<void>): Promise<void> {
    const { timers, log } = this.#init
    return new Promise((resolve) => {
      const abandon = (): void => {
        log.warn('an aborted model call did not settle and was abandoned', { session, waitedMs: this.#abortMs })
        resolve()
      }
      const stopTimer = timers.start(this.#abortMs, abandon, { isBackground: true })
      void settled.then(() => {
        stopTimer()
        resolve()
      })
    })
  }
}
