// The version printed by the command is its package's version.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from './version.ts'

test('baton --version says the version of the package', () => {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  expect(VERSION).toBe((JSON.parse(text) as { readonly version: string }).version)
})
