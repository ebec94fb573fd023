// One process's access to a shared store: it holds the file, or reaches who does. When the holder ends, those that are left
// race for the file: one opens it, the others find the socket of that one.
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

/** Milliseconds between two looks for a holder, at first and at last. */
const LOOK_MS = 10
const LOOK_MS_MAX = 100

export type Seat =
  | { readonly type: 'holder'; readonly file: SqliteFile; readonly server: StoreServer }
  | { readonly type: 'guest'; readonly connection: StoreConnection }

export interface StoreAccessInit {
  readonly path: string
  readonly place: string
  readonly options: SqliteStoreOptions
  /** Milliseconds for which a holder is looked for. {@link RETURN_MS} by default. */
  readonly waitMs: number | undefined
  readonly warn: (message: string) => void
}

/** An answer, and whether it was asked for more than once: an earlier try may have been performed. */
export type Outcome<Value> =
  | { readonly type: 'value'; readonly value: Value; readonly isRepeated: boolean }
  | { readonly type: 'failed'; readonly error: BatonError; readonly isRepeated: boolean }

type Method = keyof StoreMethods
export type Value<Name extends Method> = Awaited<ReturnType<StoreMethods[Name]>>

export class StoreAccess {
  readonly #init: StoreAccessInit
  readonly #self: StoreProcess = { id: randomUUID(), pid: process.pid }
  /** Leases of this process. The holder keeps the leases of guests in memory alone, so the next one is told of them. */
  readonly #held = new Map<string, FormerLease>()
  readonly #asking = new Set<Promise<unknown>>()
  #seat: Seat | undefined
  #joining: Promise<Seat> | undefined
  #leaseMs = 0
  #closing: Promise<void> | undefined

  constructor(init: StoreAccessInit) {
    this.#init = init
  }

  /** Milliseconds of a lease, as the holder gives it. */
  get leaseMs(): number {
    return this.#leaseMs
  }

  /** @throws BatonError `store_locked` (by who does not share it), and what opening throws */
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

  /** `epoch` undefined: whatever it is. */
  noteReleased(session: string, epoch?: number): void {
    if (epoch === undefined || this.#held.get(session)?.epoch === epoch) this.#held.delete(session)
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#asking)
    // One that is being joined is left as well.
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
          const perform = seat.server.methods[method] as (...given: unknown[]) => Promise<unknown> // with arguments of its own
          return { type: 'value', value: (await perform(...args)) as Answer, isRepeated }
        }
        const asked = await seat.connection.ask(method, args)
        if (asked.type === 'value') return { type: 'value', value: asked.value as Answer, isRepeated } // by a process of this version
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
      // Those that wait do not all look in the same moment.
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

  /** At once, also where nobody asks for anything: the next holder waits for those who come back. */
  #rejoin(): void {
    this.#seat = undefined
    if (this.#closing) return
    this.#join().catch((cause: unknown) => this.#init.warn(`the store ${this.#init.path} is away: ${String(cause)}`))
  }

  async #connect(): Promise<Seat | undefined> {
    const hello = { self: this.#self, held: [...this.#held.values()] }
    const connection = await openConnection(this.#init.place, hello)
    return connection && { type: 'guest', connection }
  }

  /** @throws BatonError `store_locked` when somebody has the lock; what opening throws */
  async #hold(): Promise<Seat> {
    const { path, place, options, warn } = this.#init
    const real = findRealPath(path)
    // Opening starts a thread, and that is no way to ask often.
    checkLock(real)
    const file = await openSqliteFile(path, options)
    const { guests } = readProcesses(real)
    const expected = guests.filter(({ id }) => id !== this.#self.id)
    const server = new StoreServer({ path: real, place, self: this.#self, file, expected, warn })
    try {
      // Before anybody else can ask for what this process holds.
      await Promise.all([...this.#held.values()].map((lease) => file.resume(lease)))
      await server.listen().catch((cause: unknown) => warn(`other processes cannot share ${path}: ${String(cause)}`))
    } catch (cause) {
      await server.close()
      throw cause
    }
    return { type: 'holder', file, server }
  }
}

/** @throws BatonError `store_locked` when somebody has it at this moment */
function checkLock(path: string): void {
  if (statSync(`${path}.lock`, { throwIfNoEntry: false })?.isFile() !== true) return
  try {
    lockStore(path)()
  } catch (cause) {
    if (isBatonError(cause)) throw cause
    // Opening says what is wrong with it.
  }
}

/** A file of several names is refused with the same code, and no waiting helps. */
function isHeld(cause: unknown, path: string): boolean {
  if (!isBatonError(cause) || cause.code !== 'store_locked') return false
  return (statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) < 2
}

function asBatonError(cause: unknown): BatonError {
  return isBatonError(cause) ? cause : new BatonError({ code: 'store_failed', message: String(cause), cause })
}

function createClosedError(path: string): BatonError {
  return new BatonError({ code: 'store_failed', message: `the store ${path} is gone: it was closed` })
}

function createLostError(path: string, waitMs: number): BatonError {
  return new BatonError({
    code: 'store_failed',
    message: `the process that had the store ${path} ended, and no other one could open it in ${waitMs} ms`,
    hint: 'Look who has the file; what was accepted is in it. The store is asked again with the next act.',
  })
}
