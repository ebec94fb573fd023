// Decides whether the wall clock can be trusted before anything is deleted. A clock set forward looks like a long
// downtime. Time itself tells the difference: how much of it a host has seen pass, and whether the clock stays
// consistent.
import type { Clock, LogStore } from '@baton/core/internal'
import { parseJson, isJsonObject, readMonotonicMs } from '@baton/core/internal'

export interface TrustedClockOptions {
  readonly clock: Clock
  readonly store: Pick<LogStore, 'heartbeat'>
  /**
   * Milliseconds the clock may be ahead of the known time. A clock further ahead is trusted once a host has run with it
   * for this long.
   */
  readonly patienceMs: number
}

export type ClockReading =
  | { readonly type: 'believed'; readonly nowMs: number }
  /** `heldMs`: how long a host has run with this clock. */
  | { readonly type: 'ahead'; readonly nowMs: number; readonly aheadMs: number; readonly heldMs: number }

/** The content of the store's heartbeat. */
interface Known {
  /** The wall clock when it was last trusted. */
  readonly wallMs: number
  readonly heldMs: number
}

export class TrustedClock {
  readonly #init: TrustedClockOptions
  /** When this process started using the clock: records made since then may carry a wrong time themselves. */
  readonly #startMs: number
  #known: Known | undefined
  #readAtMs = 0

  constructor(init: TrustedClockOptions) {
    this.#init = init
    this.#startMs = init.clock.nowMs()
  }

  /**
   * Reads the clock. `findNewestMs` returns the time of the newest record before a given time; it is called once.
   * @throws BatonError `store_failed`
   */
  async read(findNewestMs: (beforeMs: number) => Promise<number>): Promise<ClockReading> {
    const { clock, store, patienceMs } = this.#init
    const atMs = readMonotonicMs(clock)
    const nowMs = clock.nowMs()
    const isFirst = this.#known === undefined
    const passedMs = isFirst ? 0 : atMs - this.#readAtMs
    const known = this.#known ?? (await this.#recall(findNewestMs))
    const expectedMs = known.wallMs + passedMs
    const aheadMs = known.wallMs === 0 ? 0 : nowMs - expectedMs
    const heldMs = aheadMs > patienceMs ? known.heldMs + passedMs : 0
    const isBelieved = aheadMs <= patienceMs || heldMs >= patienceMs
    this.#readAtMs = atMs
    this.#known = isBelieved ? { wallMs: nowMs, heldMs: 0 } : { wallMs: expectedMs, heldMs }
    await store.heartbeat?.write(JSON.stringify(this.#known))
    return isBelieved ? { type: 'believed', nowMs } : { type: 'ahead', nowMs, aheadMs, heldMs }
  }

  async #recall(findNewestMs: (beforeMs: number) => Promise<number>): Promise<Known> {
    const noted = readKnown(await this.#init.store.heartbeat?.read())
    return { wallMs: Math.max(noted.wallMs, await findNewestMs(this.#startMs)), heldMs: noted.heldMs }
  }
}

/** Parses a heartbeat. A missing or unreadable one yields zeros. */
function readKnown(text = ''): Known {
  const parsed = parseJson(text)
  const { wallMs, heldMs } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const isKnown = typeof wallMs === 'number' && typeof heldMs === 'number' && wallMs >= 0 && heldMs >= 0
  return isKnown ? { wallMs, heldMs } : { wallMs: 0, heldMs: 0 }
}
