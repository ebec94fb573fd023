// Shared code of the chat page's tests: the browser, pages, and comparisons of a page with the log.
import type { ChatMessage } from '@baton/core/conversation'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import chatAgent from './agent.ts'
import type { Started } from './server.ts'
import { startChat } from './server.ts'

type Steps = Parameters<typeof createScriptedModel>[0]['steps']
type AgentChanges = Partial<Parameters<typeof defineAgent>[0]>

export interface OpenOptions extends BrowserContextOptions {
  /** Query of the page's address: `?over=websocket`. */
  readonly query?: string
  /** The chat's id; a new chat by default. */
  readonly hash?: string
  /** Called before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<void>
}

/**
 * Starts the browser before the tests of a file, and reports after them how many situations it has played. `patienceMs`
 * is how long a page may take to show the expected text.
 */
export function openBrowser(patienceMs = 20_000) {
  const executablePath = findChromium('the chat page in a browser', (message) => console.warn(message))
  const closers: (() => unknown)[] = []
  let browser: Browser | undefined
  let situations = 0
  beforeAll(async () => {
    if (executablePath !== undefined)
      browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS], timeout: 30_000 })
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'pass') situations += 1
    for (const close of closers.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    console.info(`chat in Chromium: ${situations} situations`)
    await browser?.close()
  })

  const openPage = async (
    url: string,
    { query = '', hash = '', prepare, ...options }: OpenOptions = {},
  ): Promise<Page> => {
    // Animations of waiting pages would use most of the machine.
    const context = await (browser as Browser).newContext({ reducedMotion: 'reduce', ...options }) // the test is skipped without one
    closers.push(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    await prepare?.(page)
    await page.goto(`${url}${query}${hash}`)
    await findMessageBox(page).waitFor()
    return page
  }
  const openServer = async (steps: Steps, more: AgentChanges = {}) => {
    const model = createScriptedModel({ steps, capabilities: { images: true } })
    const started = await startChat(defineAgent({ ...chatAgent, ...more, model }))
    closers.push(started.stop)
    return { started, model }
  }
  const open = async (steps: Steps, more: AgentChanges = {}, options: OpenOptions = {}) => {
    const { started, model } = await openServer(steps, more)
    return { started, model, page: await openPage(started.url, options) }
  }
  return { hasBrowser: executablePath !== undefined, open, openServer, openPage, closers }
}

export function findMessageBox(page: Page) {
  return page.getByLabel('Message', { exact: true })
}

export async function say(page: Page, text: string): Promise<void> {
  await findMessageBox(page).fill(text)
  await page.keyboard.press('Enter')
}

export const findAnswers = (page: Page) => page.getByLabel('Agent', { exact: true })

/** A call in the form that scripts use. */
export const call = (name: string, input: object = {}) => ({ name, arguments: { ...input } })

/** A tool that runs until the test opens its gate. */
export function createGatedTool() {
  const gate = Promise.withResolvers<void>()
  const wait = tool({
    name: 'wait',
    description: 'waits',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: async () => {
      await gate.promise
      return 'ready'
    },
  })
  return { wait, open: gate.resolve }
}

export interface Shown {
  readonly role: string
  readonly texts: readonly string[]
  readonly calls: readonly string[]
}

/** Expects the page to match the log: every text once and completely, in its order, and the outcome of every call. */
export async function expectLogShown(page: Page, { url }: Pick<Started, 'url'>): Promise<readonly Shown[]> {
  const logged = await readLog(page, url)
  await expect.poll(() => readShown(page)).toEqual(logged)
  return logged
}

/** The log of the page's chat, in the form that a page shows. */
export async function readLog(page: Page, url: string): Promise<readonly Shown[]> {
  return (await readMessages(page, url)).map(writeShown)
}

export function readShown(page: Page): Promise<readonly Shown[]> {
  return page.evaluate<readonly Shown[]>(READ_ARTICLES)
}

/** Waits until the newest turn of the chat has ended in the log: a page may have shown all of its text long before. */
export async function untilTurnEnds(page: Page, { url }: Pick<Started, 'url'>): Promise<void> {
  const look = async (): Promise<boolean> => {
    const last = (await readMessages(page, url)).at(-1)
    return last?.role === 'assistant' && last.stop !== undefined
  }
  await expect.poll(look, { timeout: 90_000, interval: 200, message: 'the turn has ended in the log' }).toBe(true)
}

async function readMessages(page: Page, url: string): Promise<readonly ChatMessage[]> {
  const id = new URL(page.url()).hash.slice(1)
  const response = await fetch(`${url}api/sessions/${id}/messages?format=baton`)
  const { messages } = (await response.json()) as { readonly messages: readonly ChatMessage[] }
  return messages
}

/** Runs in the page, whose types this program does not have. */
const READ_ARTICLES = `[...document.querySelectorAll('article')].map((article) => ({
  role: article.getAttribute('aria-label') === 'You' ? 'user' : 'assistant',
  texts: [...article.querySelectorAll('.text')].map((one) => one.textContent),
  calls: [...article.querySelectorAll('.tool')].map((one) => one.dataset.state),
}))`

const CALL_STATES: Readonly<Record<string, string>> = { ok: 'output-available', denied: 'output-denied' }

function writeShown(message: ChatMessage): Shown {
  if (message.role === 'user')
    return { role: 'user', texts: message.parts.map((part) => (part.type === 'text' ? part.text : '')), calls: [] }
  return {
    role: 'assistant',
    texts: message.steps.flatMap(({ reasoning, text }) => [reasoning, text].filter((one) => one !== '')),
    calls: message.steps.flatMap(({ calls }) =>
      calls.map(({ result }) => (result ? (CALL_STATES[result.type] ?? 'output-error') : 'open')),
    ),
  }
}

/** How many notices the page was made to pin. */
export async function countNotices(page: Page): Promise<number> {
  return (await page.evaluate("JSON.parse(localStorage.getItem('notices') ?? '[]').length")) as number // a count
}
