// How many files and functions one tool call runs through, counted by `walk.test-kit.ts`: the figures are printed, and
// may only shrink.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Walk } from './walk.test-kit.ts'

/** Lower them when the path gets shorter. Calls are only printed: how often a timer looks depends on the machine. */
const MOST: Omit<Walk, 'calls'> = { files: 44, named: 286, functions: 347, commits: 3 }

test('a tool call walks no further than before', async () => {
  const program = fileURLToPath(new URL('./walk.test-kit.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', program])
  console.log(`one tool call: ${stdout.trim()}`)
  const walk = JSON.parse(stdout) as Walk
  const longer = (Object.keys(MOST) as (keyof typeof MOST)[]).filter((name) => walk[name] > MOST[name])
  expect(longer).toEqual([])
})
