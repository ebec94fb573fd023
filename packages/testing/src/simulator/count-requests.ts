// A store that counts unanswered requests, during which virtual time is paused.
import type { Store } from '@baton/core'

/** Virtual time is paused while a thread works on a request. */
export function countRequests(store: Store, count: (change: number) => void): Store {
  const counted = <Args extends readonly unknown[], Value>(act: (...args: Args) => Promise<Value>) => {
    return async (...args: Args): Promise<Value> => {
      count(1)
      try {
        return await act(...args)
      } finally {
        count(-1)
      }
    }
  }
  const iterated = <Args extends readonly unknown[], Value>(read: (...args: Args) => AsyncIterable<Value>) =>
    async function* (...args: Args): AsyncGenerator<Value> {
      const reader = read(...args)[Symbol.asyncIterator]()
      try {
        const next = counted(() => reader.next())
        for (let one = await next(); one.done !== true; one = await next()) yield one.value
      } finally {
        await reader.return?.()
      }
    }
  const { snapshots, blobs, entries, outbox, rest, resume } = store
  return {
    ...store,
    acquire: counted(store.acquire),
    append: counted(store.append),
    release: counted(store.release),
    renew: counted(store.renew),
    listDue: counted(store.listDue),
    ...(rest && resume && { rest: counted(rest), resume: counted(resume) }),
    read: iterated(store.read),
    list: iterated(store.list),
    children: iterated(store.children),
    restore: counted(store.restore),
    remove: counted(store.remove),
    snapshots: { put: counted(snapshots.put), latest: counted(snapshots.latest) },
    entries: {
      find: counted(entries.find),
      get: counted(entries.get),
      put: counted(entries.put),
      outdated: iterated(entries.outdated),
    },
    outbox: { get: counted(outbox.get), swap: counted(outbox.swap), find: counted(outbox.find) },
    blobs: { put: counted(blobs.put), get: counted(blobs.get), names: counted(blobs.names) },
  }
}
