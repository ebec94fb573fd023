// The key of a service as an option of a kit: a text, or a function that gives each principal their own.
import { BatonError, describeValue } from '@baton/core'

/**
 * Says what was given, since it is no key: most often a variable of the environment that is not set.
 * @throws BatonError `invalid_option`
 */
export function checkServiceKey(value: unknown, option: string, word: 'key' | 'token'): void {
  if (typeof value === 'function' || (typeof value === 'string' && value.trim() !== '')) return
  const what = `${option} must be a ${word}, or a function that gives the ${word} of a principal`
  const hint = value === undefined || typeof value === 'string' ? '; is the variable set that holds it?' : ''
  throw new BatonError({ code: 'invalid_option', message: `${what}, not ${describeValue(value)}${hint}` })
}
