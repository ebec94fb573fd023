// The client address derived from the network and the headers.
import { expect, test } from 'vitest'
import { findClientAddress } from './client-address.ts'
import { deriveLimitKey } from './rate-limit.ts'

function findAddress(peer: string, forwarded: string | undefined, proxies: number): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  // The two fields of a request in use.
  return findClientAddress(
    { headers, socket: { remoteAddress: peer } } as Parameters<typeof findClientAddress>[0],
    proxies,
  )
}

test.each<[string, Parameters<typeof findAddress>, string]>([
  ['without a trusted proxy the header is ignored', ['10.0.0.1', '203.0.113.9', 0], '10.0.0.1'],
  ['behind one proxy the last entry counts', ['10.0.0.1', '203.0.113.9', 1], '203.0.113.9'],
  ['what the client itself wrote is left of it', ['10.0.0.1', '1.1.1.1, 203.0.113.9', 1], '203.0.113.9'],
  ['behind two proxies the last but one counts', ['10.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.2', 2], '203.0.113.9'],
  ['fewer entries than proxies', ['10.0.0.1', '203.0.113.9', 3], '203.0.113.9'],
  ['no header behind a proxy', ['10.0.0.1', undefined, 1], '10.0.0.1'],
  ['an entry that is no address', ['10.0.0.1', 'unknown', 1], '10.0.0.1'],
  ['an entry with a port', ['10.0.0.1', '203.0.113.9:4711', 1], '203.0.113.9'],
  ['an IPv6 entry with a port', ['10.0.0.1', '[2001:db8::7]:4711', 1], '2001:db8::7'],
  ['IPv4 on a socket for both', ['::ffff:203.0.113.9', undefined, 0], '203.0.113.9'],
])('%s', (_situation, given, address) => {
  expect(findAddress(...given)).toBe(address)
})

test.each([
  ['203.0.113.9', '203.0.113.9'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('limits count %s as %s', (address, key) => {
  expect(deriveLimitKey(address)).toBe(key)
})
