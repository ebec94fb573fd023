// Model calls that were aborted and have not settled yet, by session. A model may take its time to notice its signal: until then,
// its call runs, and the session's next one waits. It knows nothing of attempts and phases.
import type { Logger, Timers } from '@baton/core'
import { BatonError } from '@baton/core'

export interface AbortedCallsInit {
  readonly timers: Timers
  readonly log: Logger
  /** Milliseconds for which an aborted call is waited for; 0 to 60,000. 5,000 by default. */
  readonly abortMs?: number | undefined
}

const ABORT_MS = 5000
const ABORT_MAX_MS = 60_000

export class AbortedCalls {
  readonly #init: AbortedCallsInit
  readonly #abortMs: number
  /** By session. A session without such calls has no entry. */
  readonly #calls = new Map<string, Set<Promise<void>>>()
  /** Sessions with such calls; only this class changes it. */
  count = 0

  /** @throws BatonError `invalid_option` */
  constructor(init: AbortedCallsInit) {
    const { abortMs = ABORT_MS } = init
    if (!(abortMs >= 0 && abortMs <= ABORT_MAX_MS))
      throw new BatonError({ code: 'invalid_option', message: `abortMs must be 0 to ${ABORT_MAX_MS}, not ${abortMs}` })
    this.#init = init
    this.#abortMs = abortMs
  }

  /** A call was aborted. `settled` never rejects. */
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

  /** Resolves when the session has no such call any more, or each has had its time. Undefined where it has none. Never rejects. */
  settled(session: string): Promise<void> | undefined {
    const calls = this.#calls.get(session)
    return calls && Promise.all(calls).then(() => {})
  }

  #endInTime(session: string, settled: Promise<void>): Promise<void> {
    const { timers, log } = this.#init
    return new Promise((resolve) => {
      const abandon = (): void => {
        log.warn('a model call that was aborted has not ended, and is abandoned', { session, waitedMs: this.#abortMs })
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
