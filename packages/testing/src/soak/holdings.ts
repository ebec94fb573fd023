// Counts what a process holds while all its conversations are at rest, and tells whether any of the numbers grows.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'

/** Counts by name. */
export type Holdings = Readonly<Record<string, number>>

export interface Growth {
  readonly what: string
  readonly from: number
  readonly to: number
}

/** Allowed growth of a count, as a share; counts not listed may not grow at all. `undefined`: shown but not judged. */
export type Allowed = Readonly<Record<string, number | undefined>>

const MIB = 2 ** 20
/**
 * The heap varies slightly with the latest messages, for example with numbers that outgrow 31 bits. An app shows what
 * it received since it was opened, which differs from minute to minute.
 */
export const ALLOWED: Allowed = {
  'heap MiB': 0.03,
  maps: 0.01,
  sets: 0.01,
  promises: 0.01,
  'RSS MiB': undefined,
  'apps: heap MiB': 0.1,
  'apps: maps': 0.01,
  'apps: sets': 0.01,
  'apps: promises': 0.01,
  'apps: RSS MiB': undefined,
}

/** Requires `--expose-gc`. @throws Error without it */
export async function takeHoldings(more: Holdings): Promise<Holdings> {
  await collectGarbage()
  const { heapUsed, external, rss } = process.memoryUsage()
  return {
    'heap MiB': (heapUsed + external) / MIB,
    'RSS MiB': rss / MIB,
    descriptors: countDescriptors(),
    'Node’s timers': process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
    maps: queryObjects(Map, { format: 'count' }),
    sets: queryObjects(Set, { format: 'count' }),
    promises: queryObjects(Promise, { format: 'count' }),
    'abort signals': queryObjects(AbortSignal, { format: 'count' }),
    ...more,
  }
}

/** A later pass collects what finalizers released in the previous one. */
async function collectGarbage(): Promise<void> {
  if (!globalThis.gc) throw new Error('start Node with --expose-gc')
  for (let pass = 0; pass < 3; pass++) {
    await turn()
    globalThis.gc()
  }
}

/** Returns 0 if the system does not report it. */
function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length - 1 // one of them is for reading the folder
  } catch {
    return 0
  }
}

/**
 * Counts that vary with what sessions are doing, measured in a few samples; growth of one per session, for 20 sessions,
 * exceeds this.
 */
const MOVING = /(maps|sets|promises)$/
const MOVING_MORE = 16

/**
 * Finds counts that grew after the warm-up: the minimum of the last third exceeds the maximum of the first third by
 * more than is allowed. This detects steady growth but not fluctuation.
 */
export function findGrowth(samples: readonly Holdings[], allowed: Allowed = ALLOWED): readonly Growth[] {
  const third = Math.floor(samples.length / 3)
  if (third === 0) throw new Error(`three samples are needed after the warm-up, not ${samples.length}`)
  return Object.keys(samples[0] ?? {}).flatMap((what) => {
    const share = what in allowed ? allowed[what] : 0
    if (share === undefined) return []
    const values = samples.map((sample) => sample[what] ?? 0)
    const from = Math.max(...values.slice(0, third))
    const to = Math.min(...values.slice(-third))
    const more = MOVING.test(what) ? MOVING_MORE : 0
    return to > from * (1 + share) + more ? [{ what, from, to }] : []
  })
}
