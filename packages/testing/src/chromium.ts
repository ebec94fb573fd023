// Finds the browser that tests run pages in. It is a part of the machine, not of the repository: BATON_CHROMIUM names it,
// or it is on the PATH under one of its usual names. Without it those tests are left out, loudly.
import { findProgram } from './program.ts'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Headless, on any machine, and without a word to the network. */
export const CHROMIUM_ARGUMENTS: readonly string[] = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
]

/**
 * The path of an executable Chromium; undefined when there is none: then `warn` is told what will not be tested.
 * @throws Error where BATON_CHROMIUM names no executable file, and where there is none but BATON_TEST_REQUIRE is `all`
 */
export function findChromium(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'Chromium', variable: 'BATON_CHROMIUM', names: NAMES }, warn)
}
