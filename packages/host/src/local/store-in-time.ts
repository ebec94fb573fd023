// A store as a host uses it: every act has a deadline, so that a store which does not answer holds up nothing for ever.
import type { Store, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Limit } from '@baton/runtime'
import { within } from '@baton/runtime'

/** Milliseconds that one act of a store may take, and each piece of a list or a log. */
export const STORE_ACT_MS = 30_000

/** All but what has deadlines of its own: what is acquired too late must be given back, and appends are tried again. */
export type LimitedStore = Omit<Store, 'leaseMs' | 'acquire' | 'append' | 'close'>

export function createLateError(name: string): BatonError {
  return new BatonError({ code: 'store_failed', message: `the store did not answer in ${STORE_ACT_MS} ms (${name})` })
}

/**
 * Waits for running writes of a session before it is removed: they would come back after it, and belong to
 * the next session of its name. Fails when they do not end.
 * @throws BatonError `store_failed` from every act that takes longer than its time
 */
export function limitStoreActs(store: Store, timers: Timers): LimitedStore {
  const limit = (name: string): Limit => ({ timeoutMs: STORE_ACT_MS, error: () => createLateError(name) })
  const limited =
    <Given extends readonly unknown[], Value>(name: string, act: (...given: Given) => Promise<Value>) =>
    (...given: Given): Promise<Value> =>
      within(timers, limit(name), act(...given))
  const writes = new Writes()
  const writing =
    <Given extends readonly unknown[]>(name: string, act: (session: string, ...given: Given) => Promise<void>) =>
    (session: string, ...given: Given): Promise<void> =>
      within(timers, limit(name), writes.note(session, act(session, ...given)))
  const remove: Store['remove'] = async (session, owner) => {
    await within(timers, limit('what it still writes of the session'), writes.ended(session))
    await within(timers, limit('remove'), store.remove(session, owner))
  }
  const { blobs, heartbeat } = store
  return {
    put: limited('put', (...given) => store.put(...given)),
    read: (session, fromPos) => eachInTime(timers, limit('read'), store.read(session, fromPos)),
    list: (options) => eachInTime(timers, limit('list'), store.list(options)),
    listRecoverable: () => eachInTime(timers, limit('listRecoverable'), store.listRecoverable()),
    restore: limited('restore', (...given) => store.restore(...given)),
    renew: limited('renew', (...given) => store.renew(...given)),
    release: limited('release', (...given) => store.release(...given)),
    remove,
    requestHandover: limited('requestHandover', (...given) => store.requestHandover(...given)),
    snapshots: {
      put: writing('snapshots.put', (...given) => store.snapshots.put(...given)),
      latest: limited('snapshots.latest', (...given) => store.snapshots.latest(...given)),
    },
    blobs: {
      put: writing('blobs.put', (...given) => blobs.put(...given)),
      get: limited('blobs.get', (...given) => blobs.get(...given)),
      names: limited('blobs.names', (...given) => blobs.names(...given)),
    },
    health: limited('health', () => store.health()),
    ...(heartbeat && {
      heartbeat: {
        read: limited('heartbeat.read', (...given) => heartbeat.read(...given)),
        write: limited('heartbeat.write', (...given) => heartbeat.write(...given)),
      },
    }),
  }
}

/** Running writes, by session. */
class Writes {
  readonly #running = new Map<string, Set<Promise<void>>>()

  note(session: string, write: Promise<void>): Promise<void> {
    const running = this.#running.get(session) ?? new Set()
    this.#running.set(session, running.add(write))
    const end = (): void => {
      running.delete(write)
      if (running.size === 0 && this.#running.get(session) === running) this.#running.delete(session)
    }
    write.then(end, end)
    return write
  }

  async ended(session: string): Promise<void> {
    for (let running = this.#running.get(session); running; running = this.#running.get(session))
      await Promise.allSettled(running)
  }
}

/** Each piece has the whole time. */
async function* eachInTime<Value>(timers: Timers, limit: Limit, read: AsyncIterable<Value>): AsyncGenerator<Value> {
  const reader = read[Symbol.asyncIterator]()
  let isHanging = false
  try {
    for (;;) {
      isHanging = true
      const next = await within(timers, limit, reader.next())
      isHanging = false
      if (next.done === true) return
      yield next.value
    }
  } finally {
    // One that does not answer would not answer to this either.
    if (!isHanging) await reader.return?.()
  }
}
