// Checks of several processes that share a store: one owner at a time, which alone appends and works, and a log that
// contains every input accepted by any of them.
import type { Accepted, Refused, Store } from '@baton/core/internal'
import type { ClientReport, SessionRecord, UserCommand } from '@baton/core/machine'
import type { SimulatedProcess } from './process.ts'
import type { ObservedSession } from './observed-session.ts'
import type { OnStored } from './simulated-world.ts'

export interface OwnershipOptions {
  /** Processes with a running model call of the session that was not given up. */
  readonly working: (session: string) => readonly SimulatedProcess[]
  /** The session that people use. */
  readonly root: string
  readonly fail: (failure: Error) => void
  /** Called when the session has another process than at its previous record. */
  readonly onMove: () => void
}

export class OwnershipWatch {
  readonly #init: OwnershipOptions
  /** The newest epoch that the store gave for each session. */
  readonly #epochs = new Map<string, number>()
  #writer: string | undefined
  /** Inputs with an id: those in the log, and those accepted by a process. */
  readonly #stored = new Set<string>()
  readonly #accepted = new Set<string>()

  constructor(init: OwnershipOptions) {
    this.#init = init
  }

  /** The store as seen by the process with this name; `onStored` receives what it has stored. */
  observe(name: string, disk: Store, onStored: OnStored): Store {
    return {
      ...disk,
      acquire: async (...given) => {
        const outcome = await disk.acquire(...given)
        if (outcome.type === 'acquired') this.#noteOwner(name, given[0], outcome.epoch)
        return outcome
      },
      append: async (session, epoch, afterPos, records) => {
        const pos = await disk.append(session, epoch, afterPos, records)
        this.#noteRecords(name, session, records)
        onStored(records, session)
        return pos
      },
    }
  }

  noteAnswer(input: UserCommand | ClientReport, { type }: Accepted | Refused): void {
    if (type !== 'accepted' || !('inputId' in input)) return
    this.#accepted.add(input.inputId)
    if (!this.#stored.has(input.inputId))
      this.#init.fail(new Error(`${input.inputId} was accepted, but is not in the log`))
  }

  /** Reads the logs of the sessions again. @throws Error describing what is missing or duplicated */
  async checkLogs(disk: Store, sessions: ReadonlyMap<string, ObservedSession>): Promise<void> {
    for (const [session, { records }] of sessions) await this.checkLog(disk, session, records)
  }

  /** Reads the session's log again. @throws Error describing what is missing or duplicated */
  async checkLog(disk: Store, session: string, observed: readonly SessionRecord[]): Promise<void> {
    const records: SessionRecord[] = []
    for await (const record of disk.read(session, 0)) records.push(record)
    if (JSON.stringify(records) !== JSON.stringify(observed))
      throw new Error(`the log has ${records.length} records that differ from the ${observed.length} appended ones`)
    const stored = new Set(records.map(({ input }) => input.inputId))
    const lost = [...this.#accepted].filter((id) => !stored.has(id))
    if (session === this.#init.root && lost.length > 0)
      throw new Error(`accepted, but not in the log: ${lost.join(', ')}`)
    const facts = records.flatMap((record) => record.facts)
    const settled = facts.flatMap((fact) =>
      fact.type === 'call-settled' && fact.via === undefined ? [fact.callId] : [],
    )
    if (new Set(settled).size < settled.length) throw new Error('a call is settled twice')
    const left = facts
      .flatMap((fact) => (fact.type === 'step-finished' ? fact.calls.map(({ callId }) => callId) : []))
      .filter((callId) => !settled.includes(callId))
    if (left.length > 0) throw new Error(`never settled: ${left.join(', ')}`)
  }

  #noteOwner(name: string, session: string, epoch: number): void {
    const former = this.#epochs.get(session) ?? 0
    if (epoch <= former) this.#init.fail(new Error(`${name} gets epoch ${epoch} of ${session} after ${former}`))
    this.#epochs.set(session, epoch)
    const working = this.#init.working(session).length
    if (working > 0)
      this.#init.fail(new Error(`${name} gets ${session} while ${working} model calls of its former owner are running`))
  }

  #noteRecords(name: string, session: string, records: readonly SessionRecord[]): void {
    const owned = this.#epochs.get(session)
    for (const { epoch, input, pos } of records) {
      if (epoch !== owned)
        this.#init.fail(
          new Error(`record ${pos} of ${session}, of ${name}, is of epoch ${epoch}, and the owner's is ${owned}`),
        )
      if (input.inputId !== undefined) this.#stored.add(input.inputId)
    }
    if (session !== this.#init.root) return
    if (this.#writer !== undefined && this.#writer !== name) this.#init.onMove()
    this.#writer = name
  }
}
