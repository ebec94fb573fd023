// Pages in a real browser, against a real server behind a wire that can be cut.
import { CHROMIUM_ARGUMENTS } from '@baton/testing/chromium'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer as createTcpServer } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { expect } from 'vitest'

export interface PageWorld {
  readonly context: BrowserContext
  /** Opens a page with this script; its errors are collected in `complaints`. */
  readonly openPage: (query?: string) => Promise<Page>
  readonly complaints: readonly string[]
  readonly close: () => Promise<void>
}

export async function launch(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS], timeout: 180_000 })
}

/** A separate site, so that it has a separate database. */
export async function createPageWorld(browser: Browser, files: Readonly<Record<string, string>>): Promise<PageWorld> {
  const server = createServer(({ url = '/' }, response) => {
    const name = url.split('?', 1)[0]?.slice(1) ?? ''
    const text = name === '' ? PAGE : files[name]
    const type = name === '' ? 'text/html' : 'text/javascript'
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': type })
    response.end(text ?? '')
  })
  const address = `http://127.0.0.1:${await listen(server)}/`
  const context = await browser.newContext()
  context.setDefaultTimeout(60_000)
  const complaints: string[] = []
  const openPage = async (query = ''): Promise<Page> => {
    const page = await context.newPage()
    page.on('pageerror', (cause) => void complaints.push(String(cause)))
    page.on('console', (message) => {
      // The browser reports every failed connection, which these tests cause on purpose.
      const isExpected = /WebSocket connection|Failed to load resource|CORS policy/.test(message.text())
      if (message.type() === 'error' && !isExpected) complaints.push(message.text())
    })
    await page.goto(`${address}${query}`)
    return page
  }
  const close = async (): Promise<void> => {
    await context.close()
    await new Promise((resolve) => server.close(resolve))
  }
  return { context, openPage, complaints, close }
}

const PAGE =
  '<!doctype html><title>A page</title><link rel="icon" href="data:,"><main id="root"></main><script type="module" src="/entry.js"></script>'

/** Number of entries in a page's outbox. Only opens an existing database, since opening would create one. */
export async function untilOutboxHas(page: Page, entries: number): Promise<void> {
  // Not `waitForFunction`, which treats the promise of an async function as a result.
  const count = (): Promise<unknown> =>
    page.evaluate(`(async () => {
      if (!(await indexedDB.databases()).some(({ name }) => name === 'baton-outbox')) return 0
      const finish = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result) })
      const database = await finish(indexedDB.open('baton-outbox'))
      const keys = await finish(database.transaction('entries').objectStore('entries').getAllKeys())
      database.close()
      return keys.length
    })()`)
  await expect.poll(count).toBe(entries)
}

export interface Wire {
  readonly url: string
  /** Connections so far. */
  readonly connections: () => number
  readonly cut: () => void
  /** Whether new connections are refused. */
  readonly setDown: (isDown: boolean) => void
  readonly close: () => Promise<void>
}

export async function createWire(port: number): Promise<Wire> {
  const wires = new Set<Socket>()
  let connections = 0
  let isDown = false
  const proxy = createTcpServer((near) => {
    near.on('error', () => {})
    if (isDown) return void near.destroy()
    connections += 1
    const far = connect(port, '127.0.0.1')
    for (const wire of [near, far]) {
      wires.add(wire)
      wire.on('error', () => {})
      wire.on('close', () => wires.delete(wire))
    }
    near.pipe(far).pipe(near)
  })
  const cut = (): void => {
    for (const wire of wires) wire.destroy()
  }
  const url = `ws://127.0.0.1:${await listen(proxy)}/ws`
  return {
    url,
    connections: () => connections,
    cut,
    setDown: (down) => {
      isDown = down
      if (down) cut()
    },
    close: async () => {
      cut()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)) // it listens on a port
  })
}
