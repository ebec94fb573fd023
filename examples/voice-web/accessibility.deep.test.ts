// Accessibility of the voice page: the axe rules, keyboard only, screen reader announcements, on phone and desktop, in
// dark and light.
import { expect, test } from 'vitest'
import { findViolations, IS_NARROW, LOOKS } from '../chat-web/accessibility.test-kit.ts'
import { call, createGatedTool, findMessageBox, say } from '../chat-web/chat-web.test-kit.ts'
import { expectStatus, inject, openVoiceBrowser, playWords } from './voice-web.test-kit.ts'

const { hasBrowser, open } = openVoiceBrowser()
const prepare = inject
const LONG_WORD = 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'.repeat(3)

test.skipIf(!hasBrowser).each(LOOKS)('axe finds nothing: %s, %s', async (_size, _scheme, options) => {
  const gate = createGatedTool()
  const wait = { ...gate.wait, title: 'Timetable', waiting: { afterMs: 1, say: 'One moment.' } }
  const steps = [{ text: 'I look it up.', calls: [call('wait')] }, { text: `At nine. From here. ${LONG_WORD}` }]
  const { page } = await open(steps, [wait], { ...options, prepare })
  const found = [...(await findViolations(page))]
  await page.getByRole('button', { name: 'Listen' }).click()
  await say(page, LONG_WORD)
  await playWords(page, 6)
  gate.open()
  await playWords(page, 9)
  await findMessageBox(page).fill('u')
  await page.getByText('Holds: is somebody speaking?').waitFor()
  found.push(...(await findViolations(page)))
  await say(page, 'stop that please')
  await page.locator('.unsaid').first().waitFor()
  await page.evaluate("bench.recognition.onerror({ error: 'not-allowed' })")
  await page.getByText('Speech recognition stopped').waitFor()
  found.push(...(await findViolations(page)))
  expect(found).toEqual([])
  expect(await page.evaluate(IS_NARROW)).toBe(true)
  expect((await findMessageBox(page).boundingBox())?.y).toBeLessThan(options.viewport.height - 40)
})

test.skipIf(!hasBrowser)('by the keyboard alone: talk, interrupt by Escape, listen', async () => {
  const steps = [{ text: 'One two three. Four.', hangs: 'until-aborted' as const }, { text: 'Yes.' }]
  const { page, model } = await open(steps, [], { prepare })
  await page.keyboard.type('Count')
  await page.keyboard.press('Enter')
  await playWords(page, 2)
  await page.keyboard.press('Escape')
  await expectStatus(page, 'Ready')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Stop listening', pressed: true }).waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.type('Go on')
  await page.keyboard.press('Enter')
  await playWords(page, 3)
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('"One two"')
})

test.skipIf(!hasBrowser)('a screen reader is silent while the page speaks, and is told its state', async () => {
  const { page } = await open([{ text: 'One two.' }], [], { prepare })
  const log = page.getByRole('log')
  expect(await log.getAttribute('aria-live')).toBe('polite')
  await say(page, 'Count')
  await playWords(page, 1)
  expect(await log.getAttribute('aria-live')).toBe('off')
  await playWords(page, 2)
  await expectStatus(page, 'Ready')
  expect(await page.getByRole('status').first().textContent()).toBe('Ready')
  expect(await log.getAttribute('aria-live')).toBe('polite')
})
