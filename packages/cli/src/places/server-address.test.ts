// Finding a server by its store, and address files that must be ignored.
import { chmodSync, existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findAnsweringServer, findServer, publishAddress } from './server-address.ts'
import { openStore } from './store-location.ts'

let folder: string
let store: { readonly type: 'sqlite'; readonly path: string }
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  store = { type: 'sqlite', path: join(folder, 'shop.db') }
  file = `${store.path}.server`
})
afterEach(() => rmSync(folder, { recursive: true }))

/** No process has this id: Linux allows at most 2^22. */
const NO_PROCESS = 2 ** 22 + 1

function write(value: unknown, mode = 0o600): void {
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value), { mode })
  chmodSync(file, mode)
}

test('a server that runs is found by its store, by any link to it, until it ends', () => {
  const withdraw = publishAddress(store, { url: 'ws://127.0.0.1:9/ws', token: 'secret' })
  expect(findServer(store)).toEqual({ url: 'ws://127.0.0.1:9/ws', token: 'secret' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const other = mkdtempSync(join(tmpdir(), 'baton-'))
  symlinkSync(folder, join(other, 'link'))
  expect(findServer({ type: 'sqlite', path: join(other, 'link/shop.db') })?.token).toBe('secret')
  withdraw()
  expect([findServer(store), existsSync(file)]).toEqual([undefined, false])
  rmSync(other, { recursive: true })
})

test.each([
  ['ws://0.0.0.0:9/ws', 'ws://127.0.0.1:9/ws'],
  ['wss://[::]:9/ws', 'wss://[::1]:9/ws'],
])('a server on %s is reached at %s', (url, reached) => {
  publishAddress(store, { url })
  expect(findServer(store)).toEqual({ url: reached })
})

test('the file of a server that died is found out and removed', () => {
  write({ url: 'ws://127.0.0.1:9/ws', pid: NO_PROCESS })
  expect([findServer(store), existsSync(file)]).toEqual([undefined, false])
})

test('a server stays known when other commands open its store, and the file of a later one stays when it ends', async () => {
  const withdraw = publishAddress(store, { url: 'ws://127.0.0.1:9/ws' })
  const opened = await openStore(store)
  await opened.close()
  expect(findServer(store)).toEqual({ url: 'ws://127.0.0.1:9/ws' })
  write({ url: 'ws://127.0.0.1:8/ws', pid: process.ppid })
  withdraw()
  expect(findServer(store)).toEqual({ url: 'ws://127.0.0.1:8/ws' })
})

test('a process that has the number of a server that died does not answer for it', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a TCP server
  const url = `ws://127.0.0.1:${port}/ws`
  write({ url, pid: process.pid })
  expect(await findAnsweringServer(store)).toEqual({ url })
  await new Promise((resolve) => void server.close(resolve))
  expect(await findAnsweringServer(store)).toBeUndefined()
})

test.each([
  ['that others can read', { url: 'ws://127.0.0.1:9/ws', pid: process.pid }, 0o644],
  ['that others can write', { url: 'ws://127.0.0.1:9/ws', pid: process.pid }, 0o620],
  ['that is not JSON', 'ws://127.0.0.1:9/ws', 0o600],
  ['that is null', null, 0o600],
  ['without an address', { pid: process.pid }, 0o600],
  ['with an address of another kind', { url: 'http://127.0.0.1:9/ws', pid: process.pid }, 0o600],
  ['with a process that is not a number', { url: 'ws://127.0.0.1:9/ws', pid: 'x' }, 0o600],
  ['that never ends', ' '.repeat(100_000), 0o600],
])('a file %s is not believed', (_situation, value, mode) => {
  write(value, mode)
  expect(findServer(store)).toBeUndefined()
})

test('a link in the place of the file is not followed, and a store that is not a file has no server', () => {
  const elsewhere = join(folder, 'elsewhere')
  writeFileSync(elsewhere, JSON.stringify({ url: 'ws://127.0.0.1:9/ws', pid: process.pid }), { mode: 0o600 })
  symlinkSync(elsewhere, file)
  expect(findServer(store)).toBeUndefined()
  publishAddress({ type: 'memory' }, { url: 'ws://127.0.0.1:9/ws' })()
  expect(findServer({ type: 'memory' })).toBeUndefined()
})
