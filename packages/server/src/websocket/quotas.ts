// Quotas per network address and per principal: connections, sessions, bytes and turns; rates of frames per address and
// per session. They are counted here; callers report refusals.
import type { Clock } from '@baton/core/internal'
import type { ConnectionLimits } from './limits.ts'
import { createRateLimit } from '../shared/rate-limit.ts'

/** The owner of a connection. */
export interface Origin {
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
