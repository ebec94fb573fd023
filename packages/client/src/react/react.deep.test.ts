// The hooks with React 19 in a real browser, against a real server behind a wire that can be cut.
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { findChromium } from '@baton/testing/chromium'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { bundleForPage } from '../bundle.test-kit.ts'
import { createPageWorld, createWire, launch, untilOutboxHas } from '../page.test-kit.ts'
import { environment, serveAgent } from '../session/session.test-kit.ts'
import { REACT_PAGE } from './react-page.test-kit.ts'

const executablePath = findChromium('the hooks for React in a browser', (message) => console.warn(message))
const closers: (() => unknown)[] = []
let browser: Browser | undefined
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  files = (await bundleForPage(REACT_PAGE, false)).files
  if (executablePath !== undefined) browser = await launch(executablePath)
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})
afterAll(async () => {
  await browser?.close()
})

const NO_INPUT = { type: 'object', properties: {} } as const

/** Steps by the number of earlier answers. */
async function openWorld(steps: readonly ScriptedStep[], effect: 'pure' | 'once' = 'once') {
  if (!browser) throw new Error('there is no browser')
  const title = tool({ name: 'page.title', description: 'the title', input: NO_INPUT, effect })
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: NO_INPUT,
    approval: true,
    execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which card?', schema: NO_INPUT })),
  })
  const model = createScriptedModel({
    timers: environment.timers,
    steps: ({ messages }) => steps[messages.filter(({ role }) => role === 'assistant').length] ?? { text: 'Yes.' },
  })
  const server = await serveAgent({ agent: defineAgent({ name: 'a', model, tools: [title, pay] }) })
  closers.push(() => server.stop())
  const wire = await createWire(server.port)
  closers.push(() => wire.close())
  const pages = await createPageWorld(browser, files)
  closers.push(() => pages.close())
  const open = (more = ''): Promise<Page> => pages.openPage(`?server=${encodeURIComponent(wire.url)}&session=s${more}`)
  const readLog = async () => (await (await server.host.session('s')).messages()).messages
  return { ...pages, wire, server, model, open, readLog }
}

function send(page: Page, text: string): Promise<unknown> {
  return page.evaluate(`void chat.send(${JSON.stringify(text)})`)
}

/** The messages on the page. */
function readPage(page: Page): Promise<unknown> {
  return page.locator('ol li').allTextContents()
}

const isOpen = "document.querySelector('[data-status=open]')"

test.skipIf(!executablePath)('text, a tool of the page, an approval and a question, in StrictMode', async () => {
  const { open, wire, complaints, model } = await openWorld([
    { pieces: ['Let ', 'me ', 'look.'], pieceMs: 1, calls: [{ name: 'page.title', arguments: {} }] },
    { text: 'I pay.', calls: [{ name: 'pay', arguments: {} }] },
    { text: 'Done.' },
  ])
  const page = await open('&strict&list')
  await page.waitForFunction(isOpen)
  // One connection for the session and one for the list, although each was mounted twice.
  expect(wire.connections()).toBe(2)
  // The handler is the newest render's, and sees its state.
  await page.click('#count')
  await send(page, 'Pay for this page')
  await page.waitForFunction('told.runs === 1')
  await page.evaluate('openGate()')
  await page.click('.approve')
  await page.click('.answer')
  await page.waitForFunction("chat.messages.at(-1).stop === 'end'")
  expect(await readPage(page)).toEqual(['Pay for this page', 'Let me look. | I pay. | Done.'])
  expect(await page.locator('.session').allTextContents()).toEqual(['s'])
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('A page 1')
  expect(await page.evaluate('told.methods.size')).toBe(1)
  expect(await page.evaluate('told.errors')).toEqual([])
  expect(complaints).toEqual([])
})

test.skipIf(!executablePath)('another session in the same component, and one that is gone', async () => {
  const { open, wire, complaints } = await openWorld([])
  const page = await open('&strict')
  await page.waitForFunction(isOpen)
  await send(page, 'one')
  await page.waitForFunction("chat.messages.at(-1)?.stop === 'end'")
  await page.evaluate("setSession('other')")
  await page.waitForFunction("chat.session === 'other' && chat.isLoaded")
  expect(await readPage(page)).toEqual([])
  await page.evaluate("setSession('s')")
  await page.waitForFunction("chat.session === 's' && chat.messages.length === 2")
  expect(wire.connections()).toBe(3)
  await page.evaluate('setShown(false)')
  await page.waitForFunction("!document.querySelector('section')")
  await expect(page.evaluate("chat.send('late').accepted")).rejects.toThrow('this client is closed')
  expect(complaints).toEqual([])
})

test.skipIf(!executablePath)(
  'what was said without a server is said once after the page was loaded again',
  async () => {
    const { open, wire, readLog, complaints } = await openWorld([])
    const page = await open()
    await page.waitForFunction(isOpen)
    wire.setDown(true)
    await page.waitForFunction("chat.status !== 'open'")
    for (const text of ['one', 'two', 'three']) await send(page, text)
    expect(await page.locator('[data-delivery=pending]').allTextContents()).toEqual(['one', 'two', 'three'])
    await untilOutboxHas(page, 3)
    await page.reload()
    await page.waitForFunction("document.querySelectorAll('[data-delivery=pending]').length === 3")
    wire.setDown(false)
    await page.waitForFunction(
      "chat.messages.filter(({ role }) => role === 'user').length === 3 && !document.querySelector('[data-delivery=pending]')",
    )
    const log = await readLog()
    const said = log.flatMap((message) =>
      message.role === 'user' ? message.parts.map((part) => part.type === 'text' && part.text) : [],
    )
    expect(said).toEqual(['one', 'two', 'three'])
    await page.reload()
    await page.waitForFunction('chat.messages.length > 3')
    expect(await page.locator('[data-delivery=pending]').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

test.skipIf(!executablePath)('a page that is loaded again in mid-answer goes on where the answer is', async () => {
  const pieces = Array.from({ length: 150 }, (_, index) => `${index} `)
  const { open, complaints } = await openWorld([{ pieces, pieceMs: 10 }])
  const page = await open()
  await page.waitForFunction(isOpen)
  await send(page, 'count')
  await page.waitForFunction("document.querySelector('ol').textContent.includes('20 ')")
  await page.reload()
  await page.waitForFunction("document.querySelector('ol')?.textContent.includes('22 ')")
  await page.waitForFunction("chat.messages.at(-1)?.stop === 'end'")
  expect(await readPage(page)).toEqual(['count', pieces.join('')])
  expect(complaints).toEqual([])
})

test.skipIf(!executablePath).each(['pure', 'once'] as const)(
  'two tabs and a lost network: a tool of effect %s runs once, and both show the same',
  async (effect) => {
    const { open, wire, readLog, complaints } = await openWorld(
      [{ text: 'Let me look.', calls: [{ name: 'page.title', arguments: {} }] }, { text: 'I see it.' }],
      effect,
    )
    const [one, two] = [await open(), await open()]
    for (const page of [one, two]) await page.waitForFunction(isOpen)
    await send(one, 'Look')
    const running = await Promise.race(
      [one, two].map((page) => page.waitForFunction('told.runs === 1').then(() => page)),
    )
    wire.cut()
    for (const page of [one, two]) await page.waitForFunction(isOpen)
    await running.evaluate('openGate()')
    for (const page of [one, two]) await page.waitForFunction("chat.messages.at(-1)?.stop === 'end'")
    const runs = await Promise.all([one, two].map((page) => page.evaluate('told.runs') as Promise<number>))
    expect(runs.toSorted((one, other) => one - other)).toEqual([0, 1])
    expect(await readPage(one)).toEqual(['Look', 'Let me look. | I see it.'])
    expect(await readPage(two)).toEqual(['Look', 'Let me look. | I see it.'])
    expect(await readLog()).toHaveLength(2)
    expect(complaints).toEqual([])
  },
)

test.skipIf(!executablePath)('a page whose browser is offline comes back when it is online', async () => {
  const { open, wire, context, complaints } = await openWorld([])
  const page = await open()
  await page.waitForFunction(isOpen)
  await context.setOffline(true)
  wire.cut()
  await page.waitForFunction("chat.status !== 'open'")
  await send(page, 'hello')
  await context.setOffline(false)
  await page.waitForFunction("chat.messages.at(-1)?.stop === 'end'")
  expect(await readPage(page)).toEqual(['hello', 'Yes.'])
  expect(complaints).toEqual([])
})
