// Signatures of Standard Webhooks (https://www.standardwebhooks.com, spec of 2026-08-17): symmetric ones, `v1`, made and
// checked with the platform's HMAC-SHA256. It knows no HTTP server and no session.
import { BatonError, describeValue } from '@baton/core/internal'

/** Seconds that a webhook's time may differ from the clock. */
const TOLERANCE_S = 300
const SECRET_PREFIX = 'whsec_'
/** Bytes of a secret. */
const SECRET_BYTES = { least: 24, most: 64 } as const
/** Characters of an id, and signatures that are compared: a rotation needs two. */
const ID_CHARS_MAX = 200
const SIGNATURES_MAX = 16

export interface WebhookHeaders {
  readonly 'webhook-id': string
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** The key of a secret, in every platform's types. */
export type WebhookKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/**
 * The bytes of a secret, which is `whsec_` and 24 to 64 bytes in base64. The error does not contain it.
 * @throws BatonError `invalid_option`
 */
export function decodeWebhookSecret(where: string, secret: unknown): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === 'string' ? decodeSecret(secret) : undefined
  const { least, most } = SECRET_BYTES
  if (bytes && bytes.length >= least && bytes.length <= most) return bytes
  const given = typeof secret === 'string' ? `a text of ${secret.length} characters` : describeValue(secret)
  throw new BatonError({
    code: 'invalid_option',
    message: `${where} must be "${SECRET_PREFIX}" and ${least} to ${most} bytes in base64, not ${given}`,
    hint: `Make one with: node -p "'${SECRET_PREFIX}' + crypto.randomBytes(32).toString('base64')"`,
  })
}

export function importWebhookKey(secret: Uint8Array<ArrayBuffer>): Promise<WebhookKey> {
  return crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

function decodeSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
  return secret.startsWith(SECRET_PREFIX) ? decodeBase64(secret.slice(SECRET_PREFIX.length)) : undefined
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (char) => char.codePointAt(0) ?? 0)
  } catch {
    return undefined
  }
}

/** The headers of one attempt: a retry has the same `id` and a new time. */
export async function signWebhook(
  key: WebhookKey,
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
): Promise<WebhookHeaders> {
  const timestamp = String(Math.floor(atMs / 1000))
  const signature = await crypto.subtle.sign('HMAC', key, toSigned(id, timestamp, new TextEncoder().encode(body)))
  const base64 = btoa(String.fromCodePoint(...new Uint8Array(signature)))
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${base64}` }
}

export type CheckedWebhook = { readonly ok: true; readonly id: string } | { readonly ok: false; readonly why: string }

export interface WebhookToCheck {
  readonly read: (name: keyof WebhookHeaders) => string | null
  /** As it came: another spelling of the same JSON has another signature. */
  readonly body: Uint8Array<ArrayBuffer>
  readonly keys: readonly WebhookKey[]
  readonly nowMs: number
}

/** Checks the time and the signature. Never throws. */
export async function checkWebhook({ read, body, keys, nowMs }: WebhookToCheck): Promise<CheckedWebhook> {
  const [id, timestamp, signatures] = [read('webhook-id'), read('webhook-timestamp'), read('webhook-signature')]
  if (id === null || timestamp === null || signatures === null)
    return { ok: false, why: 'webhook-id, webhook-timestamp and webhook-signature are needed' }
  if (!/^[\x21-\x7e]+$/.test(id) || id.includes('.') || id.length > ID_CHARS_MAX)
    return { ok: false, why: `webhook-id must have 1 to ${ID_CHARS_MAX} visible characters without a dot` }
  if (!/^\d{1,12}$/.test(timestamp)) return { ok: false, why: 'webhook-timestamp must be whole seconds since 1970' }
  const apart = Math.abs(nowMs / 1000 - Number(timestamp))
  if (apart > TOLERANCE_S)
    return { ok: false, why: `webhook-timestamp is ${Math.round(apart)} s away; at most ${TOLERANCE_S} are allowed` }
  const signed = toSigned(id, timestamp, body)
  for (const signature of readSignatures(signatures))
    for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return { ok: true, id }
  return { ok: false, why: 'webhook-signature does not match' }
}

/** The `v1` signatures of a header, which separates them by spaces. Other versions are passed over. */
function readSignatures(header: string): readonly Uint8Array<ArrayBuffer>[] {
  const own = header.split(' ').filter((one) => one.startsWith('v1,'))
  return own.slice(0, SIGNATURES_MAX).flatMap((one) => decodeBase64(one.slice(3)) ?? [])
}

function toSigned(id: string, timestamp: string, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(start.length + body.length)
  signed.set(start)
  signed.set(body, start.length)
  return signed
}
