// Identifies the principal of a request by a JWT (RFC 7519) signed by another service: an OpenID Connect provider, or
// any issuer whose keys or secret are known. No part of a token appears in an error or a log. jose is loaded for the first
// token.
import type { Principal, Clock, JsonObject, Logger, Timers } from '@baton/core/internal'
import { BatonError, isBatonError, isLegalName, isJsonObject, parseJson, readMonotonicMs } from '@baton/core/internal'
import type { errors, JWTPayload, jwtVerify, JWTVerifyGetKey, JSONWebKeySet } from 'jose'
import { describeThrown, within } from '@baton/runtime'
import { readBearerToken } from '../shared/bearer-token.ts'
import type { Identity } from '../shared/peer-identity.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'

export interface TokenVerifierOptions extends Partial<Pick<ServerWorld, 'clock' | 'timers' | 'log'>> {
  /** The issuer that signs the tokens: the value of their `iss`, such as `https://login.example`. */
  readonly issuer: string
  /** Required `aud`: the name of this service. If several are given, one must match. */
  readonly audience: string | readonly string[]
  /** The address of the issuer's public keys. Default: taken from `{issuer}/.well-known/openid-configuration`. */
  readonly jwks?: string
  /** A secret shared with the issuer, 32 bytes or more, instead of public keys. */
  readonly secret?: string
  /**
   * Allowed algorithms: any of `ES256` `ES384` `ES512` `RS256` … `PS512` `EdDSA`, or with a `secret` of `HS256` `HS384`
   * `HS512`. Default: all of them.
   */
  readonly algorithms?: readonly string[]
  /** The claim with the principal's id. Default: `sub`. */
  readonly claim?: string
  /** Finds the principal, instead of `claim`. If it returns `undefined`, the request gets 401. */
  readonly findPrincipal?: (claims: JWTPayload) => Principal | undefined
  /** Maximum milliseconds between clocks. Default: 5,000. */
  readonly toleranceMs?: number
  readonly fetch?: typeof fetch
}

/** A web-standard request, or one of node:http. */
export interface TokenRequest {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  readonly url?: string | undefined
}

/** Verifies JWTs for a front: `createHandler(host, { authenticate: verifier.authenticate })`. */
export interface TokenVerifier {
  /** @throws BatonError `unauthorized` with what is wrong with the token; `keys_unavailable`; `internal` if jose cannot be loaded */
  verify(token: string): Promise<Identity>
  /**
   * For `authenticate` of a handler or a WebSocket front: reads `Authorization: Bearer`, or else `?token=`.
   * @throws BatonError as `verify`; `unauthorized` if there is no token
   */
  readonly authenticate: (request: TokenRequest) => Promise<Identity>
  /** Fetches the keys before the first token arrives. @throws BatonError `keys_unavailable` */
  prepare(): Promise<void>
}

const PUBLIC_ALGORITHMS: readonly string[] =
  'ES256 ES384 ES512 RS256 RS384 RS512 PS256 PS384 PS512 EdDSA Ed25519'.split(' ')
const SECRET_ALGORITHMS: readonly string[] = ['HS256', 'HS384', 'HS512']
/** RFC 7518, 3.2: the length of the shortest hash. */
const SECRET_BYTES = 32
const TOKEN_CHARS_MAX = 16 * 1024
const TOLERANCE_MS = 5000

/** @throws BatonError `invalid_option` */
export function createTokenVerifier(init: TokenVerifierOptions): TokenVerifier {
  const world = { ...createServerWorld(), ...init }
  const { issuer, audience, claim = 'sub', toleranceMs = TOLERANCE_MS } = init
  const algorithms = checkInit(init)
  const find = init.findPrincipal ?? ((claims: JWTPayload) => readPrincipal(claims, claim))
  const keySet = init.secret === undefined ? createKeySet({ ...init, ...world, fetch: init.fetch ?? fetch }) : undefined
  const secret = new TextEncoder().encode(init.secret)
  const options = {
    issuer,
    audience: [audience].flat(),
    algorithms: [...algorithms],
    clockTolerance: toleranceMs / 1000,
    requiredClaims: ['exp'],
  }
  const read = async (token: string): Promise<JWTPayload> => {
    const now = { ...options, currentDate: new Date(world.clock.nowMs()) }
    const { jwtVerify } = await loadJose(world.log)
    if (!keySet) return (await jwtVerify(token, secret, now)).payload
    const keys = await keySet.load()
    try {
      return await verifyByKeys(jwtVerify, token, keys, now)
    } catch (cause) {
      if (readCode(cause) !== UNKNOWN_KEY) throw cause
      // The issuer may have added a key since.
      return await verifyByKeys(jwtVerify, token, await keySet.load({ isMissing: true }), now)
    }
  }
  const verify = async (token: string): Promise<Identity> => {
    if (token.length > TOKEN_CHARS_MAX) throw refuse(`the token is longer than ${TOKEN_CHARS_MAX} characters`)
    try {
      const claims = await read(token)
      const principal = find(claims)
      if (!principal) throw refuse('the token does not name a principal')
      const expiresAtMs = ((claims.exp ?? 0) + options.clockTolerance) * 1000 // `exp` is required
      return { principal, expiresAtMs }
    } catch (cause) {
      throw isBatonError(cause) ? cause : refuse(describeRefusal(cause))
    }
  }
  return {
    verify,
    authenticate: async ({ headers, url }) => {
      const authorization = headers instanceof Headers ? headers.get('authorization') : headers['authorization']
      const query = URL.parse(url ?? '', 'http://localhost')?.searchParams ?? new URLSearchParams()
      const token = readBearerToken(typeof authorization === 'string' ? authorization : undefined, query)
      if (token === undefined) throw refuse(NO_TOKEN)
      return await verify(token)
    },
    prepare: async () => void (await keySet?.load()),
  }
}

const NO_TOKEN = 'a token is required: Authorization: Bearer <token>, or ?token=<token> in the address'

type VerifyOptions = NonNullable<Parameters<typeof jwtVerify>[2]>

/** A failure to load is ours, and says nothing about the token. @throws BatonError `internal` */
async function loadJose(log: ServerWorld['log']): Promise<{ readonly jwtVerify: typeof jwtVerify }> {
  try {
    return await import('jose')
  } catch (cause) {
    const why = describeThrown(cause)
    log.warn('no token can be verified: the package jose could not be loaded', { cause: why })
    throw new BatonError({
      code: 'internal',
      message: `the package jose could not be loaded: ${why}`,
      hint: 'Try again; if it fails again, install the packages of your program again.',
      cause,
    })
  }
}

/** A token that does not name its key may be signed by any of several. */
async function verifyByKeys(
  verify: typeof jwtVerify,
  token: string,
  keys: JWTVerifyGetKey,
  options: VerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await verify(token, keys, options)).payload
  } catch (cause) {
    if (readCode(cause) !== 'ERR_JWKS_MULTIPLE_MATCHING_KEYS') throw cause
    let wrong: unknown = cause
    for await (const key of cause as errors.JWKSMultipleMatchingKeys)
      // as its code says
      try {
        return (await verify(token, key, options)).payload
      } catch (failed) {
        wrong = failed
        if (readCode(failed) !== 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') break
      }
    throw wrong
  }
}

const UNKNOWN_KEY = 'ERR_JWKS_NO_MATCHING_KEY'

function readCode(cause: unknown): unknown {
  return cause instanceof Error ? (cause as { readonly code?: unknown }).code : undefined // errors of jose have a code
}

/** Returns the allowed algorithms. @throws BatonError `invalid_option` */
function checkInit({ issuer, audience, jwks, secret, algorithms }: TokenVerifierOptions): readonly string[] {
  const isIssuer = secret === undefined ? isWebAddress(issuer) : issuer !== ''
  if (!isIssuer) throw createWrong(`issuer must be an address like https://login.example, not ${show(issuer)}`)
  if (jwks !== undefined && secret !== undefined) throw createWrong('jwks and secret cannot be used together')
  if (jwks !== undefined && !isWebAddress(jwks))
    throw createWrong(`jwks must be the address of the issuer's keys, not ${show(jwks)}`)
  const audiences = [audience].flat()
  if (audiences.length === 0 || audiences.some((one) => typeof one !== 'string' || one === ''))
    throw createWrong('audience must name this service, as the aud of its tokens does')
  if (secret !== undefined && new TextEncoder().encode(secret).length < SECRET_BYTES)
    throw createWrong(`secret must have at least ${SECRET_BYTES} bytes`)
  const legal = secret === undefined ? PUBLIC_ALGORITHMS : SECRET_ALGORITHMS
  const wrong = algorithms?.find((one) => !legal.includes(one))
  if (wrong !== undefined || algorithms?.length === 0)
    throw createWrong(`algorithms may be ${legal.join(', ')}, not ${show(wrong ?? 'none at all')}`)
  return algorithms ?? legal
}

function createWrong(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

function show(text: string): string {
  return JSON.stringify(text).slice(0, 200)
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

/** `anonymous` is reserved for callers without a name. */
function readPrincipal(claims: JWTPayload, claim: string): Principal | undefined {
  const id = claims[claim]
  return isLegalName(id) && id !== 'anonymous' ? { id } : undefined
}

function refuse(message: string): BatonError {
  return new BatonError({ code: 'unauthorized', message })
}

const CLAIMS: Readonly<Record<string, string>> = {
  iss: 'the token comes from another issuer',
  aud: 'the token is for another service',
  nbf: 'the token is not valid yet',
  exp: 'the token has no expiry time',
}

const REFUSALS: Readonly<Record<string, string>> = {
  ERR_JWT_EXPIRED: 'the token has expired',
  ERR_JOSE_ALG_NOT_ALLOWED: 'the algorithm of the token is not allowed here',
  [UNKNOWN_KEY]: 'the token was signed with a key that its issuer does not publish',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "the token's signature is invalid",
}

/** Uses our own words, because the library's may repeat parts of a token. */
function describeRefusal(cause: unknown): string {
  const code = readCode(cause)
  const { claim } = cause as { readonly claim?: unknown } // of ERR_JWT_CLAIM_VALIDATION_FAILED
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED') return CLAIMS[String(claim)] ?? 'a claim of the token is invalid'
  return REFUSALS[String(code)] ?? 'the token cannot be read'
}

interface KeySetOptions {
  readonly issuer: string
  /** If absent, taken from the issuer's configuration (OpenID Connect Discovery 1.0, section 4). */
  readonly jwks?: string
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

interface KeySet {
  /**
   * Returns the keys. Fetches them if there are none, if they are old, or if `isMissing` says that one is not among
   * them.
   * @throws BatonError `keys_unavailable`
   */
  load(options?: { readonly isMissing?: boolean }): Promise<JWTVerifyGetKey>
}

/** Milliseconds until keys are fetched again. */
const FRESH_MS = 600_000
/** Milliseconds that old keys stay valid while their address does not answer. */
const STALE_MS = 86_400_000
/** Minimum milliseconds between two requests, so that tokens with invented keys cannot cause a flood. */
const PAUSE_MS = 30_000
/** Milliseconds that one request may take. */
const ANSWER_MS = 5000
const BYTES_MAX = 1024 * 1024
const KEYS_MAX = 100

interface Kept {
  readonly keys: JWTVerifyGetKey
  readonly atMs: number
}

function createKeySet(init: KeySetOptions): KeySet {
  const { issuer, jwks, clock, log } = init
  let kept: Kept | undefined
  let failure: BatonError | undefined
  let askedMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined

  const ask = async (): Promise<void> => {
    askedMs = readMonotonicMs(clock)
    try {
      const address = jwks ?? (await findKeys(init))
      const found = readKeys(await fetchJson(init, address))
      const { createLocalJWKSet } = await import('jose')
      kept = { keys: createLocalJWKSet(found), atMs: readMonotonicMs(clock) }
      if (failure) log.info('the keys of a token issuer are available again', { issuer })
      failure = undefined
    } catch (cause) {
      const why = describeThrown(cause)
      if (!failure) log.warn('the keys of a token issuer could not be fetched', { issuer, cause: why })
      failure = new BatonError({
        code: 'keys_unavailable',
        message: `the keys of the issuer ${issuer} could not be fetched: ${why}`,
        cause,
      })
    }
  }
  return {
    load: async ({ isMissing = false } = {}) => {
      const nowMs = readMonotonicMs(clock)
      const isOld = !kept || nowMs - kept.atMs > FRESH_MS
      if ((isOld || isMissing) && (asking || nowMs - askedMs >= PAUSE_MS)) {
        asking ??= ask().finally(() => {
          asking = undefined
        })
        await asking
      }
      if (kept && readMonotonicMs(clock) - kept.atMs <= STALE_MS) return kept.keys
      throw failure ?? new BatonError({ code: 'keys_unavailable', message: `the keys of ${issuer} are too old` })
    },
  }
}

/** @throws Error if the configuration belongs to another issuer, or has no valid address of keys */
async function findKeys(init: KeySetOptions): Promise<string> {
  const { issuer } = init
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const configuration = await fetchJson(init, address)
  const { issuer: named, jwks_uri: found } = configuration
  // Section 4.3: they must be equal, or another issuer's keys would be trusted.
  if (named !== issuer)
    throw new Error(`${address} is the configuration of another issuer, ${JSON.stringify(named)?.slice(0, 200)}`)
  const url = typeof found === 'string' ? URL.parse(found) : null
  if (!url || (url.protocol !== 'https:' && url.protocol !== new URL(issuer).protocol))
    throw new Error(`${address} has no jwks_uri that can be trusted`)
  return url.href
}

/** @throws Error when the answer is not a JSON object, too long, or late */
async function fetchJson({ fetch, timers }: KeySetOptions, address: string): Promise<JsonObject> {
  const aborted = new AbortController()
  const error = (): BatonError =>
    new BatonError({ code: 'connection_failed', message: `${address} did not answer in ${ANSWER_MS} ms` })
  try {
    return await within(timers, { timeoutMs: ANSWER_MS, error }, readAnswer(fetch, address, aborted.signal))
  } finally {
    aborted.abort()
  }
}

async function readAnswer(ask: typeof fetch, address: string, signal: AbortSignal): Promise<JsonObject> {
  // Redirects are refused, because their target is not configured.
  const asked = ask(address, { headers: { accept: 'application/json' }, redirect: 'error', signal })
  const response = await asked.catch((cause: unknown) => {
    const why = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause // `fetch failed` alone says nothing
    throw new Error(`${address} could not be reached: ${describeThrown(why)}`, { cause })
  })
  if (response.status !== 200) throw new Error(`${address} answered with status ${response.status}`)
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  if (response.body)
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      // a stream of bytes in every runtime
      bytes += piece.byteLength
      if (bytes > BYTES_MAX) throw new Error(`${address} answered with more than ${BYTES_MAX} bytes`)
      text += decoder.decode(piece, { stream: true })
    }
  const parsed = parseJson(text)
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value
  throw new Error(`${address} did not answer with a JSON object`)
}

/** @throws Error */
function readKeys(found: JsonObject): JSONWebKeySet {
  const { keys } = found
  if (!Array.isArray(keys) || keys.length > KEYS_MAX)
    throw new Error(`a key set must have a list of at most ${KEYS_MAX} keys`)
  // A published secret is not a secret: with `oct` keys, anyone could sign.
  const open = (keys as readonly unknown[]).filter(
    (key) => isJsonObject(key as JsonObject) && (key as JsonObject)['kty'] !== 'oct', // items of JSON
  )
  return { keys: open as JSONWebKeySet['keys'] } // jose checks each key when it uses it
}
