// Another process swaps folders and files for links out of the workspace, as fast as it can, while the tools read.
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { workspaceTools } from './workspace-tools.ts'

const ROUNDS = chooseCount({ quick: 150, deep: 1000 })
/** In every file and every name of the outside, and nowhere in the workspace. */
const MARK = 'needle-from-outside'

// Plain JavaScript that only renames: `folder` and `file` are by turns what they were and links out.
const SWAPPER = `
import { renameSync, symlinkSync } from 'node:fs'
process.chdir(process.argv[2])
symlinkSync('../outside', 'folder.link')
symlinkSync('../outside/secret', 'file.link')
const swap = (name) => {
  renameSync(name, name + '.kept')
  renameSync(name + '.link', name)
  renameSync(name, name + '.link')
  renameSync(name + '.kept', name)
}
process.on('disconnect', () => process.exit())
process.send('ready')
const turn = () => {
  for (let count = 0; count < 200; count++) { swap('folder'); swap('file') }
  setImmediate(turn)
}
turn()
`

let place = ''
let root = ''
let swapper: ChildProcess

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'baton-race-'))
  root = join(place, 'root')
  for (const folder of [join(root, 'folder', 'deep'), join(place, 'outside', 'deep', MARK)])
    mkdirSync(folder, { recursive: true })
  writeFileSync(join(root, 'file'), 'harmless')
  writeFileSync(join(root, 'folder', 'secret'), 'harmless')
  writeFileSync(join(root, 'folder', 'deep', 'secret'), 'harmless')
  writeFileSync(join(place, 'outside', 'secret'), MARK)
  writeFileSync(join(place, 'outside', MARK), MARK)
  writeFileSync(join(place, 'outside', 'deep', 'secret'), MARK)
  writeFileSync(join(place, 'swap.mjs'), SWAPPER)
  swapper = fork(join(place, 'swap.mjs'), [root])
  await once(swapper, 'message')
})

afterEach(async () => {
  swapper.disconnect()
  await once(swapper, 'exit')
  rmSync(place, { recursive: true, force: true })
})

const context = createToolContext({ signal: new AbortController().signal })

const CALLS: readonly (readonly [name: string, input: object])[] = [
  ['content.get_span', { path: 'file' }],
  ['content.get_span', { path: 'folder/secret' }],
  ['content.get_span', { path: 'folder/deep/secret' }],
  ['code.grep', { pattern: '.' }],
  ['code.grep', { pattern: '.', pathPrefix: 'folder/deep' }],
  ['fs.list_dir', { depth: 4 }],
  ['fs.list_dir', { path: 'folder', depth: 2 }],
  ['fs.list_dir', { path: 'folder/deep' }],
]

// Where the system has no /proc, another process can win this race in theory; see the limits in the page of the tools.
test.skipIf(!existsSync('/proc/self/fd'))('thousands of calls show nothing of the outside', async () => {
  const tools = workspaceTools({ root })
  const seen = { shown: 0, refused: 0 }
  const leaks: string[] = []
  const call = async ([name, input]: (typeof CALLS)[number]): Promise<void> => {
    const tool = tools.find((candidate) => candidate.name === name)
    if (!tool?.execute || !(tool.input instanceof z.ZodType)) throw new Error(name)
    const text = await Promise.resolve(tool.execute(tool.input.parse(input), context)).then(
      (result) => JSON.stringify(result),
      () => undefined,
    )
    seen[text === undefined ? 'refused' : 'shown']++
    if (text?.includes(MARK)) leaks.push(`${name}: ${text}`)
  }
  for (let round = 0; round < ROUNDS && leaks.length === 0; round++) await Promise.all(CALLS.map(call))
  expect(leaks).toEqual([])
  // Both happened often, so the reads met the swaps.
  expect(seen.shown).toBeGreaterThan(ROUNDS / 10)
  expect(seen.refused).toBeGreaterThan(ROUNDS / 10)
})
