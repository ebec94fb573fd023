// Quotas of a principal and of a network address for chats over HTTP: requests, bytes, turns and streams. It counts;
// what it refuses is told by who asked. A principal that nobody has named is everybody, and counts by its address alone.
import type { Clock } from '@baton/core'
import { BatonError } from '@baton/core'
import { deriveLimitKey } from '../shared/limit-key.ts'
import type { RateLimit } from '../shared/rate-limit.ts'
import { createRateLimit } from '../shared/rate-limit.ts'

export interface QuotaLimits {
  /** Responses that may stream at once; further ones get 503. 1,000. */
  readonly streams: number
  /** The same for one principal, and for one network address; further ones get 429. 100. */
  readonly principalStreams: number
  readonly addressStreams: number
  /** Sessions at work at once; a message that would begin a turn in one more gets 429. 50. */
  readonly principalTurns: number
  readonly addressTurns: number
  /** Requests a minute: 600, and 1,200 for a network address, which may stand for many people. Further ones get 429. */
  readonly principalRequestsPerMinute: number
  readonly addressRequestsPerMinute: number
  /** Bytes of bodies; 128 MiB. */
  readonly principalBytesPerMinute: number
  readonly addressBytesPerMinute: number
}

const MIB = 1024 * 1024

export const QUOTA_LIMITS: QuotaLimits = {
  streams: 1000,
  principalStreams: 100,
  addressStreams: 100,
  principalTurns: 50,
  addressTurns: 50,
  principalRequestsPerMinute: 600,
  addressRequestsPerMinute: 1200,
  principalBytesPerMinute: 128 * MIB,
  addressBytesPerMinute: 128 * MIB,
}

/** Whom a request counts for. Undefined: nobody knows. */
export interface Asker {
  readonly principal: string | undefined
  /** The network address, or a stand-in for it. */
  readonly address: string | undefined
}

type Kind = 'principal' | 'address'

interface Counted {
  readonly kind: Kind
  readonly key: string
}

/** Milliseconds after which who has too much at once may try again: nobody knows when something ends. */
const RETRY_MS = 1000

export class ChatQuotas {
  readonly #limits: QuotaLimits
  readonly #requests: Readonly<Record<Kind, RateLimit>>
  readonly #bytes: Readonly<Record<Kind, RateLimit>>
  #streams = 0
  /** By who asks: what streams, and the sessions at work with how many hold each. */
  readonly #streamsOf = new Map<string, number>()
  readonly #turnsOf = new Map<string, Map<string, number>>()

  constructor(limits: QuotaLimits, clock: Clock) {
    const limit = (perMinute: number): RateLimit => createRateLimit({ perMinute, clock })
    this.#limits = limits
    this.#requests = {
      principal: limit(limits.principalRequestsPerMinute),
      address: limit(limits.addressRequestsPerMinute),
    }
    this.#bytes = { principal: limit(limits.principalBytesPerMinute), address: limit(limits.addressBytesPerMinute) }
  }

  /** @throws BatonError `rate_limited` */
  takeRequest(asker: Asker): void {
    for (const { kind, key } of listCounted(asker)) {
      const waitMs = this.#requests[kind].take(key)
      if (waitMs > 0) throw createTooOften(kind, `${this.#limits[`${kind}RequestsPerMinute`]} requests`, waitMs)
    }
  }

  /** @throws BatonError `rate_limited` */
  takeBytes(asker: Asker, bytes: number): void {
    for (const { kind, key } of listCounted(asker)) {
      const waitMs = bytes === 0 ? 0 : this.#bytes[kind].take(key, bytes)
      if (waitMs > 0) throw createTooOften(kind, `${this.#limits[`${kind}BytesPerMinute`]} bytes`, waitMs)
    }
  }

  /**
   * Counts a response among those that stream, before anything is waited for; what it returns lets it go, once.
   * @throws BatonError `server_draining`, `quota_exceeded`
   */
  holdStream(asker: Asker): () => void {
    const { streams } = this.#limits
    if (this.#streams >= streams)
      throw new BatonError({ code: 'server_draining', message: `more than ${streams} answers stream already` })
    const counted = listCounted(asker)
    for (const { kind, key } of counted) {
      const most = this.#limits[`${kind}Streams`]
      if ((this.#streamsOf.get(key) ?? 0) >= most) throw createTooMany(kind, `${most} answers that stream`)
    }
    const add = (change: 1 | -1): void => {
      this.#streams += change
      for (const { key } of counted) addTo(this.#streamsOf, key, change)
    }
    add(1)
    return once(() => add(-1))
  }

  /**
   * Counts a session at work, once however many hold it: what it is told while it works waits for its own turn. `isForced`: what
   * a running turn waits for is never refused.
   * @throws BatonError `quota_exceeded`
   */
  holdTurn(asker: Asker, session: string, isForced = false): () => void {
    const counted = listCounted(asker)
    for (const { kind, key } of counted) {
      const most = this.#limits[`${kind}Turns`]
      const sessions = this.#turnsOf.get(key)
      if (!isForced && sessions && sessions.size >= most && !sessions.has(session))
        throw createTooMany(kind, `${most} turns`)
    }
    for (const { key } of counted) {
      const sessions = this.#turnsOf.get(key) ?? new Map<string, number>()
      this.#turnsOf.set(key, sessions)
      addTo(sessions, session, 1)
    }
    return once(() => {
      for (const { key } of counted) {
        const sessions = this.#turnsOf.get(key)
        if (sessions) addTo(sessions, session, -1)
        if (sessions?.size === 0) this.#turnsOf.delete(key)
      }
    })
  }
}

function listCounted({ principal, address }: Asker): readonly Counted[] {
  return [
    ...(principal === undefined || principal === 'anonymous'
      ? []
      : [{ kind: 'principal', key: `p ${principal}` } as const]),
    ...(address === undefined ? [] : [{ kind: 'address', key: `a ${deriveLimitKey(address)}` } as const]),
  ]
}

function addTo(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change
  if (count > 0) counts.set(key, count)
  else counts.delete(key)
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) run()
    isDone = true
  }
}

const NAMES: Readonly<Record<Kind, string>> = { principal: 'a principal', address: 'an address' }

function createTooOften(kind: Kind, what: string, retryAfterMs: number): BatonError {
  return new BatonError({
    code: 'rate_limited',
    message: `${NAMES[kind]} may send ${what} a minute; try again in ${Math.ceil(retryAfterMs / 1000)} s`,
    data: { retryAfterMs },
  })
}

function createTooMany(kind: Kind, what: string): BatonError {
  return new BatonError({
    code: 'quota_exceeded',
    message: `${NAMES[kind]} may have ${what} at once; wait until one ends`,
    data: { retryAfterMs: RETRY_MS },
  })
}
