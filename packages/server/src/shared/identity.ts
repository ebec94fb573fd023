// The identity that a front serves, and how long it is valid. Authentication happens elsewhere.
import type { Principal, Timers } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import { within } from '@baton/runtime'

export interface Identity {
  readonly principal: Principal
  /** When the client must authenticate again, in milliseconds of the wall clock. Default: never. */
  readonly expiresAtMs?: number
}

/**
 * Reads the result of a front's `authenticate`; most return only a principal.
 * @throws BatonError `invalid_option` for a principal without an id, because a list for such a principal would show
 * everyone's sessions
 */
export function readIdentity(found: Principal | Identity): Identity {
  const isObject = typeof found === 'object'
  const identity: Identity = isObject && 'principal' in found ? found : { principal: found as Principal } // checked here
  const { id } = (identity.principal ?? {}) as { readonly id?: unknown } // untyped programs may return anything
  if (typeof id === 'string') return identity
  throw new BatonError({
    code: 'invalid_option',
    message: `authenticate must return a principal whose id is a string, not ${isObject ? `an id that is ${describeValue(id)}` : describeValue(found)}`,
    hint: 'Return { id: userId }, or undefined for an unknown caller.',
  })
}

/** Milliseconds that a program's `authenticate` may take. */
const IDENTITY_MS = 10_000

/** @throws BatonError `keys_unavailable` after 10 seconds */
export async function waitForIdentity<Found>(timers: Timers, asked: Promise<Found>): Promise<Found> {
  const error = (): BatonError =>
    new BatonError({ code: 'keys_unavailable', message: `authenticate took more than ${IDENTITY_MS} ms` })
  return await within(timers, { timeoutMs: IDENTITY_MS, error }, asked)
}
