// Finds the browser for tests that run pages. It belongs to the machine, not the repository: BATON_CHROMIUM names it,
// or it is on the PATH under one of its usual names. Without it, those tests are skipped with a warning.
import { findProgram } from './program.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Headless, portable across machines, and without unasked network access. */
export const CHROMIUM_ARGUMENTS: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
]

/**
 * Returns the path of an executable Chromium, or `undefined` if there is none; `warn` then receives what will not be
 * tested.
 * @throws Error if BATON_CHROMIUM does not name an executable file, or if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findChromium(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'Chromium', variable: 'BATON_CHROMIUM', names: NAMES }, warn)
}
