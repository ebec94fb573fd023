// How often something may happen for each key: a token bucket that refills evenly over a minute. It knows no frames.
import type { Clock } from '@baton/core'
import { readMonotonicMs } from '@baton/core'

export interface RateLimit {
  /** Spends so many of the key's tokens (1 by default), or none: 0, or the milliseconds until there are as many again. */
  take(key: string, tokens?: number): number
}

export interface RateLimitInit {
  /** Tokens of a full bucket, and how many come back in a minute. */
  readonly perMinute: number
  readonly clock: Clock
  /** Keys that are remembered. Beyond that, the key that was unused for the longest time starts again. 10,000. */
  readonly keysMax?: number
}

interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

const MINUTE_MS = 60_000
const KEYS_MAX = 10_000

export function createRateLimit({ perMinute, clock, keysMax = KEYS_MAX }: RateLimitInit): RateLimit {
  // The key that was longest away stands first. A full bucket says no more than none.
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
      // A cost over the bucket's size passes when the bucket is full.
      const wanted = Math.min(asked, perMinute)
      const taken = tokens >= wanted
      buckets.delete(key)
      buckets.set(key, { tokens: taken ? tokens - wanted : tokens, atMs: nowMs })
      forget(nowMs)
      return taken ? 0 : Math.ceil(((wanted - tokens) * MINUTE_MS) / perMinute)
    },
  }
}
