// Opens the console's page in Chromium, over the host of a test; for the deep tests of the page.
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { StartedConsole, Token } from './console.test-kit.ts'
import { ask, attachPhone, startConsole } from './console.test-kit.ts'

export const DESKTOP = { viewport: { width: 1280, height: 800 } } as const
export const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } as const

/** One browser for the tests of a file. Without Chromium `executablePath` is undefined, and `warn` gets the reason. */
export function useBrowser(warn: (message: string) => void) {
  const executablePath = findChromium('the console in a browser', warn)
  const closers: (() => unknown)[] = []
  let browser: Browser | undefined

  beforeAll(async () => {
    if (executablePath !== undefined)
      browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS], timeout: 30_000 })
  })
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  afterAll(async () => {
    await browser?.close()
  })

  async function start(): Promise<StartedConsole> {
    const started = await startConsole()
    closers.push(started.stop)
    return started
  }

  async function open(
    started: StartedConsole,
    token: Token = 'manager-token',
    options: BrowserContextOptions = DESKTOP,
  ): Promise<Page> {
    if (!browser) throw new Error('there is no browser')
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
    closers.push(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    const complaints: string[] = []
    page.on('pageerror', (cause) => void complaints.push(String(cause)))
    // Includes violations of the content security policy.
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
    closers.push(() =>
      expect(
        complaints.filter(
          (text) => !/status of (401|403|404|409|422)|ERR_(INTERNET_DISCONNECTED|INCOMPLETE_CHUNKED)/.test(text),
        ),
      ).toEqual([]),
    )
    await page.goto(started.address(token))
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    return page
  }

  /** Sessions that wait, failed and ended. */
  async function play({ host }: StartedConsole): Promise<void> {
    await ask(host, 'refund-A17', 'refunds', 'Please refund my order A-17.')
    await ask(host, 'note-1', 'notes', 'Write a note.')
    await ask(host, 'photo-1', 'photos', 'What do you see?')
    const phone = await attachPhone(host, 'photo-1')
    closers.push(() => phone.detach())
    await (
      await ask(host, 'research-B2', 'research', 'What about B-2?')
    ).turn.answer
    await (
      await ask(host, 'fallback', 'broken', 'Hello?')
    ).turn.answer
    await expect.poll(async () => (await host.approvals()).approvals.length).toBe(2)
  }
  return { executablePath, closers, start, open, play }
}

export async function show(page: Page, hash: string): Promise<void> {
  await page.evaluate((to) => void (location.hash = to), hash)
}
