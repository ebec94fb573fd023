// A wait that ends: what the world does not answer in time counts as failed, so that nothing waits for it for ever.
import type { BatonError, Timers } from '@baton/core'

export interface Limit {
  readonly timeoutMs: number
  readonly error: () => BatonError
}

/** What `work` brings within the limit. A later answer is dropped, also a later failure. */
export function within<Value>(timers: Timers, limit: Limit, work: PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = timers.start(limit.timeoutMs, () => reject(limit.error()))
    work.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (cause: unknown) => {
        cancel()
        reject(cause as Error) // whatever it is, it goes on as it came
      },
    )
  })
}
