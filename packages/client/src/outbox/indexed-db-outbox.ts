// An outbox in the browser's database: a page's messages survive its reload and its end. A copy of the app holds a lock
// while it lives; whoever gets that lock knows that the copy has ended, and takes over its entries.
import type { Outbox, OutboxEntry, OutboxOptions, OutboxPlace } from './outbox.ts'

export interface IndexedDbOutboxOptions {
  /** Name of the database; `baton-outbox` by default. */
  readonly name?: string
}

/**
 * For pages. Without IndexedDB, for example in some private windows, it stores nothing and reports it (`onBroken`).
 * Without the Web Locks of a secure context it cannot tell whether another page is alive, and also takes over entries
 * that page is still sending; the server accepts each once.
 */
export function createIndexedDbOutbox({ name = 'baton-outbox' }: IndexedDbOutboxOptions = {}): Outbox {
  return { join: (init) => new Place(name, init) }
}

interface Row {
  /** Scope, kind and id. */
  readonly key: string
  readonly scope: string
  readonly owner: string
  readonly entry: OutboxEntry
}

const STORE = 'entries'

class Place implements OutboxPlace {
  readonly #init: OutboxOptions
  readonly #platform = readPlatform()
  readonly #owner: string
  #isGone = false
  #release = (): void => {}
  readonly #abort = new AbortController()
  #database: Database | undefined
  /** Serializes the work. */
  #work: Promise<unknown>

  constructor(name: string, init: OutboxOptions) {
    this.#init = init
    this.#owner = `${name} ${this.#platform.crypto.randomUUID()}`
    this.#work = this.#open(name).catch((cause: unknown) => init.onBroken(cause))
  }

  save(entry: OutboxEntry): void {
    this.#write((store) => void store.put(this.#createRow(entry)))
  }

  remove(kind: OutboxEntry['kind'], id: string): void {
    this.#write((store) => void store.delete(this.#nameKey(kind, id)))
  }

  async leave(): Promise<void> {
    this.#isGone = true
    this.#abort.abort()
    await this.#work
    this.#database?.close()
    this.#database = undefined
    this.#release()
  }

  async #open(name: string): Promise<void> {
    const { indexedDB, navigator } = this.#platform
    if (!indexedDB) throw new Error('this browser has no IndexedDB')
    const locks = navigator?.locks
    if (locks) await this.#hold(locks)
    const opening = indexedDB.open(name, 1)
    opening.onupgradeneeded = () =>
      void opening.result.createObjectStore(STORE, { keyPath: 'key' }).createIndex('scope', 'scope')
    const database = await finish(opening)
    // Another page has a newer version of the database, which this page would block.
    database.onversionchange = () => database.close()
    this.#database = database
    const rows = await this.#readRows()
    if (!locks) return this.#adopt(rows)
    for (const owner of new Set(rows.map((row) => row.owner)))
      locks
        .request(owner, { signal: this.#abort.signal }, () => this.#inherit(owner))
        .catch((cause: unknown) => {
          if (!this.#isGone) this.#init.onBroken(cause)
        })
  }

  /** Holds the lock until this copy leaves or its page ends. */
  #hold(locks: Locks): Promise<void> {
    return new Promise((resolve, reject) => {
      locks
        .request(this.#owner, {}, () => {
          resolve()
          return new Promise<void>((release) => {
            this.#release = release
          })
        })
        .catch(reject)
    })
  }

  /** The owner has ended, since its lock is free. Another page may have taken over already. */
  async #inherit(owner: string): Promise<void> {
    if (this.#isGone) return
    const rows = await this.#readRows()
    await this.#adopt(rows.filter((row) => row.owner === owner))
  }

  async #adopt(rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return
    const entries = rows.map(({ entry }) => entry).sort((one, other) => one.atMs - other.atMs)
    const transaction = this.#begin('readwrite')
    for (const entry of entries) transaction.objectStore(STORE).put(this.#createRow(entry))
    await complete(transaction)
    this.#init.onLeft(entries)
  }

  async #readRows(): Promise<readonly Row[]> {
    const store = this.#begin('readonly').objectStore(STORE)
    return await finish(store.index('scope').getAll(this.#init.scope))
  }

  #write(change: (store: Store) => void): void {
    this.#work = this.#work
      .then(async () => {
        if (!this.#database) return // opening failed, which was reported
        const transaction = this.#begin('readwrite')
        change(transaction.objectStore(STORE))
        await complete(transaction)
      })
      .catch((cause: unknown) => this.#init.onBroken(cause))
  }

  #begin(mode: 'readonly' | 'readwrite'): Transaction {
    if (!this.#database) throw new Error('the database is closed')
    return this.#database.transaction(STORE, mode)
  }

  #createRow(entry: OutboxEntry): Row {
    const { scope } = this.#init
    return { key: this.#nameKey(entry.kind, entry.id), scope, owner: this.#owner, entry }
  }

  #nameKey(kind: OutboxEntry['kind'], id: string): string {
    return `${this.#init.scope}\n${kind}\n${id}`
  }
}

function finish<Value>(request: DatabaseRequest<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('IndexedDB gave no reason'))
    request.onblocked = () => reject(new Error('another page has an older version of the database open'))
  })
}

function complete(transaction: Transaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error ?? new Error('IndexedDB gave no reason'))
  })
}

// The used parts of the web's interfaces; their own types are not loaded.

interface DatabaseRequest<Value> {
  readonly result: Value
  readonly error: Error | null
  onsuccess: (() => void) | null
  onerror: (() => void) | null
  onblocked?: (() => void) | null
}

interface Store {
  put(row: Row): unknown
  delete(key: string): unknown
  index(name: string): { getAll(key: string): DatabaseRequest<Row[]> }
  createIndex(name: string, path: string): unknown
}

interface Transaction {
  readonly error: Error | null
  objectStore(name: string): Store
  oncomplete: (() => void) | null
  onabort: (() => void) | null
}

interface Database {
  onversionchange: (() => void) | null
  createObjectStore(name: string, options: { readonly keyPath: string }): Store
  transaction(store: string, mode: 'readonly' | 'readwrite'): Transaction
  close(): void
}

interface Locks {
  request(name: string, options: { readonly signal?: unknown }, held: () => Promise<void>): Promise<void>
}

interface Platform {
  readonly indexedDB?: {
    open(name: string, version: number): DatabaseRequest<Database> & { onupgradeneeded: (() => void) | null }
  }
  readonly navigator?: { readonly locks?: Locks }
  readonly crypto: { randomUUID(): string }
}

function readPlatform(): Platform {
  return globalThis as unknown as Platform // browsers have these, and Node has some
}
