// Which headers are sent: those of an adapter, of its user, and for the user and the password that stand in an address.
import type { HttpRequest } from '@baton/core'
import { BatonError } from '@baton/core'

type Sent = Pick<HttpRequest, 'url' | 'headers'>

/** The later wins, however its name is written: a gateway's key takes the place of the provider's. */
export function mergeHeaders(...all: readonly Sent['headers'][]): Sent['headers'] {
  const entries = all.flatMap((headers) => Object.entries(headers))
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]))
}

/**
 * The address alone, and the headers with `authorization: Basic …`; names of headers are in lower case.
 * @throws BatonError `invalid_option` where the headers have an authorization of their own
 */
export function moveUserInfo({ url, headers }: Sent): Sent {
  const parsed = URL.parse(url)
  if (!parsed || (parsed.username === '' && parsed.password === '')) return { url, headers }
  if (headers['authorization'] !== undefined)
    throw new BatonError({
      code: 'invalid_option',
      message:
        'the base address has a user or a password, and the request an authorization of its own; give one of them',
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
