// How long to wait before a model is called again. Pure: the jitter is derived from the attempt, not from chance.
import type { Failure } from './input.ts'
import type { RetrySpec } from './spec.ts'

export interface FailedAttempt {
  readonly session: string
  readonly attempt: number
  /** Earlier failures of this model. */
  readonly failures: number
  readonly error: Failure
}

/** Milliseconds until the next try; undefined if there is none, or the provider asks for too long a pause. */
export function retryDelayMs(retry: RetrySpec, failed: FailedAttempt): number | undefined {
  if (!failed.error.retryable) return undefined
  const askedMs = failed.error.retryAfterMs ?? 0
  if (askedMs > retry.maxMs) return undefined
  const backoffMs = Math.min(retry.maxMs, retry.baseMs * 2 ** failed.failures)
  const jittered = backoffMs / 2 + (backoffMs / 2) * fraction(`${failed.session}/${failed.attempt}`)
  return Math.max(askedMs, Math.round(jittered))
}

/** A number in [0, 1) from a text (FNV-1a), so that sessions that fail together do not retry together. */
function fraction(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0) / 0x1_0000_0000
}
