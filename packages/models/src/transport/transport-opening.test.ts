// The undici transport while it loads undici, and after it was closed.
import type { HttpRequest } from '@baton/core/internal'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createUndiciTransport } from './undici-transport.ts'

const server = createServer((_, response) => response.end('{}'))

afterEach(async () => {
  vi.doUnmock('undici')
  server.closeAllConnections()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
})

function breakUndici(): void {
  vi.doMock('undici', () => {
    throw new Error('too many open files')
  })
}

const open = () => createUndiciTransport({ variables: {} })
const asked: HttpRequest = {
  url: 'http://127.0.0.1:1/v1',
  headers: {},
  body: '{}',
  firstByteTimeoutMs: 30_000,
  betweenBytesTimeoutMs: 20_000,
}
const post = (transport: ReturnType<typeof open>, url = asked.url) =>
  transport.post({ ...asked, url }, new AbortController().signal, () => {})

test('a request during which undici cannot be loaded may be sent again, and the next one loads it', async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` // it listens on a port
  breakUndici()
  const transport = open()
  await expect(post(transport, url)).rejects.toMatchObject({
    code: 'model_network_failed',
    retryable: true,
    message: expect.stringMatching(/^the package undici could not be loaded: /) as string,
  })
  vi.doUnmock('undici')
  expect(await post(transport, url)).toMatchObject({ status: 200 })
  await transport.close()
})

test('a transport closes, also while undici cannot be loaded', async () => {
  breakUndici()
  const transport = open()
  const posting = post(transport).catch((thrown: unknown) => thrown)
  await transport.close()
  expect(await posting).toMatchObject({ retryable: true })
})

test.each([
  ['that never sent anything', false],
  ['that has sent something', true],
])('a closed transport %s refuses requests, which no retry can change, and closes again', async (_, hasSent) => {
  const transport = open()
  if (hasSent) await post(transport).catch(() => {}) // nothing listens there
  const closing = [transport.close(), transport.close()]
  const closed = { code: 'model_network_failed', retryable: false, message: 'the transport is closed' }
  await expect(post(transport)).rejects.toMatchObject(closed)
  await Promise.all(closing)
  await expect(post(transport)).rejects.toMatchObject(closed)
  await transport.close()
})
