// The public keys of an issuer, fetched over HTTP when needed and cached. Their address is given, or found in the
// issuer's configuration. It knows keys, not tokens.
import type { Clock, JsonObject, Logger, Timers } from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson, readMonotonicMs } from '@baton/core/internal'
import { describeThrown, within } from '@baton/runtime'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'

export interface KeySetOptions {
  readonly issuer: string
  /** If absent, taken from the issuer's configuration (OpenID Connect Discovery 1.0, section 4). */
  readonly jwks?: string
  readonly fetch: typeof fetch
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

export interface KeySet {
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

export function createKeySet(init: KeySetOptions): KeySet {
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
