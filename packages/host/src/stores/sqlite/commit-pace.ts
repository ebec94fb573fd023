// Decides whether a commit is quick enough for the caller's thread. On a good disk, a hop to the worker costs nearly as
// much as the commit; on a slow one, committing here would block every stream of the process. On a busy machine every
// commit takes longer, and the hop most of all: there the commit is compared with the hop.

/** Average milliseconds of a commit up to which the next one runs on the caller's thread. */
export const QUICK_MS = 1
/** Milliseconds of a commit on the caller's thread, beyond a hop, above which it counts as a stall. */
const STALL_MS = 5
/** A longer hop counts as this many milliseconds: the caller's thread may have paused for any length of time. */
const HOP_MS_MAX = 5
/** Share of the measured hop that remains after each commit here, where no hop is measured. */
const HOP_KEPT = 0.995
/** Hops are measured rarely, so the newest one counts this much. */
const HOP_WEIGHT = 0.5
/**
 * After a stall of n ms, the worker commits for this many times n, doubled for each further stall that follows soon.
 */
const STALL_PAUSE_LEAST = 10
const STALL_PAUSE_MOST = 1000
const SOON_MS = 10_000
/** Weight of the newest commit in the average. */
const NEWEST_WEIGHT = 0.2
/** Limits of a batch on the caller's thread, which blocks everything else. */
const ACTS_MAX = 8
const CHARS_MAX = 65_536
/** Sessions that wrote within the last moment. Above this, the worker can commit many at once. */
const SESSIONS_MAX = 4
const MOMENT_MS = 20
const REMEMBERED = 16

export interface Batch {
  readonly sessions: readonly string[]
  /** UTF-16 units. */
  readonly chars: number
}

export class CommitPace {
  #averageMs: number
  /** Milliseconds that a message to the worker and back added to a commit, on average. */
  #hopMs = 0
  #stalledUntilMs = -Infinity
  #stallPause = STALL_PAUSE_LEAST
  readonly #recent: { readonly session: string; readonly atMs: number }[] = []

  /** `commitMs`: the duration of commits when the file was opened. */
  constructor(commitMs: number) {
    this.#averageMs = commitMs
  }

  /** Whether the caller's thread should commit this batch now. Called once per batch. */
  isQuick(batch: Batch, nowMs: number): boolean {
    for (const session of batch.sessions.slice(-REMEMBERED)) this.#recent.push({ session, atMs: nowMs })
    this.#recent.splice(0, this.#recent.length - REMEMBERED)
    if (isLarge(batch)) return false
    if (this.#averageMs > Math.max(QUICK_MS, this.#hopMs)) return false
    if (nowMs < this.#stalledUntilMs) return false
    return countBusy(this.#recent, nowMs - MOMENT_MS) <= SESSIONS_MAX
  }

  /** Records the milliseconds of a batch committed on the caller's thread. */
  noteHere(tookMs: number, nowMs: number): void {
    this.#averageMs += NEWEST_WEIGHT * (tookMs - this.#averageMs)
    const stallMs = STALL_MS + this.#hopMs
    this.#hopMs *= HOP_KEPT
    if (tookMs <= stallMs) return
    const isSoon = nowMs - this.#stalledUntilMs < SOON_MS
    this.#stallPause = isSoon ? Math.min(2 * this.#stallPause, STALL_PAUSE_MOST) : STALL_PAUSE_LEAST
    this.#stalledUntilMs = nowMs + tookMs * this.#stallPause
  }

  /** Records the milliseconds of a batch committed by the worker, and those until its answer was here. */
  noteElsewhere(batch: Batch, tookMs: number, answeredMs: number): void {
    // A large batch says nothing about the time of a small one.
    if (isLarge(batch)) return
    this.#averageMs += NEWEST_WEIGHT * (tookMs - this.#averageMs)
    this.#hopMs += HOP_WEIGHT * (Math.min(answeredMs - tookMs, HOP_MS_MAX) - this.#hopMs)
  }
}

function isLarge({ sessions, chars }: Batch): boolean {
  return sessions.length > ACTS_MAX || chars > CHARS_MAX
}

function countBusy(recent: readonly { readonly session: string; readonly atMs: number }[], sinceMs: number): number {
  const busy = new Set<string>()
  for (const { session, atMs } of recent) if (atMs >= sinceMs) busy.add(session)
  return busy.size
}
