// Runs a tool again after a transient failure, as its `retry` says. All tries are one run of the call: they share its
// time-out, idempotency key and signal.
import type { Logger, Timers, Tool } from '@baton/core/internal'
import { ERROR_CODES, isBatonError, isErrorCode, pause, readServiceFailure } from '@baton/core/internal'
import { describeThrown } from '../describe-thrown.ts'

const DEFAULTS = { baseMs: 500, maxMs: 10_000 } as const

export interface RetryPlace {
  readonly timers: Timers
  readonly log: Logger
  readonly cancellation: AbortController
  readonly callId: string
}

/** @throws the error of the last try */
export async function runWithRetry(tool: Tool, place: RetryPlace, run: () => unknown): Promise<unknown> {
  const { attempts = 1, baseMs = DEFAULTS.baseMs, maxMs = DEFAULTS.maxMs } = tool.retry ?? {}
  for (let attempt = 1; ; attempt += 1)
    try {
      return await run()
    } catch (thrown) {
      const { cancellation, log, callId } = place
      if (attempt >= attempts || cancellation.signal.aborted || !mayGoAway(thrown)) throw thrown
      const delayMs = Math.min(Math.max(baseMs * 2 ** (attempt - 1), readRetryAfter(thrown)), maxMs)
      log.warn('a tool failed and is retried', {
        callId,
        tool: tool.name,
        attempt,
        delayMs,
        cause: describeThrown(thrown),
      })
      await pause(place.timers, delayMs, cancellation.signal)
      if (cancellation.signal.aborted) throw thrown
    }
}

/**
 * A BatonError says whether it can be retried, and so does a service's status. Any other error is retried, because the
 * tool asked for retries.
 */
function mayGoAway(thrown: unknown): boolean {
  try {
    if (isBatonError(thrown)) return !isErrorCode(thrown.code) || thrown.retryable
    const code = readServiceFailure(thrown)
    return code === undefined || ERROR_CODES[code].retryable
  } catch {
    return false // it has a throwing getter
  }
}

function readRetryAfter(thrown: unknown): number {
  try {
    const { retryAfterMs } = ((isBatonError(thrown) && thrown.data) || {}) as { readonly retryAfterMs?: unknown }
    return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0
  } catch {
    return 0
  }
}
