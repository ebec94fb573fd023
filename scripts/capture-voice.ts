// Plays a conversation with the voice page in a real browser, in real time, and writes screenshots and the timeline to
// docs/: `npm run capture:voice`. It requires Chromium. The person's speech comes from a recognition that this program
// simulates.
import { createNodeEnvironment } from '@baton/host'
import { CHROMIUM_ARGUMENTS, findChromium } from '@baton/testing/chromium'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { chromium } from 'playwright-core'
import { createStation } from '../examples/voice-web/agent.ts'
import { createScriptedStation } from '../examples/voice-web/scripted-station.ts'
import { startVoiceServer } from '../examples/voice-web/server.ts'
import { hear, INJECTED_RECOGNITION } from '../examples/voice-web/voice-web.test-kit.ts'
import { withCapture } from './generated-part.ts'
import { REPOSITORY } from './source-files.ts'

const CAPTURE = 'docs/voice-session.txt'
const PAGE = join(REPOSITORY, 'docs/voice-web.md')
const SIZES = { desktop: { width: 900, height: 620 }, phone: { width: 390, height: 844 } } as const
const LINE_CHARS = 100

const executablePath = findChromium('the capture of the voice page', (message) => console.error(message))
if (executablePath === undefined) throw new Error('the capture needs Chromium; BATON_CHROMIUM names it')
const environment = createNodeEnvironment()
const agent = createStation({ model: createScriptedStation(environment.timers), timers: environment.timers })
const server = await startVoiceServer(agent, { environment })
const browser = await chromium.launch({ executablePath, args: [...CHROMIUM_ARGUMENTS] })
try {
  const page = await browser.newPage({ viewport: SIZES.desktop, reducedMotion: 'reduce' })
  await page.addInitScript(INJECTED_RECOGNITION)
  await page.goto(server.url)
  await play(page)
  const timeline = await readTimeline(page)
  writeFileSync(join(REPOSITORY, CAPTURE), timeline)
  writeFileSync(PAGE, withCapture(readFileSync(PAGE, 'utf8'), CAPTURE, timeline))
  console.log(`capture: ${CAPTURE}, docs/voice-web.md, docs/voice-desktop.png, docs/voice-phone.png`)
} finally {
  await browser.close()
  await server.stop()
}

async function play(page: Page): Promise<void> {
  await page.locator('.status', { hasText: 'Ready' }).waitFor()
  await page.getByRole('button', { name: 'Listen' }).click()
  await hear(page, 'When does the next train to Oslo leave?', true)
  await page.locator('.saying .heard', { hasText: 'It takes four' }).waitFor()
  // A cough.
  await hear(page, 'uh', false)
  await page.locator('.status', { hasText: 'Held' }).waitFor()
  await page.screenshot({ path: join(REPOSITORY, 'docs/voice-desktop.png') })
  await page.locator('.saying .heard', { hasText: 'There is another' }).waitFor()
  await speak(page, 'Book me a seat in the first one')
  await page.getByText('Booking: running').waitFor()
  await page.getByText('I am booking it.').waitFor()
  await wait(2000)
  await speak(page, 'Is there any food on board?')
  await page.locator('span.sentence > .heard', { hasText: 'coffee all the time.' }).waitFor()
  await page.locator('.status', { hasText: 'Ready' }).waitFor()
  await wait(3000) // the booking has ended meanwhile
  await speak(page, 'Thank you')
  await page.locator('span.sentence > .heard', { hasText: 'opens at ten.' }).waitFor()
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await page.setViewportSize(SIZES.phone)
  await page.screenshot({ path: join(REPOSITORY, 'docs/voice-phone.png') })
}

/** Speaks word by word, like a recognition. */
async function speak(page: Page, text: string): Promise<void> {
  const words = text.split(' ')
  for (const count of words.keys()) {
    await hear(page, words.slice(0, count + 1).join(' '), false)
    await wait(200)
  }
  await hear(page, text, true)
}

/** `[…]` marks the part that was not heard. */
async function readTimeline(page: Page): Promise<string> {
  const lines = await page.evaluate<readonly (readonly [time: string, text: string])[]>(`(() => {
    for (const rest of document.querySelectorAll('.rest')) rest.textContent = rest.textContent.replace(/^( ?)(.*)$/, '$1[$2]')
    return [...document.querySelectorAll('.entry')].map((one) => [
      one.querySelector('time').textContent,
      one.querySelector('p').textContent.replace(/^(You|Agent|Tool) /, (name) => name.padEnd(7)).trim(),
    ])
  })()`)
  return lines.map(([time, text]) => `${time.padStart(7)}  ${fold(text)}\n`).join('')
}

function fold(text: string): string {
  const [name, said]: readonly [string, string] = /^(?:You|Agent|Tool) +/.test(text)
    ? [text.slice(0, 7), text.slice(7)]
    : ['       ', text]
  const lines = ['']
  for (const word of said.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last.length + word.length > LINE_CHARS) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return name + lines.join(`\n${' '.repeat(16)}`)
}
