// A guest's connection to the holder of a shared store: numbered requests, answered in any order.
import { BatonError } from '@baton/core'
import type { Socket } from 'node:net'
import type { FormerLease } from '../sqlite/sqlite-store.ts'
import { decodeLine, encodeLine, LineSplitter } from './lines.ts'
import { decodeError } from './store-methods.ts'
import type { StoreProcess } from './store-processes.ts'
import { SHARING_VERSION } from './store-server.ts'
import { connectTo } from './store-socket.ts'

/** Milliseconds for the holder to welcome a guest. */
const WELCOME_MS = 5000

/**
 * Milliseconds of silence, while a request is pending, before the holder is pinged; after the same time again, the
 * connection is closed.
 */
const SILENCE_MS = 10_000

/** `lost`: the holder has ended, and it is unknown whether it performed the request. */
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
  /** A ping was sent, and the holder has been silent since. */
  #isAsked = false
  /** Counts from the last line of the holder. The socket's own timer also counts from what is written. */
  readonly #silence: NodeJS.Timeout

  constructor(socket: Socket, leaseMs: number) {
    this.#socket = socket
    this.leaseMs = leaseMs
    this.#silence = setInterval(() => this.#handleSilence(), SILENCE_MS).unref()
  }

  /** Resolves when the holder has ended. */
  get lost(): Promise<void> {
    return this.#lost.promise
  }

  /** @throws BatonError `store_failed` for arguments that cannot be sent */
  async ask(method: string, args: readonly unknown[]): Promise<Asked> {
    if (this.#isLost) return { type: 'lost' }
    this.#lastId += 1
    const id = this.#lastId
    const line = encodeLine({ id, method, args })
    return await new Promise((resolve) => {
      this.#socket.ref() // a pending request keeps the process alive
      this.#waiting.set(id, resolve)
      this.#socket.write(line)
    })
  }

  handleLine(message: Readonly<Record<string, unknown>>): void {
    this.#isAsked = false
    this.#silence.refresh()
    const { id, value, error } = message
    const resolve = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (typeof id !== 'number' || !resolve) return
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#socket.unref()
    resolve(error === undefined ? { type: 'value', value } : { type: 'failed', error: decodeError(error) })
  }

  handleLoss(): void {
    this.#isLost = true
    clearInterval(this.#silence)
    for (const resolve of this.#waiting.values()) resolve({ type: 'lost' })
    this.#waiting.clear()
    this.#lost.resolve()
  }

  /**
   * Tells the holder that this guest leaves for good, and waits for the connection to end, as long as for any answer.
   */
  async close(): Promise<void> {
    if (this.#isLost) return
    this.#socket.ref()
    this.#socket.end(encodeLine({ bye: true }))
    const late = setTimeout(() => this.#socket.destroy(), SILENCE_MS)
    await this.#lost.promise
    clearTimeout(late)
  }

  /** A holder that is suspended (SIGSTOP) or hangs keeps its lock and its socket. */
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
 * Connects to the holder at `place`. Returns `undefined` if there is none, or if it is ending.
 * @throws BatonError `store_locked` for a holder of another version, `store_failed` for a holder that does not answer
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
  const { leaseMs } = (message['welcome'] ?? {}) as { readonly leaseMs?: unknown } // checked below
  if (typeof leaseMs !== 'number') {
    const pid = typeof message['pid'] === 'number' ? ` (process ${message['pid']})` : ''
    throw new BatonError({
      code: 'store_locked',
      message: `the process${pid} that holds the store runs another version of Baton, which cannot share it with this one`,
      hint: 'Stop that process, or run this command with the same version.',
    })
  }
  socket.unref()
  return new StoreConnection(socket, leaseMs)
}

function createSilentError(): BatonError {
  return new BatonError({ code: 'store_failed', message: 'the process that holds the store does not answer' })
}
