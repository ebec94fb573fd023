// Public targets that a program denies: hosts with their subdomains, and address ranges. Only compares.
import { isIP } from 'node:net'
import type { AddressRange } from './address-rules.ts'
import { isWithin, parseAddress, parseRange } from './address-rules.ts'
import { plainHost, readHost } from './allow-list.ts'

export interface DenyList {
  /** Whether the program named the host, a parent domain, or a range that contains the literal address. */
  deniesPlace(url: URL): boolean
  deniesAddress(address: string): boolean
  /** Whether a range was named, so that hosts must be checked by their addresses. */
  readonly hasAddresses: boolean
}

/**
 * @param entries `spam.example` (a host with all its subdomains), `203.0.113.0/24` or `2001:db8::1` (addresses)
 * @throws BatonError `invalid_option`
 */
export function parseDenyList(entries: readonly string[]): DenyList {
  const hosts: string[] = []
  const ranges: AddressRange[] = []
  for (const entry of entries) {
    const text = String(entry).trim()
    const range = parseRange(text.replace(/^\[(.*)\]$/, '$1'))
    if (range) ranges.push(range)
    else hosts.push(readHost(text, { field: 'deny', hint: HINT }))
  }
  const deniesAddress = (text: string): boolean => {
    const address = parseAddress(text)
    return address !== undefined && ranges.some((range) => isWithin(address, range))
  }
  return {
    deniesAddress,
    hasAddresses: ranges.length > 0,
    deniesPlace: (url) => {
      const host = plainHost(url)
      if (isIP(host) !== 0) return deniesAddress(host)
      return hosts.some((denied) => host === denied || host.endsWith(`.${denied}`))
    },
  }
}

const HINT = 'Use a host, which is denied with its subdomains, or a range such as 203.0.113.0/24.'
