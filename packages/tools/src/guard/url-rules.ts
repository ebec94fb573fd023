// Checks an address before any lookup or request. Knows nothing of DNS.
import { isIP } from 'node:net'
import { BatonError } from '@baton/core'
import { findAddressIssue } from './address-rules.ts'
import type { AllowList } from './allow-list.ts'
import { plainHost } from './allow-list.ts'
import type { DenyList } from './deny-list.ts'

export interface UrlRules {
  readonly allow: AllowList
  /** Takes precedence over `allow`. */
  readonly deny: DenyList
  /** `https:` and possibly `http:`. */
  readonly schemes: ReadonlySet<string>
  /** Whether public places are refused too, unless `allow` has them. */
  readonly onlyAllowed: boolean
}

/** Maximum characters of an address. */
const URL_CHARS = 8_192

/** The bad ports of the fetch standard, read in 2026-11: mail, shells, old databases; none of them speaks HTTP. */
const BAD_PORTS: ReadonlySet<number> = new Set(
  (
    '0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137 ' +
    '139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720 1723 ' +
    '2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080'
  )
    .split(' ')
    .map(Number),
)

/** Names that never lead to the public network, whatever DNS says. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home\.arpa|onion)$/

/**
 * @param from the address that redirected here
 * @throws BatonError `url_refused`; its message names the host, never the path, the query or a login
 */
export function checkUrl(text: string, rules: UrlRules, from?: URL): URL {
  if (text.length > URL_CHARS)
    throw refuseUrl(undefined, `it has ${text.length} characters; the maximum is ${URL_CHARS}`, from)
  // Other programs interpret these differently from the URL standard; no legitimate address contains them.
  if (hasOddCharacter(text)) throw refuseUrl(undefined, 'it contains a control character or a backslash', from)
  const url = URL.parse(text, from?.href)
  if (!url) throw refuseUrl(undefined, 'it is not a valid address', from)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refuseUrl(undefined, `its scheme is ${url.protocol.slice(0, 40)}, which is not supported`, from)
  if (url.username !== '' || url.password !== '') throw refuseUrl(url, 'it contains a login', from)
  if (from && from.protocol !== url.protocol && url.protocol !== 'https:')
    throw refuseUrl(url, 'a redirect must not lead from https to http', from)
  if (BAD_PORTS.has(url.port === '' ? 443 : Number(url.port)))
    throw refuseUrl(url, 'its port is not used for HTTP', from)
  const { allow, deny, schemes, onlyAllowed } = rules
  if (deny.deniesPlace(url)) throw refuseUrl(url, DENIED_PLACE, from)
  if (!schemes.has(url.protocol) && !allow.allowsOrigin(url))
    throw refuseUrl(url, 'its scheme is not https', from, USE_HTTPS)
  if (allow.allowsPlace(url)) return url
  const host = plainHost(url)
  const isAllowed = isIP(host) !== 0 && allow.allowsAddress(host)
  const issue = onlyAllowed && !isAllowed ? 'only explicitly allowed places may be fetched' : findHostIssue(host, allow)
  if (issue !== undefined) throw refuseUrl(url, issue, from)
  return url
}

/** Message for a place on the program's deny list. */
export const DENIED_PLACE = 'this program denies its host'

function hasOddCharacter(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === 0x7f || code === 0x5c) return true
  }
  return false
}

function findHostIssue(host: string, allow: AllowList): string | undefined {
  if (isIP(host) !== 0) {
    const issue = allow.allowsAddress(host) ? undefined : findAddressIssue(host)
    return issue === undefined ? undefined : `its address is ${issue}`
  }
  if (LOCAL_NAME.test(host)) return 'its name belongs to a local network'
  return host.includes('.') ? undefined : 'its name has no dot, so it belongs to a local network'
}

const USE_HTTPS = 'Use its https: address, set schemes: ["https", "http"], or allow its origin with the scheme.'

export function refuseUrl(url: URL | undefined, why: string, from?: URL, hint?: string): BatonError {
  const place = url ? ` to ${url.origin}` : ''
  const by = from ? `, to which ${from.origin} redirects,` : ''
  const message = `the request${place}${by} was not sent: ${why}`
  return new BatonError({ code: 'url_refused', message, ...(hint !== undefined && { hint }) })
}
