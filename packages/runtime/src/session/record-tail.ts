// The newest records of an open session, kept for the links of a tree, which look at each record as it is published. Readers
// of a session share its events instead.
import type { SessionRecord } from '@baton/core/machine'
import type { SessionStream } from './stream.ts'

/** Records that are kept; older ones are read from the log. */
const KEPT_MAX = 16

export class RecordTail {
  readonly #stream: SessionStream
  readonly #stop: () => void
  /** In order and without gaps. */
  #kept: SessionRecord[] = []
  /** The reading that is under way: links that ask for the same records share it. */
  #reading: { readonly from: number; readonly records: Promise<readonly SessionRecord[]> } | undefined

  constructor(stream: SessionStream) {
    this.#stream = stream
    this.#stop = stream.onRecord((record) => this.#keep([record]))
  }

  /** Returns the records from a position up to the newest published one. @throws BatonError as `SessionStream.records` */
  async from(pos: number): Promise<readonly SessionRecord[]> {
    const { nextPos } = this.#stream
    if (pos >= nextPos) return []
    const first = this.#kept[0]?.pos ?? nextPos
    if (first <= pos && this.#kept.at(-1)?.pos === nextPos - 1) return this.#kept.slice(pos - first)
    if (this.#reading?.from === pos) return await this.#reading.records
    const records = this.#read(pos)
    const reading = { from: pos, records }
    this.#reading = reading
    try {
      return await records
    } finally {
      if (this.#reading === reading) this.#reading = undefined
    }
  }

  stop(): void {
    this.#stop()
    this.#kept = []
  }

  async #read(pos: number): Promise<readonly SessionRecord[]> {
    const records: SessionRecord[] = []
    for await (const record of this.#stream.records(pos)) records.push(record)
    const kept = this.#kept
    const first = kept[0]?.pos
    if (first === undefined || records.at(-1)?.pos === first - 1) {
      this.#kept = []
      this.#keep([...records, ...kept])
    }
    return records
  }

  #keep(records: readonly SessionRecord[]): void {
    for (const record of records) {
      const last = this.#kept.at(-1)
      if (last && record.pos !== last.pos + 1) this.#kept = []
      this.#kept.push(record)
    }
    this.#kept.splice(0, this.#kept.length - KEPT_MAX)
  }
}
