// A store that lives as long as its process: for tests, scripts and `--store memory:`. It keeps JSON text, as the stores
// with a disk do: what it gives back is nobody else's, and what is no JSON is refused here already.
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'

interface Log {
  epoch: number
  readonly records: string[]
  readonly blobs: Map<string, string>
  snapshot?: string
}

export function createMemoryStore(): Store {
  const logs = new Map<string, Log>()
  const logOf = (session: string): Log => {
    const log = logs.get(session) ?? { epoch: 0, records: [], blobs: new Map() }
    logs.set(session, log)
    return log
  }
  return {
    acquire: async (session) => {
      const log = logOf(session)
      log.epoch += 1
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
      const texts = records.map((record) => encode(session, record))
      for (const text of texts) log.records.push(text)
      return log.records.length - 1
    },
    read: async function* (session, fromPos) {
      const records = logs.get(session)?.records ?? []
      for (let pos = Math.max(0, fromPos); pos < records.length; pos++)
        yield JSON.parse(records[pos] ?? '') as SessionRecord // as it was put in
    },
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
    },
    close: async () => {},
  }
}

/** @throws BatonError `store_failed` for what JSON cannot hold */
function encode(session: string, value: SessionRecord | Snapshot): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw new BatonError({ code: 'store_failed', message: `session ${session}: what is to be kept is no JSON`, cause })
  }
}
