// What a catalog refuses: options that are wrong, and models that nobody knows.
import type { Agent } from '@baton/core'
import { BatonError } from '@baton/core'

/** Milliseconds: the longest that an interrupted model may be waited for. */
const INTERRUPT_MAX_MS = 60_000

/** @throws BatonError `invalid_option` */
export function checkInterrupt(ms: number): void {
  if (ms >= 0 && ms <= INTERRUPT_MAX_MS) return
  throw new BatonError({ code: 'invalid_option', message: `interruptMs must be 0 to ${INTERRUPT_MAX_MS}, not ${ms}` })
}

export function createUnknownModelError(id: string, hasModelOf: boolean): BatonError {
  const message = `no model is named "${id}"`
  if (hasModelOf) return new BatonError({ code: 'unknown_model', message })
  return new BatonError({ code: 'unknown_model', message: `${message}: this host has no modelOf` })
}

/** @throws BatonError `unknown_model` for an agent whose models are names */
export function checkNamed({ models }: Agent): void {
  const named = models.find((model) => typeof model === 'string')
  if (named !== undefined) throw createUnknownModelError(named, false)
}
