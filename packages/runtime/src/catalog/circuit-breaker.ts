// Skips a model that keeps failing, so that turns go straight to the next candidate instead of waiting for time-outs.
// Each model of a host has one breaker, shared by all sessions.
import type { Clock, ErrorCode, Model } from '@baton/core/internal'
import { BatonError, isBatonError, readMonotonicMs } from '@baton/core/internal'

export interface CircuitBreakers {
  /** Wraps the model; calls fail with `model_unavailable` while the breaker is open. */
  guard(model: Model): Model
}

/** Consecutive failures that open the breaker, and milliseconds until one trial call is let through. */
export const FAILURES_MAX = 5
export const OPEN_MS = 30_000

interface Breaker {
  failures: number
  openUntilMs: number
  lastFailure: BatonError | undefined
  /** Whether a trial call is running. */
  isTrying: boolean
}

/** Failures of the model or the network, not of the request. */
const COUNTED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'model_overloaded',
  'model_provider_failed',
  'model_network_failed',
  'model_timeout',
  'model_cut_off',
  'model_rate_limited',
  'model_auth_failed',
  'model_not_found',
])

export function createCircuitBreakers(clock: Clock): CircuitBreakers {
  const breakers = new Map<string, Breaker>()
  const findBreaker = (id: string): Breaker => {
    const breaker = breakers.get(id) ?? { failures: 0, openUntilMs: 0, lastFailure: undefined, isTrying: false }
    breakers.set(id, breaker)
    return breaker
  }
  return {
    guard: (model) => {
      const { id, provider, capabilities } = model // not spread: getters of a class would be lost
      return { id, provider, capabilities, run: (...request) => runGuarded(model, findBreaker(id), { clock, request }) }
    },
  }
}

interface Guarded {
  readonly clock: Clock
  readonly request: Parameters<Model['run']>
}

async function runGuarded(model: Model, breaker: Breaker, { clock, request }: Guarded): ReturnType<Model['run']> {
  const isBroken = breaker.failures >= FAILURES_MAX
  if (isBroken && (breaker.isTrying || readMonotonicMs(clock) < breaker.openUntilMs)) throw unavailable(model, breaker)
  if (isBroken) breaker.isTrying = true
  try {
    const answer = await model.run(...request)
    breaker.failures = 0
    return answer
  } catch (cause) {
    if (isBatonError(cause) && COUNTED.has(cause.code)) {
      breaker.failures += 1
      breaker.openUntilMs = readMonotonicMs(clock) + OPEN_MS
      breaker.lastFailure = cause
    }
    throw cause
  } finally {
    // A call that began before the breaker opened is not the trial.
    if (isBroken) breaker.isTrying = false
  }
}

function unavailable({ id }: Model, { failures, lastFailure }: Breaker): BatonError {
  const message = `${id} failed ${failures} times in a row and is skipped for ${OPEN_MS / 1000} s`
  return new BatonError({
    code: 'model_unavailable',
    message: lastFailure ? `${message}; last failure: ${lastFailure.message}` : message,
    cause: lastFailure,
  })
}
