// The budget of one tool call: time and entries. Counts entries, reports progress, and decides when to stop.
import type { AbortSignalLike, Clock, ToolContext } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { WorkspaceLimits } from './workspace-limits.ts'
import { refused } from './refused.ts'

/** Milliseconds between two progress updates; faster calls send none. */
const PROGRESS_MS = 500

export class CallBudget {
  readonly #clock: Clock
  readonly #context: Pick<ToolContext, 'progress'> & { readonly signal: AbortSignalLike }
  readonly #deadlineMs: number
  readonly #entriesMax: number
  #progressAtMs: number
  #entriesSeen = 0
  filesSearched = 0
  /** Entries not shown because they are ignored or protected. */
  hidden = 0
  /** Folders and files that could not be read. */
  unreadable = 0
  /** Whether the work stopped early. */
  hasStopped = false

  constructor(
    clock: Clock,
    limits: Pick<WorkspaceLimits, 'timeMs' | 'walkedEntriesMax'>,
    context: Pick<ToolContext, 'progress'> & { readonly signal: AbortSignalLike },
  ) {
    const nowMs = readMonotonicMs(clock)
    this.#clock = clock
    this.#context = context
    this.#deadlineMs = nowMs + limits.timeMs
    this.#progressAtMs = nowMs + PROGRESS_MS
    this.#entriesMax = limits.walkedEntriesMax
  }

  takeEntry(): void {
    this.#entriesSeen++
  }

  /**
   * Checked between pieces of work.
   * @throws BatonError `cancelled` if the call was aborted
   */
  isSpent(): boolean {
    if (this.#context.signal.aborted) throw refused('cancelled', 'the call was cancelled')
    const nowMs = readMonotonicMs(this.#clock)
    if (nowMs >= this.#progressAtMs) {
      this.#progressAtMs = nowMs + PROGRESS_MS
      this.#context.progress({ entriesSeen: this.#entriesSeen, filesSearched: this.filesSearched })
    }
    this.hasStopped ||= this.#entriesSeen > this.#entriesMax || nowMs > this.#deadlineMs
    return this.hasStopped
  }
}
