// The guarded fetch while it loads undici, and after it was closed.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { createGuardedFetch } from './guarded-fetch.ts'

const server = createServer((_, response) => response.end('here'))

afterEach(async () => {
  vi.doUnmock('undici')
  server.closeAllConnections()
  if (server.listening) await new Promise((resolve) => server.close(resolve))
})

function breakUndici(onLoad = (): void => {}): void {
  vi.doMock('undici', () => {
    onLoad()
    // Codes of malformed responses begin with `ERR_` too.
    throw Object.assign(new Error("Cannot find package 'undici'"), { code: 'ERR_MODULE_NOT_FOUND' })
  })
}

async function listen(): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
}

test('a failure to load undici is ours, and the next fetch loads it', async () => {
  const origin = await listen()
  const fetch = createGuardedFetch({ allow: [origin] })
  breakUndici()
  await expect(fetch(origin)).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringMatching(/^the package undici could not be loaded: /) as string,
  })
  vi.doUnmock('undici')
  expect(await (await fetch(origin)).text()).toBe('here')
  await fetch.close()
})

test('a fetch closes, also while undici cannot be loaded', async () => {
  const { promise: loading, resolve } = Promise.withResolvers<void>()
  breakUndici(resolve)
  const origin = await listen()
  const fetch = createGuardedFetch({ allow: [origin] })
  const fetching = fetch(origin).catch((thrown: unknown) => thrown)
  await loading
  await fetch.close()
  expect(await fetching).toMatchObject({ code: 'internal' })
})

test.each([
  ['that never fetched', false],
  ['that has fetched', true],
])('a closed fetch %s refuses requests, and closes again', async (_, hasFetched) => {
  const origin = await listen()
  const fetch = createGuardedFetch({ allow: [origin] })
  if (hasFetched) await (await fetch(origin)).text()
  const closing = [fetch.close(), fetch.close()]
  const closed = { code: 'illegal_input', message: 'this fetch is closed' }
  await expect(fetch(origin)).rejects.toMatchObject(closed)
  await Promise.all(closing)
  await expect(fetch(origin)).rejects.toMatchObject(closed)
  await fetch.close()
})
