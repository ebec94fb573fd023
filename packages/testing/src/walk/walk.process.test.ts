// How many files and functions a turn runs through, counted by `walk.test-kit.ts`: the figures are printed, and may only
// shrink.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Walk, Walks } from './walk.test-kit.ts'

/**
 * Lower them when the path gets shorter. Calls are only printed: how often a timer looks depends on the machine. So are
 * functions with a name: a closure that gets one makes no path longer.
 */
const MOST: Readonly<Record<keyof Walks, Omit<Walk, 'calls' | 'named'>>> = {
  tool: { files: 51, functions: 394, commits: 3 },
  chat: { files: 83, functions: 621, commits: 3 },
}

test('a turn walks no further than before', async () => {
  const program = fileURLToPath(new URL('./walk.test-kit.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@baton/source', program])
  console.log(`one turn: ${stdout.trim()}`)
  const walks = JSON.parse(stdout) as Walks
  const longer = (Object.keys(MOST) as (keyof Walks)[]).flatMap((kind) =>
    (['files', 'functions', 'commits'] as const)
      .filter((name) => walks[kind][name] > MOST[kind][name])
      .map((name) => `${kind}: ${name} ${walks[kind][name]}`),
  )
  expect(longer).toEqual([])
})
