// A log for lines that strangers can cause: a limited number per message and minute is written, then how many were left
// out.
import type { Clock, Logger } from '@baton/core/internal'
import { createRateLimit } from './rate-limit.ts'

/** Lines per message and minute. */
export const LINES_PER_MINUTE = 60
/** Distinct messages to track. */
const MESSAGES_MAX = 1000

export function sampleLog(log: Logger, clock: Clock): Logger {
  const rate = createRateLimit({ perMinute: LINES_PER_MINUTE, clock, keysMax: MESSAGES_MAX })
  const leftOut = new Map<string, number>()
  const sample =
    (write: Logger['info']): Logger['info'] =>
    (message, data) => {
      const missing = leftOut.get(message) ?? 0
      if (rate.take(message) > 0) {
        if (missing > 0 || leftOut.size < MESSAGES_MAX) leftOut.set(message, missing + 1)
        return
      }
      leftOut.delete(message)
      write(message, missing === 0 ? data : { ...data, leftOut: missing })
    }
  return { info: sample(log.info.bind(log)), warn: sample(log.warn.bind(log)) }
}
