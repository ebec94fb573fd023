// Shared code of the pages' accessibility tests: the axe rules, and the page variants.
import axe from 'axe-core'
import type { Page } from 'playwright-core'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const
const DESKTOP = { viewport: { width: 1280, height: 800 } } as const
/** Name of the size, colour scheme, options of the page. */
export const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) => [
  ['phone', colorScheme, { ...PHONE, colorScheme }] as const,
  ['desktop', colorScheme, { ...DESKTOP, colorScheme }] as const,
])

export async function findViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly string[]>(
    `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html)))`,
  )
  return found
}

/** The page does not overflow horizontally. */
export const IS_NARROW =
  'document.documentElement.scrollWidth <= innerWidth && document.querySelector("main").scrollWidth <= innerWidth'
