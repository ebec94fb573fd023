// A payment that waits in a SQLite file: its server is killed, and a manager decides in the console of the next one.
import { CHROMIUM_ARGUMENTS, findChromium } from '../components/chromium.ts'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { playInbox } from './play-inbox.test-kit.ts'

const executablePath = findChromium('the console of a second server', console.warn)
const CONSOLE = fileURLToPath(new URL('../../../console', import.meta.url))

/** The request of the dead server is in the inbox; its lease may still last. */
async function decide(origin: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: executablePath ?? '', args: [...CHROMIUM_ARGUMENTS] })
  try {
    const page = await browser.newPage()
    await page.goto(`${origin}/console/#token=${encodeURIComponent('mia manager')}`)
    await page.getByRole('link', { name: /Inbox/ }).click()
    await page.getByRole('option', { name: /pay/ }).click()
    await page.getByRole('button', { name: /Edit the arguments/ }).click()
    await page.getByLabel('Arguments as JSON').fill('{ "amount": 70 }')
    await page.getByLabel('Note for people').fill('the discount')
    const approved = page.getByRole('option', { name: /pay changed and approved by mia/ })
    await expect
      .poll(
        async () => {
          const approve = page.getByRole('button', { name: 'Approve the change' })
          if ((await approved.count()) === 0 && (await approve.isEnabled())) await approve.click()
          return await approved.count()
        },
        { interval: 500 },
      )
      .toBe(1)
  } finally {
    await browser.close()
  }
}

test.skipIf(!executablePath)(
  'a manager finds the payment of a killed server in the console of another, edits the sum and approves; it is paid once',
  async () => {
    if (!existsSync(join(CONSOLE, 'dist/page/index.html')))
      execFileSync(process.execPath, [join(CONSOLE, 'build-page.ts')])
    const folder = mkdtempSync(join(tmpdir(), 'baton-inbox-'))
    try {
      await playInbox({ store: join(folder, 'shop.db'), paidFile: join(folder, 'paid'), decideInConsole: decide })
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect.hasAssertions()
  },
)
