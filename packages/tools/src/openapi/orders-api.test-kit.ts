// A typical service with its OpenAPI document. It checks all its input and rejects mismatches, so a malformed request
// fails the test.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { JsonObject, JsonValue } from '@baton/core'

export interface OrdersApi {
  readonly origin: string
  /** Received requests, in order. */
  readonly seen: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[]
  close(): Promise<void>
}

/** A one-pixel picture. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const TEXT = { type: 'string' } as const
const json = (schema: JsonObject): JsonObject => ({ 'application/json': { schema } })
const ok = (content?: JsonObject): JsonObject => ({ '200': { description: 'Done', ...(content && { content }) } })
const inPath = (name: string): JsonObject => ({ name, in: 'path', required: true, schema: TEXT })
const order = { $ref: '#/components/schemas/Order' }

/** `server` is the document's own; the tests set the real one. */
export function createOrdersDocument(server = 'https://orders.example.com/v1'): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'Orders', version: '1' },
    servers: [{ url: server }],
    paths: {
      '/orders': {
        get: {
          operationId: 'listOrders',
          summary: 'Lists orders',
          parameters: [
            { name: 'tags', in: 'query', schema: { type: 'array', items: TEXT } },
            { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
            {
              name: 'page',
              in: 'query',
              schema: { type: 'object', properties: { from: { type: 'integer' }, size: { type: 'integer' } } },
            },
            {
              name: 'filter',
              in: 'query',
              style: 'deepObject',
              schema: { type: 'object', additionalProperties: true },
            },
            { name: 'where', in: 'query', content: json({ type: 'object' }) },
            { name: 'X-Trace', in: 'header', schema: { type: 'array', items: TEXT } },
            { name: 'theme', in: 'cookie', schema: TEXT },
            { name: 'Authorization', in: 'header', schema: TEXT },
          ],
          responses: ok(json({ type: 'array', items: order })),
        },
        post: {
          operationId: 'createOrder',
          requestBody: { required: true, content: json(order) },
          responses: { '201': { description: 'Made', content: json(order) } },
        },
      },
      '/orders/{id}': {
        parameters: [{ $ref: '#/components/parameters/OrderId' }],
        get: {
          operationId: 'getOrder',
          summary: 'Reads an order',
          description: 'By its number.',
          responses: ok(json(order)),
        },
        put: { operationId: 'replaceOrder', requestBody: { content: json(order) }, responses: ok(json(order)) },
        delete: { operationId: 'deleteOrder', responses: { '204': { description: 'Gone' } } },
      },
      '/reports/{name}': { get: { parameters: [inPath('name')], responses: ok({ 'text/csv': {} }) } },
      '/logo': { get: { operationId: 'logo', responses: ok({ 'image/png': {} }) } },
      '/invoice': { get: { operationId: 'invoice', responses: ok({ 'application/pdf': {} }) } },
      '/fail/{how}': {
        get: { operationId: 'fail', parameters: [inPath('how')], responses: ok(json({ type: 'object' })) },
      },
    },
    components: {
      parameters: { OrderId: { name: 'id', in: 'path', required: true, description: 'Such as A-17', schema: TEXT } },
      schemas: {
        Order: {
          type: 'object',
          required: ['item', 'number'],
          properties: {
            number: { type: 'string', readOnly: true },
            item: TEXT,
            // An order may contain orders.
            parts: { type: 'array', items: order },
            note: { anyOf: [TEXT, { type: 'null' }] },
          },
        },
      },
    },
  }
}

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void

export async function startOrdersApi(): Promise<OrdersApi> {
  const seen: OrdersApi['seen'] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
      answer(request, response, body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
    seen,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function send(response: ServerResponse, status: number, value: JsonValue, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    .end(JSON.stringify(value))
}

const answer: Handle = (request, response, body) => {
  const url = new URL(request.url ?? '', 'http://orders')
  const place = `${request.method} ${url.pathname.replace(/^\/v1/, '')}`
  if (!url.pathname.startsWith('/v1/')) send(response, 404, { error: `there is nothing at ${url.pathname}` })
  else if (place.startsWith('GET /fail/')) fail(place.slice(10), request, response)
  else if (request.headers.authorization !== 'Bearer key-of-ann')
    send(response, 401, { error: `the key ${request.headers.authorization} is not known` })
  else if (place === 'GET /orders') send(response, 200, readList(request, url))
  else if (place === 'POST /orders' || place.startsWith('PUT /orders/')) take(request, response, body)
  else if (place.startsWith('GET /orders/'))
    send(response, 200, { number: decodeURIComponent(place.slice(12)), item: 'tea' })
  else if (place.startsWith('DELETE /orders/')) response.writeHead(204).end()
  else if (place.startsWith('GET /reports/'))
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' }).end('item,count\ntea,2\n')
  else if (place === 'GET /logo') response.writeHead(200, { 'content-type': 'image/png' }).end(PIXEL)
  else if (place === 'GET /invoice')
    response
      .writeHead(200, {
        'content-type': 'application/pdf',
        'content-disposition': 'attachment; filename="../invoice.pdf"',
      })
      .end('%PDF-1.7')
  else send(response, 404, { error: `there is nothing at ${place}` })
}

/** The query as the server reads it. */
function readList(request: IncomingMessage, url: URL): JsonValue {
  return {
    query: [...url.searchParams].map(([name, value]) => `${name}=${value}`),
    raw: url.search,
    trace: request.headers['x-trace'] ?? null,
    cookie: request.headers.cookie ?? null,
  }
}

function take(request: IncomingMessage, response: ServerResponse, body: string): void {
  if (request.headers['content-type'] !== 'application/json') {
    send(response, 415, { error: `JSON is wanted, not ${request.headers['content-type']}` })
    return
  }
  const order = JSON.parse(body) as { readonly item?: unknown; readonly number?: unknown }
  if (typeof order.item !== 'string' || order.number !== undefined)
    send(response, 422, { error: 'item is wanted, number is ours' })
  else send(response, 201, { number: 'A-18', item: order.item, key: request.headers['idempotency-key'] ?? null })
}

function fail(how: string, request: IncomingMessage, response: ServerResponse): void {
  const status = Number(how)
  if (how === '429') send(response, 429, { error: 'slow down' }, { 'retry-after': '7' })
  else if (how === '429-date') send(response, 429, {}, { 'retry-after': 'Thu, 01 Jan 1970 00:01:40 GMT' })
  else if (how === '401') send(response, 401, { error: `the key ${request.headers.authorization} is not known` })
  else if (how === '422') send(response, 422, { title: 'Wrong', detail: 'the date lies in the past' })
  else if (how === '404-page') response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Nothing</h1>')
  else if (status >= 400) send(response, status, { error: `it says ${status}`, more: 'x'.repeat(5000) })
  else if (how === 'page') response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>')
  else if (how === 'not-json') response.writeHead(200, { 'content-type': 'application/json' }).end('hello')
  else if (how === 'half-json') response.writeHead(200, { 'content-type': 'application/json' }).end('{"a":')
  else if (how === 'cut') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' })
    response.write('{"a":', () => response.destroy())
  } else if (how === 'huge') {
    response.writeHead(200, { 'content-type': 'application/json' })
    const write = (): void => {
      while (response.write('"'.padEnd(10_000)));
      response.once('drain', write)
    }
    write()
  } else if (how === 'slow') response.writeHead(200, { 'content-type': 'application/json' }).write('{')
  else if (how === 'redirect') response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
  else response.destroy()
}
