// Finds the browser that tests run pages in. It is a part of the machine, not of the repository: BATON_CHROMIUM names it,
// or it is on the PATH under one of its usual names. Without it those tests are left out, loudly.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { leaveOut } from './left-out.ts'

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
  const named = process.env['BATON_CHROMIUM'] ?? ''
  if (named !== '') {
    if (isExecutable(named)) return named
    throw new Error(`BATON_CHROMIUM names no executable file: ${named}`)
  }
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  const found = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(isExecutable)
  const lack = {
    why: 'there is no Chromium',
    remedy: 'Install Chromium, or set BATON_CHROMIUM to its path, to run it.',
  }
  return found ?? leaveOut(what, lack, warn)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
