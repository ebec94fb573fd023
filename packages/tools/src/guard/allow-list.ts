// A program's exceptions beyond the public network: origins, hosts and address ranges. Only compares.
import { BatonError } from '@baton/core'
import type { AddressRange } from './address-rules.ts'
import { isWithin, parseAddress, parseRange } from './address-rules.ts'

export interface AllowList {
  /** Whether the program named the origin, or the host with all its ports. Its addresses then need no check. */
  allowsPlace(url: URL): boolean
  /** Whether the program named the origin, including its scheme. */
  allowsOrigin(url: URL): boolean
  allowsAddress(address: string): boolean
}

/**
 * @param entries `http://localhost:3000` (an origin), `intranet.example` or `*.intranet.example` (a host),
 * `10.1.0.0/16` or `::1` (addresses)
 * @throws BatonError `invalid_option`
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const origins = new Set<string>()
  const hosts = new Set<string>()
  const suffixes: string[] = []
  const ranges: AddressRange[] = []
  for (const entry of entries) {
    const text = entry.trim()
    const range = parseRange(text.replace(/^\[(.*)\]$/, '$1'))
    if (range) ranges.push(range)
    else if (text.includes('://')) origins.add(readOrigin(text))
    else if (text.startsWith('*.')) suffixes.push(`.${readHost(text.slice(2), { entry })}`)
    else hosts.add(readHost(text))
  }
  const allowsHost = (host: string): boolean => hosts.has(host) || suffixes.some((suffix) => host.endsWith(suffix))
  return {
    allowsPlace: (url) => origins.has(url.origin) || allowsHost(plainHost(url)),
    allowsOrigin: (url) => origins.has(url.origin),
    allowsAddress: (text) => {
      const address = parseAddress(text)
      return address !== undefined && ranges.some((range) => isWithin(address, range))
    },
  }
}

/** Host name without IPv6 brackets and without a trailing dot. */
export function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')
}

function readOrigin(text: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw wrong(text, 'an origin has a scheme, a host and optionally a port, such as https://api.example.com:8443')
  return url.origin
}

/** @throws BatonError `invalid_option` */
export function readHost(text: string, { entry = text, field = 'allow', hint = HINT }: Reading = {}): string {
  const url = URL.parse(`https://${text}`)
  const isHost = url !== null && url.href === `${url.origin}/` && url.port === '' && !/[/:?#@\\*]/.test(text)
  if (!isHost) throw wrong(entry, hint, field)
  return plainHost(url)
}

interface Reading {
  /** As written by the program. */
  readonly entry?: string
  readonly field?: 'allow' | 'deny'
  readonly hint?: string
}

const HINT = 'use an origin, a host without a port, or a range such as 10.0.0.0/8'

function wrong(entry: string, hint: string, field: 'allow' | 'deny' = 'allow'): BatonError {
  const places = field === 'allow' ? 'origins, hosts or address ranges' : 'hosts or address ranges'
  const message = `${field} must contain ${places}, not "${entry.slice(0, 100)}"`
  return new BatonError({ code: 'invalid_option', message, hint })
}
