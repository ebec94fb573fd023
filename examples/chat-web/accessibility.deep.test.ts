// Accessibility of the chat page: the axe rules, keyboard only, a single screen reader announcement, reduced motion, on
// phone and desktop, in dark and light.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { findViolations, IS_NARROW, LOOKS } from './accessibility.test-kit.ts'
import { call, findMessageBox, openBrowser, say } from './chat-web.test-kit.ts'
import { TOUR_STEPS, TOUR_TOOLS, walkTour } from './tour.test-kit.ts'

const { hasBrowser, open } = openBrowser()

test.skipIf(!hasBrowser).each(LOOKS)('axe finds nothing: %s, %s', async (_size, _scheme, options) => {
  const { page } = await open(TOUR_STEPS, { tools: TOUR_TOOLS }, options)
  const found = [...(await findViolations(page))]
  await say(page, 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen'.repeat(3))
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  for (const summary of await page.locator('summary').all()) await summary.click()
  found.push(...(await findViolations(page)))
  await page.getByRole('button', { name: 'Change' }).click()
  found.push(...(await findViolations(page)))
  expect(found).toEqual([])
  expect(await page.evaluate(IS_NARROW)).toBe(true)
  expect((await findMessageBox(page).boundingBox())?.y).toBeLessThan(options.viewport.height - 40)
})

test.skipIf(!hasBrowser)('axe finds nothing in an error and a lost connection', async () => {
  const { page, started } = await open([])
  await say(page, 'hi')
  await page.getByRole('alert').waitFor()
  expect(await findViolations(page)).toEqual([])
  await started.stop()
  await say(page, 'hi again')
  await page.getByText('The connection is lost').waitFor()
  expect(await findViolations(page)).toEqual([])
})

/** With `BATON_PICTURES`, writes the pictures for docs/chat.md. */
test.skipIf(!hasBrowser).each(LOOKS)('a picture for people: %s, %s', async (size, scheme, options) => {
  const { page } = await open(TOUR_STEPS, { tools: TOUR_TOOLS }, options)
  await walkTour(page)
  const picture = await page.screenshot()
  expect(picture.byteLength).toBeLessThan(150_000)
  const folder = process.env['BATON_PICTURES']
  const isShown = (size === 'phone') === (scheme === 'dark')
  if (folder !== undefined && isShown) writeFileSync(join(folder, `chat-${size}.png`), picture)
})

/** The accessible name of the focused element, and whether the focus is visible. */
async function readFocus(page: Page): Promise<readonly [name: string, isSeen: boolean]> {
  return await page.evaluate<readonly [string, boolean]>(`(() => {
    const one = document.activeElement
    const shown = one.matches('input[type=file]') ? one.nextElementSibling : one
    return [one.getAttribute('aria-label') ?? one.textContent, getComputedStyle(shown).outlineStyle === 'solid']
  })()`)
}

async function pressUntil(page: Page, key: string, name: string): Promise<void> {
  for (let pressed = 0; (await readFocus(page))[0] !== name; pressed++) {
    if (pressed > 30) throw new Error(`${key} does not lead to "${name}"`)
    await page.keyboard.press(key)
  }
  expect(await readFocus(page)).toEqual([name, true])
}

test.skipIf(!hasBrowser)('a whole conversation by the keyboard alone', async () => {
  const steps = [
    { calls: [call('note.save', { text: 'milk' })] },
    { text: 'Saved.' },
    { text: 'A long story', hangs: 'until-aborted' as const },
    { text: 'Told again.' },
    { text: 'Bread, then.' },
  ]
  const { page } = await open(steps)
  expect(await readFocus(page)).toEqual(['Message', true])
  await page.keyboard.type('note: milk')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await pressUntil(page, 'Shift+Tab', 'Allow')
  await page.keyboard.press('Enter')
  await page.getByText('Saved.').waitFor()
  expect(await readFocus(page)).toEqual(['Message', true])
  await page.keyboard.type('a story')
  await page.keyboard.press('Enter')
  await page.getByText('A long story').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(await readFocus(page)).toEqual(['Message', true])
  await pressUntil(page, 'Shift+Tab', 'Try again')
  await page.keyboard.press('Space')
  await page.getByText('Told again.').waitFor()
  expect(await readFocus(page)).toEqual(['Message', true])
  await pressUntil(page, 'Shift+Tab', 'Edit')
  await page.keyboard.press('Enter')
  expect(await readFocus(page)).toEqual(['Change what you said', true])
  await page.keyboard.press('Control+a')
  await page.keyboard.type('bread')
  await page.keyboard.press('Enter')
  await page.getByText('Bread, then.').waitFor()
  expect(await readFocus(page)).toEqual(['Message', true])
})

test.skipIf(!hasBrowser)('a screen reader waits until the answer is whole', async () => {
  const { page } = await open([{ text: 'A long story', hangs: 'until-aborted' }])
  const log = page.getByRole('log')
  expect([await log.getAttribute('aria-live'), await log.getAttribute('aria-busy')]).toEqual(['polite', 'false'])
  await say(page, 'tell me')
  await page.getByText('A long story').waitFor()
  expect(await log.getAttribute('aria-busy')).toBe('true')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  expect(await log.getAttribute('aria-busy')).toBe('false')
})

test.skipIf(!hasBrowser).each([
  ['no-preference', 'breathe'],
  ['reduce', 'none'],
] as const)('motion: %s', async (reducedMotion, animation) => {
  const { page } = await open([{ text: '', hangs: 'until-aborted' }], {}, { reducedMotion })
  await page.route('**/api/chat', () => {}) // never answered
  await say(page, 'hi')
  await page.locator('.waiting').waitFor()
  expect(await page.evaluate("getComputedStyle(document.querySelector('.waiting'), '::before').animationName")).toBe(
    animation,
  )
})
