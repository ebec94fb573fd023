// The connections to one server. They are opened on demand, shared as long as each question has one recipient, and
// reopened with back-off after they fail. Knows nothing about tools.
import type { Timers } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { Connection } from './connection.ts'

export interface ConnectionPoolOptions {
  readonly name: string
  readonly timers: Timers
  readonly connections: number
  readonly waiting: number
  readonly open: (signal: AbortSignal) => Promise<Connection>
  /** Called when the server is back after it was lost. */
  readonly onReconnected: () => void
}

export interface Lease {
  readonly connection: Connection
  /** Returns the connection to the pool. Call it once. */
  end(): void
}

interface Entry {
  readonly connection: Connection
  /** The session whose calls run on it, or `undefined` if it is free. */
  session: string | undefined
  running: number
  /** Its running calls, and the lists that are being read. */
  leases: number
}

interface Waiter {
  readonly session: string | undefined
  readonly resolve: (lease: Lease) => void
  readonly reject: (cause: unknown) => void
}

/**
 * Milliseconds before the next start, doubled after each failure. A connection that lives for `settled` resets the
 * count.
 */
const BACK_OFF_MS = { first: 500, most: 60_000, settled: 10_000 } as const

export class ConnectionPool {
  readonly #init: ConnectionPoolOptions
  readonly #entries: Entry[] = []
  /** Connections that the server no longer knows, until the calls on them have heard so. */
  readonly #forgotten = new Set<Entry>()
  readonly #waiters: Waiter[] = []
  #opening = 0
  #starts = 0
  #failures = 0
  /** How often all connections were closed because nothing uses them. */
  #rests = 0
  #problem: BatonError | undefined
  /** Set during a back-off. */
  #stopBackOff: (() => void) | undefined
  /** Consecutive failures to open a further connection while others work. */
  #furtherFailures = 0
  /** Set while calls wait for the next attempt. */
  #stopFurther: (() => void) | undefined
  #stopSettling: (() => void) | undefined
  readonly #closing = new AbortController()
  #isKept = false
  #wasLost = false

  constructor(init: ConnectionPoolOptions) {
    this.#init = init
  }

  status(): {
    readonly connections: number
    readonly starts: number
    readonly version?: string
    readonly problem?: string
  } {
    const version = this.#entries[0]?.connection.version
    const problem = this.#entries.length === 0 ? this.#problem?.message : undefined
    return {
      connections: this.#entries.length,
      starts: this.#starts,
      ...(version !== undefined && { version }),
      ...(problem !== undefined && { problem }),
    }
  }

  /** While sessions use the server, it restarts at the end of its back-off without waiting for a call. */
  keep(isKept: boolean): void {
    this.#isKept = isKept
  }

  /**
   * Takes a connection for a session's call (`undefined`: for reading the server's lists, which asks no one).
   * @throws BatonError `api_unavailable` and other errors of opening a connection; the signal's reason
   */
  take(session: string | undefined, signal: AbortSignal): Promise<Lease> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#tellClosed())
    if (signal.aborted) return Promise.reject(signal.reason as Error) // set by the abort
    const entry = this.#find(session)
    if (entry) return Promise.resolve(this.#lease(entry, session))
    if (this.#stopBackOff) return Promise.reject(this.#tellBackOff())
    const { name, waiting } = this.#init
    if (this.#waiters.length >= waiting) {
      const message = `MCP server "${name}" already has ${waiting} calls waiting for a connection`
      return Promise.reject(new BatonError({ code: 'api_unavailable', message }))
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        reject(signal.reason as Error)
      }
      const waiter: Waiter = {
        session,
        resolve: (lease) => {
          signal.removeEventListener('abort', onAbort)
          resolve(lease)
        },
        reject: (cause) => {
          signal.removeEventListener('abort', onAbort)
          reject(cause as Error)
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiters.push(waiter)
      this.#openMore()
    })
  }

  /** Called when a connection ended by itself. */
  remove(connection: Connection): void {
    const at = this.#entries.findIndex((entry) => entry.connection === connection)
    if (at < 0) return
    this.#entries.splice(at, 1)
    this.#stopSettling?.()
    this.#wasLost = true
    this.#problem = new BatonError({
      code: 'api_unavailable',
      message: `MCP server "${this.#init.name}" ended${tellTail(connection)}`,
    })
    if (this.#entries.length === 0) this.#backOff()
  }

  /**
   * Gives a connection that the server no longer knows to no further call; the next one opens a new connection at once.
   * The connection is closed after its last call, because closing would hide from the others that the server has not
   * read them.
   */
  drop(connection: Connection): void {
    const entry = this.#entries.find((one) => one.connection === connection)
    if (!entry) return
    this.#entries.splice(this.#entries.indexOf(entry), 1)
    this.#wasLost = true
    this.#forgotten.add(entry)
    this.#closeForgotten(entry)
  }

  /** Closes all connections. The next call opens a new one. Never rejects. */
  async rest(): Promise<void> {
    this.#rests += 1
    this.#endBackOff()
    this.#endFurther()
    this.#stopSettling?.()
    const entries = [...this.#entries.splice(0), ...this.#forgotten]
    this.#forgotten.clear()
    await Promise.all(entries.map(({ connection }) => connection.close()))
  }

  async close(): Promise<void> {
    this.#closing.abort(this.#tellClosed())
    for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#tellClosed())
    await this.rest()
  }

  /** Questions of a 2026 server name their call. A connection to an older server serves one session at a time. */
  #find(session: string | undefined): Entry | undefined {
    const [first] = this.#entries
    if (first && (first.connection.isModern || session === undefined)) return first
    return (
      this.#entries.find((entry) => entry.running > 0 && entry.session === session) ??
      this.#entries.find((entry) => entry.running === 0)
    )
  }

  #lease(entry: Entry, session: string | undefined): Lease {
    const isCall = session !== undefined
    entry.leases += 1
    if (isCall) {
      entry.session = session
      entry.running += 1
    }
    let isOver = false
    return {
      connection: entry.connection,
      end: () => {
        if (isOver) return
        isOver = true
        entry.leases -= 1
        if (isCall) entry.running -= 1
        if (entry.running === 0) entry.session = undefined
        this.#closeForgotten(entry)
        this.#serveWaiters()
      },
    }
  }

  #closeForgotten(entry: Entry): void {
    if (entry.leases === 0 && this.#forgotten.delete(entry)) void entry.connection.close() // never rejects
  }

  #serveWaiters(): void {
    const waiting = this.#waiters.splice(0)
    for (const waiter of waiting) {
      const entry = this.#find(waiter.session)
      if (entry) waiter.resolve(this.#lease(entry, waiter.session))
      else this.#waiters.push(waiter)
    }
    this.#openMore()
  }

  #openMore(): void {
    const { connections } = this.#init
    if (this.#closing.signal.aborted || this.#stopBackOff) return
    const wanted = new Set(this.#waiters.map(({ session }) => session)).size
    // The first connection shows whether the server is reachable, and whether one is enough. It does not wait for calls
    // on forgotten ones.
    const most = this.#entries.length === 0 ? 1 : connections - this.#entries.length - this.#forgotten.size
    while (this.#opening < Math.min(wanted, most)) void this.#openOne()
  }

  /** Never rejects: rejects the waiters instead. */
  async #openOne(): Promise<void> {
    this.#opening += 1
    const rests = this.#rests
    try {
      const connection = await this.#init.open(this.#closing.signal)
      this.#opening -= 1
      const isUnused = rests !== this.#rests && this.#waiters.length === 0
      if (this.#closing.signal.aborted || isUnused) return await connection.close()
      this.#starts += 1
      this.#endBackOff() // another connection had ended meanwhile
      this.#endFurther()
      this.#entries.push({ connection, session: undefined, running: 0, leases: 0 })
      this.#settle()
      this.#serveWaiters()
      if (!this.#wasLost) return undefined
      this.#wasLost = false
      this.#init.onReconnected()
    } catch (cause) {
      this.#opening -= 1
      this.#problem = isBatonError(cause) ? cause : this.#tellClosed()
      // The other connections keep working, and may become free. That of a call that waits for a person takes long.
      if (this.#entries.length > 0) return this.#openLater()
      for (const waiter of this.#waiters.splice(0)) waiter.reject(this.#problem)
      this.#backOff()
    }
    return undefined
  }

  #settle(): void {
    this.#stopSettling?.()
    const settled = (): void => {
      this.#failures = 0
      this.#problem = undefined
    }
    this.#stopSettling = this.#init.timers.start(BACK_OFF_MS.settled, settled, { isBackground: true })
  }

  #endBackOff(): void {
    this.#stopBackOff?.()
    this.#stopBackOff = undefined
  }

  #backOff(): void {
    if (this.#closing.signal.aborted || this.#stopBackOff) return
    const delayMs = tellDelayMs(this.#failures)
    this.#failures += 1
    this.#stopBackOff = this.#init.timers.start(
      delayMs,
      () => {
        this.#stopBackOff = undefined
        if (this.#isKept && this.#entries.length === 0 && this.#opening === 0) void this.#openOne()
        else this.#openMore()
      },
      { isBackground: true },
    )
  }

  #openLater(): void {
    if (this.#closing.signal.aborted || this.#stopFurther) return
    const delayMs = tellDelayMs(this.#furtherFailures)
    this.#furtherFailures += 1
    const openMore = (): void => {
      this.#stopFurther = undefined
      if (this.#waiters.length === 0) this.#furtherFailures = 0
      this.#openMore()
    }
    this.#stopFurther = this.#init.timers.start(delayMs, openMore, { isBackground: true })
  }

  #endFurther(): void {
    this.#stopFurther?.()
    this.#stopFurther = undefined
    this.#furtherFailures = 0
  }

  #tellBackOff(): BatonError {
    const { name } = this.#init
    return new BatonError({
      code: 'api_unavailable',
      message: `${this.#problem?.message ?? `MCP server "${name}" ended`}; it will be restarted soon`,
    })
  }

  #tellClosed(): BatonError {
    return new BatonError({
      code: 'api_unavailable',
      message: `MCP server "${this.#init.name}" was closed`,
      retryable: false,
    })
  }
}

function tellDelayMs(failures: number): number {
  return Math.min(BACK_OFF_MS.first * 2 ** failures, BACK_OFF_MS.most)
}

function tellTail(connection: Connection): string {
  const tail = connection.readTail().slice(-300)
  return tail === '' ? '' : `; it wrote: ${tail}`
}
