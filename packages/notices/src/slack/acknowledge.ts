// The time in which Slack has to be answered.
import type { Timers } from '@baton/core/internal'

/** Milliseconds until Slack is answered, of the 3,000 that it waits. */
const ACK_MS = 2500

/** Resolves as `work` does, or to `late` when Slack has to be answered. */
export function beforeAck<Value, Late>(timers: Timers, work: Promise<Value>, late: Late): Promise<Value | Late> {
  return new Promise((resolve, reject) => {
    const stop = timers.start(ACK_MS, () => resolve(late))
    work.then(resolve, reject).finally(stop)
  })
}
