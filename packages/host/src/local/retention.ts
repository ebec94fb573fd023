// Removes sessions that have not been used for a while.
import { describeThrown } from '@baton/runtime'
import type { OpenSessions } from './open-sessions.ts'
import type { LimitedStore } from './store-in-time.ts'
import type { Clock, LogStore, Environment, ErrorCode, Logger } from '@baton/core/internal'
import { parseJson, isJsonObject, readMonotonicMs, isBatonError } from '@baton/core/internal'

export interface RetentionOptions {
  readonly store: LimitedStore
  readonly environment: Environment
  readonly log: Logger
  /** Milliseconds to keep a session after its last record. */
  readonly keepMs: number
  readonly openSessions: OpenSessions
  /** Whether this host tried to recover the session and could not. */
  readonly isUnrecovered: (session: string) => boolean
  /** Removes one session. @throws BatonError `session_held`, `store_failed` */
  readonly remove: (session: string) => Promise<void>
}

/** Milliseconds between two looks. */
const LOOK_MS = 3_600_000
/**
 * Milliseconds the clock may be ahead before it is doubted. If sessions are kept for less, that shorter time applies.
 */
const PATIENCE_MS = 7 * 86_400_000

/**
 * Looks at once, then every hour until the returned function is called. A session with work left by a dead host is
 * removed if it was so at the look before too: hosts recover it meanwhile, however long its host was down.
 */
export function startRetention(init: RetentionOptions): () => void {
  const { store, environment, keepMs } = init
  let stop = (): void => {}
  let stopped = false
  const clock = new TrustedClock({ clock: environment.clock, store, patienceMs: Math.min(PATIENCE_MS, keepMs) })
  let left: ReadonlySet<string> = new Set()
  const look = async (): Promise<void> => {
    left = await removeOld(init, clock, left)
    if (!stopped) stop = environment.timers.start(LOOK_MS, () => void look())
  }
  void look()
  return () => {
    stopped = true
    stop()
  }
}

/**
 * Returns the old sessions with work that a dead host left; `formerlyLeft` holds those of the look before. Never rejects.
 */
async function removeOld(
  init: RetentionOptions,
  clock: TrustedClock,
  formerlyLeft: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const { store, log, keepMs, openSessions, isUnrecovered } = init
  const left = new Set<string>()
  try {
    const reading = await clock.read((beforeMs) => findNewestMs(store, beforeMs))
    if (reading.type === 'ahead') {
      tellAhead(log, reading)
      return left
    }
    const untilMs = reading.nowMs - keepMs
    const waiting = await findWaiting(store)
    for await (const { session, records, lastMs, isOwned, holder, damage } of store.list()) {
      if (damage !== undefined) log.warn('a damaged session is kept', { session, cause: damage })
      if (damage !== undefined) continue
      if (lastMs > untilMs || openSessions.isOpen(session) || holder || waiting.has(session)) continue
      if (isOwned) left.add(session)
      if (isOwned && (!formerlyLeft.has(session) || isUnrecovered(session))) continue
      if (!(await openSessions.alone(session, () => removeUnused(init, session, records)))) continue
      log.info('an unused session was removed', { session, lastUse: describeMoment(lastMs) })
    }
  } catch (cause) {
    log.warn('old sessions could not be removed', { cause: describeThrown(cause) })
  }
  return left
}

/** Sessions with a reminder. */
async function findWaiting(store: LimitedStore): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (let page = await store.listDue(); page.length > 0; page = await store.listDue(page.at(-1)))
    for (const { session } of page) found.add(session)
  return found
}

async function findNewestMs(store: LimitedStore, beforeMs: number): Promise<number> {
  let newestMs = 0
  for await (const { lastMs } of store.list()) if (lastMs < beforeMs) newestMs = Math.max(newestMs, lastMs)
  return newestMs
}

function tellAhead(log: Logger, { nowMs, aheadMs, heldMs }: Extract<ClockReading, { readonly type: 'ahead' }>): void {
  log.warn('old sessions are kept because the clock is implausibly far ahead', {
    code: 'clock_implausible' satisfies ErrorCode,
    clock: describeMoment(nowMs),
    aheadHours: Math.round(aheadMs / HOUR_MS),
    seenHours: Math.round(heldMs / HOUR_MS),
    hint: 'Correct the clock. If it is right, old sessions will be removed once a host has run with it for long enough.',
  })
}

const HOUR_MS = 3_600_000

/** An ISO date, or the bare number if it is beyond the range of JavaScript dates. */
function describeMoment(ms: number): string {
  const moment = new Date(ms)
  return Number.isNaN(moment.getTime()) ? String(ms) : moment.toISOString()
}

/**
 * Removes a session unless it has been used since it was listed, another host has taken it, or it cannot be read: its
 * remains may still be needed.
 */
async function removeUnused(
  { store, remove, log }: RetentionOptions,
  session: string,
  records: number,
): Promise<boolean> {
  try {
    for await (const { pos } of store.read(session, 0)) if (pos >= records) return false
    await remove(session)
    return true
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_held') return false
    if (isBatonError(cause) && cause.code === 'log_damaged') {
      log.warn('a damaged session is kept', { session, cause: cause.message })
      return false
    }
    throw cause
  }
}

interface TrustedClockOptions {
  readonly clock: Clock
  readonly store: Pick<LogStore, 'heartbeat'>
  /**
   * Milliseconds the clock may be ahead of the known time. A clock further ahead is trusted once a host has run with it
   * for this long.
   */
  readonly patienceMs: number
}

type ClockReading =
  | { readonly type: 'believed'; readonly nowMs: number }
  /** `heldMs`: how long a host has run with this clock. */
  | { readonly type: 'ahead'; readonly nowMs: number; readonly aheadMs: number; readonly heldMs: number }

/** The content of the store's heartbeat. */
interface Known {
  /** The wall clock when it was last trusted. */
  readonly wallMs: number
  readonly heldMs: number
}

class TrustedClock {
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
