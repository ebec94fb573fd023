// The default outbox: a page's database, whose code is loaded separately; none elsewhere, since memory ends with the
// client.
import type { OutboxOptions, OutboxPlace } from './outbox.ts'

export function joinPageOutbox(init: OutboxOptions): OutboxPlace {
  const { indexedDB } = globalThis as { readonly indexedDB?: unknown } // only browsers have it
  if (!indexedDB) return { save: () => {}, remove: () => {}, leave: () => Promise.resolve() }
  const joined = import('./indexed-db-outbox.ts').then(({ createIndexedDbOutbox }) =>
    createIndexedDbOutbox().join(init),
  )
  joined.catch(init.onBroken)
  const then = (use: (place: OutboxPlace) => void | Promise<void>): Promise<void> => joined.then(use).catch(() => {}) // reported above
  return {
    save: (entry) => void then((place) => place.save(entry)),
    remove: (kind, id) => void then((place) => place.remove(kind, id)),
    leave: () => then((place) => place.leave()),
  }
}
