// Repeats a request that a session could not accept for a moment, such as a claim while its store fails or its workflow
// service is unavailable. It does not know the requests.
import type { Timers } from '@baton/core/internal'
import { isBatonError, pause } from '@baton/core/internal'

export interface TryAgainOptions {
  readonly timers: Timers
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal
  /** Whether a failure may pass; by default, whether it is marked as retryable. */
  readonly isPassing?: (cause: unknown) => boolean
  /** Called when the first try has failed and another one follows. */
  readonly onPutOff?: () => void
}

const RETRIES_MAX = 8
/** Milliseconds before the second try; each further wait is longer by as much. */
const AGAIN_MS = 1000

/** Rejects with the failure that lasts, or with the last one. */
export async function tryAgain<Value>(
  act: () => Promise<Value>,
  { timers, signal, isPassing = mayPass, onPutOff }: TryAgainOptions,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await act()
    } catch (cause) {
      if (signal.aborted || tries > RETRIES_MAX || !isPassing(cause)) throw cause
      if (tries === 1) onPutOff?.()
      await pause(timers, AGAIN_MS * tries, signal)
      if (signal.aborted) throw cause
    }
  }
}

export function mayPass(cause: unknown): boolean {
  return isBatonError(cause) && cause.retryable
}
