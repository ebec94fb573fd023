// A store that lives as long as its process: for tests, scripts and `--store memory:`. It keeps JSON text, as the stores
// with a disk do: what it gives back is nobody else's, and what is no JSON is refused here already.
import type { Store, StoredSession } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'

interface Log {
  epoch: number
  isOwned: boolean
  lastMs: number
  readonly records: string[]
  readonly blobs: Map<string, string>
  snapshot?: string
}

export function createMemoryStore(): Store {
  const logs = new Map<string, Log>()
  /** One count for all sessions: the owner of one that was removed must not be taken for that of its successor. */
  let epochs = 0
  const logOf = (session: string): Log => {
    const log = logs.get(session) ?? { epoch: 0, isOwned: false, lastMs: 0, records: [], blobs: new Map() }
    logs.set(session, log)
    return log
  }
  const add = (log: Log, session: string, records: readonly SessionRecord[]): void => {
    const texts = records.map((record) => encode(session, record))
    for (const text of texts) log.records.push(text)
    log.lastMs = records.at(-1)?.nowMs ?? log.lastMs
  }
  return {
    acquire: async (session) => {
      const log = logOf(session)
      epochs += 1
      log.epoch = epochs
      log.isOwned = true
      return { epoch: log.epoch, pos: log.records.length - 1 }
    },
    append: async (session, epoch, afterPos, records) => {
      const log = logs.get(session)
      const pos = (log?.records.length ?? 0) - 1
      if (!log || log.epoch !== epoch || pos !== afterPos)
        throw new BatonError({
          code: 'store_conflict',
          message: `session ${session} is at epoch ${log?.epoch ?? 0}, position ${pos}; not at ${epoch}, ${afterPos}`,
        })
      add(log, session, records)
      return log.records.length - 1
    },
    release: async (session, epoch) => {
      const log = logs.get(session)
      if (log?.epoch === epoch) log.isOwned = false
    },
    read: async function* (session, fromPos) {
      const records = logs.get(session)?.records ?? []
      for (let pos = Math.max(0, fromPos); pos < records.length; pos++)
        yield JSON.parse(records[pos] ?? '') as SessionRecord // as it was put in
    },
    list: () => listed(logs),
    restore: async (session, records) => {
      const log = logOf(session)
      if (log.records.length > 0) throw new BatonError({ code: 'session_exists', message: `session ${session} exists` })
      add(log, session, records)
      epochs = Math.max(epochs, records.at(-1)?.epoch ?? 0)
      log.isOwned = true
    },
    remove: async (session) => void logs.delete(session),
    snapshots: {
      put: async (session, snapshot) => {
        logOf(session).snapshot = encode(session, snapshot)
      },
      latest: async (session) => {
        const text = logs.get(session)?.snapshot
        return text === undefined ? undefined : (JSON.parse(text) as Snapshot) // as it was put in
      },
    },
    blobs: {
      put: async (session, name, text) => {
        logOf(session).blobs.set(name, text)
      },
      get: async (session, name) => logs.get(session)?.blobs.get(name),
      names: async (session) => [...(logs.get(session)?.blobs.keys() ?? [])].toSorted(byCodeUnit),
    },
    close: async () => {},
  }
}

async function* listed(logs: ReadonlyMap<string, Log>): AsyncGenerator<StoredSession> {
  for (const [session, { records, lastMs, isOwned }] of [...logs].toSorted(([one], [other]) => byCodeUnit(one, other)))
    if (records.length > 0) yield { session, records: records.length, lastMs, isOwned }
}

function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

/** @throws BatonError `store_failed` for what JSON cannot hold */
function encode(session: string, value: SessionRecord | Snapshot): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new BatonError({ code: 'store_failed', message: `session ${session}: what is to be kept is no JSON`, cause })
  }
}
