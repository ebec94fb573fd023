// Responses over HTTP, rewritten for the SDK: refused notifications, gateways, and charsets other than UTF-8.
import { expect, test } from 'vitest'
import { createLenientFetch } from './lenient-fetch.ts'

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } }
const NOTICE = { jsonrpc: '2.0', method: 'notifications/initialized' }

async function send(message: object, response: () => Response, deliver?: (message: object) => void) {
  const told: string[] = []
  const fetcher = createLenientFetch(
    () => Promise.resolve(response()),
    (what) => told.push(what),
    deliver,
  )
  const got = await fetcher('http://h/mcp', { method: 'POST', body: JSON.stringify(message) })
  return { status: got.status, text: await got.text(), told }
}

function answered(text: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } })
}

test.each([400, 404, 405, 422, 500])('a notification refused with %d is logged, and does no harm', async (status) => {
  const { told, ...got } = await send(NOTICE, () => new Response('Field required: id', { status }))
  expect(got).toEqual({ status: 202, text: '' })
  expect(told).toEqual(['an MCP server refused a notification'])
})

test.each([401, 403])('a notification refused with %d needs a login', async (status) => {
  expect(await send(NOTICE, () => new Response('no', { status }))).toEqual({ status, text: 'no', told: [] })
})

test('an answer to a question of the server that is refused stays refused', async () => {
  const { status } = await send({ jsonrpc: '2.0', id: 7, result: {} }, () => new Response('no', { status: 400 }))
  expect(status).toBe(400)
})

test.each([500, 502, 504])('%d for the first request of 2026: the server is older', async (status) => {
  const { text } = await send({ ...CALL, method: 'server/discover' }, () => new Response('Bad gateway', { status }))
  expect(JSON.parse(text)).toMatchObject([{ id: 1, error: { code: -32_601 } }])
})

test.each([
  ['application/json;charset=ISO-8859-1', 'latin1', 'café', ''],
  ['application/json; charset="utf-16le"', 'utf16le', 'café', ''],
  ['text/event-stream; charset=iso-8859-1', 'latin1', 'café', 'data: '],
  ['application/json; charset=x-unknown', 'utf8', 'café', ''],
] as const)('%s is read as it says', async (type, encoding, said, before) => {
  const bytes = Buffer.from(`${before}${answered(said)}\n\n`, encoding)
  const { text } = await send(CALL, () => new Response(bytes, { headers: { 'content-type': type } }))
  expect(text).toContain(said)
})

test.each<[string, string, number, readonly unknown[]]>([
  ['Accepted', 'Accepted', 202, []],
  ['a receipt in JSON', '{"status":"ok"}', 202, []],
  ['the answer', answered('x'), 202, [{ id: 1, result: {} }]],
  ['a list with the answer', `[${answered('x')}]`, 200, [{ id: 1, result: {} }]],
  ['the answer to another request', answered('x').replace('"id":1', '"id":9'), 202, []],
  ['an error of the request', '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}', 400, [{ error: {} }]],
])('a response of the older transport that has %s', async (_, body, status, delivered) => {
  const messages: object[] = []
  const { told, ...got } = await send(
    CALL,
    () => new Response(body, { status }),
    (message) => messages.push(message),
  )
  expect(messages).toMatchObject(delivered)
  expect({ ...got, told }).toEqual({ status: 202, text: '', told: [] })
})

test.each([
  [CALL, 500, []],
  [{ ...CALL, method: 'server/discover' }, 202, [{ error: { code: -32_601 } }]],
])('a request %j of the older transport that fails', async (message, status, delivered) => {
  const messages: object[] = []
  const got = await send(
    message,
    () => new Response('boom', { status: 500 }),
    (one) => messages.push(one),
  )
  expect(got.status).toBe(status)
  expect(messages).toMatchObject(delivered)
})
