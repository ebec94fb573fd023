// Records on their way to the log: they leave with the next activity, or by one of their own, and are kept until one has
// answered that carried them.
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow'
import type { SessionRecord } from '@baton/core/machine'
import { publishRecords } from './activities.ts'

export class Publishing {
  /** Not known to be in the log. */
  waiting: readonly SessionRecord[]
  /** Set when another writer has the log: what this run decides can no longer be kept. */
  conflict: ApplicationFailure | undefined
  readonly #session: string
  #newestPos = -1
  /** Up to here an activity carries them. */
  #carriedPos = -1
  #flight: Promise<void> | undefined

  constructor(session: string, waiting: readonly SessionRecord[]) {
    this.#session = session
    this.waiting = waiting
    this.#newestPos = waiting.at(-1)?.pos ?? -1
  }

  add(records: readonly SessionRecord[]): void {
    if (records.length === 0) return
    this.waiting = [...this.waiting, ...records]
    this.#newestPos = records.at(-1)?.pos ?? this.#newestPos
  }

  /** Records that the next activity takes along; none if another one has them. */
  takeAlong(): readonly SessionRecord[] {
    if (this.#carriedPos >= this.#newestPos) return []
    this.#carriedPos = this.#newestPos
    return this.waiting
  }

  /** An activity that carried records up to `pos` has written them. */
  confirm(pos: number): void {
    this.waiting = this.waiting.filter((record) => record.pos > pos)
  }

  /** One that carried them did not come through. */
  release(): void {
    this.#carriedPos = Math.min(this.#carriedPos, (this.waiting[0]?.pos ?? this.#newestPos + 1) - 1)
  }

  /** Starts an activity for what nobody carries, one at a time. */
  publish(): void {
    if (this.#flight || this.#carriedPos >= this.#newestPos) return
    const records = this.takeAlong()
    const pos = this.#newestPos
    this.#flight = publishRecords(this.#session, records).then(
      () => {
        this.#flight = undefined
        this.confirm(pos)
        this.publish()
      },
      (cause: unknown) => void this.noteConflict(cause),
    )
  }

  /** Writes what waits. False: the log goes on with something else, and what waits is dropped. */
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
