// Addresses that have been used to reach non-public targets. None may be sent to; their number is printed.
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { createGuardedFetch } from './guarded-fetch.ts'

/** Grouped by target. `http` is allowed here, so that no address is refused just for its scheme. */
const HOSTILE: Readonly<Record<string, readonly string[]>> = {
  'this machine': [
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://app.localhost/',
    'http://localhost.localdomain/',
    'http://127.0.0.1/',
    'http://127.0.0.1./',
    'http://127.255.255.254/',
    'http://0.0.0.0/',
    'http://0/',
    'https://127.0.0.1:8443/',
  ],
  'IPv4 in other forms': [
    'http://2130706433/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://0177.0.0.1/',
    'http://0x7f.0.0.1/',
    'http://0x7f.1/',
    'http://127.1/',
    'http://127.0.1/',
    'http://0300.0250.0.1/',
    'http://192.168.257/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://%31%32%37.0.0.1/',
    'http://127%2e0%2e0%2e1/',
  ],
  'other writing': [
    'http://１２７.０.０.１/',
    'http://①②⑦.⓪.⓪.①/',
    'http://127。0。0。1/',
    'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://lo\u00ADcalhost/',
    'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/',
  ],
  'private networks': [
    'http://10.0.0.1/',
    'http://10.255.255.255/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://100.127.255.255/',
    'http://[fc00::1]/',
    'http://[fd12:3456:789a::1]/',
    'http://[fec0::1]/',
    'http://router/',
    'http://printer.local/',
    'http://db.internal/',
    'http://nas.lan/',
    'http://fritz.home.arpa/',
  ],
  metadata: [
    'http://169.254.169.254/latest/meta-data/',
    'http://169.254.170.2/v2/credentials',
    'http://[fd00:ec2::254]/latest/meta-data/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://METADATA.google.internal./computeMetadata/v1/',
    'http://100.100.100.200/latest/meta-data/',
    'http://192.0.0.192/opc/v2/instance/',
    'http://168.63.129.16/metadata/',
    'http://[fe80::a9fe:a9fe]/',
    'http://metadata/',
  ],
  'IPv4 inside of IPv6': [
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]/',
    'http://[::127.0.0.1]/',
    'http://[::7f00:1]/',
    'http://[::ffff:0:127.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b:1::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2001:0:7f00:1::]/',
    'http://[2001::80ff:fffe]/',
  ],
  'IPv6 that is not public': [
    'http://[::1]/',
    'http://[::]/',
    'http://[0000:0000:0000:0000:0000:0000:0000:0001]/',
    'http://[fe80::1]/',
    'http://[fe80::1%25eth0]/',
    'http://[fe80::1%eth0]/',
    'http://[::1%25lo]/',
    'http://[ff02::1]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[4000::1]/',
    'http://[5f00::1]/',
  ],
  'ranges for no host': [
    'http://224.0.0.1/',
    'http://239.255.255.250/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://192.0.2.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://198.18.0.1/',
    'http://192.88.99.1/',
  ],
  'logins and other tricks of writing': [
    'http://user:password@example.com/',
    'http://token@example.com/',
    'http://example.com@127.0.0.1/',
    'http://example.com:80@127.0.0.1/',
    'http://example.com%40127.0.0.1/',
    'http://127.0.0.1#@example.com/',
    'http://127.0.0.1?@example.com/',
    'http://example.com\\@127.0.0.1/',
    'http:\\\\127.0.0.1\\',
    'http:127.0.0.1/',
    'http:///127.0.0.1/',
    'http://127.0.0.1:80:80/',
    'http://127.0.0.1\t/',
    'ht\ntp://127.0.0.1/',
    'http://127.0.0.1\r\nhost: example.com/',
    'http://[127.0.0.1]/',
    'http://1.2.3.4.5/',
    'http://256.256.256.256/',
    'http://exa mple.com/',
    'http://',
    '//127.0.0.1/',
    '/latest/meta-data/',
    '',
  ],
  schemes: [
    'file:///etc/passwd',
    'file://localhost/etc/passwd',
    'ftp://example.com/',
    'gopher://127.0.0.1:6379/_INFO',
    'data:text/plain,hello',
    'blob:https://example.com/1',
    'javascript:alert(1)',
    'ws://example.com/',
    'dict://127.0.0.1:11211/stats',
    'about:blank',
    'unix:/var/run/docker.sock',
    'view-source:http://127.0.0.1/',
  ],
  'ports of other protocols': [
    'http://example.com:22/',
    'http://example.com:25/',
    'http://example.com:53/',
    'http://example.com:587/',
    'http://example.com:6667/',
    'https://example.com:2049/',
    'http://example.com:0/',
    'http://example.com:99999/',
  ],
}

test.each(Object.entries(HOSTILE))(
  'addresses of the kind "%s" are refused, and no name is looked up',
  async (_, urls) => {
    const lookups: string[] = []
    const lookup = (name: string): Promise<readonly string[]> => {
      lookups.push(name)
      return Promise.resolve(['127.0.0.1'])
    }
    const fetch = createGuardedFetch({ schemes: ['https', 'http'], lookup })
    for (const url of urls) {
      const thrown = await fetch(url).then(
        () => 'it was fetched',
        (error: unknown) => (isBatonError(error) ? error.code : error),
      )
      expect([url, thrown]).toEqual([url, 'url_refused'])
    }
    expect(lookups).toEqual([])
    await fetch.close()
  },
)

/** DNS answers for a name that looks public. */
const ANSWERS: readonly (readonly string[])[] = [
  ['127.0.0.1'],
  ['10.1.2.3'],
  ['169.254.169.254'],
  ['100.100.100.200'],
  ['0.0.0.0'],
  ['::1'],
  ['::ffff:10.0.0.1'],
  ['fd00:ec2::254'],
  ['fe80::1%eth0'],
  ['64:ff9b::a00:1'],
  ['93.184.215.14', '127.0.0.1'],
  ['2606:2800:220:1::1', '::1'],
  ['127.1'],
  ['2130706433'],
  ['localhost'],
  [''],
  Array.from({ length: 65 }, (_, at) => `93.184.215.${at + 1}`),
]

test.each(ANSWERS)('a name that leads to %s is refused before a connection', async (...addresses) => {
  const fetch = createGuardedFetch({ lookup: () => Promise.resolve(addresses) })
  await expect(fetch('https://rebind.example.com/')).rejects.toMatchObject({ code: 'url_refused' })
  await fetch.close()
})

test('the count of hostile addresses', () => {
  const urls = Object.values(HOSTILE).flat()
  expect(new Set(urls).size).toBe(urls.length)
  const count = urls.length + ANSWERS.length
  expect(count).toBeGreaterThanOrEqual(60)
  console.log(`guard: ${count} hostile addresses refused (${urls.length} written, ${ANSWERS.length} by DNS)`)
})

test('without "http" among the schemes, only https is fetched', async () => {
  const fetch = createGuardedFetch()
  await expect(fetch('http://example.com/')).rejects.toMatchObject({
    code: 'url_refused',
    message: 'the request to http://example.com was not sent: its scheme is not https',
  })
  await fetch.close()
})

test('a refusal shows no path, no query and no login', async () => {
  const fetch = createGuardedFetch()
  for (const url of [
    'https://ann:SECRET@example.com/',
    'https://10.0.0.1/SECRET?key=SECRET#SECRET',
    'https://exa mple/SECRET',
    'SECRET',
    'foo:SECRET',
  ]) {
    const error: unknown = await fetch(url).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'url_refused' })
    expect(String(error)).not.toContain('SECRET')
  }
  await fetch.close()
})
