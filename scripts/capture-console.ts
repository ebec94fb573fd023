// Plays sessions over a real host, and writes pictures of the console's page to docs/: `npm run capture:console`. It
// requires Chromium.
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { chromium } from 'playwright-core'
import type { StartedConsole } from '../packages/console/page/console.test-kit.ts'
import { ask, attachPhone, startConsole } from '../packages/console/page/console.test-kit.ts'
import { REPOSITORY } from './source-files.ts'

const SIZE = { width: 1280, height: 720 } as const

const executablePath = findChromium('the capture of the console', (message) => console.error(message))
if (executablePath === undefined) throw new Error('the capture needs Chromium; BATON_CHROMIUM names it')
const started = await startConsole({ paceMs: 200 })
const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS] })
try {
  await play(started)
  await captureTimeline(browser, started)
  await captureInbox(browser, started)
  console.log('capture: docs/console-timeline.png, docs/console-inbox.png')
} finally {
  await browser.close()
  await started.stop()
}

async function play({ host }: StartedConsole): Promise<void> {
  await ask(host, 'refund-A17', 'refunds', 'Please refund my order A-17.')
  await ask(host, 'note-1', 'notes', 'Note the refund of A-17.')
  await ask(host, 'photo-1', 'photos', 'What do you see?')
  await attachPhone(host, 'photo-1')
  await (
    await ask(host, 'research-B2', 'research', 'What about order B-2?')
  ).turn.answer
}

async function captureTimeline(own: Browser, { address }: StartedConsole): Promise<void> {
  const page = await own.newPage({ viewport: SIZE, reducedMotion: 'reduce' })
  await page.goto(address('manager-token'))
  await page.getByRole('option', { name: /refund-A17/ }).click()
  await page.getByRole('option', { name: /^pay/ }).click()
  await page.getByText('Decide it in the inbox').waitFor()
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(REPOSITORY, 'docs/console-timeline.png') })
}

async function captureInbox(own: Browser, { address }: StartedConsole): Promise<void> {
  const page = await own.newPage({ viewport: SIZE, colorScheme: 'dark', reducedMotion: 'reduce' })
  await page.goto(address('manager-token'))
  await page.getByRole('link', { name: /Inbox/ }).click()
  await page.getByRole('option', { name: /pay 400 EUR/ }).click()
  await page.getByText('mail.read').waitFor()
  await page.getByRole('button', { name: /Edit the arguments/ }).click()
  await page.getByLabel('Arguments as JSON').fill('{\n  "euro": 40,\n  "to": "ann"\n}')
  await page.getByText('"euro": 400').waitFor()
  await page.mouse.move(0, 0)
  await page.screenshot({ path: join(REPOSITORY, 'docs/console-inbox.png') })
}
