// A store that outlives the simulated processes, as seen by one of them: slow, failing before or after the operation.
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import { CHILD_PREFIX } from '@baton/core/internal'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import type { SimulatedProcess } from './process.ts'

export interface StoreFaults {
  /** Chance that an append fails, half of the time after the records were stored. */
  failing: number
  /** Chance that a call takes up to 2 s. */
  slow: number
}

export interface SimulatedStoreOptions {
  /** The disk, or the connection to it: a separate store that does not share these failures. */
  readonly disk: Store
  readonly process: SimulatedProcess
  readonly random: Random
  readonly faults: StoreFaults
  readonly onFault: (fault: string) => void
  /** Called when a snapshot is on its way to the disk. */
  readonly onSnapshot: (snapshot: Snapshot) => void
}

export function createSimulatedStore(init: SimulatedStoreOptions): Store {
  const { disk, process, random, faults } = init
  const around = async <Value>(name: string, act: () => Promise<Value>): Promise<Value> => {
    await process.point(`${name}, before`)
    if (random.chance(faults.slow)) {
      init.onFault('store-slow')
      await process.wait(random.below(2000))
    }
    const value = await act()
    await process.point(`${name}, after`)
    return value
  }
  const failed = (): BatonError => {
    init.onFault('store-failure')
    return new BatonError({ code: 'store_failed', message: 'the simulated disk failed' })
  }
  const plain = { list: disk.list, children: disk.children, listDue: disk.listDue, restore: disk.restore }
  return {
    leaseMs: disk.leaseMs,
    acquire: (...given) => around(nameAct('store.acquire', given[0]), () => disk.acquire(...given)),
    append: (session, epoch, afterPos, records) =>
      around(nameAct('store.append', session), async () => {
        const fails = random.chance(faults.failing)
        if (fails && random.chance(0.5)) throw failed()
        const pos = await disk.append(session, epoch, afterPos, records)
        if (fails) throw failed()
        return pos
      }),
    read: async function* (session, fromPos) {
      await process.point('store.read')
      yield* disk.read(session, fromPos)
    },
    renew: (owner) =>
      around('store.renew', () => (random.chance(faults.failing) ? Promise.reject(failed()) : disk.renew(owner))),
    release: (session, epoch, left) => around('store.release', () => disk.release(session, epoch, left)),
    rest: (session, epoch) => around('store.rest', async () => await disk.rest?.(session, epoch)),
    resume: (resting) => around('store.resume', async () => (await disk.resume?.(resting)) ?? false),
    requestHandover: (session, owner) => disk.requestHandover(session, owner),
    put: (...given) => disk.put(...given),
    ...plain,
    entries: disk.entries,
    outbox: disk.outbox,
    listRecoverable: async function* () {
      await process.point('store.listRecoverable')
      yield* disk.listRecoverable()
    },
    remove: (session, owner) => disk.remove(session, owner),
    snapshots: {
      put: (session, snapshot) =>
        around('snapshots.put', async () => {
          init.onSnapshot(snapshot)
          await disk.snapshots.put(session, snapshot)
        }),
      latest: (session) => around('snapshots.latest', () => disk.snapshots.latest(session)),
    },
    blobs: {
      put: (session, name, text) =>
        around('blobs.put', async () => {
          if (random.chance(faults.failing)) throw failed()
          await disk.blobs.put(session, name, text)
        }),
      get: (session, name) => around('blobs.get', () => disk.blobs.get(session, name)),
      names: (session) => disk.blobs.names(session),
    },
    health: () => disk.health(),
    close: () => Promise.resolve(),
  }
}

/** `onStored` receives records as soon as the disk has them, whether or not others learn of it. */
export function observeDisk(
  disk: Store,
  onStored: (records: readonly SessionRecord[], session: string) => void,
): Store {
  return {
    ...disk,
    append: async (session, epoch, afterPos, records) => {
      const pos = await disk.append(session, epoch, afterPos, records)
      onStored(records, session)
      return pos
    },
  }
}

/** Children have other crash points. */
function nameAct(name: string, session: string): string {
  return session.startsWith(CHILD_PREFIX) ? `${name} of a child` : name
}
