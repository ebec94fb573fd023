// A replica folded from records as they arrive, for engines whose actor is remote.
import type { BatonError } from '@baton/core'
import type { History, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState } from '@baton/core/machine'
import type { SessionReplica } from '../engine.ts'

export class FoldedReplica implements SessionReplica {
  readonly #history = createHistory()
  #state: State
  #waiting: { readonly pos: number; readonly resolve: () => void; readonly reject: (cause: BatonError) => void }[] = []
  #ended: BatonError | undefined

  constructor(session: string) {
    this.#state = initialState(session)
  }

  state(): State {
    return this.#state
  }

  history(): History {
    return this.#history
  }

  /**
   * Returns false for a record that was already folded.
   * @throws BatonError `log_damaged` for a gap, `log_version_unknown`
   */
  fold(record: SessionRecord): boolean {
    if (record.pos <= this.#state.pos) return false
    followRecord(this.#state, record)
    this.#state = applyRecord(this.#state, record)
    this.#history.fold(record)
    if (this.#waiting.length > 0) this.#wake()
    return true
  }

  /** Resolves when the record at this position is folded. @throws BatonError the cause, if the replica ends earlier */
  async reached(pos: number): Promise<void> {
    if (this.#state.pos >= pos) return
    if (this.#ended) throw this.#ended
    await new Promise<void>((resolve, reject) => void this.#waiting.push({ pos, resolve, reject }))
  }

  /** Ends the replica: no further records will arrive. */
  end(cause: BatonError): void {
    this.#ended ??= cause
    for (const { reject } of this.#waiting) reject(this.#ended)
    this.#waiting = []
  }

  #wake(): void {
    const { pos } = this.#state
    for (const one of this.#waiting) if (one.pos <= pos) one.resolve()
    this.#waiting = this.#waiting.filter((one) => one.pos > pos)
  }
}
