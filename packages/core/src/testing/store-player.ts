// A store in a play: its answers to acts, and whether it keeps what it has acknowledged.
import type {
  AppendedRecords,
  ChildOf,
  FoundEntry,
  RestingSession,
  SessionEntry,
  Store,
  Under,
} from '../agent/store.ts'
import { isBatonError } from '../errors.ts'
import type { SessionRecord } from '../machine/record.ts'
import { readAll } from './store-claims.ts'

export type Act = (player: Player) => Promise<unknown>

/** One store, its epochs by the number of their grant, and what it must have kept. */
export class Player {
  readonly name: string
  readonly store: Store
  readonly #epochs: number[] = []
  /** Texts of each log, by what the store acknowledged. */
  readonly #logs = new Map<string, string[]>()
  readonly #roots = new Map<string, string>()
  /** Number of the newest grant of a session. */
  readonly #newest = new Map<string, number>()
  /** The highest epoch that it has granted. */
  readonly #highest = new Map<string, number>()
  broken: string | undefined

  constructor(name: string, store: Store) {
    this.name = name
    this.store = store
  }

  /** As JSON, with the code of an error. */
  async answer(act: Act): Promise<string> {
    try {
      return JSON.stringify((await act(this)) ?? null)
    } catch (cause) {
      if (isBatonError(cause)) return JSON.stringify({ code: cause.code })
      throw cause
    }
  }

  epoch(at: number): number {
    return this.#epochs[at] ?? -1
  }

  under(root: string, at: number): Under {
    return { root, rootEpoch: this.epoch(at) }
  }

  async acquire(session: string, owner: string, address?: string, under?: Under): Promise<unknown> {
    const outcome = await this.store.acquire(session, owner, address, under)
    if (outcome.type !== 'acquired') return outcome
    const { epoch, ...told } = outcome
    this.#check(epoch > (this.#highest.get(session) ?? 0), `grants ${session} the epoch ${epoch} again`)
    const last = (this.#logs.get(session) ?? []).length - 1
    this.#check(told.pos === last, `grants ${session} at ${told.pos}; its log ends at ${last}`)
    this.#newest.set(session, this.#epochs.length)
    this.#highest.set(session, epoch)
    this.#epochs.push(epoch)
    if (under) this.#roots.set(session, under.root)
    return told
  }

  async append(
    { session, at }: { readonly session: string; readonly at: number },
    afterPos: number,
    records: readonly SessionRecord[],
    entry: SessionEntry | 'same' | undefined,
  ): Promise<number> {
    const epoch = this.epoch(at)
    const given: AppendedRecords = records.map((one) => ({ ...one, epoch }))
    const isChild = this.#roots.has(session)
    const pos = await this.store.append(
      session,
      epoch,
      afterPos,
      entry && !isChild ? Object.assign([...given], { entry }) : given,
    )
    const log = this.#logs.get(session) ?? []
    this.#check(this.#newest.get(session) === at, `takes an append of a former owner of ${session}`)
    this.#check(log.length - 1 === afterPos, `takes an append after ${afterPos} to ${log.length} records of ${session}`)
    this.#logs.set(session, [...log, ...textsOf(records)])
    return pos
  }

  async resume(resting: RestingSession): Promise<boolean> {
    return (await this.store.resume?.(resting)) ?? false
  }

  async put(session: string, records: readonly SessionRecord[], under: ChildOf | undefined): Promise<void> {
    await this.store.put(session, records, under)
    const log = [...(this.#logs.get(session) ?? [])]
    for (const [index, text] of textsOf(records).entries()) {
      const at = (records[index]?.pos ?? 0) satisfies number
      this.#check(at <= log.length && (log[at] ?? text) === text, `puts another record ${at} into ${session}`)
      log[at] = text
    }
    this.#logs.set(session, log)
    if (under) this.#roots.set(session, under.root)
  }

  async restore(session: string, records: readonly SessionRecord[], under: ChildOf | undefined): Promise<void> {
    await this.store.restore(session, records, under)
    this.#check((this.#logs.get(session) ?? []).length === 0, `restores ${session} over a log`)
    this.#logs.set(session, [...textsOf(records)])
    if (under) this.#roots.set(session, under.root)
  }

  async remove(session: string, owner: string | undefined): Promise<void> {
    await this.store.remove(session, owner)
    const below = [...this.#roots].flatMap(([child, root]) => (root === session ? [child] : []))
    for (const one of [session, ...below]) {
      this.#logs.delete(one)
      this.#roots.delete(one)
      this.#newest.delete(one)
    }
  }

  async read(session: string): Promise<readonly string[]> {
    const texts = textsOf(await readAll(this.store, session, 0))
    const kept = this.#logs.get(session) ?? []
    this.#check(texts.join() === kept.join(), `reads ${texts.join()} of ${session}, which has ${kept.join()}`)
    return texts
  }

  /** A whole list in pages, by time and item; stores name places, and order sessions of the same time, as they like. */
  async pages(query: Omit<Parameters<Store['entries']['find']>[0], 'after'>): Promise<readonly unknown[]> {
    const rows: FoundEntry[] = []
    for (let after: string | undefined; ;) {
      const page = await this.store.entries.find({ ...query, ...(after !== undefined && { after }) })
      rows.push(...page)
      after = page.at(-1)?.place
      if (after === undefined) break
    }
    const places = rows.map(({ atMs, item }) => atMs * 10 + item)
    const order = places.toSorted((one, other) => (query.order === 'oldest' ? one - other : other - one))
    this.#check(places.join() === order.join(), `lists entries at ${places.join()}`)
    return rows.map(({ session, atMs, item, body }) => JSON.stringify({ session, atMs, item, body })).toSorted()
  }

  #check(holds: boolean, what: string): void {
    if (!holds) this.broken ??= what
  }
}

function textsOf(records: readonly SessionRecord[]): readonly string[] {
  return records.flatMap(({ facts }) => facts.flatMap((fact) => (fact.type === 'note-queued' ? [fact.text] : [])))
}
