// The client of a service, in all failure situations, and what it sends.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tool } from '@baton/core'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { SERVICE_ERRORS, ServiceClient } from './service-client.ts'
import { FAILURE_KEY, testServiceFailures } from './service-failures.test-kit.ts'

const Answer = z.object({ id: z.string() })

testServiceFailures({
  name: 'a plain client',
  open: (origin, limits) => {
    const service = new ServiceClient({ name: 'Shop', server: origin, option: 'server', ...limits })
    const read = tool({
      name: 'shop.read',
      description: 'Reads',
      input: z.object({}),
      errors: SERVICE_ERRORS,
      execute: async (_input, { signal }) => {
        const headers = { authorization: `Bearer ${FAILURE_KEY}` }
        const { value } = await service.ask({ method: 'GET', path: '/x', headers, secrets: [FAILURE_KEY], signal })
        return service.check(Answer, value)
      },
    })
    return { tools: [read], calls: [{ name: 'shop.read', input: {} }] }
  },
})

const open: { close?: () => Promise<void> } = {}
afterEach(async () => {
  await open.close?.()
  delete open.close
})

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly type: string | undefined
  readonly body: string
}

async function startEcho(status: number, answer: string) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString()
      seen.push({ method: request.method, url: request.url, type: request.headers['content-type'], body })
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.close = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  const { port } = server.address() as AddressInfo // it listens on a port
  const client = new ServiceClient({ name: 'Shop', server: `http://127.0.0.1:${port}/v1/`, option: 'server' })
  return { seen, client }
}
const { signal } = new AbortController()

test('a JSON body, a form and a query are sent as such', async () => {
  const { seen, client } = await startEcho(200, '{"id":"7"}')
  await client.ask({ method: 'POST', path: '/a', json: { x: 'é' }, signal })
  await client.ask({ method: 'POST', path: '/b', form: { grant: 'a b' }, signal })
  const answer = await client.ask({ method: 'GET', path: '/c', query: { q: 'a&b', page: 2, none: undefined }, signal })
  expect(seen).toEqual([
    { method: 'POST', url: '/v1/a', type: 'application/json', body: '{"x":"é"}' },
    { method: 'POST', url: '/v1/b', type: 'application/x-www-form-urlencoded', body: 'grant=a+b' },
    { method: 'GET', url: '/v1/c?q=a%26b&page=2', type: undefined, body: '' },
  ])
  expect(answer.value).toEqual({ id: '7' })
})

test('an answer without a body is null', async () => {
  const { client } = await startEcho(204, '')
  expect((await client.ask({ method: 'DELETE', path: '/a', signal })).value).toBe(null)
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)(
  'a %s whose answer cannot be read may have had its effect, and the error says so',
  async (method) => {
    const { client } = await startEcho(200, 'thanks')
    await expect(client.ask({ method, path: '/a', json: {}, signal })).rejects.toMatchObject({
      code: 'api_malformed',
      message: expect.stringContaining('the request may have taken effect') as string,
    })
  },
)

test('a question whose answer cannot be read has no effect to speak of', async () => {
  const { client } = await startEcho(200, 'thanks')
  await expect(client.ask({ method: 'GET', path: '/a', signal })).rejects.toMatchObject({
    message: expect.not.stringContaining('effect') as string,
  })
})

test('an answer of another shape is reported with the place, not with its text', async () => {
  const { client } = await startEcho(200, '{"id":17}')
  const { value } = await client.ask({ method: 'GET', path: '/a', signal })
  expect(() => client.check(Answer, value)).toThrow(/^Shop responded with an invalid id: /)
})

test('words of a service that may hold keys are not shown', async () => {
  const { client } = await startEcho(409, '{"message":"taken"}')
  await expect(client.ask({ method: 'GET', path: '/a', signal })).rejects.toThrow('Shop answered 409: taken')
  const silent = new ServiceClient({ name: 'Shop', server: client.server, option: 'server', showsWords: false })
  await expect(silent.ask({ method: 'GET', path: '/a', signal })).rejects.toThrow(/^Shop answered 409$/)
})

test.each([
  ['ftp://shop.example', /server must be an address such as/],
  ['https://ann:secret@shop.example', /not one with them/],
  [7 as never, /not 7/],
])('the address %s is refused', (server, message) => {
  expect(() => new ServiceClient({ name: 'Shop', server, option: 'server' })).toThrow(message)
})

test('a key with a line break is refused, and not shown', async () => {
  const client = new ServiceClient({ name: 'Shop', server: 'https://shop.example', option: 'server' })
  const asked = client.ask({ method: 'GET', path: '/', headers: { authorization: 'Bearer a\nb' }, signal })
  await expect(asked).rejects.toThrow(
    'the value for the header "authorization" contains characters that headers do not allow',
  )
})

test('a request that its caller gives up ends with the caller’s reason', async () => {
  const fetch = (_url: string, { signal }: RequestInit): Promise<Response> =>
    new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(new Error('the network says so'))))
  const service = new ServiceClient({ name: 'Shop', server: 'https://shop.example', option: 'server', fetch })
  const stop = new AbortController()
  const asked = service.ask({ method: 'POST', path: '/x', signal: stop.signal })
  stop.abort(new Error('the call is over'))
  await expect(asked).rejects.toThrow('the call is over')
})

test('a secret of a few characters blanks no common letters of an error', async () => {
  const fetch = () => Promise.resolve(Response.json({ error: 'a name is too long: token-0123456789' }, { status: 400 }))
  const service = new ServiceClient({ name: 'Shop', server: 'https://shop.example', option: 'server', fetch })
  const secrets = ['a', 'token-0123456789']
  const asked = service.ask({ method: 'GET', path: '/x', secrets, signal: new AbortController().signal })
  await expect(asked).rejects.toThrow(/a name is too long: (?!token)/)
})
