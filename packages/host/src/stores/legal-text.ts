// Checks names passed to a store. A name being written must be legal (`checkName`). One being looked up may predate
// that rule, but must be text that the store can distinguish from any other.
import { BatonError } from '@baton/core'

/** @throws BatonError `invalid_option` for lone surrogates, which all encode to the same character */
export function checkText(what: string, value: string): void {
  if (typeof value === 'string' && value.isWellFormed()) return
  const shown = typeof value === 'string' ? 'text with a lone surrogate' : typeof value
  throw new BatonError({ code: 'invalid_option', message: `${what} must be a valid Unicode string, not ${shown}` })
}
