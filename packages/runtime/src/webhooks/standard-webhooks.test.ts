// Signatures, compared with the official library of Standard Webhooks in both directions.
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { checkWebhook, decodeWebhookSecret, importWebhookKey, signWebhook } from './standard-webhooks.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OTHER = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const BODY = '{"type":"order.paid","data":{"name":"Zoë"}}'

const keyOf = (secret: string) => importWebhookKey(decodeWebhookSecret('secret', secret))

async function check(headers: Readonly<Record<string, string>>, given: { body?: string; nowMs?: number } = {}) {
  const { body = BODY, nowMs = Date.now() } = given
  const read = (name: string): string | null => headers[name] ?? null
  return await checkWebhook({
    read,
    body: new TextEncoder().encode(body),
    keys: [await keyOf(OTHER), await keyOf(SECRET)],
    nowMs,
  })
}

const signedByLibrary = (atMs: number, id = 'msg_1', secret = SECRET): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(atMs / 1000)),
  'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), BODY),
})

const without = (sent: Record<string, string>, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(sent).filter(([other]) => other !== name))

test('what the official library signs is accepted, by either of two secrets', async () => {
  expect(await check(signedByLibrary(Date.now()))).toEqual({ ok: true, id: 'msg_1' })
  expect(await check(signedByLibrary(Date.now(), 'msg_2', OTHER))).toEqual({ ok: true, id: 'msg_2' })
})

test('the official library accepts what is signed here', async () => {
  const headers = await signWebhook(await keyOf(SECRET), { id: 'msg_1', atMs: Date.now(), body: BODY })
  expect(new Webhook(SECRET).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY))
})

test('a time within 300 seconds of the clock counts, before and after it', async () => {
  const atMs = 1_900_000_000_000
  const sent = signedByLibrary(atMs)
  for (const [apartMs, ok] of [
    [300_000, true],
    [-300_000, true],
    [301_000, false],
    [-301_000, false],
  ] as const)
    expect((await check(sent, { nowMs: atMs + apartMs })).ok).toBe(ok)
})

test.each<[string, (sent: Record<string, string>) => Record<string, string>, string]>([
  ['no signature', (sent) => without(sent, 'webhook-signature'), 'are needed'],
  ['no id', (sent) => without(sent, 'webhook-id'), 'are needed'],
  ['another id', (sent) => ({ ...sent, 'webhook-id': 'msg_2' }), 'does not match'],
  ['an id with a dot', (sent) => ({ ...sent, 'webhook-id': 'msg_1.5' }), 'without a dot'],
  [
    'a later time',
    (sent) => ({ ...sent, 'webhook-timestamp': String(Number(sent['webhook-timestamp']) + 1) }),
    'does not match',
  ],
  ['a time that is none', (sent) => ({ ...sent, 'webhook-timestamp': '1e9' }), 'whole seconds'],
  [
    'another version',
    (sent) => ({ ...sent, 'webhook-signature': `v1a,${sent['webhook-signature']?.slice(3)}` }),
    'does not match',
  ],
  ['a signature that is no base64', (sent) => ({ ...sent, 'webhook-signature': 'v1,%%%' }), 'does not match'],
  ['an empty signature', (sent) => ({ ...sent, 'webhook-signature': 'v1,' }), 'does not match'],
])('%s is refused', async (_, change, why) => {
  expect(await check(change(signedByLibrary(Date.now())))).toEqual({
    ok: false,
    why: expect.stringContaining(why) as string,
  })
})

test('another body is refused, also with the same meaning', async () => {
  expect((await check(signedByLibrary(Date.now()), { body: BODY.replace(':', ': ') })).ok).toBe(false)
})

test('a genuine signature counts among others, as while a secret is replaced', async () => {
  const sent = signedByLibrary(Date.now())
  const many = { ...sent, 'webhook-signature': `v1a,AAAA v1,AAAA ${sent['webhook-signature']}` }
  expect((await check(many)).ok).toBe(true)
})

test.each([
  ['no prefix', Buffer.alloc(32).toString('base64')],
  ['23 bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
  ['65 bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
  ['no base64', 'whsec_%%%'],
  ['no text', { secret: 'whsec_abcdefghijklmnop' }],
])('a secret with %s is refused, and not repeated in the error', (_, secret) => {
  expect(() => decodeWebhookSecret('webhooks["shop"].secret', secret)).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.not.stringContaining(JSON.stringify(secret).slice(8, 18)),
    }),
  )
})
