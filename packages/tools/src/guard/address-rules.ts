// Determines which network addresses are public. Ignores names, DNS and a program's exceptions.
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Special ranges that the library counts as public or names differently. Read from IANA's registries in 2026-11. */
const MORE_RANGES: readonly (readonly [range: string, words: string])[] = [
  ['168.63.129.16/32', 'the metadata service of a cloud'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'for documentation'],
  ['198.18.0.0/15', 'for benchmarks'],
  ['198.51.100.0/24', 'for documentation'],
  ['203.0.113.0/24', 'for documentation'],
  ['2001::/23', 'reserved for protocols'],
  ['2001:db8::/32', 'for documentation'],
  ['2002::/16', 'a 6to4 address, which leads to another'],
  ['3fff::/20', 'for documentation'],
]

const RANGE_WORDS: Readonly<Record<string, string>> = {
  unspecified: 'unspecified',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'link-local, where metadata services are',
  loopback: 'this machine',
  carrierGradeNat: 'shared by a carrier',
  private: 'private',
  uniqueLocal: 'private',
  reserved: 'reserved',
  teredo: 'a Teredo address, which leads to another',
}

type Address = ReturnType<typeof ipaddr.parse>

/**
 * Why an address is not public, as words after "is": `private`; `undefined` for a public address. An IPv4 address
 * inside an IPv6 address is checked if the network would go there (mapped, and NAT64's well-known prefix); other
 * embedded forms are refused.
 * @param text as written by DNS and the URL parser, without brackets
 */
export function findAddressIssue(text: string): string | undefined {
  const address = parseAddress(text)
  return address ? findIssue(address) : 'not an address'
}

function findIssue(address: Address): string | undefined {
  const inner = findInner(address)
  if (inner) return findIssue(inner)
  const special = MORE_RANGES.find(([range]) => isWithin(address, ipaddr.parseCIDR(range)))
  if (special) return special[1]
  const range = address.range()
  if (range !== 'unicast') return RANGE_WORDS[range] ?? 'reserved'
  // IANA has allocated only addresses in 2000::/3.
  if (address.kind() === 'ipv6' && !isWithin(address, ipaddr.parseCIDR('2000::/3'))) return 'reserved'
  return undefined
}

/** `::ffff:a.b.c.d` and `64:ff9b::a.b.c.d`. */
function findInner(address: Address): Address | undefined {
  if (!('parts' in address)) return undefined
  if (address.isIPv4MappedAddress()) return address.toIPv4Address()
  if (!isWithin(address, ipaddr.parseCIDR('64:ff9b::/96'))) return undefined
  return ipaddr.fromByteArray(address.toByteArray().slice(12))
}

/** Returns `undefined` for anything but plain forms, such as `127.1` or addresses with a zone. */
export function parseAddress(text: string): Address | undefined {
  if (isIP(text) === 0 || text.includes('%')) return undefined
  const address = ipaddr.parse(text)
  return 'parts' in address && address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

export type AddressRange = ReturnType<typeof ipaddr.parseCIDR>

export function isWithin(address: Address, [network, bits]: AddressRange): boolean {
  if ('octets' in address) return 'octets' in network && address.match(network, bits)
  return 'parts' in network && address.match(network, bits)
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; `undefined` for other text. */
export function parseRange(text: string): AddressRange | undefined {
  const [network = '', bits, ...rest] = text.split('/')
  const address = parseAddress(network)
  if (!address || rest.length > 0) return undefined
  const most = 'octets' in address ? 32 : 128
  if (bits === undefined) return [address, most]
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most ? ipaddr.parseCIDR(`${address.toString()}/${bits}`) : undefined
}
