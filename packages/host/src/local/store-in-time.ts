// A store as a host uses it: every operation has a deadline, so that a store that hangs cannot block anything forever.
import type { Store, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Limit } from '@baton/runtime'
import { within } from '@baton/runtime'

/** Milliseconds for one store operation, and for each item of a list or a log. */
export const STORE_ACT_MS = 30_000

/**
 * A store without the operations whose deadlines are handled elsewhere: a late lease must be returned, and appends are
 * retried.
 */
export type LimitedStore = Omit<Store, 'leaseMs' | 'acquire' | 'append' | 'close'>

export function createLateError(name: string): BatonError {
  return new BatonError({ code: 'store_failed', message: `the store did not answer in ${STORE_ACT_MS} ms (${name})` })
}

/**
 * Adds a deadline to every operation. `remove` first waits for running writes of the session and its children, because
 * they would recreate it for the next session of its name, and fails if they do not end.
 * @throws BatonError `store_failed` from every operation that exceeds its time
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
  const children: Store['children'] = (root, options) =>
    eachInTime(timers, limit('children'), store.children(root, options))
  const remove: Store['remove'] = async (session, owner) => {
    const ended = (one: string): Promise<void> =>
      within(timers, limit('running writes of the session'), writes.ended(one))
    await ended(session)
    if (!writes.isEmpty()) for await (const child of children(session)) await ended(child.session)
    await within(timers, limit('remove'), store.remove(session, owner))
  }
  const { blobs, entries, outbox, heartbeat, rest, resume } = store
  return {
    put: limited('put', (...given) => store.put(...given)),
    read: (session, fromPos) => eachInTime(timers, limit('read'), store.read(session, fromPos)),
    list: (options) => eachInTime(timers, limit('list'), store.list(options)),
    children,
    listRecoverable: () => eachInTime(timers, limit('listRecoverable'), store.listRecoverable()),
    listDue: limited('listDue', (...given) => store.listDue(...given)),
    restore: limited('restore', (...given) => store.restore(...given)),
    renew: limited('renew', (...given) => store.renew(...given)),
    release: limited('release', (...given) => store.release(...given)),
    ...(rest && resume && { rest: limited('rest', rest.bind(store)), resume: limited('resume', resume.bind(store)) }),
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
    entries: {
      find: limited('entries.find', (...given) => entries.find(...given)),
      get: limited('entries.get', (...given) => entries.get(...given)),
      outdated: (options) => eachInTime(timers, limit('entries.outdated'), entries.outdated(options)),
      put: writing('entries.put', (...given) => entries.put(...given)),
    },
    outbox: {
      get: limited('outbox.get', (...given) => outbox.get(...given)),
      swap: limited('outbox.swap', (...given) => outbox.swap(...given)),
      find: limited('outbox.find', (...given) => outbox.find(...given)),
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

/** Running writes by session. */
class Writes {
  readonly #running = new Map<string, Set<Promise<void>>>()

  isEmpty(): boolean {
    return this.#running.size === 0
  }

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

/** Limits the time for each item. */
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
    // A read that hangs would hang here too.
    if (!isHanging) await reader.return?.()
  }
}
