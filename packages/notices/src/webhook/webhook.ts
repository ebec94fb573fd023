// A destination of notices that takes them as webhooks, signed as Standard Webhooks says (spec of 2026-08-17). The host's
// outbox decides when each is sent; this makes one attempt.
import type { Clock, NoticeDestination, NoticeFailure } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core/internal'
import { decodeWebhookSecret, importWebhookKey, signWebhook, SYSTEM_TIME } from '@baton/runtime'
import { createGuardedFetch } from '@baton/tools/guard'
import { readRetryAfter } from '../shared/retry-after.ts'

/** Options of `webhook`. */
export interface WebhookOptions extends Pick<NoticeDestination, 'types' | 'retriesMs' | 'timeoutMs'> {
  /** The receiver: `https`, at a public address. */
  readonly url: string
  /**
   * `whsec_` and 24 to 64 bytes in base64. Several while one replaces another: each attempt has a signature of each. At
   * most 4.
   */
  readonly secret: string | readonly string[]
  /** See `NoticeDestination.name`. Default: `webhook`. */
  readonly name?: string
  /**
   * Other places that may be reached, as of `createGuardedFetch`: an origin such as `http://localhost:3000`, a host or a range
   * of addresses. None by default.
   */
  readonly allow?: readonly string[]
  /** Sends the request, instead of a fetch that reaches public addresses alone. It must not follow redirects. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Default: the platform's. */
  readonly clock?: Clock
}

const KINDS = {
  url: 'text',
  secret: undefined,
  name: 'text',
  types: undefined,
  retriesMs: undefined,
  timeoutMs: undefined,
  allow: 'an array',
  fetch: 'a function',
  clock: 'an object',
} as const
const SECRETS_MAX = 4

/**
 * Sends each notice as `POST` with the body `{ type, timestamp, data }`, of at most 20,000 bytes. A status of 200 to 299 means
 * that it was taken; 410, that the receiver no longer exists; any other, a redirect included, that it is sent again. `Retry-After` of
 * 429 and 503 counts.
 * @throws BatonError `invalid_option`
 */
export function webhook(options: WebhookOptions): NoticeDestination {
  const what = { what: 'webhook', code: 'invalid_option' } as const
  checkFields(options, { ...what, fields: new Set(Object.keys(KINDS)) })
  checkKinds(options, { ...what, kinds: KINDS })
  const { url, secret, name = 'webhook', types, retriesMs, timeoutMs, allow = [], clock = SYSTEM_TIME.clock } = options
  checkUrl(url)
  const secrets = [secret].flat()
  if (secrets.length === 0 || secrets.length > SECRETS_MAX)
    throw wrong(`secret must be 1 to ${SECRETS_MAX} secrets, not ${secrets.length}`)
  const keys = secrets.map((one) => importWebhookKey(decodeWebhookSecret('secret', one)))
  for (const key of keys) key.catch(() => {}) // the first attempt reports it
  const send = options.fetch ?? createGuardedFetch({ allow, maxBytes: Number.MAX_SAFE_INTEGER }) // no answer is read
  return {
    name,
    ...(types && { types }),
    ...(retriesMs && { retriesMs }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    send: async ({ id, ...body }, { signal }) => {
      const text = JSON.stringify(body)
      const signed = await Promise.all(
        keys.map(async (key) => await signWebhook(await key, { id, atMs: clock.nowMs(), body: text })),
      )
      const headers = {
        ...signed[0],
        'webhook-signature': signed.map((one) => one['webhook-signature']).join(' '),
        'content-type': 'application/json',
        'user-agent': 'baton',
      }
      const answer = await send(url, { method: 'POST', headers, body: text, redirect: 'manual', signal })
      return await readAnswer(answer, clock.nowMs())
    },
  }
}

async function readAnswer(answer: Response, nowMs: number): Promise<NoticeFailure | undefined> {
  const { status, headers } = answer
  await answer.body?.cancel().catch(() => {}) // its status says all
  if (status >= 200 && status < 300) return undefined
  const retryAfterMs = status === 429 || status === 503 ? readRetryAfter(headers.get('retry-after'), nowMs) : undefined
  const kind = status >= 300 && status < 400 ? ', a redirect, which is not followed' : ''
  return {
    message: `it answered ${status}${kind}`,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status === 410 && { isGone: true }),
  }
}

/** @throws BatonError `invalid_option` */
function checkUrl(url: unknown): void {
  const parsed = typeof url === 'string' ? URL.parse(url) : null
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw wrong(`url must be an address such as https://example.com/hooks, not ${describeValue(url)}`)
  if (parsed.username !== '' || parsed.password !== '') throw wrong('url must not have a user or a password')
}

function wrong(message: string): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `webhook: ${message}`,
    hint: 'Write webhook({ url, secret }).',
  })
}
