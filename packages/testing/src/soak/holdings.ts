// Holdings of a process at a moment at which all its conversations are at rest, and whether one of these numbers grows.
import { readdirSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { queryObjects } from 'node:v8'

/** Numbers by what they count. */
export type Holdings = Readonly<Record<string, number>>

export interface Growth {
  readonly what: string
  readonly from: number
  readonly to: number
}

/** By which share a number may grow; those that are not listed may not grow at all. `undefined`: shown, and not judged. */
export type Allowed = Readonly<Record<string, number | undefined>>

const MIB = 2 ** 20
/**
 * Objects of the heap move a little with what was said last, such as numbers that outgrow 31 bits. An app shows what it was told
 * since it was opened, which is more in one minute than in another.
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

/** Needs `--expose-gc`. @throws Error without it */
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

/** A later pass collects what finalizers let go of in the one before. */
async function collectGarbage(): Promise<void> {
  if (!globalThis.gc) throw new Error('start Node with --expose-gc')
  for (let pass = 0; pass < 3; pass++) {
    await turn()
    globalThis.gc()
  }
}

/** 0 where the system does not tell. */
function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length - 1 // one of them reads the folder
  } catch {
    return 0
  }
}

/** Objects that come and go with what sessions do at the moment, counted in a few samples; one more for each of 20 sessions is more. */
const MOVING = /(maps|sets|promises)$/
const MOVING_MORE = 16

/**
 * Finds counts that grew after the warm-up: the least value in the last third is above its greatest in the first third by more than is
 * allowed. A steady growth shows in this, and a number that moves up and down does not.
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
