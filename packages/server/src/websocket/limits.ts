// Limits of a connection for both protocol versions, with their defaults, and their counts: quotas per network address and
// per principal, rates of frames per address and per session. Callers report refusals.
import type { Clock } from '@baton/core/internal'
import { createRateLimit } from '../shared/rate-limit.ts'

export interface ConnectionLimits {
  /** UTF-8 bytes of a frame other than `tool.result`. Default: 65,536. */
  readonly eventBytes: number
  /** UTF-8 bytes of a tool's result; a larger one settles its call as `result_too_large`. Default: 262,144. */
  readonly resultBytes: number
  /** UTF-8 bytes of any message; the socket refuses larger ones. Default: 1 MiB. */
  readonly socketBytes: number
  /** Bytes that may wait to be sent; a slower reader is disconnected. Default: 4 MiB. */
  readonly outgoingBytes: number
  /** Received frames that may wait to be processed. Default: 1,000. */
  readonly incomingFrames: number
  /** Their total size in UTF-16 units. Default: 16 Mi. */
  readonly incomingChars: number
  /** Milliseconds between two partials. Default: 50. */
  readonly partialMs: number
  /** Milliseconds for a new connection to start its session. Default: 30,000. */
  readonly startMs: number
  /** Milliseconds that a connection waits for a session held by a process that cannot be reached. Default: 15,000. */
  readonly heldMs: number
  /** Milliseconds between pings; a connection that did not answer the previous one is closed. Default: 30,000. */
  readonly heartbeatMs: number
  /**
   * Milliseconds without a frame from the app until its connection is closed, unless a turn is running. Default:
   * 600,000.
   */
  readonly idleMs: number
  /** Concurrent connections. Default: 1,000. */
  readonly connections: number
  /** The same per network address; further ones get 429. Default: 100. */
  readonly addressConnections: number
  /** The same per principal, if `authenticate` distinguishes principals; further ones get 429. Default: 100. */
  readonly principalConnections: number
  /** Sessions that connections of one network address may start per minute; more get `quota_exceeded`. Default: 120. */
  readonly addressSessionsPerMinute: number
  /** Bytes of frames per minute from one network address; frames beyond it are not even parsed. Default: 32 MiB. */
  readonly addressBytesPerMinute: number
  /**
   * Sessions of one network address with a running turn; an input that would start another turn gets `quota_exceeded`.
   * Default: 50.
   */
  readonly addressTurns: number
  /** The same per principal, if `authenticate` distinguishes principals. Default: 50. */
  readonly principalTurns: number
  /**
   * Frames per minute of a session, over all its connections; more get `rate_limited`. The result of a call that the
   * app was asked for never counts. Default: 300.
   */
  readonly sessionFramesPerMinute: number
  /** How many of these may be transcripts. Default: 30. */
  readonly sessionTranscriptsPerMinute: number
  /** Frames per minute of all sessions of a network address. Default: 300. */
  readonly addressFramesPerMinute: number
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  eventBytes: 64 * 1024,
  resultBytes: 256 * 1024,
  socketBytes: 1024 * 1024,
  outgoingBytes: 4 * 1024 * 1024,
  incomingFrames: 1000,
  incomingChars: 16 * 1024 * 1024,
  partialMs: 50,
  startMs: 30_000,
  heldMs: 15_000,
  heartbeatMs: 30_000,
  idleMs: 600_000,
  connections: 1000,
  addressConnections: 100,
  principalConnections: 100,
  addressSessionsPerMinute: 120,
  addressBytesPerMinute: 32 * 1024 * 1024,
  addressTurns: 50,
  principalTurns: 50,
  sessionFramesPerMinute: 300,
  sessionTranscriptsPerMinute: 30,
  addressFramesPerMinute: 300,
}

/** The owner of a connection. */
interface Origin {
  /** The network address, as limits count it. */
  readonly address: string
  /** `undefined` if principals are not distinguished. */
  readonly principal: string | undefined
}

/** The counted properties of a connection. */
export interface Counted {
  /** The session with a running turn that this connection follows. */
  busySession(): string | undefined
}

type QuotaNames =
  | 'addressConnections'
  | 'principalConnections'
  | 'addressSessionsPerMinute'
  | 'addressBytesPerMinute'
  | 'addressTurns'
  | 'principalTurns'

/** One per server. Each check returns the message for the sender, or `undefined` if it may continue. */
export class Quotas {
  readonly #limits: Pick<ConnectionLimits, QuotaNames>
  readonly #sessions: ReturnType<typeof createRateLimit>
  readonly #bytes: ReturnType<typeof createRateLimit>
  readonly #connections = new Map<string, Set<Counted>>()

  constructor(limits: Pick<ConnectionLimits, QuotaNames>, clock: Clock) {
    this.#limits = limits
    this.#sessions = createRateLimit({ perMinute: limits.addressSessionsPerMinute, clock })
    this.#bytes = createRateLimit({ perMinute: limits.addressBytesPerMinute, clock })
  }

  /** Called before a connection is accepted. */
  checkConnection({ address, principal }: Origin): string | undefined {
    const { addressConnections, principalConnections } = this.#limits
    if (this.#of(addressKey(address)).size >= addressConnections)
      return `an address may have ${addressConnections} connections at once`
    if (principal !== undefined && this.#of(principalKey(principal)).size >= principalConnections)
      return `a principal may have ${principalConnections} connections at once`
    return undefined
  }

  /** Counts a connection; the returned function uncounts it. */
  open({ address, principal }: Origin, connection: Counted): () => void {
    const keys = [addressKey(address), ...(principal === undefined ? [] : [principalKey(principal)])]
    for (const key of keys) {
      const connections = this.#of(key)
      connections.add(connection)
      this.#connections.set(key, connections)
    }
    return () => {
      for (const key of keys) {
        const connections = this.#connections.get(key)
        connections?.delete(connection)
        if (connections?.size === 0) this.#connections.delete(key)
      }
    }
  }

  /** Called before a connection starts a session. */
  takeSession(address: string): TooMuch | undefined {
    const waitMs = this.#sessions.take(address)
    if (waitMs === 0) return undefined
    const message = `an address may start ${this.#limits.addressSessionsPerMinute} sessions a minute; try again later (retryAfterMs ${waitMs})`
    return { message, retryAfterMs: waitMs }
  }

  /** Called for each received frame. */
  takeBytes(address: string, bytes: number): TooMuch | undefined {
    const waitMs = this.#bytes.take(address, bytes)
    if (waitMs === 0) return undefined
    const message = `an address may send ${this.#limits.addressBytesPerMinute} bytes a minute; send this frame again later (retryAfterMs ${waitMs})`
    return { message, retryAfterMs: waitMs }
  }

  /** Called before a turn of this session starts. */
  checkTurn({ address, principal }: Origin, session: string): string | undefined {
    const { addressTurns, principalTurns } = this.#limits
    if (this.#countBusy(addressKey(address), session) >= addressTurns)
      return `an address may have ${addressTurns} turns at once; wait until one ends`
    if (principal !== undefined && this.#countBusy(principalKey(principal), session) >= principalTurns)
      return `a principal may have ${principalTurns} turns at once; wait until one ends`
    return undefined
  }

  /** Other sessions at work. A session that is already at work adds none: its messages wait for its own turns. */
  #countBusy(key: string, session: string): number {
    const busy = new Set([...this.#of(key)].map((connection) => connection.busySession()))
    busy.delete(undefined)
    return busy.has(session) ? 0 : busy.size
  }

  #of(key: string): Set<Counted> {
    return this.#connections.get(key) ?? new Set()
  }
}

function addressKey(address: string): string {
  return `address ${address}`
}

function principalKey(principal: string): string {
  return `principal ${principal}`
}

interface FrameOrigin {
  /** `undefined` before the connection has a session. */
  readonly session: string | undefined
  readonly isTranscript: boolean
}

/** The error for a sender over its rate. */
export interface TooMuch {
  /** Ends with the wait, for apps of version 1. */
  readonly message: string
  /** Milliseconds until the same frame passes. */
  readonly retryAfterMs: number
}

export interface ConnectionRates {
  /** Counts a frame before it is parsed. `address` is the network address, or with a trusted proxy the one it names. */
  checkAddress(address: string): TooMuch | undefined
  /** The error for a parsed frame over its session's rate; `undefined` if it may pass. */
  check(frame: FrameOrigin): TooMuch | undefined
}

type RateNames = 'addressFramesPerMinute' | 'sessionFramesPerMinute' | 'sessionTranscriptsPerMinute'

/** One per server, since a session and an address may have many connections. */
export function createConnectionRates(limits: Pick<ConnectionLimits, RateNames>, clock: Clock): ConnectionRates {
  const addresses = createRateLimit({ perMinute: limits.addressFramesPerMinute, clock })
  const sessions = createRateLimit({ perMinute: limits.sessionFramesPerMinute, clock })
  const transcripts = createRateLimit({ perMinute: limits.sessionTranscriptsPerMinute, clock })

  const checkAddress = (address: string): TooMuch | undefined => {
    const waitMs = addresses.take(address)
    return waitMs > 0 ? tooMany(limits.addressFramesPerMinute, 'frames', { from: 'an address', waitMs }) : undefined
  }
  const check = ({ session, isTranscript }: FrameOrigin): TooMuch | undefined => {
    if (session === undefined) return undefined
    const from = 'a session'
    const sessionMs = sessions.take(session)
    if (sessionMs > 0) return tooMany(limits.sessionFramesPerMinute, 'frames', { from, waitMs: sessionMs })
    const transcriptMs = isTranscript ? transcripts.take(session) : 0
    if (transcriptMs > 0)
      return tooMany(limits.sessionTranscriptsPerMinute, 'transcripts', { from, waitMs: transcriptMs })
    return undefined
  }
  return { checkAddress, check }
}

function tooMany(
  most: number,
  what: string,
  { from, waitMs }: { readonly from: string; readonly waitMs: number },
): TooMuch {
  const message = `at most ${most} ${what} a minute are accepted from ${from}; send this one again later (retryAfterMs ${waitMs})`
  return { message, retryAfterMs: waitMs }
}
