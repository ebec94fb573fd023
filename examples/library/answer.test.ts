// The example in the README is this file, runs, and fits on a screen.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const EXAMPLE = fileURLToPath(new URL('answer.ts', import.meta.url))
const README = fileURLToPath(new URL('../../README.md', import.meta.url))

test('the example of the README answers from its tool', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', EXAMPLE], {
    timeout: 15_000,
  })
  expect(stdout).toContain('717710')
})

test('the README shows the example as it is, in fifteen lines of code', async () => {
  const source = await readFile(EXAMPLE, 'utf8')
  expect(await readFile(README, 'utf8')).toContain(source)
  const code = source.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('//'))
  expect(code.length).toBeLessThanOrEqual(15)
})
