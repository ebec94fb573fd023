// One process's access to a shared store: it holds the file, or connects to the holder. When the holder ends, the
// remaining processes race for the file: one opens it, the others connect to that one's socket.
import { BatonError, isBatonError } from '@baton/core'
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { lockStore } from '../sqlite/lock.ts'
import type { FormerLease, SqliteFile, SqliteStoreOptions } from '../sqlite/sqlite-store.ts'
import { openSqliteFile } from '../sqlite/sqlite-store.ts'
import { findRealPath } from '../sqlite/store-file.ts'
import { RETURN_MS } from './returning.ts'
import type { StoreConnection } from './store-connection.ts'
import { openConnection } from './store-connection.ts'
import type { StoreMethods } from './store-methods.ts'
import type { StoreProcess } from './store-processes.ts'
import { readProcesses } from './store-processes.ts'
import { StoreServer } from './store-server.ts'

/** Initial and maximum milliseconds between two looks for a holder. */
const LOOK_MS = 10
const LOOK_MS_MAX = 100

export type Seat =
  | { readonly type: 'holder'; readonly file: SqliteFile; readonly server: StoreServer }
  | { readonly type: 'guest'; readonly connection: StoreConnection }

export interface StoreAccessOptions {
  readonly path: string
  readonly place: string
  readonly options: SqliteStoreOptions
  /** Milliseconds to look for a holder. Default: {@link RETURN_MS}. */
  readonly waitMs: number | undefined
  readonly warn: (message: string) => void
}

/** An answer, and whether the call was sent more than once: an earlier try may have been performed. */
export type Outcome<Value> =
  | { readonly type: 'value'; readonly value: Value; readonly isRepeated: boolean }
  | { readonly type: 'failed'; readonly error: BatonError; readonly isRepeated: boolean }

type Method = keyof StoreMethods
export type Value<Name extends Method> = Awaited<ReturnType<StoreMethods[Name]>>

export class StoreAccess {
  readonly #init: StoreAccessOptions
  readonly #self: StoreProcess = { id: randomUUID(), pid: process.pid }
  /** Leases of this process. The holder keeps guests' leases in memory only, so the next holder must be given them. */
  readonly #held = new Map<string, FormerLease>()
  readonly #asking = new Set<Promise<unknown>>()
  #seat: Seat | undefined
  #joining: Promise<Seat> | undefined
  #leaseMs = 0
  #closing: Promise<void> | undefined

  constructor(init: StoreAccessOptions) {
    this.#init = init
  }

  /** Milliseconds of a lease, as set by the holder. */
  get leaseMs(): number {
    return this.#leaseMs
  }

  /** @throws BatonError `store_locked` (held by a process that does not share it), and the errors of opening a file */
  async open(): Promise<Seat> {
    return await this.#join()
  }

  /** Never rejects: a failure is an outcome. */
  async ask<Name extends Method>(method: Name, ...args: Parameters<StoreMethods[Name]>): Promise<Outcome<Value<Name>>> {
    const asking = this.#ask<Value<Name>>(method, args)
    this.#asking.add(asking)
    try {
      return await asking
    } finally {
      this.#asking.delete(asking)
    }
  }

  noteHeld(lease: FormerLease): void {
    if (this.#seat?.type === 'guest') this.#held.set(lease.session, lease)
  }

  noteResting(session: string, epoch: number): void {
    const lease = this.#held.get(session)
    if (lease?.epoch === epoch) this.#held.set(session, { ...lease, isResting: true })
  }

  /** Without `epoch`, any epoch matches. */
  noteReleased(session: string, epoch?: number): void {
    if (epoch === undefined || this.#held.get(session)?.epoch === epoch) this.#held.delete(session)
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#asking)
    // A connection still being opened is closed too.
    const seat = this.#seat ?? (await this.#joining?.catch(() => undefined))
    if (seat?.type === 'guest') await seat.connection.close()
    else await seat?.server.close()
  }

  async #ask<Answer>(method: Method, args: readonly unknown[]): Promise<Outcome<Answer>> {
    if (this.#closing) return { type: 'failed', error: createClosedError(this.#init.path), isRepeated: false }
    for (let isRepeated = false; ; isRepeated = true) {
      try {
        const seat = this.#seat ?? (await this.#join())
        if (seat.type === 'holder') {
          const perform = seat.server.methods[method] as (...given: unknown[]) => Promise<unknown> // each method takes its own arguments
          return { type: 'value', value: (await perform(...args)) as Answer, isRepeated }
        }
        const asked = await seat.connection.ask(method, args)
        if (asked.type === 'value') return { type: 'value', value: asked.value as Answer, isRepeated } // from a process of this version
        if (asked.type === 'failed') return { type: 'failed', error: asked.error, isRepeated }
      } catch (cause) {
        return { type: 'failed', error: asBatonError(cause), isRepeated }
      }
    }
  }

  #join(): Promise<Seat> {
    this.#joining ??= this.#findSeat().finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  async #findSeat(): Promise<Seat> {
    const { path, waitMs = RETURN_MS } = this.#init
    const untilMs = performance.now() + waitMs
    for (let lookMs = LOOK_MS; ; lookMs = Math.min(LOOK_MS_MAX, lookMs * 1.5)) {
      let failure: unknown
      try {
        return this.#take((await this.#connect()) ?? (await this.#hold()))
      } catch (cause) {
        if (!isHeld(cause, path)) throw cause
        failure = cause
      }
      if (performance.now() >= untilMs) throw this.#leaseMs === 0 && failure ? failure : createLostError(path, waitMs)
      // Randomized, so that waiting processes look at different moments.
      await new Promise<void>((resolve) => void setTimeout(resolve, lookMs * (0.5 + Math.random())))
    }
  }

  #take(seat: Seat): Seat {
    this.#seat = seat
    this.#leaseMs = seat.type === 'holder' ? seat.file.store.leaseMs : seat.connection.leaseMs
    if (seat.type === 'holder') this.#held.clear()
    else void seat.connection.lost.then(() => this.#rejoin())
    return seat
  }

  /** Reconnects at once, even without a pending call, because the next holder waits for its former guests. */
  #rejoin(): void {
    this.#seat = undefined
    if (this.#closing) return
    this.#join().catch((cause: unknown) =>
      this.#init.warn(`the store ${this.#init.path} is unavailable: ${String(cause)}`),
    )
  }

  async #connect(): Promise<Seat | undefined> {
    const hello = { self: this.#self, held: [...this.#held.values()] }
    const connection = await openConnection(this.#init.place, hello)
    return connection && { type: 'guest', connection }
  }

  /** @throws BatonError `store_locked` when another process has the lock, and the errors of opening a file */
  async #hold(): Promise<Seat> {
    const { path, place, options, warn } = this.#init
    const real = findRealPath(path)
    // Opening starts a thread, which is too expensive for a frequent check.
    checkLock(real)
    const file = await openSqliteFile(path, options)
    const { guests } = readProcesses(real)
    const expected = guests.filter(({ id }) => id !== this.#self.id)
    const server = new StoreServer({ path: real, place, self: this.#self, file, expected, warn })
    try {
      // Restored before any other process can ask for these sessions.
      await Promise.all([...this.#held.values()].map((lease) => file.resume(lease)))
      await server.listen().catch((cause: unknown) => warn(`other processes cannot share ${path}: ${String(cause)}`))
    } catch (cause) {
      await server.close()
      throw cause
    }
    return { type: 'holder', file, server }
  }
}

/** @throws BatonError `store_locked` when another process has the lock */
function checkLock(path: string): void {
  if (statSync(`${path}.lock`, { throwIfNoEntry: false })?.isFile() !== true) return
  try {
    lockStore(path)()
  } catch (cause) {
    if (isBatonError(cause)) throw cause
    // Opening the file will report the problem.
  }
}

/** Whether waiting may help. A file with several names is refused with the same code, but waiting cannot fix that. */
function isHeld(cause: unknown, path: string): boolean {
  if (!isBatonError(cause) || cause.code !== 'store_locked') return false
  return (statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) < 2
}

function asBatonError(cause: unknown): BatonError {
  return isBatonError(cause) ? cause : new BatonError({ code: 'store_failed', message: String(cause), cause })
}

function createClosedError(path: string): BatonError {
  return new BatonError({ code: 'store_failed', message: `the store ${path} was closed` })
}

function createLostError(path: string, waitMs: number): BatonError {
  return new BatonError({
    code: 'store_failed',
    message: `the process that held the store ${path} ended, and no other process could open it within ${waitMs} ms`,
    hint: 'Check which process has the file open. Accepted inputs are in it; the next operation tries again.',
  })
}
