// The server's options and variables: their values, and one clear line per mistake.
import { DEFAULT_CONNECTION_LIMITS } from '@baton/server/internal'
import { DEFAULT_HTTP_LIMITS } from '@baton/server/internal'
import { expect, test } from 'vitest'
import { HTTP_LIMIT_BOUNDS, LIMIT_BOUNDS } from './limit-options.ts'
import { SERVE_HELP } from './serve-help.ts'
import { serveOptions } from './serve-options.ts'
import { readOrigin } from './server-options.ts'

function readServer(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  return serveOptions(words, { variables, folder: '/' }).server
}

test('without options the server is for this machine and logs what happens', () => {
  expect(readServer([])).toEqual({
    token: undefined,
    tls: undefined,
    trustedProxies: 0,
    publicHosts: [],
    limits: {},
    httpLimits: {},
    drainMs: 10_000,
    logFormat: undefined,
    logLevel: 'info',
  })
})

test.each<[string, readonly string[], Readonly<Record<string, string>>, object]>([
  ['a token by option', ['--token', 'abc'], { BATON_TOKEN: 'other' }, { token: 'abc' }],
  ['a token by variable', [], { BATON_TOKEN: ' abc ' }, { token: 'abc' }],
  ['a variable that is empty', [], { BATON_TOKEN: '' }, { token: undefined }],
  ['an open address with a token', ['--host', '0.0.0.0', '--token', 'abc'], {}, { token: 'abc' }],
  ['an open address for everybody', ['--host', '0.0.0.0', '--insecure'], {}, { token: undefined }],
  ['another address of this machine', ['--host', '127.0.0.2'], {}, { token: undefined }],
  [
    'an open address with an issuer of tokens',
    ['--host', '0.0.0.0', '--jwt-issuer', 'https://login.example', '--jwt-audience', 'shop, desk'],
    { BATON_JWT_CLAIM: 'email', BATON_JWT_AUDIENCE: 'other' },
    { token: undefined, jwt: { issuer: 'https://login.example', audience: ['shop', 'desk'], claim: 'email' } },
  ],
  [
    'an issuer by variables',
    [],
    {
      BATON_JWT_ISSUER: 'https://login.example',
      BATON_JWT_AUDIENCE: 'shop',
      BATON_JWT_JWKS: 'https://login.example/keys',
    },
    { jwt: { issuer: 'https://login.example', audience: ['shop'], jwks: 'https://login.example/keys' } },
  ],
  ['a proxy', ['--trust-proxy'], {}, { trustedProxies: 1 }],
  ['a proxy before another option', ['--trust-proxy', '--json'], {}, { trustedProxies: 1 }],
  [
    'names behind a proxy',
    ['--public-host', 'Chat.example', '--public-host', 'a:8443'],
    {},
    { publicHosts: ['chat.example', 'a:8443'] },
  ],
  ['two proxies', ['--trust-proxy', '2'], {}, { trustedProxies: 2 }],
  ['TLS', ['--tls-cert', 'c', '--tls-key', 'k'], {}, { tls: { certFile: 'c', keyFile: 'k' } }],
  ['a rate', ['--rate-limit', '60'], {}, { limits: { sessionFramesPerMinute: 60, addressFramesPerMinute: 60 } }],
  [
    'a rate by variable, and another one for addresses',
    ['--limit', 'addressFramesPerMinute=9000'],
    { SESSION_RATE_LIMIT_PER_MIN: '60' },
    { limits: { sessionFramesPerMinute: 60, addressFramesPerMinute: 9000 } },
  ],
  [
    'limits by name win over variables',
    ['--limit', 'eventBytes=2000', '--limit', 'idleMs=1000'],
    { MAX_EVENT_BYTES: '1000' },
    { limits: { eventBytes: 2000, idleMs: 1000 } },
  ],
  [
    'limits of chats over HTTP',
    ['--limit', 'http.principalTurns=3', '--limit', 'principalTurns=4'],
    {},
    { limits: { principalTurns: 4 }, httpLimits: { principalTurns: 3 } },
  ],
  ['no drain', ['--drain-ms', '0'], {}, { drainMs: 0 }],
  ['a log', ['--log-format', 'json', '--log-level', 'warn'], {}, { logFormat: 'json', logLevel: 'warn' }],
])('%s', (_situation, words, variables, expected) => {
  expect(readServer(words, variables)).toMatchObject(expected)
})

test.each<[string, readonly string[], Readonly<Record<string, string>>, string | RegExp]>([
  [
    'an open address without a token',
    ['--host', '0.0.0.0'],
    {},
    '--host 0.0.0.0 is open to others, so it needs --token (or BATON_TOKEN), --jwt-issuer, or --insecure to let everyone in',
  ],
  ['an empty token', ['--token', ''], {}, '--token must be at least one printable ASCII character, without spaces'],
  [
    'a token with a space',
    [],
    { BATON_TOKEN: 'a b' },
    'the variable BATON_TOKEN must be at least one printable ASCII character, without spaces',
  ],
  [
    'an issuer without an audience',
    ['--jwt-issuer', 'https://login.example'],
    {},
    '--jwt-issuer needs --jwt-audience (or BATON_JWT_AUDIENCE); without it, tokens for other services would be accepted',
  ],
  [
    'an issuer that is not an address',
    ['--jwt-issuer', 'login', '--jwt-audience', 'shop'],
    {},
    '--jwt-issuer must be an address like https://login.example, not "login"',
  ],
  [
    'keys of no issuer',
    [],
    { BATON_JWT_JWKS: 'https://login.example/keys' },
    '--jwt-audience, --jwt-jwks and --jwt-claim need --jwt-issuer (or BATON_JWT_ISSUER)',
  ],
  ['a certificate without its key', ['--tls-cert', 'c'], {}, '--tls-cert and --tls-key must be used together'],
  ['a key without its certificate', ['--tls-key', 'k'], {}, '--tls-cert and --tls-key must be used together'],
  [
    'an address in place of a name',
    ['--public-host', 'https://chat.example'],
    {},
    '--public-host must be a name like chat.example or chat.example:8443, not "https://chat.example"',
  ],
  ['too many proxies', ['--trust-proxy', '11'], {}, '--trust-proxy must be a number from 0 to 10, not "11"'],
  ['a rate of nothing', ['--rate-limit', '0'], {}, '--rate-limit must be a number from 1 to 1000000, not "0"'],
  [
    'a rate that is not a number',
    [],
    { SESSION_RATE_LIMIT_PER_MIN: 'many' },
    'the variable SESSION_RATE_LIMIT_PER_MIN must be a number from 1 to 1000000, not "many"',
  ],
  [
    'a frame of no bytes',
    [],
    { MAX_EVENT_BYTES: '0' },
    'the variable MAX_EVENT_BYTES must be a number from 1 to 1048576, not "0"',
  ],
  [
    'a limit that does not exist',
    ['--limit', 'toString=1'],
    {},
    /^--limit must be name=number .*idleMs.*, not "toString=1"$/,
  ],
  [
    'a limit that is misspelt',
    ['--limit', 'http.stream=4'],
    {},
    '--limit has no "http.stream", did you mean http.streams?',
  ],
  [
    'peers over a store of one process',
    ['--peer-address', 'ws://10.0.0.5:8080', '--store', 'sqlite:a.db'],
    { BATON_PEER_SECRET: 'a-secret-of-the-peers' },
    '--peer-address needs a store shared by several servers: --store postgres://HOST/DATABASE',
  ],
  [
    'days over Temporal, which removes nothing by itself',
    ['--keep-days', '5', '--temporal', 'localhost:7233', '--store', 'postgres://localhost/baton'],
    {},
    '--keep-days has no effect over Temporal; use "baton sessions delete"',
  ],
  ['a limit without a value', ['--limit', 'idleMs'], {}, /^--limit must be name=number .*, not "idleMs"$/],
  [
    'a limit out of bounds',
    ['--limit', 'idleMs=1'],
    {},
    '--limit idleMs must be a number from 1000 to 86400000, not "1"',
  ],
  [
    'a drain without end',
    ['--drain-ms', '3600001'],
    {},
    '--drain-ms must be a number from 0 to 3600000, not "3600001"',
  ],
  ['a format that does not exist', ['--log-format', 'xml'], {}, '--log-format must be one of json, pretty, not "xml"'],
  [
    'a level that does not exist',
    ['--log-level', 'all'],
    {},
    '--log-level must be one of info, warn, silent, not "all"',
  ],
])('%s is one line', (_situation, words, variables, message) => {
  expect(() => readServer(words, variables)).toThrow(message)
})

test('a broken token is not shown', () => {
  expect(() => readServer(['--token', 'secret word'])).toThrow(/^(?!.*secret)/)
})

test('the help names each limit with its default', () => {
  const help = SERVE_HELP.replace(/\s+/g, ' ')
  const limits = Object.entries(DEFAULT_CONNECTION_LIMITS).map(([name, value]) => `${name} (${value})`)
  const ofHttp = Object.entries(DEFAULT_HTTP_LIMITS).map(([name, value]) => `http.${name} (${value})`)
  expect([...limits, ...ofHttp].filter((limit) => !help.includes(limit))).toEqual([])
})

test('every default is within the bounds of its limit', () => {
  const outside = Object.entries(LIMIT_BOUNDS).filter(([name, [least, most]]) => {
    // Both tables have the same names, as the compiler ensures.
    const value = DEFAULT_CONNECTION_LIMITS[name as keyof typeof LIMIT_BOUNDS]
    return value < least || value > most
  })
  const outsideOfHttp = Object.entries(HTTP_LIMIT_BOUNDS).filter(([name, [least, most]]) => {
    const value = DEFAULT_HTTP_LIMITS[name as keyof typeof HTTP_LIMIT_BOUNDS]
    return value < least || value > most
  })
  expect([...outside, ...outsideOfHttp]).toEqual([])
})

test.each([
  'https://app.example',
  'http://localhost:5173',
  'https://app.example:8443',
  'capacitor://localhost',
  'chrome-extension://abcdefgh',
  'null',
  '*',
])('a page of %s may connect', (origin) => {
  expect(readOrigin(origin)).toBe(origin)
})

test.each([
  ['https://app.example/', ', did you mean https://app.example?'],
  ['https://app.example/chat', ', did you mean https://app.example?'],
  ['https://app.example:443', ', did you mean https://app.example?'],
  ['https://App.example', ', did you mean https://app.example?'],
  ['app.example', ''],
  ['', ''],
])('no browser says that its page is of "%s"', (origin, near) => {
  expect(() => readOrigin(origin)).toThrow(
    `--allow-origin must be an origin such as https://app.example, or * for all, not "${origin}"${near}`,
  )
})
