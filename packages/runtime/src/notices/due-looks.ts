// Looks at a store by the wall clock: now, at the next known time, and every half minute. Its users say what a look does.
import type { Clock, Logger, Timers } from '@baton/core/internal'
import { describeThrown } from '../describe-thrown.ts'

export interface DueLooksOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Name of what is due, in the plural, for the log. */
  readonly what: string
  /** Does what is due. @throws BatonError `store_failed` */
  readonly look: () => Promise<Looked>
}

export interface Looked {
  /** The earliest time that is not due yet; Infinity if there is none. */
  readonly nextMs: number
  /** False: something due was left, for the next look. */
  readonly isDone: boolean
}

export interface LooksOptions {
  /** Whether other hosts may leave something behind, so that looks never cease. */
  readonly isShared?: boolean
}

/** Maximum milliseconds between two looks: the wall clock may be set, and other hosts may leave something behind. */
const LOOK_MS = 30_000
/** Milliseconds until the next look if something due was left. */
const AGAIN_MS = 5000

export class DueLooks {
  readonly #init: DueLooksOptions
  isStopped = false
  #hasStarted = false
  #isShared = false
  #isLooking = false
  /** Another look is wanted as soon as the running one ends. */
  #isWanted = false
  /** Time of the next look by the wall clock. */
  #nextMs = Infinity
  /** Earliest time noted while a look runs, which may have passed it. */
  #notedMs = Infinity
  #stopTimer = (): void => {}

  constructor(init: DueLooksOptions) {
    this.#init = init
  }

  /** Looks now, and later whenever something is due. */
  start({ isShared = false }: LooksOptions = {}): void {
    if (this.#hasStarted && (this.#isShared || !isShared)) return
    this.#hasStarted = true
    this.#isShared ||= isShared
    this.#wake()
  }

  /** Notes that something is due at this time. */
  note(dueMs: number): void {
    if (this.isStopped) return
    if (!this.#hasStarted) this.start()
    else if (this.#isLooking) this.#notedMs = Math.min(this.#notedMs, dueMs)
    else if (dueMs < this.#nextMs) this.#waitUntil(dueMs)
  }

  stop(): void {
    this.isStopped = true
    this.#stopTimer()
  }

  #waitUntil(dueMs: number, mostMs = LOOK_MS): void {
    this.#stopTimer()
    if (this.isStopped) return
    const nowMs = this.#init.clock.nowMs()
    const delayMs = Math.min(Math.max(0, dueMs - nowMs), mostMs)
    this.#nextMs = nowMs + delayMs
    this.#stopTimer = this.#init.timers.start(Math.ceil(delayMs), () => this.#wake(), { isBackground: true })
  }

  #wake(): void {
    this.#isWanted = true
    if (!this.#isLooking) void this.#lookWhileWanted()
  }

  /** Never rejects. */
  async #lookWhileWanted(): Promise<void> {
    this.#isLooking = true
    while (this.#isWanted && !this.isStopped) {
      this.#isWanted = false
      this.#notedMs = Infinity
      try {
        const { nextMs, isDone } = await this.#init.look()
        const untilMs = Math.min(nextMs, this.#notedMs)
        if (!isDone) this.#waitUntil(untilMs, AGAIN_MS)
        else if (untilMs < Infinity || this.#isShared) this.#waitUntil(untilMs)
        else this.#nextMs = Infinity
      } catch (cause) {
        const { log, what } = this.#init
        if (!this.isStopped) log.warn(`${what} could not be listed`, { cause: describeThrown(cause) })
        this.#waitUntil(Infinity)
      }
    }
    this.#isLooking = false
  }
}
