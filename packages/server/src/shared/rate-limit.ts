// Limits how often something may happen per key: a token bucket that refills evenly over a minute.
import type { Clock } from '@baton/core/internal'
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
