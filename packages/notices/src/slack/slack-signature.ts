// Signatures of Slack's deliveries, version v0 (docs.slack.dev/authentication/verifying-requests-from-slack, seen in 2026-11):
// an HMAC-SHA256 of the time and the exact bytes of the body.

/** Seconds that a delivery's time may differ from the clock. */
const TOLERANCE_S = 300

export type SlackKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

export function importSlackKey(secret: string): Promise<SlackKey> {
  const bytes = new TextEncoder().encode(secret)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

export interface Delivery {
  readonly headers: Headers
  readonly body: Uint8Array<ArrayBuffer>
  readonly keys: readonly SlackKey[]
  readonly nowMs: number
}

/** Never throws. The comparison takes the same time for all signatures. */
export async function isSigned({ headers, body, keys, nowMs }: Delivery): Promise<boolean> {
  const timestamp = headers.get('x-slack-request-timestamp') ?? ''
  const [, hex = ''] = /^v0=([0-9a-f]{64})$/.exec(headers.get('x-slack-signature') ?? '') ?? []
  if (!/^\d{1,12}$/.test(timestamp) || hex === '') return false
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_S) return false
  const signature = Buffer.from(hex, 'hex')
  const signed = Buffer.concat([Buffer.from(`v0:${timestamp}:`), body])
  for (const key of keys) if (await crypto.subtle.verify('HMAC', key, signature, signed)) return true
  return false
}
