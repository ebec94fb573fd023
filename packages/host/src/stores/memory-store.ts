// A store that lives as long as its process, for tests, scripts and `--store memory:`. It keeps JSON text like the
// stores on disk, so returned values are never shared and values that JSON cannot hold are refused.
import type { OwnedLogStore, StoredSession } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, checkName } from '@baton/core/internal'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import { checkRecords } from '@baton/core/machine'
import type { LeaseOptions } from './lease-book.ts'
import { checkLeft, LeaseBook } from './lease-book.ts'
import { planPut } from './put-by-position.ts'

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
  const list: OwnedLogStore['list'] = (given) => listSessions(logs, leases, given?.after)
  let heartbeat: string | undefined
  return {
    ...ownership(logs, leases),
    leaseMs: leases.leaseMs,
    expireLeases: () => leases.endAll(),
    put: async (session, records) => {
      checkName('a session’s id', session)
      checkRecords(records)
      const bodies = records.map((record) => encodeJson(session, record))
      const kept = logs.get(session)?.records ?? []
      const log = {
        lastPos: kept.length - 1,
        heldBy: leases.holder(session)?.owner,
        bodyAt: (pos: number) => kept[pos],
      }
      const plan = planPut({ session, positions: records.map(({ pos }) => pos), bodies }, log)
      if (plan.type === 'conflict') throw new BatonError({ code: 'store_conflict', message: plan.message })
      if (plan.bodies.length === 0) return
      leases.endRest(session)
      logs.add(logs.make(session), plan.bodies, records.at(-1))
    },
    read: async function* (session, fromPos) {
      const records = logs.get(session)?.records ?? []
      for (let pos = Math.max(0, fromPos); pos < records.length; pos++)
        yield JSON.parse(records[pos] ?? '') as SessionRecord // as it was put in
    },
    list,
    listRecoverable: async function* () {
      for await (const one of list()) if (one.isOwned && !one.holder) yield one
    },
    restore: async (session, records) => {
      checkName('a session’s id', session)
      checkRecords(records)
      if ((logs.get(session)?.records.length ?? 0) > 0)
        throw new BatonError({ code: 'session_exists', message: `session ${session} exists` })
      const bodies = records.map((record) => encodeJson(session, record))
      logs.add(logs.make(session), bodies, records.at(-1)).isOwned = true
      leases.end(session, leases.leaseOf(session))
    },
    remove: async (session, owner) => {
      leases.checkFree(session, owner)
      logs.remove(session)
      leases.end(session, leases.leaseOf(session))
    },
    ...keepTexts(logs),
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

type Ownership = Pick<OwnedLogStore, 'acquire' | 'append' | 'renew' | 'release' | 'rest' | 'resume' | 'requestHandover'>

function ownership(logs: Logs, leases: LeaseBook): Ownership {
  return {
    acquire: async (session, owner, address) => {
      checkName('a session’s id', session)
      const lease = leases.give(session, owner, address)
      if (lease.type === 'held') return lease
      const log = logs.own(session)
      lease.epoch = log.epoch
      return { type: 'acquired', epoch: log.epoch, pos: log.records.length - 1, leaseUntilMs: lease.untilMs }
    },
    append: async (session, epoch, afterPos, records) => {
      const log = logs.get(session)
      const pos = (log?.records.length ?? 0) - 1
      if (!log || log.epoch !== epoch || pos !== afterPos)
        throw new BatonError({
          code: 'store_conflict',
          message: `session ${session} is at epoch ${log?.epoch ?? 0}, position ${pos}, not at ${epoch}, ${afterPos}`,
        })
      const bodies = records.map((record) => encodeJson(session, record))
      return logs.add(log, bodies, records.at(-1)).records.length - 1
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

interface Log {
  epoch: number
  isOwned: boolean
  lastMs: number
  readonly records: string[]
  readonly blobs: Map<string, string>
  snapshot?: string
}

class Logs {
  readonly #logs = new Map<string, Log>()
  /** One counter for all sessions: the owner of a removed session must not be mistaken for that of its successor. */
  #epochs = 0

  get(session: string): Log | undefined {
    return this.#logs.get(session)
  }

  make(session: string): Log {
    const log = this.#logs.get(session) ?? { epoch: 0, isOwned: false, lastMs: 0, records: [], blobs: new Map() }
    this.#logs.set(session, log)
    return log
  }

  own(session: string): Log {
    const log = this.make(session)
    this.#epochs += 1
    log.epoch = this.#epochs
    log.isOwned = true
    return log
  }

  /** `last` is the record of the last text. */
  add(log: Log, bodies: readonly string[], last: SessionRecord | undefined): Log {
    for (const body of bodies) log.records.push(body)
    log.lastMs = last?.wallMs ?? last?.nowMs ?? log.lastMs
    this.#epochs = Math.max(this.#epochs, last?.epoch ?? 0)
    return log
  }

  remove(session: string): void {
    this.#logs.delete(session)
  }

  sorted(): readonly (readonly [string, Log])[] {
    return [...this.#logs].toSorted(([one], [other]) => byCodeUnit(one, other))
  }
}

async function* listSessions(logs: Logs, leases: LeaseBook, after = ''): AsyncGenerator<StoredSession> {
  for (const [session, { records, lastMs, isOwned }] of logs.sorted()) {
    if (after !== '' && byCodeUnit(session, after) <= 0) continue
    const holder = leases.holder(session)
    const known = { session, records: records.length, lastMs, isOwned }
    if (records.length > 0) yield { ...known, ...(holder && { holder }) }
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
