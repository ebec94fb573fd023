// The client in a real browser, against the real server: a page that runs a tool, and a connection that breaks meanwhile.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { connect, createServer as createTcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'

/** Maximum size of the client's files in a page, before compression. */
const BUNDLE_BYTES_MAX = 20 * 1024
const SOURCE = fileURLToPath(new URL('./client.ts', import.meta.url))
const executablePath = findChromium('the client in a browser', (message) => console.warn(message))
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const closers: (() => unknown)[] = []
let bundle: { readonly code: string; readonly modules: readonly string[] }
let browser: Browser | undefined

beforeAll(async () => {
  bundle = await bundleClient()
  if (executablePath !== undefined)
    browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS], timeout: 30_000 })
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await browser?.close()
})

async function bundleClient() {
  const build = await rolldown({
    input: SOURCE,
    platform: 'browser',
    resolve: { conditionNames: ['@baton/source', 'import', 'default'] },
    // A missing module, which a bundler would leave to the page's loader, is a failure here.
    onwarn: (warning) => {
      throw new Error(warning.message)
    },
  })
  const { output } = await build.generate({ format: 'esm', minify: false })
  await build.close()
  const [chunk, ...others] = output
  expect(others).toEqual([])
  expect(chunk.imports).toEqual([])
  return { code: chunk.code, modules: chunk.moduleIds }
}

test('the client is one small file that needs nothing else', () => {
  const bytes = Buffer.byteLength(bundle.code)
  console.info(`client: ${bytes} bytes in one file, not minified`)
  expect(bytes).toBeLessThan(BUNDLE_BYTES_MAX)
  const places = bundle.modules
    .filter((id) => !id.startsWith('\0'))
    .map((id) => /packages\/(\w+)\//.exec(id)?.[1] ?? id)
  expect(new Set(places)).toEqual(new Set(['client', 'protocol']))
  expect(bundle.code).not.toMatch(/\bprocess\b|\brequire\(|\bBuffer\b|node:/)
})

/** Runs in the page. Its tool waits until the test opens the gate. */
const PAGE_SCRIPT = `
import { createV1Client } from '/client.js'
const told = (globalThis.told = { runs: 0, states: [], connections: [], spoken: [] })
const gate = new Promise((resolve) => { globalThis.openGate = resolve })
const client = createV1Client({
  url: new URLSearchParams(location.search).get('server'),
  session: 'page',
  reconnect: { baseMs: 1 },
  tools: {
    'page.title': async ({ upper }) => {
      told.runs += 1
      await gate
      return upper ? document.title.toUpperCase() : document.title
    },
  },
  speak: (text) => told.spoken.push(text),
})
client.on('state', (state) => told.states.push(state))
client.on('connection', (state) => told.connections.push(state))
client.on('final', (text) => { told.final = text })
client.on('result', (result) => { told.result = result })
client.say('What is this page?')
`
const PAGE = '<!doctype html><title>A page</title><script type="module" src="/page.js"></script>'

async function servePage(): Promise<string> {
  const files: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['text/html', PAGE],
    '/page.js': ['text/javascript', PAGE_SCRIPT],
    '/client.js': ['text/javascript', bundle.code],
  }
  const server = createServer(({ url = '/' }, response) => {
    const [type, text] = files[url.split('?', 1)[0] ?? '/'] ?? []
    response.writeHead(text === undefined ? 404 : 200, { 'content-type': type ?? 'text/plain' })
    response.end(text ?? '')
  })
  return `http://127.0.0.1:${await listen(server)}/`
}

function listen(server: Server): Promise<number> {
  closers.push(() => new Promise((resolve) => server.close(resolve)))
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)) // it listens on a port
  })
}

/** A server behind a wire that can be cut. */
async function serveAgent(effect: 'pure' | 'once') {
  const model = createScriptedModel({
    steps: [
      { text: 'Let me look.', calls: [{ name: 'page.title', arguments: { upper: true } }] },
      { text: 'I see it.' },
    ],
  })
  const look = tool({ name: 'page.title', description: 'the title', input: { type: 'object' }, effect })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [look] }) })
  const front = createWebSocketFront(host, { ...environment, log: { info: () => {}, warn: () => {} }, port: 0 })
  closers.push(() => host.stop())
  closers.push(() => front.close())
  const { port } = await front.listen()
  const wires = new Set<Socket>()
  const proxy = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const wire of [near, far]) {
      wires.add(wire)
      wire.on('error', () => {})
      wire.on('close', () => wires.delete(wire))
    }
    near.pipe(far).pipe(near)
  })
  const url = `ws://127.0.0.1:${await listen(proxy)}/ws`
  const cut = (): void => {
    for (const wire of wires) wire.destroy()
  }
  closers.push(cut)
  return { url, model, cut }
}

async function openPage(server: string): Promise<{ readonly page: Page; readonly complaints: readonly string[] }> {
  if (!browser) throw new Error('there is no browser')
  const address = await servePage()
  const page = await browser.newPage()
  closers.push(() => page.close())
  const complaints: string[] = []
  page.on('pageerror', (cause) => void complaints.push(String(cause)))
  page.setDefaultTimeout(20_000)
  await page.goto(`${address}?server=${encodeURIComponent(server)}`)
  return { page, complaints }
}

test.skipIf(!executablePath)('a page has a conversation, and its tool sees the page', async () => {
  const { url, model } = await serveAgent('pure')
  const { page, complaints } = await openPage(url)
  await page.waitForFunction('told.runs === 1')
  await page.evaluate('openGate()')
  await page.waitForFunction("told.states.at(-1) === 'idle' && told.final")
  expect(await page.evaluate('told')).toMatchObject({
    runs: 1,
    states: ['thinking', 'speaking', 'idle'],
    spoken: ['Let me look.\nI see it.'],
    final: 'Let me look.\n\nI see it.',
    result: { result: 'A PAGE', error: null },
  })
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    parts: [{ isError: false, content: [{ text: 'A PAGE' }] }],
  })
  expect(complaints).toEqual([])
})

test.skipIf(!executablePath).each(['pure', 'once'] as const)(
  'a connection that breaks while a tool of effect %s runs in the page: it runs once, and the turn ends',
  async (effect) => {
    const { url, model, cut } = await serveAgent(effect)
    const { page, complaints } = await openPage(url)
    await page.waitForFunction('told.runs === 1')
    const opened = await page.evaluate("told.connections.filter((state) => state === 'open').length")
    cut()
    await page.waitForFunction(`told.connections.filter((state) => state === 'open').length > ${Number(opened)}`)
    await page.evaluate('openGate()')
    await page.waitForFunction("told.states.at(-1) === 'idle' && told.final")
    expect(await page.evaluate('told.runs')).toBe(1)
    expect(await page.evaluate('told.spoken')).toEqual(['Let me look.\nI see it.'])
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({ parts: [{ content: [{ text: 'A PAGE' }] }] })
    expect(complaints).toEqual([])
  },
)
