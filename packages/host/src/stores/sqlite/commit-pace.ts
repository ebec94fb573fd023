// Whether a commit is quick enough for the caller's thread. A hop to the worker costs nearly as much as the commit on a
// good disk; on a slow one every stream of the process would stand still for as long as the disk takes.

/** Milliseconds that a commit may take on average, for the next one to be made on the caller's thread. */
export const QUICK_MS = 1
/** Milliseconds of one commit on the caller's thread from which it counts as a stall. */
const STALL_MS = 5
/** After a stall the worker commits for so many times as long, and for twice as many after each that comes soon again. */
const STALL_PAUSE_LEAST = 10
const STALL_PAUSE_MOST = 1000
const SOON_MS = 10_000
/** Weight of the newest commit in the average. */
const NEWEST_WEIGHT = 0.2
/** An act on the caller's thread keeps others waiting, so it is small. */
const ACTS_MAX = 8
const CHARS_MAX = 65_536
/** Sessions that wrote a moment ago; with more of them, one commit of the worker is made for many. */
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
  #stalledUntilMs = -Infinity
  #stallPause = STALL_PAUSE_LEAST
  readonly #recent: { readonly session: string; readonly atMs: number }[] = []

  /** `commitMs`: what commits took when the file was opened. */
  constructor(commitMs: number) {
    this.#averageMs = commitMs
  }

  /** Whether the caller's thread should commit this now; called once for each batch. */
  isQuick({ sessions, chars }: Batch, nowMs: number): boolean {
    for (const session of sessions.slice(-REMEMBERED)) this.#recent.push({ session, atMs: nowMs })
    this.#recent.splice(0, this.#recent.length - REMEMBERED)
    if (sessions.length > ACTS_MAX || chars > CHARS_MAX) return false
    if (this.#averageMs > QUICK_MS || nowMs < this.#stalledUntilMs) return false
    return countBusy(this.#recent, nowMs - MOMENT_MS) <= SESSIONS_MAX
  }

  /** Notes the milliseconds of a batch that the caller's thread committed. */
  noteHere(batch: Batch, tookMs: number, nowMs: number): void {
    this.note(batch, tookMs)
    if (tookMs <= STALL_MS) return
    const isSoon = nowMs - this.#stalledUntilMs < SOON_MS
    this.#stallPause = isSoon ? Math.min(2 * this.#stallPause, STALL_PAUSE_MOST) : STALL_PAUSE_LEAST
    this.#stalledUntilMs = nowMs + tookMs * this.#stallPause
  }

  /** Notes the milliseconds of a batch, whichever thread committed it. */
  note({ sessions, chars }: Batch, tookMs: number): void {
    // A large one says nothing of how long a small one would take.
    if (sessions.length > ACTS_MAX || chars > CHARS_MAX) return
    this.#averageMs += NEWEST_WEIGHT * (tookMs - this.#averageMs)
  }
}

function countBusy(recent: readonly { readonly session: string; readonly atMs: number }[], sinceMs: number): number {
  const busy = new Set<string>()
  for (const { session, atMs } of recent) if (atMs >= sinceMs) busy.add(session)
  return busy.size
}
