// Quotas per principal and per network address for chats over HTTP: requests, bytes, turns and streams. It only counts;
// the caller reports refusals. Anonymous callers are counted by address only.
import type { Clock } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { deriveLimitKey, createRateLimit } from '../shared/rate-limit.ts'
import type { RateLimit } from '../shared/rate-limit.ts'

export interface QuotaLimits {
  /** Concurrent streaming responses; further ones get 503. Default: 1,000. */
  readonly streams: number
  /** The same per principal and per network address; further ones get 429. Default: 100. */
  readonly principalStreams: number
  readonly addressStreams: number
  /**
   * Sessions at work at once, per principal and per address; a message that would start a turn in another one gets 429.
   * Default: 50.
   */
  readonly principalTurns: number
  readonly addressTurns: number
  /**
   * Requests per minute; further ones get 429. Defaults: 600, and 1,200 for a network address, which may be shared by
   * many people.
   */
  readonly principalRequestsPerMinute: number
  readonly addressRequestsPerMinute: number
  /** Bytes of request bodies per minute. Default: 128 MiB. */
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

/** The caller that a request counts for. `undefined` if unknown. */
export interface Asker {
  readonly principal: string | undefined
  /** The network address, or a substitute for it. */
  readonly address: string | undefined
}

type Kind = 'principal' | 'address'

interface Counted {
  readonly kind: Kind
  readonly key: string
}

/** Suggested retry delay in milliseconds when too much runs at once, since it is unknown when something will end. */
const RETRY_MS = 1000

export class ChatQuotas {
  readonly #limits: QuotaLimits
  readonly #requests: Readonly<Record<Kind, RateLimit>>
  readonly #bytes: Readonly<Record<Kind, RateLimit>>
  #streams = 0
  /** Open streams by caller, and sessions at work with their number of holders. */
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
   * Counts a streaming response, before anything is awaited. The returned function uncounts it, once.
   * @throws BatonError `server_draining`, `quota_exceeded`
   */
  holdStream(asker: Asker): () => void {
    const { streams } = this.#limits
    if (this.#streams >= streams)
      throw new BatonError({ code: 'server_draining', message: `${streams} answers are already streaming` })
    const counted = listCounted(asker)
    for (const { kind, key } of counted) {
      const most = this.#limits[`${kind}Streams`]
      if ((this.#streamsOf.get(key) ?? 0) >= most) throw createTooMany(kind, `${most} streaming answers`)
    }
    const add = (change: 1 | -1): void => {
      this.#streams += change
      for (const { key } of counted) addTo(this.#streamsOf, key, change)
    }
    add(1)
    return once(() => add(-1))
  }

  /**
   * Counts a session at work, once for all its holders: messages sent while it works wait for its own turns. `isForced`
   * never refuses, for what a running turn is waiting for.
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
