// A store that lives as long as its process, for tests, scripts and `--store memory:`. It keeps JSON text like the
// stores on disk, so returned values are never shared and values that JSON cannot hold are refused.
import type {
  Acquired,
  DueSession,
  NotTheRoot,
  OutboxRow,
  OwnedLogStore,
  RowPlace,
  SessionEntry,
  StoredSession,
  Under,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, checkName, DUE_ROWS, findDueChange } from '@baton/core/internal'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import { checkRecords, checkWholeLog } from '@baton/core/machine'
import { checkChild, checkNames, checkOwn } from './child-checks.ts'
import type { LeaseOptions } from './lease-book.ts'
import { checkLeft, LeaseBook } from './lease-book.ts'
import { EntryIndex, writePlace } from './entry-index.ts'
import { planPut } from './put-by-position.ts'
import { MEMORY_RECORDS_A_TURN, ReadPace } from './read-pace.ts'

/**
 * A store in memory, from `createMemoryStore`: for tests, and for programs whose sessions may end with the process.
 */
export interface MemoryStore extends OwnedLogStore {
  /** Ends every lease, as if every owner had died: their sessions can be recovered at once. */
  expireLeases(): void
}

const FIELDS = new Set(['leaseMs', 'clock'])

/** @throws BatonError `invalid_option` */
export function createMemoryStore(options: LeaseOptions = {}): MemoryStore {
  checkFields(options, { what: 'createMemoryStore', code: 'invalid_option', fields: FIELDS })
  checkKinds(options, { what: 'createMemoryStore', code: 'invalid_option', kinds: { clock: 'an object' } })
  const logs = new Logs()
  const leases = new LeaseBook(options)
  const pace = new ReadPace(MEMORY_RECORDS_A_TURN)
  const list: OwnedLogStore['list'] = (given) => listSessions(logs, leases, { after: given?.after })
  let heartbeat: string | undefined
  return {
    ...ownership(logs, leases),
    leaseMs: leases.leaseMs,
    expireLeases: () => leases.endAll(),
    put: async (session, records, under) => {
      checkNames(session, under)
      checkRecords(records)
      const bodies = records.map((record) => encodeJson(session, record))
      logs.check(session, under?.root)
      const kept = logs.get(session)?.records ?? []
      const log = {
        lastPos: kept.length - 1,
        heldBy: leases.holder(under?.root ?? session)?.owner,
        missingRoot: under && !logs.isRoot(under.root) ? under.root : undefined,
        bodyAt: (pos: number) => kept[pos],
      }
      const plan = planPut({ session, positions: records.map(({ pos }) => pos), bodies }, log)
      if (plan.type === 'conflict') throw new BatonError({ code: 'store_conflict', message: plan.message })
      if (plan.bodies.length === 0) return
      leases.endRest(session)
      logs.add(logs.make(session, under?.root), plan.bodies, records)
    },
    read: (session, fromPos) => readRecords(logs, pace, { session, fromPos }),
    list,
    listRecoverable: async function* () {
      for await (const one of list()) if (one.isOwned && !one.holder) yield one
    },
    listDue: async (after) => logs.listDue(after),
    children: (root, given) => listSessions(logs, leases, { after: given?.after, root }),
    restore: async (session, records, under) => {
      checkNames(session, under)
      checkWholeLog(records)
      logs.check(session, under?.root)
      const existing = logs.hasRecords(session) ? session : under && logs.isRoot(under.root) ? under.root : undefined
      if (existing !== undefined)
        throw new BatonError({ code: 'session_exists', message: `session ${existing} already exists in the store` })
      const bodies = records.map((record) => encodeJson(session, record))
      logs.add(logs.own(session, under?.root), bodies, records) // under an epoch that nobody has
      leases.end(session, leases.leaseOf(session))
    },
    remove: async (session, owner) => {
      logs.check(session, undefined)
      leases.checkFree(session, owner)
      logs.remove(session)
      leases.end(session, leases.leaseOf(session))
    },
    ...keepTexts(logs),
    entries: keepEntries(logs),
    outbox: keepOutbox(logs),
    health: async () => ({ ok: true }),
    heartbeat: {
      read: async () => heartbeat,
      write: async (text) => {
        heartbeat = text
      },
    },
    close: async () => {},
  }
}

interface Reading {
  readonly session: string
  readonly fromPos: number
}

async function* readRecords(logs: Logs, pace: ReadPace, { session, fromPos }: Reading): AsyncGenerator<SessionRecord> {
  const records = logs.get(session)?.records ?? []
  for (let pos = Math.max(0, fromPos); pos < records.length; pos++) {
    const body = records[pos] ?? ''
    const turn = pace.takeTurn(body.length)
    if (turn) await turn
    yield JSON.parse(body) as SessionRecord // as it was put in
  }
}

/** Snapshots and blobs. */
function keepTexts(logs: Logs): Pick<OwnedLogStore, 'snapshots' | 'blobs'> {
  return {
    snapshots: {
      put: async (session, snapshot) => {
        checkName('a session’s id', session)
        logs.make(session).snapshot = encodeJson(session, snapshot)
      },
      latest: async (session) => {
        const text = logs.get(session)?.snapshot
        return text === undefined ? undefined : (JSON.parse(text) as Snapshot) // as it was put in
      },
    },
    blobs: {
      put: async (session, name, text) => {
        checkName('a session’s id', session)
        checkName('a blob’s name', name)
        logs.make(session).blobs.set(name, text)
      },
      get: async (session, name) => logs.get(session)?.blobs.get(name),
      names: async (session) => [...(logs.get(session)?.blobs.keys() ?? [])].toSorted(byCodeUnit),
    },
  }
}

function keepEntries(logs: Logs): OwnedLogStore['entries'] {
  return {
    find: async (query) =>
      logs.index.find(query).map(({ session, atMs, item }) => {
        const body = logs.get(session)?.entry?.body
        return { session, atMs, item, place: writePlace(atMs, item, session), ...(body !== undefined && { body }) }
      }),
    get: async (session) => logs.get(session)?.entry?.body,
    outdated: async function* ({ after } = {}) {
      for (const [session, log] of logs.sorted())
        if (log.isOutdated && log.records.length > 0 && (after === undefined || byCodeUnit(session, after) > 0))
          yield { session, records: log.records.length, lastMs: log.lastMs }
    },
    put: async (session, pos, entry) => {
      const log = logs.get(session)
      if (!log?.isOutdated) return
      logs.enter(session, log, JSON.parse(encodeJson(session, entry)) as SessionEntry) // a copy of what was put in
      log.isOutdated = pos < log.records.length - 1
    },
  }
}

function keepOutbox(logs: Logs): OwnedLogStore['outbox'] {
  return {
    get: async (session, name) => logs.get(session)?.outbox?.get(name)?.body,
    swap: async (session, name, was, row) => {
      const log = logs.get(session)
      if (!log || log.root !== undefined || log.records.length === 0 || log.outbox?.get(name)?.body !== was)
        return false
      if (row) (log.outbox ??= new Map()).set(name, { ...row })
      else log.outbox?.delete(name)
      return true
    },
    find: async ({ list, after, limit }) => {
      const rows = logs
        .sorted()
        .flatMap(([session, { outbox }]) => [...(outbox ?? [])].map(([name, row]) => ({ ...row, session, name })))
        .filter((row) => row.list === list && (!after || comparePlaces(after, row) < 0))
      return rows
        .toSorted(comparePlaces)
        .slice(0, limit)
        .map(({ session, name, atMs, body }) => ({ session, name, atMs, body }))
    },
  }
}

function comparePlaces(one: RowPlace, other: RowPlace): number {
  return one.atMs - other.atMs || byCodeUnit(one.session, other.session) || byCodeUnit(one.name, other.name)
}

type Ownership = Pick<OwnedLogStore, 'acquire' | 'append' | 'renew' | 'release' | 'rest' | 'resume' | 'requestHandover'>

function ownership(logs: Logs, leases: LeaseBook): Ownership {
  return {
    acquire: async (session, owner, address, under) => {
      checkNames(session, under)
      if (under) return acquireUnder(logs, leases, { session, under })
      logs.check(session, undefined)
      const lease = leases.give(session, owner, address)
      if (lease.type === 'held') return lease
      const log = logs.own(session)
      lease.epoch = log.epoch
      return { type: 'acquired', epoch: log.epoch, pos: log.records.length - 1, leaseUntilMs: lease.untilMs }
    },
    append: async (session, epoch, afterPos, records) => {
      const { entry } = records
      const log = logs.get(session)
      const pos = (log?.records.length ?? 0) - 1
      if (!log || log.epoch !== epoch || pos !== afterPos)
        throw new BatonError({
          code: 'store_conflict',
          message: `session ${session} is at epoch ${log?.epoch ?? 0}, position ${pos}, not at ${epoch}, ${afterPos}`,
        })
      const bodies = records.map((record) => encodeJson(session, record))
      if (entry !== 'same' || log.isOutdated) logs.enter(session, log, entry === 'same' ? undefined : entry)
      return logs.add(log, bodies, records, 'entered').records.length - 1
    },
    renew: async (owner) => leases.renew(owner),
    release: async (session, epoch, left = 'nothing') => {
      checkLeft(left)
      const log = logs.get(session)
      if (log?.epoch !== epoch) return
      if (left === 'nothing') log.isOwned = false
      leases.end(session, leases.leaseOf(session))
    },
    rest: async (session, epoch) => {
      const log = logs.get(session)
      if (log?.epoch !== epoch) return
      log.isOwned = false
      leases.rest(session, epoch)
    },
    resume: async (resting) => {
      const log = logs.get(resting.session)
      if (!log || !leases.resume(resting)) return false
      log.isOwned = true
      return true
    },
    requestHandover: async (session, owner) => leases.requestHandover(session, owner),
  }
}

interface Child {
  readonly session: string
  readonly under: Under
}

function acquireUnder(logs: Logs, leases: LeaseBook, { session, under }: Child): Acquired | NotTheRoot {
  const root = logs.get(under.root)
  if (root?.epoch !== under.rootEpoch || root.root !== undefined) return { type: 'not-the-root' }
  logs.check(session, under.root)
  const log = logs.own(session, under.root)
  leases.end(session, leases.leaseOf(session)) // of a session of this name that had no record
  const leaseUntilMs = leases.endOf(under.root)
  return { type: 'acquired', epoch: log.epoch, pos: log.records.length - 1, leaseUntilMs }
}

interface Log {
  entry?: SessionEntry
  /** The entry misses records. */
  isOutdated: boolean
  /** The root of a child. */
  root: string | undefined
  epoch: number
  isOwned: boolean
  lastMs: number
  dueMs: number | null
  readonly records: string[]
  readonly blobs: Map<string, string>
  outbox?: Map<string, OutboxRow>
  snapshot?: string
}

class Logs {
  readonly #logs = new Map<string, Log>()
  readonly index = new EntryIndex()
  /** One counter for all sessions: the owner of a removed session must not be mistaken for that of its successor. */
  #epochs = 0

  get(session: string): Log | undefined {
    return this.#logs.get(session)
  }

  hasRecords(session: string): boolean {
    return (this.#logs.get(session)?.records.length ?? 0) > 0
  }

  isRoot(session: string): boolean {
    return this.hasRecords(session) && this.#logs.get(session)?.root === undefined
  }

  /** Checks that the session may be written under this root, or without one. @throws BatonError `illegal_input` */
  check(session: string, root: string | undefined): void {
    const log = this.#logs.get(session)
    if (root === undefined) checkOwn(session, log)
    else checkChild(session, root, log && { root: log.root, pos: log.records.length - 1 })
  }

  make(session: string, root?: string): Log {
    const log = this.#logs.get(session) ?? {
      root,
      epoch: 0,
      isOwned: false,
      isOutdated: false,
      lastMs: 0,
      dueMs: null,
      records: [],
      blobs: new Map(),
    }
    if (root !== undefined) log.root = root
    this.#logs.set(session, log)
    return log
  }

  own(session: string, root?: string): Log {
    const log = this.make(session, root)
    this.#epochs += 1
    log.epoch = this.#epochs
    log.isOwned = root === undefined
    return log
  }

  /** Replaces the session's entry; without one, the old entry is outdated. */
  enter(session: string, log: Log, entry: SessionEntry | undefined): void {
    if (log.root !== undefined) return
    log.isOutdated = !entry
    if (!entry) return
    this.index.move(session, log.entry?.places ?? [], entry.places)
    log.entry = entry
  }

  /** Adds the last of these records, as texts. `entered`: the entry has been changed with them. */
  add(log: Log, bodies: readonly string[], records: readonly SessionRecord[], entered?: 'entered'): Log {
    if (!entered && log.root === undefined) log.isOutdated = true
    for (const body of bodies) log.records.push(body)
    const last = records.at(-1)
    const dueMs = findDueChange(records)
    if (dueMs !== undefined) log.dueMs = dueMs
    log.lastMs = last?.wallMs ?? last?.nowMs ?? log.lastMs
    this.#epochs = Math.max(this.#epochs, last?.epoch ?? 0)
    return log
  }

  remove(root: string): void {
    this.index.move(root, this.#logs.get(root)?.entry?.places ?? [], [])
    this.#logs.delete(root)
    for (const [session, log] of this.#logs) if (log.root === root) this.#logs.delete(session)
  }

  listDue(after: DueSession | undefined): readonly DueSession[] {
    const due = [...this.#logs].flatMap(([session, { dueMs, root }]) =>
      dueMs === null || root !== undefined ? [] : [{ session, dueMs }],
    )
    const byTime = (one: DueSession, other: DueSession): number =>
      one.dueMs - other.dueMs || byCodeUnit(one.session, other.session)
    const behind = due.filter((one) => !after || byTime(after, one) < 0)
    return behind.toSorted(byTime).slice(0, DUE_ROWS)
  }

  sorted(): readonly (readonly [string, Log])[] {
    return [...this.#logs].toSorted(([one], [other]) => byCodeUnit(one, other))
  }
}

interface Listing {
  readonly after: string | undefined
  /** Lists the children of this root. Without it, lists independent sessions. */
  readonly root?: string
}

async function* listSessions(
  logs: Logs,
  leases: LeaseBook,
  { after = '', root }: Listing,
): AsyncGenerator<StoredSession> {
  for (const [session, log] of logs.sorted()) {
    if (log.root !== root || (after !== '' && byCodeUnit(session, after) <= 0)) continue
    const holder = leases.holder(root ?? session)
    const known = { session, records: log.records.length, lastMs: log.lastMs, isOwned: log.isOwned }
    if (root !== undefined || log.records.length > 0) yield { ...known, ...(holder && { holder }) }
  }
}

function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** @throws BatonError `store_failed` for a value that JSON cannot hold, such as a bigint or a cycle */
export function encodeJson(session: string, value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new BatonError({
      code: 'store_failed',
      message: `session ${session}: the value cannot be stored as JSON`,
      cause,
    })
  }
}
