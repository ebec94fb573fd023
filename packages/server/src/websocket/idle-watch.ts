// Detects that a connection has been idle for a while.
import type { Clock, Timers } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'

export interface IdleWatchOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly idleMs: number
  /** While true, the connection counts as active. */
  readonly isBusy: () => boolean
  readonly onIdle: () => void
}

export class IdleWatch {
  readonly #init: IdleWatchOptions
  #lastMs: number
  #stopTimer: () => void

  constructor(init: IdleWatchOptions) {
    this.#init = init
    this.#lastMs = readMonotonicMs(init.clock)
    this.#stopTimer = this.#lookIn(init.idleMs)
  }

  /** Notes activity. */
  touch(): void {
    this.#lastMs = readMonotonicMs(this.#init.clock)
  }

  stop(): void {
    this.#stopTimer()
  }

  /** A single timer that is set again when it fires, rather than one per frame. */
  #lookIn(delayMs: number): () => void {
    return this.#init.timers.start(delayMs, () => this.#look())
  }

  #look(): void {
    const { idleMs, isBusy, onIdle } = this.#init
    if (isBusy()) this.touch()
    const leftMs = this.#lastMs + idleMs - readMonotonicMs(this.#init.clock)
    if (leftMs <= 0) onIdle()
    else this.#stopTimer = this.#lookIn(leftMs)
  }
}
