// The key of a service as an option of a kit: a string, or a function that returns each principal's key.
import { BatonError, describeValue } from '@baton/core/internal'

/**
 * The error shows an invalid value, since it is not a key: most often, an environment variable is unset.
 * @throws BatonError `invalid_option`
 */
export function checkServiceKey(value: unknown, option: string, word: 'key' | 'token'): void {
  if (typeof value === 'function' || (typeof value === 'string' && value.trim() !== '')) return
  const what = `${option} must be a ${word}, or a function that returns the ${word} of a principal`
  const hint = value === undefined || typeof value === 'string' ? '; is the variable that holds it set?' : ''
  throw new BatonError({ code: 'invalid_option', message: `${what}, not ${describeValue(value)}${hint}` })
}
