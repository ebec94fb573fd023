// All programs on the pages that need no argument; a landing runs a third of the quick ones.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { SAID_BY_LARGE } from './large-programs.test-kit.ts'
import { SAID } from './programs.test-kit.ts'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

async function run(name: string): Promise<string> {
  const command = ['--conditions=@baton/source', join(FOLDER, name)]
  return (await promisify(execFile)(process.execPath, command, { timeout: 180_000, cwd: FOLDER })).stdout
}

test.each(Object.entries({ ...SAID, ...SAID_BY_LARGE }))('%s runs and prints what it should', async (name, said) => {
  const printed = await run(name)
  for (const words of said) expect(printed).toContain(words)
})
