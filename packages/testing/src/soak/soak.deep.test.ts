// A small soak in virtual time, in a separate process: each day the conversations of a different seed, whose inputs
// must all be read once, while nothing held by the process grows. `npm run soak` runs the full one.
import { chooseSeed } from '@baton/testing/depth'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const COMMAND = join(import.meta.dirname, 'soak-command.ts')
/** Milliseconds; it takes a tenth of that. */
const PATIENCE_MS = 280_000

async function soak(...words: readonly string[]): Promise<string> {
  const seed = String(chooseSeed())
  const flags = ['--expose-gc', '--no-warnings', '--conditions=@baton/source']
  const { stdout } = await run(process.execPath, [...flags, COMMAND, '--seed', seed, ...words], {
    timeout: PATIENCE_MS,
  })
  return stdout
}

test('sessions that live for hours over SQLite hold no more after them than before', async () => {
  const told = await soak('--hours', '3', '--sessions', '20')
  console.log(told)
  expect(told).toContain('no counts grew, and no inputs were lost')
})

test('sessions that were removed leave nothing behind in the process', async () => {
  const told = await soak('--hours', '3', '--sessions', '40', '--store', 'memory')
  console.log(told)
  expect(told).toContain('no counts grew, and no inputs were lost')
})
