// Chooses the headers to send: the adapter's, the user's, and those for the user and password in an address.
import type { HttpRequest } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

type Sent = Pick<HttpRequest, 'url' | 'headers'>

/** Later headers win, regardless of case: a gateway's key replaces the provider's. */
export function mergeHeaders(...all: readonly Sent['headers'][]): Sent['headers'] {
  const entries = all.flatMap((headers) => Object.entries(headers))
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * Returns the address without user info, and the headers with `authorization: Basic …`. Header names are lowercase.
 * @throws BatonError `invalid_option` if the headers already have an authorization
 */
export function moveUserInfo({ url, headers }: Sent): Sent {
  const parsed = URL.parse(url)
  if (!parsed || (parsed.username === '' && parsed.password === '')) return { url, headers }
  if (headers['authorization'] !== undefined)
    throw new BatonError({
      code: 'invalid_option',
      message:
        'the base address has a user or password, and the request also has an authorization header; use only one of them',
    })
  const pair = new TextEncoder().encode(`${decode(parsed.username)}:${decode(parsed.password)}`)
  parsed.username = ''
  parsed.password = ''
  const authorization = `Basic ${btoa(String.fromCharCode(...pair))}`
  return { url: parsed.href, headers: { ...headers, authorization } }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
