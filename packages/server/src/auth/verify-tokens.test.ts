// Valid and invalid tokens of every kind, and an issuer whose keys change, fail and recover, over real HTTP.
import { isBatonError } from '@baton/core'
import type { JWTPayload } from 'jose'
import type { CryptoKey as CryptoKeyOfJose } from 'jose'
import { base64url, exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose'
import { afterEach, expect, test, vi } from 'vitest'
import { createSigningKey, createStoppedClock, NOW_MS, startIssuer } from './issuer.test-kit.ts'
import type { TokenVerifierOptions } from './verify-tokens.ts'
import { createTokenVerifier } from './verify-tokens.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  vi.doUnmock('jose')
  for (const close of closers.splice(0)) await close()
})

async function start(more: Partial<TokenVerifierOptions> = {}, algorithm = 'ES256') {
  const key = await createSigningKey('one', algorithm)
  const issuer = await startIssuer([key.open])
  closers.push(issuer.close)
  const { clock, pass } = createStoppedClock()
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const log = { info: note, warn: note }
  const verifier = createTokenVerifier({ issuer: issuer.url, audience: 'shop', clock, log, ...more })
  /** The principal of a token, or why it is refused. */
  const ask = async (token: string): Promise<unknown> => {
    try {
      const { principal } = await verifier.verify(token)
      return principal.id
    } catch (cause) {
      return isBatonError(cause) ? `${cause.code}: ${cause.message}` : cause
    }
  }
  return { key, issuer, verifier, ask, pass, logged }
}

test('a token names its principal, and until when', async () => {
  const { key, issuer, verifier } = await start()
  const token = await key.sign(issuer.claims)
  const identity = { principal: { id: 'ann' }, expiresAtMs: NOW_MS + 65_000 }
  expect(await verifier.verify(token)).toEqual(identity)
  expect(await verifier.authenticate({ headers: new Headers({ authorization: `Bearer ${token}` }) })).toEqual(identity)
  expect(await verifier.authenticate({ headers: {}, url: `/ws?token=${token}` })).toEqual(identity)
  expect(issuer.asked).toEqual(['/.well-known/openid-configuration', '/keys'])
})

function leaveOut(claims: JWTPayload, name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([each]) => each !== name))
}

test.each<[string, (claims: JWTPayload) => JWTPayload, string]>([
  ['that has expired', (claims) => ({ ...claims, exp: NOW_MS / 1000 - 6 }), 'the token has expired'],
  ['without an end', (claims) => leaveOut(claims, 'exp'), 'the token has no expiry time'],
  ['that is not valid yet', (claims) => ({ ...claims, nbf: NOW_MS / 1000 + 6 }), 'the token is not valid yet'],
  ['for another service', (claims) => ({ ...claims, aud: ['desk'] }), 'the token is for another service'],
  ['for no service', (claims) => leaveOut(claims, 'aud'), 'the token is for another service'],
  ['of another issuer', (claims) => ({ ...claims, iss: 'https://a' }), 'the token comes from another issuer'],
  ['that names nobody', (claims) => leaveOut(claims, 'sub'), 'the token does not name a principal'],
  ['that names nobody in words', (claims) => ({ ...claims, sub: '' }), 'the token does not name a principal'],
  ['for anonymous', (claims) => ({ ...claims, sub: 'anonymous' }), 'the token does not name a principal'],
])('a token %s is refused in words that say so', async (_what, change, message) => {
  const { key, issuer, ask, logged } = await start()
  const token = await key.sign(change(issuer.claims))
  expect(await ask(token)).toBe(`unauthorized: ${message}`)
  expect(logged).toEqual([])
})

test('a token a moment late is taken: clocks differ', async () => {
  const { key, issuer, ask } = await start()
  expect(await ask(await key.sign({ ...issuer.claims, exp: NOW_MS / 1000 - 4 }))).toBe('ann')
})

test('a token without a signature, by a secret that everybody knows, or of another hand is refused', async () => {
  const { key, issuer, ask, logged } = await start({}, 'RS256')
  const { claims } = issuer
  const none = new UnsecuredJWT(claims).encode()
  // The public key as a secret: the classic algorithm confusion.
  const pem = await exportSPKI((await importJWK(key.open, 'RS256', { extractable: true })) as CryptoKeyOfJose)
  const confused = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: 'one' })
    .sign(new TextEncoder().encode(pem))
  const stranger = await createSigningKey('one', 'RS256')
  const [head = '', , signature = ''] = (await key.sign(claims)).split('.')
  const changed = [head, base64url.encode(JSON.stringify({ ...claims, sub: 'eve' })), signature].join('.')
  expect(await Promise.all([none, confused, await stranger.sign(claims), changed, 'abc', ''].map(ask))).toEqual([
    'unauthorized: the algorithm of the token is not allowed here',
    'unauthorized: the algorithm of the token is not allowed here',
    "unauthorized: the token's signature is invalid",
    "unauthorized: the token's signature is invalid",
    'unauthorized: the token cannot be read',
    'unauthorized: the token cannot be read',
  ])
  expect(await ask('x'.repeat(20_000))).toBe('unauthorized: the token is longer than 16384 characters')
  expect(logged).toEqual([])
})

test('a secret among the public keys signs nothing', async () => {
  const secret = new TextEncoder().encode('a secret that stands in a public place')
  const { issuer, ask } = await start()
  issuer.state.keys = [{ kty: 'oct', k: base64url.encode(secret), kid: 'one', alg: 'HS256' }]
  const token = await new SignJWT(issuer.claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(secret)
  expect(await ask(token)).toMatch(/^unauthorized/)
})

test('after a change of keys a token by the new one is taken, one by the old one no more', async () => {
  const { key, issuer, ask, pass } = await start()
  const old = await key.sign({ ...issuer.claims, exp: NOW_MS / 1000 + 3600 })
  expect(await ask(old)).toBe('ann')
  const next = await createSigningKey('two')
  issuer.state.keys = [next.open]
  const token = await next.sign({ ...issuer.claims, exp: NOW_MS / 1000 + 3600 })
  // At most every 30 seconds, whatever keys tokens name.
  expect(await ask(token)).toBe('unauthorized: the token was signed with a key that its issuer does not publish')
  expect(issuer.asked).toHaveLength(2)
  pass(30_000)
  expect(await ask(token)).toBe('ann')
  expect(await ask(old)).toBe('unauthorized: the token was signed with a key that its issuer does not publish')
  expect(issuer.asked).toHaveLength(4)
})

test('each key without a name is tried', async () => {
  const [one, other, stranger] = [await createSigningKey(), await createSigningKey(), await createSigningKey()]
  const { issuer, ask } = await start()
  issuer.state.keys = [one.open, other.open]
  expect(await ask(await other.sign(issuer.claims))).toBe('ann')
  expect(await ask(await stranger.sign(issuer.claims))).toBe("unauthorized: the token's signature is invalid")
})

test('while the issuer does not answer nobody new is let in; its old keys are believed for a day', async () => {
  const { key, issuer, ask, pass, logged, verifier } = await start()
  issuer.state.status = 500
  const token = await key.sign({ ...issuer.claims, exp: NOW_MS / 1000 + 10 * 86_400 })
  await expect(verifier.prepare()).rejects.toMatchObject({ code: 'keys_unavailable' })
  expect(await ask(token)).toMatch(/^keys_unavailable: the keys of the issuer .* answered with status 500$/)
  expect(issuer.asked).toHaveLength(1)
  issuer.state.status = 200
  pass(30_000)
  expect(await ask(token)).toBe('ann')
  issuer.state.status = 500
  pass(600_001)
  expect(await ask(token)).toBe('ann')
  pass(86_400_000)
  expect(await ask(token)).toMatch(/^keys_unavailable/)
  expect(logged.map((line) => line.split(' {')[0])).toEqual([
    'the keys of a token issuer could not be fetched',
    'the keys of a token issuer are available again',
    'the keys of a token issuer could not be fetched',
  ])
  expect(logged.join()).not.toContain(token)
})

test('tokens that come at once ask for the keys once', async () => {
  const { key, issuer, ask } = await start()
  const token = await key.sign(issuer.claims)
  expect(await Promise.all([ask(token), ask(token), ask(token)])).toEqual(['ann', 'ann', 'ann'])
  expect(issuer.asked).toHaveLength(2)
})

test('an address that nothing listens on is named', async () => {
  const { key, issuer, ask } = await start()
  await issuer.close()
  expect(await ask(await key.sign(issuer.claims))).toContain('could not be reached: connect ECONNREFUSED')
})

test.each<[string, Partial<Awaited<ReturnType<typeof startIssuer>>['state']>, string]>([
  [
    'the configuration of another',
    { configuration: { issuer: 'https://eve' } },
    'is the configuration of another issuer, "https://eve"',
  ],
  [
    'a configuration that names nobody',
    { configuration: { issuer: undefined } },
    'is the configuration of another issuer',
  ],
  ['no address of keys', { configuration: { jwks_uri: 'ftp://a' } }, 'has no jwks_uri that can be trusted'],
  ['keys that are none', { body: '[]' }, 'did not answer with a JSON object'],
  ['no list of keys', { body: '{}' }, 'a key set must have a list of at most 100 keys'],
  ['too many keys', { body: `{"keys":[${'{},'.repeat(100)}{}]}` }, 'a key set must have a list of at most 100 keys'],
  ['too much', { body: ' '.repeat(1024 * 1024 + 1) }, 'answered with more than 1048576 bytes'],
  ['a redirection', { status: 302 }, 'could not be reached'],
])('an issuer that answers with %s is not believed', async (_what, state, words) => {
  const { key, issuer, ask } = await start()
  Object.assign(issuer.state, state)
  const answer = await ask(await key.sign(issuer.claims))
  expect(answer).toMatch(/^keys_unavailable/)
  expect(answer).toContain(words)
})

test('invalid keys refuse the token, not the server', async () => {
  const { key, issuer, ask } = await start()
  issuer.state.body = '{"keys":[{"kty":"EC","kid":"one","crv":"P-256"},null,7]}'
  expect(await ask(await key.sign(issuer.claims))).toMatch(/^unauthorized/)
})

test('an issuer that never answers is given up after 5 seconds', async () => {
  const late: [number, () => void][] = []
  const timers = {
    start: (ms: number, callback: () => void) => {
      late.push([ms, callback])
      return () => {}
    },
  }
  const { key, issuer, ask } = await start({ timers, fetch: () => new Promise<Response>(() => {}) })
  const answer = ask(await key.sign(issuer.claims))
  await expect.poll(() => late.length).toBe(1)
  expect(late[0]?.[0]).toBe(5000)
  late[0]?.[1]()
  expect(await answer).toContain('did not answer in 5000 ms')
})

test('keys at a known address need no configuration; a claim or a function names the principal', async () => {
  const { key, issuer } = await start()
  const token = await key.sign({ ...issuer.claims, email: 'ann@example.org' })
  const init = {
    issuer: issuer.url,
    audience: ['desk', 'shop'],
    jwks: `${issuer.url}/keys`,
    clock: createStoppedClock().clock,
  }
  const byClaim = await createTokenVerifier({ ...init, claim: 'email' }).verify(token)
  expect(byClaim.principal).toEqual({ id: 'ann@example.org' })
  const findPrincipal = ({ sub }: JWTPayload) => (sub === 'ann' ? { id: 'ann', team: 'night' } : undefined)
  expect((await createTokenVerifier({ ...init, findPrincipal }).verify(token)).principal).toEqual({
    id: 'ann',
    team: 'night',
  })
  expect(issuer.asked).toEqual(['/keys', '/keys'])
})

test('a secret in place of keys takes its own algorithms alone', async () => {
  const secret = 'a secret of thirty-two bytes, or more'
  const { key, issuer, ask } = await start({ secret })
  const token = await new SignJWT(issuer.claims)
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(secret))
  expect(await ask(token)).toBe('ann')
  expect(await ask(await key.sign(issuer.claims))).toContain('the algorithm of the token is not allowed here')
  expect(issuer.asked).toEqual([])
})

test.each<[Partial<TokenVerifierOptions>, string]>([
  [{ issuer: 'login' }, 'issuer must be an address like https://login.example, not "login"'],
  [{ audience: [] }, 'audience must name this service, as the aud of its tokens does'],
  [{ audience: '' }, 'audience must name this service, as the aud of its tokens does'],
  [{ jwks: 'file:///keys' }, 'jwks must be the address of the issuer\'s keys, not "file:///keys"'],
  [{ jwks: 'https://a', secret: 'x'.repeat(32) }, 'jwks and secret cannot be used together'],
  [{ secret: 'short' }, 'secret must have at least 32 bytes'],
  [{ algorithms: ['ES256', 'none'] }, 'not "none"'],
  [{ algorithms: ['HS256'] }, 'not "HS256"'],
  [{ algorithms: [] }, 'not "none at all"'],
  [{ secret: 'x'.repeat(32), algorithms: ['RS256'] }, 'algorithms may be HS256, HS384, HS512, not "RS256"'],
])('%j is a clear error', (wrong, words) => {
  expect(() => createTokenVerifier({ issuer: 'https://login.example', audience: 'shop', ...wrong })).toThrow(words)
})

test.each([
  ['of an issuer with keys', {}],
  ['of an issuer with a secret', { secret: 's'.repeat(32) }],
])('a token %s is not refused because jose cannot be loaded', async (_, more) => {
  const { key, issuer, ask, logged } = await start(more)
  const signing = new SignJWT(issuer.claims).setProtectedHeader({ alg: 'HS256' })
  const token = await ('secret' in more ? signing.sign(new TextEncoder().encode(more.secret)) : key.sign(issuer.claims))
  vi.doMock('jose', () => {
    throw new Error('too many open files')
  })
  expect(await ask(token)).toMatch(/^internal: the package jose could not be loaded: /)
  expect(logged).toEqual([expect.stringMatching(/^no token can be verified: /)])
  vi.doUnmock('jose')
  expect(await ask(token)).toBe('ann')
})
