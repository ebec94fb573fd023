// Limits how often something may happen per key: a token bucket that refills evenly over a minute. Clients are counted by
// their network address, and lines of a log that strangers can cause by their message.
import type { Clock, Logger } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'

export interface RateLimit {
  /**
   * Spends this many of the key's tokens (default: 1) and returns 0, or spends none and returns the milliseconds until
   * there are enough.
   */
  take(key: string, tokens?: number): number
}

export interface RateLimitOptions {
  /** Tokens of a full bucket, and the number refilled per minute. */
  readonly perMinute: number
  readonly clock: Clock
  /** Keys to remember. Beyond that, the least recently used key starts over. Default: 10,000. */
  readonly keysMax?: number
}

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

const MINUTE_MS = 60_000
const KEYS_MAX = 10_000

export function createRateLimit({ perMinute, clock, keysMax = KEYS_MAX }: RateLimitOptions): RateLimit {
  // Ordered by last use, oldest first. A full bucket is the same as none.
  const buckets = new Map<string, Bucket>()

  const countTokens = (bucket: Bucket | undefined, nowMs: number): number => {
    if (!bucket) return perMinute
    const passedMs = Math.max(0, nowMs - bucket.atMs)
    return Math.min(perMinute, bucket.tokens + (passedMs * perMinute) / MINUTE_MS)
  }
  const forget = (nowMs: number): void => {
    for (const [key, bucket] of buckets) {
      if (countTokens(bucket, nowMs) < perMinute && buckets.size <= keysMax) return
      buckets.delete(key)
    }
  }

  return {
    take: (key, asked = 1) => {
      const nowMs = readMonotonicMs(clock)
      const tokens = countTokens(buckets.get(key), nowMs)
      // A cost above the bucket's size passes when the bucket is full.
      const wanted = Math.min(asked, perMinute)
      const taken = tokens >= wanted
      buckets.delete(key)
      buckets.set(key, { tokens: taken ? tokens - wanted : tokens, atMs: nowMs })
      forget(nowMs)
      return taken ? 0 : Math.ceil(((wanted - tokens) * MINUTE_MS) / perMinute)
    },
  }
}

const GROUPS = 8
/** Groups of an IPv6 address that usually belong to one customer of a network. */
const PREFIX_GROUPS = 4

/**
 * Returns the key of an address: an IPv4 address, or the first 64 bits of an IPv6 one, since its owner chooses the
 * rest.
 */
export function deriveLimitKey(address: string): string {
  if (!address.includes(':')) return address
  const [left = '', right] = (address.split('%', 1)[0] ?? '').split('::')
  const groups = (text: string): readonly string[] => (text === '' ? [] : text.split(':'))
  const [before, after] = [groups(left), groups(right ?? '')]
  const zeros = right === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length)
  const all = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  const prefix = all.slice(0, PREFIX_GROUPS).map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''))
  return `${prefix.join(':')}::/64`
}

/** Lines per message and minute. */
export const LINES_PER_MINUTE = 60
/** Distinct messages to track. */
const MESSAGES_MAX = 1000

export function sampleLog(log: Logger, clock: Clock): Logger {
  const rate = createRateLimit({ perMinute: LINES_PER_MINUTE, clock, keysMax: MESSAGES_MAX })
  const leftOut = new Map<string, number>()
  const sample =
    (write: Logger['info']): Logger['info'] =>
    (message, data) => {
      const missing = leftOut.get(message) ?? 0
      if (rate.take(message) > 0) {
        if (missing > 0 || leftOut.size < MESSAGES_MAX) leftOut.set(message, missing + 1)
        return
      }
      leftOut.delete(message)
      write(message, missing === 0 ? data : { ...data, leftOut: missing })
    }
  return { info: sample(log.info.bind(log)), warn: sample(log.warn.bind(log)) }
}
