// Webhooks of a host, at a receiver that checks them with the official library.
import { createScriptedModel } from '@baton/core/testing'
import type { Notice, NoticeContext } from '@baton/core/internal'
import { createHost, createMemoryStore, defineAgent } from '@baton/host'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import type { WebhookOptions } from './webhook.ts'
import { webhook } from './webhook.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const NEXT_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const NOTICE: Notice = {
  id: 'notice_1',
  type: 'turn.finished',
  timestamp: '2030-01-01T00:00:00.000Z',
  data: { session: 's', agent: 'a', principal: { id: 'ann' }, pos: 7, turn: 1, outcome: 'answered' },
}
const CONTEXT = { signal: new AbortController().signal } as NoticeContext // all that a webhook reads

type Received = { readonly headers: Record<string, string>; readonly body: string }
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

async function receive(answer: (response: ServerResponse, got: Received, request: IncomingMessage) => void) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      const got = { headers: request.headers as Record<string, string>, body: Buffer.concat(pieces).toString() }
      received.push(got)
      answer(response, got, request)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  closing.push(
    () => void server.close(),
    () => server.closeAllConnections(),
  )
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `${origin}/hook`, allow: [origin], received }
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end('words')

test('the official library accepts what a host sends, with the old secret and with the new one', async () => {
  const { url, allow, received } = await receive(status(204))
  const model = createScriptedModel({ steps: [{ text: 'Hello.' }] })
  const notify = [webhook({ url, allow, secret: [SECRET, NEXT_SECRET] })]
  const host = createHost({ agent: defineAgent({ name: 'desk', model }), store: createMemoryStore(), notify })
  const session = await host.session('s-1', { principal: { id: 'ann' } })
  await session.send('Hello?').answer
  await expect.poll(() => received.length).toBe(1)
  await host.stop()
  const [{ headers, body } = { headers: {}, body: '' }] = received
  for (const secret of [SECRET, NEXT_SECRET])
    expect(new Webhook(secret).verify(body, headers)).toEqual({
      type: 'turn.finished',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      data: {
        session: 's-1',
        agent: 'desk',
        principal: { id: 'ann' },
        pos: expect.any(Number) as number,
        turn: 1,
        outcome: 'answered',
      },
    })
  expect(headers['webhook-id']).toMatch(/^[\w-]+$/)
  expect(Buffer.byteLength(body)).toBeLessThan(20_000)
})

test.each<[string, number, Record<string, string>, object | undefined]>([
  ['200', 200, {}, undefined],
  ['204', 204, {}, undefined],
  ['301', 301, { location: 'https://example.com' }, { message: expect.stringContaining('redirect') as string }],
  ['304', 304, {}, { message: expect.stringContaining('304') as string }],
  ['404', 404, {}, { message: 'it answered 404' }],
  ['410', 410, {}, { message: 'it answered 410', isGone: true }],
  ['429 with seconds', 429, { 'retry-after': '7' }, { message: 'it answered 429', retryAfterMs: 7000 }],
  ['503 with seconds', 503, { 'retry-after': '7' }, { message: 'it answered 503', retryAfterMs: 7000 }],
  ['503 without a time', 503, {}, { message: 'it answered 503' }],
  ['500 with a time', 500, { 'retry-after': '7' }, { message: 'it answered 500' }],
])('%s counts as Standard Webhooks says', async (_, code, headers, failure) => {
  const { url, allow, received } = await receive(status(code, headers))
  expect(await webhook({ url, allow, secret: SECRET }).send(NOTICE, CONTEXT)).toEqual(failure)
  expect(received).toHaveLength(1)
})

test('a notice that was answered with more than anybody reads is taken', async () => {
  const large = await receive((response) => void response.end(Buffer.alloc(5_000_000)))
  const endless = await receive((response) => void response.write('and so on'))
  for (const { url, allow, received } of [large, endless]) {
    expect(await webhook({ url, allow, secret: SECRET }).send(NOTICE, CONTEXT)).toBeUndefined()
    expect(received).toHaveLength(1)
  }
})

test('an address of this machine or a private network is refused before anything is sent, unless it is allowed', async () => {
  const { url, received } = await receive(status(200))
  const ports = new URL(url).port
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '10.0.0.7', '169.254.169.254', '[::ffff:127.0.0.1]'])
    for (const scheme of ['http', 'https'])
      await expect(
        webhook({ url: `${scheme}://${host}:${ports}/hook`, secret: SECRET }).send(NOTICE, CONTEXT),
      ).rejects.toMatchObject({ code: 'url_refused' })
  expect(received).toEqual([])
})

test.each<[string, Partial<Record<keyof WebhookOptions, unknown>>, RegExp]>([
  ['no address', { url: 'example.com' }, /url must be an address/],
  ['another protocol', { url: 'file:///etc/passwd' }, /url must be an address/],
  ['a password in the address', { url: 'https://ann:sesame@example.com' }, /must not have a user/],
  ['no secret', { secret: [] }, /1 to 4 secrets/],
  ['a short secret', { secret: 'whsec_c2VzYW1l' }, /24 to 64 bytes/],
  ['an unknown field', { key: 'x' } as never, /key/],
])('%s is refused, and no secret is in the error', (_, given, message) => {
  const options = { url: 'https://example.com', secret: SECRET, ...given } as WebhookOptions
  expect(() => webhook(options)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) as string }),
  )
  expect(() => webhook(options)).not.toThrow(/sesame|c2VzYW1l/)
})
