// Decides in which order tools that run at once go on, by a seed: each waits at a gate until it is chosen.
import { setImmediate as nextTick } from 'node:timers/promises'
import { createRandom } from '@baton/core/testing'

export interface Interleaver {
  /** Resolves when the schedule chooses this one. */
  readonly gate: () => Promise<void>
  /** Opens one gate after the other until the work is done. */
  readonly drive: (work: Promise<unknown>) => Promise<void>
  /** How often another one went on than the one before. */
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
        // Some rounds pass without anybody going on, so that more of them wait.
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
