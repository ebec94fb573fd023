// A browser set by a variable, found in PATH, or missing; with and without everything required.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { findChromium } from './chromium.ts'

let folder: string
let warnings: string[]
const find = () => findChromium('the page', (message) => void warnings.push(message))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-chromium-'))
  warnings = []
  vi.stubEnv('BATON_CHROMIUM', '')
  vi.stubEnv('BATON_TEST_REQUIRE', '')
  vi.stubEnv('PATH', `${folder}-missing${delimiter}${folder}`)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

function put(name: string, mode: number): string {
  const path = join(folder, name)
  writeFileSync(path, '')
  chmodSync(path, mode)
  return path
}

test('the one on the PATH is taken', () => {
  const path = put('google-chrome', 0o755)
  expect(find()).toBe(path)
})

test('a folder, or a file that cannot be run, is no browser', () => {
  mkdirSync(join(folder, 'chromium'))
  put('google-chrome', 0o644)
  expect(find()).toBeUndefined()
  expect(warnings).toEqual(['SKIPPED: the page. Install Chromium, or set BATON_CHROMIUM to its path, to run it.'])
})

test('the one that is named goes before, and must be there', () => {
  put('chromium', 0o755)
  const path = put('mine', 0o755)
  vi.stubEnv('BATON_CHROMIUM', path)
  expect(find()).toBe(path)
  vi.stubEnv('BATON_CHROMIUM', `${path}-not`)
  expect(find).toThrow(`BATON_CHROMIUM does not name an executable file: ${path}-not`)
})

test('where everything is required, its lack is a failure', () => {
  vi.stubEnv('BATON_TEST_REQUIRE', 'all')
  expect(find).toThrow('the page: Chromium is not installed')
})
