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
  /** Running and waiting work. */
  let open = 0
  return {
    run: async (work, signal) => {
      if (open > waitingMax)
        throw new BatonError({ code: 'model_overloaded', message: `${waitingMax} requests wait for the model already` })
      const before = last
      const done = Promise.withResolvers<void>()
      // Also after the one before: a place that is given up must not let the next begin.
      last = Promise.all([before, done.promise])
      open += 1
      try {
        await turn(before, signal)
        return await work()
      } finally {
        open -= 1
        done.resolve()
      }
    },
    idle: () => last.then(() => {}),
  }
}

/** Waits for its turn; one that is aborted gives up its place at once. */
async function turn(before: Promise<unknown>, signal: AbortSignalLike): Promise<void> {
  const aborted = Promise.withResolvers<void>()
  const abort = (): void => aborted.resolve()
  signal.addEventListener('abort', abort)
  try {
    if (!signal.aborted) await Promise.race([before, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
  if (signal.aborted) throw new BatonError({ code: 'cancelled', message: 'the model call was aborted' })
}
