// Names that a store is asked for. A name that is written must be legal (`checkName`); one that is looked for may be older
// than that rule, but must be text that a store can tell from every other.
import { BatonError } from '@baton/core'

/** @throws BatonError `invalid_option`: halves of surrogate pairs are all written as the same character */
export function checkText(what: string, value: string): void {
  if (typeof value === 'string' && value.isWellFormed()) return
  const shown = typeof value === 'string' ? 'a text with half of a surrogate pair' : typeof value
  throw new BatonError({ code: 'invalid_option', message: `${what} must be legal text, not ${shown}` })
}
