// Records on their way to the log: they are sent with the next activity, or in a separate one, and kept until an
// activity that carried them succeeds.
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { SessionRecord } from '@baton/core/machine'
import type { PublishedUnder } from '../contract.ts'
import { publishRecords } from './activities.ts'

export class Publishing {
  /** Not known to be in the log. */
  waiting: readonly SessionRecord[]
  /** Set when another writer has the log: this run's decisions can no longer be stored. */
  conflict: ApplicationFailure | undefined
  readonly #session: string
  readonly #under: PublishedUnder | undefined
  #newestPos = -1
  /** An activity carries records up to this position. */
  #carriedPos = -1
  #flight: Promise<void> | undefined

  constructor(session: string, waiting: readonly SessionRecord[], under?: PublishedUnder) {
    this.#session = session
    this.#under = under
    this.waiting = waiting
    this.#newestPos = waiting.at(-1)?.pos ?? -1
  }

  add(records: readonly SessionRecord[]): void {
    if (records.length === 0) return
    this.waiting = [...this.waiting, ...records]
    this.#newestPos = records.at(-1)?.pos ?? this.#newestPos
  }

  /** Records for the next activity to carry; empty if another one has them. */
  takeAlong(): readonly SessionRecord[] {
    if (this.#carriedPos >= this.#newestPos) return []
    this.#carriedPos = this.#newestPos
    return this.waiting
  }

  /** An activity that carried records up to `pos` has written them. */
  confirm(pos: number): void {
    this.waiting = this.waiting.filter((record) => record.pos > pos)
  }

  /** An activity that carried records has failed. */
  release(): void {
    this.#carriedPos = Math.min(this.#carriedPos, (this.waiting[0]?.pos ?? this.#newestPos + 1) - 1)
  }

  /** Starts an activity for records that no activity carries, one at a time. */
  publish(): void {
    if (this.#flight || this.#carriedPos >= this.#newestPos) return
    const records = this.takeAlong()
    const pos = this.#newestPos
    this.#flight = publishRecords(this.#session, records, this.#under).then(
      () => {
        this.#flight = undefined
        this.confirm(pos)
        this.publish()
      },
      (cause: unknown) => void this.noteConflict(cause),
    )
  }

  /** Writes waiting records. Returns false if another writer has continued the log; then they are dropped. */
  async claim(): Promise<boolean> {
    this.publish()
    await this.#flight
    if (!this.conflict) return true
    this.conflict = undefined
    this.#flight = undefined
    this.waiting = []
    this.#newestPos = this.#carriedPos = -1
    return false
  }

  /** Whether an activity failed because another writer has the log. */
  noteConflict(cause: unknown): boolean {
    const failure = cause instanceof ActivityFailure ? cause.cause : undefined
    if (!(failure instanceof ApplicationFailure) || failure.nonRetryable !== true) return false
    this.conflict = ApplicationFailure.nonRetryable(failure.message, failure.type)
    return true
  }

  /** Resolves when everything is in the log. @throws ApplicationFailure when another writer has it */
  async flush(): Promise<void> {
    while (this.waiting.length > 0 && !this.conflict) {
      if (!this.#flight) this.release()
      this.publish()
      await this.#flight
    }
    if (this.conflict) throw this.conflict
  }
}
