// A store that lives as long as its process: for tests, scripts and `--store memory:`.
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'

interface Log {
  epoch: number
  readonly records: SessionRecord[]
  snapshot?: Snapshot
}

export function createMemoryStore(): Store {
  const logs = new Map<string, Log>()
  const blobs = new Map<string, string>()
  const logOf = (session: string): Log => {
    const log = logs.get(session) ?? { epoch: 0, records: [] }
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
      const log = logOf(session)
      const pos = log.records.length - 1
      if (log.epoch !== epoch || pos !== afterPos)
        throw new BatonError({
          code: 'store_conflict',
          message: `session ${session} is at epoch ${log.epoch}, position ${pos}; not at ${epoch}, ${afterPos}`,
        })
      log.records.push(...records)
      return log.records.length - 1
    },
    read: async function* (session, fromPos) {
      yield* logOf(session).records.slice(Math.max(0, fromPos))
    },
    snapshots: {
      put: async (session, snapshot) => {
        logOf(session).snapshot = snapshot
      },
      latest: async (session) => logOf(session).snapshot,
    },
    blobs: {
      put: async (session, name, text) => {
        blobs.set(`${session}/${name}`, text)
      },
      get: async (session, name) => blobs.get(`${session}/${name}`),
    },
    close: async () => {},
  }
}
