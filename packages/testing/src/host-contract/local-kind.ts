// Local hosts in the contract, over any store.
import type { Agent, BlobStore, DueSession, Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { createHost, createMemoryStore, openSqliteStore } from '@baton/host'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VirtualTime } from '../simulator/virtual-time.ts'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import { countRequests } from '../simulator/count-requests.ts'
import type { ContractWorld, ContractWorldOptions, HostKind } from './host-kind.ts'
import { assembleWorld, createSerialIds, createWorldParts } from './world-parts.ts'

export function createMemoryKind(): HostKind {
  return {
    name: 'local over the memory store',
    restarts: true,
    createWorld: async (init) => {
      const time = createVirtualTime(START_MS)
      return createLocalWorld({ store: createMemoryStore(), session: 'tested', time, newId: createSerialIds() }, init)
    },
    close: async () => {},
  }
}

/** One file for all worlds, each with its own session in it. */
export function createSqliteKind(): HostKind {
  const folder = mkdtempSync(join(tmpdir(), 'baton-contract-'))
  const store = openSqliteStore(join(folder, 'store.sqlite'))
  return createSharedKind('local over SQLite', store, async () => {
    await (await store).close()
    rmSync(folder, { recursive: true })
  })
}

/** One store for all worlds, each with its own session in it. */
export function createSharedKind(name: string, shared: Promise<Store>, close: () => Promise<void>): HostKind {
  let asked = 0
  let worlds = 0
  const counted = shared.then((store) => countRequests(store, (change) => (asked += change)))
  return {
    name,
    restarts: true,
    createWorld: async (init) => {
      const time = createVirtualTime(START_MS, () => asked === 0)
      const session = `tested-${(worlds += 1)}`
      return createLocalWorld({ store: await counted, session, time, newId: createSerialIds() }, init)
    },
    close,
  }
}

const START_MS = 10 ** 12

interface Place {
  readonly store: Store
  readonly session: string
  readonly time: VirtualTime
  readonly newId: () => string
}

function createLocalWorld(place: Place, init: ContractWorldOptions): ContractWorld {
  const { store, session, time, newId } = place
  const parts = createWorldParts(time, newId, init)
  const { environment, log } = parts
  const blobs: BlobStore = { ...store.blobs, ...init.blobs }
  const agent: Agent = parts.agent
  const listDue = (after?: DueSession): Promise<readonly DueSession[]> => listOwn(store, session, after)
  const host = createHost({ environment, log, agent, store: { ...store, blobs, listDue }, ...init.catalog })
  const records = async (name = session): Promise<readonly SessionRecord[]> => {
    const all: SessionRecord[] = []
    for await (const record of store.read(name, 0)) all.push(record)
    return all
  }
  const restart = async (next: ContractWorldOptions): Promise<ContractWorld> => {
    await time.until(host.stop())
    return createLocalWorld(place, next)
  }
  return { ...assembleWorld(parts, { host, session, records }), restart }
}

/** A world's host leaves the sessions of other worlds alone. */
async function listOwn(store: Store, session: string, after?: DueSession): Promise<readonly DueSession[]> {
  if (after) return []
  for (let page = await store.listDue(); page.length > 0; page = await store.listDue(page.at(-1))) {
    const own = page.filter((due) => due.session === session)
    if (own.length > 0) return own
  }
  return []
}
