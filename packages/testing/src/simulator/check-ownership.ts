// Checks of several processes that share a store: one owner at a time, who alone appends and alone works, and a log
// that has every input which any of them accepted.
import type { Accepted, Refused, Store } from '@baton/core'
import type { ClientReport, SessionRecord, UserCommand } from '@baton/core/machine'
import type { SimulatedProcess } from './process.ts'

export interface OwnershipInit {
  /** Processes in which a model is asked at this moment, and was not given up. */
  readonly working: () => readonly SimulatedProcess[]
  readonly fail: (failure: Error) => void
  /** The session has another process than its record before. */
  readonly onMove: () => void
}

export class OwnershipWatch {
  readonly #init: OwnershipInit
  /** The newest that the store has given. */
  #epoch = 0
  #writer: string | undefined
  /** Inputs with an id: those that the log has, and those that a process has accepted. */
  readonly #stored = new Set<string>()
  readonly #accepted = new Set<string>()

  constructor(init: OwnershipInit) {
    this.#init = init
  }

  /** The store as the process of this name sees it; `onStored` hears of what it has stored. */
  observe(name: string, disk: Store, onStored: (records: readonly SessionRecord[]) => void): Store {
    return {
      ...disk,
      acquire: async (...given) => {
        const outcome = await disk.acquire(...given)
        if (outcome.type === 'acquired') this.#noteOwner(name, outcome.epoch)
        return outcome
      },
      append: async (session, epoch, afterPos, records) => {
        const pos = await disk.append(session, epoch, afterPos, records)
        this.#noteRecords(name, records)
        onStored(records)
        return pos
      },
    }
  }

  noteAnswer(input: UserCommand | ClientReport, { type }: Accepted | Refused): void {
    if (type !== 'accepted' || !('inputId' in input)) return
    this.#accepted.add(input.inputId)
    if (!this.#stored.has(input.inputId))
      this.#init.fail(new Error(`${input.inputId} is accepted, and the log does not have it`))
  }

  /** Reads the log of the session once more. @throws Error that says what it lacks, or has twice */
  async checkLog(disk: Store, session: string, observed: readonly SessionRecord[]): Promise<void> {
    const records: SessionRecord[] = []
    for await (const record of disk.read(session, 0)) records.push(record)
    if (JSON.stringify(records) !== JSON.stringify(observed))
      throw new Error(`the log has ${records.length} records, which are not the ${observed.length} that were appended`)
    const stored = new Set(records.map(({ input }) => input.inputId))
    const lost = [...this.#accepted].filter((id) => !stored.has(id))
    if (lost.length > 0) throw new Error(`accepted, and not in the log: ${lost.join(', ')}`)
    const facts = records.flatMap((record) => record.facts)
    const settled = facts.flatMap((fact) => (fact.type === 'call-settled' ? [fact.callId] : []))
    if (new Set(settled).size < settled.length) throw new Error('a call is settled twice')
    const left = facts
      .flatMap((fact) => (fact.type === 'step-finished' ? fact.calls.map(({ callId }) => callId) : []))
      .filter((callId) => !settled.includes(callId))
    if (left.length > 0) throw new Error(`never settled: ${left.join(', ')}`)
  }

  #noteOwner(name: string, epoch: number): void {
    if (epoch <= this.#epoch) this.#init.fail(new Error(`${name} gets epoch ${epoch} after ${this.#epoch}`))
    this.#epoch = epoch
    const working = this.#init.working().length
    if (working > 0)
      this.#init.fail(new Error(`${name} gets the session while ${working} model calls of its former owner run on`))
  }

  #noteRecords(name: string, records: readonly SessionRecord[]): void {
    for (const { epoch, input, pos } of records) {
      if (epoch !== this.#epoch)
        this.#init.fail(new Error(`record ${pos} of ${name} is of epoch ${epoch}, and the owner's is ${this.#epoch}`))
      if (input.inputId !== undefined) this.#stored.add(input.inputId)
    }
    if (this.#writer !== undefined && this.#writer !== name) this.#init.onMove()
    this.#writer = name
  }
}
