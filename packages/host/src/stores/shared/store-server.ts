// The holder's side of a shared store: listens on the socket next to the file, restores guests' leases, and performs
// their requests on its own store.
import { BatonError } from '@baton/core'
import type { Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import type { FormerLease, SqliteFile } from '../sqlite/sqlite-store.ts'
import { decodeLine, encodeLine, LineSplitter } from './lines.ts'
import { Returning } from './returning.ts'
import type { StoreMethods } from './store-methods.ts'
import { createStoreMethods, encodeError } from './store-methods.ts'
import type { StoreProcess } from './store-processes.ts'
import { isProcess, isRunning, writeProcesses } from './store-processes.ts'
import { listenAt } from './store-socket.ts'

/** The version of the protocol on the socket. Processes of different versions do not share a store. */
export const SHARING_VERSION = 2
/** Requests of one guest performed in parallel. Further ones are not read until one is answered. */
const AT_ONCE = 64
/** Milliseconds for a guest to read its last answers. */
const FLUSH_MS = 1000

export interface StoreServerOptions {
  /** The path of the file, with links resolved. */
  readonly path: string
  readonly place: string
  readonly self: StoreProcess
  readonly file: SqliteFile
  /** Guests of the former holder, without this process. */
  readonly expected: readonly StoreProcess[]
  readonly warn: (message: string) => void
}

export class StoreServer {
  readonly methods: StoreMethods
  readonly #init: StoreServerOptions
  readonly #server: Server
  readonly #returning: Returning
  readonly #guests: Map<string, StoreProcess>
  readonly #sockets = new Set<Socket>()
  readonly #running = new Set<Promise<void>>()
  readonly #dropped = Promise.withResolvers<void>()
  #isStopping = false

  constructor(init: StoreServerOptions) {
    this.#init = init
    this.#returning = new Returning(init.expected)
    this.#guests = new Map(init.expected.map((one) => [one.id, one]))
    this.methods = createStoreMethods({ store: init.file.store, untilBack: () => this.#returning.untilOver() })
    this.#server = createServer((socket) => {
      socket.on('error', () => {}) // `close` follows
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      socket.unref()
      this.#serve(socket).catch(() => {}) // the guest has left
    })
  }

  /** @throws Error of the file system or the network: no process can join */
  async listen(): Promise<void> {
    this.#tellProcesses()
    await listenAt(this.#server, this.#init.place)
    this.#server.on('error', (cause) =>
      this.#init.warn(`other processes cannot share ${this.#init.path}: ${cause.message}`),
    )
    this.#server.unref()
  }

  /** Resolves when the former guests have reconnected or are given up. */
  async untilBack(): Promise<void> {
    await this.#returning.untilOver()
  }

  /** Answers pending requests, closes the store, and disconnects the guests, which then look for the next holder. */
  async close(): Promise<void> {
    this.#isStopping = true
    this.#returning.giveUp(LEAVING)
    // The socket file must be removed while the lock is held; afterwards it may be the next holder's.
    if (this.#server.listening) this.#server.close()
    while (this.#running.size > 0) await Promise.all(this.#running)
    this.#tellProcesses()
    await this.#init.file.store.close()
    for (const socket of this.#sockets) {
      socket.end()
      setTimeout(() => socket.destroy(), FLUSH_MS).unref()
    }
    this.#dropped.resolve()
  }

  async #serve(socket: Socket): Promise<void> {
    const splitter = new LineSplitter()
    const asked = new Set<Promise<void>>()
    let guest: StoreProcess | undefined
    for await (const piece of socket as AsyncIterable<Buffer>)
      for (const line of splitter.take(piece)) {
        // The guest sends unperformed requests to the next holder.
        if (this.#isStopping) return await this.#dropped.promise
        const message = decodeLine(line)
        if (!message) return
        if (message['bye'] === true) return this.#leave(guest)
        if (!guest) {
          guest = await this.#note(this.#greet(socket, message))
          if (!guest) return
          continue
        }
        if (message['ping'] === true) {
          socket.write(encodeLine({ pong: true }))
          continue
        }
        const answered = this.#note(this.#answer(socket, message))
        asked.add(answered)
        void answered.finally(() => asked.delete(answered))
        if (asked.size >= AT_ONCE) await Promise.race(asked)
        if (socket.writableNeedDrain) await untilDrained(socket)
      }
  }

  /** Tracks work that closing waits for. */
  #note<Value>(work: Promise<Value>): Promise<Value> {
    const settled = work.then(
      () => {},
      () => {},
    )
    this.#running.add(settled)
    void settled.then(() => this.#running.delete(settled))
    return work
  }

  /** Returns `undefined` if the guest may not join. */
  async #greet(socket: Socket, hello: Readonly<Record<string, unknown>>): Promise<StoreProcess | undefined> {
    const { version, self, held } = hello
    const { pid } = this.#init.self
    if (version !== SHARING_VERSION || !isProcess(self)) {
      socket.end(encodeLine({ refused: SHARING_VERSION, pid }))
      return undefined
    }
    const leases = Array.isArray(held) ? held.filter(isFormerLease) : []
    await Promise.all(leases.map((lease) => this.#init.file.resume(lease)))
    this.#guests.set(self.id, { id: self.id, pid: self.pid })
    this.#returning.note(self.id)
    this.#tellProcesses()
    socket.write(encodeLine({ welcome: { leaseMs: this.#init.file.store.leaseMs, pid } }))
    return self
  }

  #leave(guest: StoreProcess | undefined): void {
    if (guest) this.#guests.delete(guest.id)
    this.#tellProcesses()
  }

  /** Never rejects. */
  async #answer(socket: Socket, { id, method, args }: Readonly<Record<string, unknown>>): Promise<void> {
    let line: string
    try {
      line = encodeLine({ id, value: await this.#perform(method, args) })
    } catch (cause) {
      if (cause === LEAVING) return
      line = encodeLine({ id, error: encodeError(cause) })
    }
    socket.write(line)
  }

  #perform(method: unknown, args: unknown): Promise<unknown> {
    if (typeof method !== 'string' || !Object.hasOwn(this.methods, method) || !Array.isArray(args))
      throw new BatonError({ code: 'store_failed', message: `a shared store has no method ${String(method)}` })
    const perform = this.methods[method as keyof StoreMethods] as (...given: unknown[]) => Promise<unknown> // each method checks its arguments
    // JSON has no undefined, and no method accepts null.
    return perform(...args.map((one: unknown) => one ?? undefined))
  }

  #tellProcesses(): void {
    const { path, self, warn } = this.#init
    for (const [id, { pid }] of this.#guests) if (!isRunning(pid)) this.#guests.delete(id)
    try {
      writeProcesses(path, { holder: this.#isStopping ? undefined : self, guests: [...this.#guests.values()] })
    } catch (cause) {
      warn(`the list of processes that share ${path} cannot be written: ${String(cause)}`)
    }
  }
}

/** Rejects waiting requests when the holder ends. The next holder answers them. */
const LEAVING = new Error('the process that holds the store is shutting down')

function isFormerLease(value: unknown): value is FormerLease {
  const { session, owner, epoch, address, isResting } = (value ?? {}) as Readonly<Record<string, unknown>>
  const isNamed = typeof session === 'string' && typeof owner === 'string'
  const hasFlag = isResting === undefined || typeof isResting === 'boolean'
  return isNamed && Number.isSafeInteger(epoch) && (address === undefined || typeof address === 'string') && hasFlag
}

function untilDrained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      socket.off('drain', end).off('close', end)
      resolve()
    }
    socket.once('drain', end).once('close', end)
    if (socket.destroyed) end()
  })
}
