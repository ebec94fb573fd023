// Parses a service's address from a program's option.
import { BatonError, describeValue } from '@baton/core/internal'

/**
 * @param option prefix of the error, such as `fromOpenApi: server`
 * @returns the address without a trailing slash
 * @throws BatonError `invalid_option`
 */
export function readServerAddress(option: string, text: string): string {
  const url = typeof text === 'string' ? URL.parse(text) : null
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  )
    throw new BatonError({
      code: 'invalid_option',
      message: `${option} must be an address such as https://api.example.com/v1, without login and query, not ${describe(text)}`,
    })
  return url.href.replace(/\/+$/, '')
}

/** A login or query may contain a key, so only an address without them is shown. */
function describe(text: unknown): string {
  return typeof text === 'string' && /[@?#]/.test(text) ? 'one with them' : describeValue(text)
}
