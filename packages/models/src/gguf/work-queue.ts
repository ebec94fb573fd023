// One piece of work after another: a model in memory answers one request at a time, and only so many may wait.
import type { AbortSignalLike } from '@baton/core'
import { BatonError } from '@baton/core'

export interface WorkQueue {
  /** @throws BatonError `model_overloaded` when too many wait, `cancelled` when the signal aborts before its turn */
  run<Value>(work: () => Promise<Value>, signal: AbortSignalLike): Promise<Value>
  /** After all that was begun. */
  idle(): Promise<void>
}

export function createWorkQueue(waitingMax: number): WorkQueue {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return {
    run: async (work, signal) => {
      if (waiting > waitingMax)
        throw new BatonError({ code: 'model_overloaded', message: `${waitingMax} requests wait for the model already` })
      waiting += 1
      const before = last
      const done = Promise.withResolvers<void>()
      last = done.promise
      try {
        await before
        if (signal.aborted) throw new BatonError({ code: 'cancelled', message: 'the model call was aborted' })
        return await work()
      } finally {
        waiting -= 1
        done.resolve()
      }
    },
    idle: () => last.then(() => {}),
  }
}
