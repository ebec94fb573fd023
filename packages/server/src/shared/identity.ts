// Who a front speaks to, and until when it may believe that. How it is found out stands with those who authenticate.
import type { Principal, Timers } from '@baton/core'
import { BatonError, describeValue } from '@baton/core'
import { within } from '@baton/runtime'

export interface Identity {
  readonly principal: Principal
  /** A time of the wall clock in milliseconds. After it the client must authenticate again. By default it never has to. */
  readonly expiresAtMs?: number
}

/**
 * Reads what `authenticate` of a front returned; most return only a principal.
 * @throws BatonError `invalid_option` for a principal without an id: a list for nobody in particular would be everybody's
 */
export function readIdentity(found: Principal | Identity): Identity {
  const isObject = typeof found === 'object'
  const identity: Identity = isObject && 'principal' in found ? found : { principal: found as Principal } // checked here
  const { id } = (identity.principal ?? {}) as { readonly id?: unknown } // a program in JavaScript may give anything
  if (typeof id === 'string') return identity
  throw new BatonError({
    code: 'invalid_option',
    message: `authenticate must return a principal whose id is text, not ${isObject ? `an id that is ${describeValue(id)}` : describeValue(found)}`,
    hint: 'Return { id: userId }, or undefined for somebody whom you do not know.',
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
