// A guest's way to the holder of a shared store: requests with numbers, and their answers in any order.
import { BatonError } from '@baton/core'
import type { Socket } from 'node:net'
import type { FormerLease } from '../sqlite/sqlite-store.ts'
import { decodeLine, encodeLine, LineSplitter } from './lines.ts'
import { decodeError } from './store-methods.ts'
import type { StoreProcess } from './store-processes.ts'
import { SHARING_VERSION } from './store-server.ts'
import { connectTo } from './store-socket.ts'

/** Milliseconds for the holder to say that it has heard. */
const WELCOME_MS = 5000

/** Milliseconds without a byte from the holder, while somebody waits, after which it is asked whether it is there; as many again, and it is given up. */
const SILENCE_MS = 10_000

/** `lost`: the holder has ended, and nobody knows whether it had performed what was asked. */
export type Asked =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'failed'; readonly error: BatonError }
  | { readonly type: 'lost' }

export interface Hello {
  readonly self: StoreProcess
  /** Leases that this process had before. */
  readonly held: readonly FormerLease[]
}

export class StoreConnection {
  readonly leaseMs: number
  readonly #socket: Socket
  readonly #waiting = new Map<number, (asked: Asked) => void>()
  readonly #lost = Promise.withResolvers<void>()
  #lastId = 0
  #isLost = false
  /** It was asked whether it is there, and has said nothing since. */
  #isAsked = false

  constructor(socket: Socket, leaseMs: number) {
    this.#socket = socket
    this.leaseMs = leaseMs
    socket.setTimeout(SILENCE_MS)
    socket.on('timeout', () => this.#handleSilence())
  }

  /** Settles when the holder has ended. */
  get lost(): Promise<void> {
    return this.#lost.promise
  }

  /** @throws BatonError `store_failed` for what cannot be sent */
  async ask(method: string, args: readonly unknown[]): Promise<Asked> {
    if (this.#isLost) return { type: 'lost' }
    this.#lastId += 1
    const id = this.#lastId
    const line = encodeLine({ id, method, args })
    return await new Promise((resolve) => {
      this.#socket.ref() // while somebody waits the process does not end
      this.#waiting.set(id, resolve)
      this.#socket.write(line)
    })
  }

  handleLine(message: Readonly<Record<string, unknown>>): void {
    this.#isAsked = false
    const { id, value, error } = message
    const resolve = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (typeof id !== 'number' || !resolve) return
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#socket.unref()
    resolve(error === undefined ? { type: 'value', value } : { type: 'failed', error: decodeError(error) })
  }

  handleLoss(): void {
    this.#isLost = true
    for (const resolve of this.#waiting.values()) resolve({ type: 'lost' })
    this.#waiting.clear()
    this.#lost.resolve()
  }

  /** Says that it will not come back. Waits for the holder's end of the connection, as long as for any answer. */
  async close(): Promise<void> {
    if (this.#isLost) return
    this.#socket.ref()
    this.#socket.end(encodeLine({ bye: true }))
    const late = setTimeout(() => this.#socket.destroy(), SILENCE_MS)
    await this.#lost.promise
    clearTimeout(late)
  }

  /** A holder that was stopped (SIGSTOP) or hangs keeps its lock and its socket. */
  #handleSilence(): void {
    if (this.#waiting.size === 0) this.#isAsked = false
    else if (this.#isAsked) this.#socket.destroy()
    else {
      this.#isAsked = true
      this.#socket.write(encodeLine({ ping: true }))
    }
  }
}

/**
 * Undefined: nobody holds the store there, or its holder ends.
 * @throws BatonError `store_locked` for a holder of another version, `store_failed` for one that does not answer
 */
export async function openConnection(place: string, { self, held }: Hello): Promise<StoreConnection | undefined> {
  const socket = await connectTo(place)
  if (!socket) return undefined
  const splitter = new LineSplitter()
  const opening = Promise.withResolvers<StoreConnection | undefined>()
  let connection: StoreConnection | undefined
  const late = setTimeout(() => {
    opening.reject(createSilentError())
    socket.destroy()
  }, WELCOME_MS)
  socket.on('error', () => {}) // `close` follows
  socket.on('close', () => {
    connection?.handleLoss()
    opening.resolve(undefined)
  })
  socket.on('data', (piece: Buffer) => {
    try {
      for (const line of splitter.take(piece)) {
        const message = decodeLine(line)
        if (!message) throw createSilentError()
        if (connection) connection.handleLine(message)
        else opening.resolve((connection = welcome(socket, message)))
      }
    } catch (cause) {
      opening.reject(cause)
      socket.destroy()
    }
  })
  socket.write(encodeLine({ version: SHARING_VERSION, self, held }))
  try {
    return await opening.promise
  } finally {
    clearTimeout(late)
  }
}

/** @throws BatonError `store_locked` */
function welcome(socket: Socket, message: Readonly<Record<string, unknown>>): StoreConnection {
  const { leaseMs } = (message['welcome'] ?? {}) as { readonly leaseMs?: unknown } // looked at below
  if (typeof leaseMs !== 'number') {
    const pid = typeof message['pid'] === 'number' ? ` (process ${message['pid']})` : ''
    throw new BatonError({
      code: 'store_locked',
      message: `the process${pid} that has the store is of another version of Baton, which does not share it with this one`,
      hint: 'End it, or start this command with the same version.',
    })
  }
  socket.unref()
  return new StoreConnection(socket, leaseMs)
}

function createSilentError(): BatonError {
  return new BatonError({ code: 'store_failed', message: 'the process that has the store does not answer' })
}
