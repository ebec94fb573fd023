// Decides by a seed in which order concurrent tools continue: each waits at a gate until it is chosen.
import { setImmediate as nextTick } from 'node:timers/promises'
import { createRandom } from '@baton/core/testing'

export interface Interleaver {
  /** Resolves when the schedule picks this one. */
  readonly gate: () => Promise<void>
  /** Opens one gate after another until the work is done. */
  readonly drive: (work: Promise<unknown>) => Promise<void>
  /** How often a different one continued than the time before. */
  readonly switches: () => number
}

export function createInterleaver(seed: number): Interleaver {
  const random = createRandom(seed)
  const waiting: { readonly by: number; readonly open: () => void }[] = []
  let gates = 0
  let last = -1
  let switches = 0
  return {
    gate: () =>
      new Promise((resolve) => {
        gates += 1
        waiting.push({ by: gates, open: resolve })
      }),
    drive: async (work) => {
      let isOver = false
      const end = (): void => {
        isOver = true
      }
      void work.then(end, end)
      while (!isOver) {
        await nextTick()
        // In some rounds none continues, so that more of them wait.
        if (waiting.length === 0 || random.chance(0.5)) continue
        const [chosen] = waiting.splice(random.below(waiting.length), 1)
        if (!chosen) continue
        if (chosen.by !== last + 1) switches += 1
        last = chosen.by
        chosen.open()
      }
      await work
    },
    switches: () => switches,
  }
}
