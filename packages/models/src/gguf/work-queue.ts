// Runs work one piece at a time: a model in memory answers one request at a time, and the queue is bounded.
import type { AbortSignalLike } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

export interface WorkQueue {
  /**
   * @throws BatonError `model_overloaded` if the queue is full, `cancelled` if the signal aborts before the work starts
   */
  run<Value>(work: () => Promise<Value>, signal: AbortSignalLike): Promise<Value>
  /** Resolves once all started work has ended. */
  idle(): Promise<void>
}

export function createWorkQueue(waitingMax: number): WorkQueue {
  let last: Promise<unknown> = Promise.resolve()
  /** Number of running and waiting pieces of work. */
  let open = 0
  return {
    run: async (work, signal) => {
      if (open > waitingMax)
        throw new BatonError({
          code: 'model_overloaded',
          message: `${waitingMax} requests are already waiting for the model`,
        })
      const before = last
      const done = Promise.withResolvers<void>()
      // Also wait for the previous work: a cancelled waiter must not let the next one start early.
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

/** Waits its turn. An aborted waiter leaves the queue immediately. */
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
