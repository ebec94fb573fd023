// The output of an activity on its way to the readers of its session.
import type { LiveFrame } from '@baton/core/internal'
import type { LiveBus } from '../live/live-bus.ts'

/** Milliseconds to collect pieces. */
const GATHER_MS = 20

/**
 * Streams an activity's output. Pieces are collected briefly, so that a fast model sends one message over the network
 * instead of a hundred.
 */
export class LiveWriter {
  readonly #bus: LiveBus
  readonly #session: string
  readonly #attempt: number | undefined
  #frames: LiveFrame[] = []
  #timer: NodeJS.Timeout | undefined
  /** The text of the answer so far. */
  said = ''

  /** `attempt` is set for a model, whose pieces are stored for late readers. */
  constructor(bus: LiveBus, session: string, attempt?: number) {
    this.#bus = bus
    this.#session = session
    this.#attempt = attempt
  }

  readonly write = (frame: LiveFrame): void => {
    if (frame.type === 'text-delta') this.said += frame.text
    const last = this.#frames.at(-1)
    if (last && frame.type === last.type && (frame.type === 'text-delta' || frame.type === 'reasoning-delta')) {
      const before = last as typeof frame // of the same type
      this.#frames[this.#frames.length - 1] = { ...before, text: before.text + frame.text }
    } else this.#frames.push(frame)
    this.#timer ??= setTimeout(() => this.flush(), GATHER_MS)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#frames.length === 0) return
    const frames = this.#frames
    this.#frames = []
    if (this.#attempt !== undefined) this.#bus.keepAttempt(this.#session, this.#attempt, frames)
    this.#bus.publish(this.#session, { type: 'live', frames })
  }
}
