// Another process swaps folders and files for links out of the workspace as fast as it can, while the tools read and
// write.
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolContext } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as z from 'zod'
import { workspaceTools } from './workspace-tools.ts'

const ROUNDS = chooseCount({ quick: 20, landing: 60, deep: 1000 })
/** Present in every file and every name outside, and nowhere in the workspace. */
const MARK = 'needle-from-outside'

// Plain JavaScript that only renames: `folder` and `file` alternate between the originals and links to the outside.
const SWAPPER = `
import { renameSync, rmSync, symlinkSync } from 'node:fs'
process.chdir(process.argv[2])
symlinkSync('../outside', 'folder.link')
symlinkSync('../outside/secret', 'file.link')
// A write may make the folder while it is away.
const put = (from, to) => {
  for (;;) {
    try {
      return renameSync(from, to)
    } catch {
      try { rmSync(to, { recursive: true, force: true }) } catch {}
    }
  }
}
const swap = (name) => {
  put(name, name + '.kept')
  put(name + '.link', name)
  put(name, name + '.link')
  put(name + '.kept', name)
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
  for (const folder of ['folder', 'folder/deep']) writeFileSync(join(root, folder, 'plain'), 'here')
  for (const folder of ['outside', 'outside/deep']) writeFileSync(join(place, folder, 'plain'), MARK)
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

// On a system without /proc, another process can win this race in theory; see the limits on the tools' page.
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

const WRITES: readonly (readonly [name: string, input: object])[] = [
  ['fs.write', { path: 'folder/plain', content: 'written' }],
  ['fs.write', { path: 'folder/deep/new/file.txt', content: 'written' }],
  ['fs.write', { path: 'file', content: 'written' }],
  ['fs.edit', { path: 'folder/plain', edits: [{ oldText: 'e', newText: 'E', all: true }] }],
  ['fs.move', { from: 'folder/plain', to: 'folder/deep/moved' }],
  ['fs.move', { from: 'folder/deep/moved', to: 'folder/plain' }],
  ['fs.delete', { path: 'folder/deep/plain' }],
  ['fs.delete', { path: 'folder/deep/new', recursive: true }],
]

test.skipIf(!existsSync('/proc/self/fd'))('thousands of writes change nothing outside', async () => {
  const tools = workspaceTools({ root, write: true })
  const outside = (): unknown =>
    readdirSync(join(place, 'outside'), { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        return `${path} ${entry.isFile() ? readFileSync(path, 'utf8') : ''}`
      })
      .toSorted()
  const before = outside()
  const seen = { done: 0, refused: 0 }
  const call = async ([name, input]: (typeof WRITES)[number]): Promise<void> => {
    const tool = tools.find((candidate) => candidate.name === name)
    if (!tool?.execute || !(tool.input instanceof z.ZodType)) throw new Error(name)
    const isDone = await Promise.resolve(tool.execute(tool.input.parse(input), context)).then(
      () => true,
      () => false,
    )
    if (name !== 'fs.write' || JSON.stringify(input).includes('folder')) seen[isDone ? 'done' : 'refused']++
  }
  for (let round = 0; round < ROUNDS; round++) await Promise.all(WRITES.map(call))
  expect(outside()).toEqual(before)
  expect(seen.done).toBeGreaterThan(ROUNDS / 10)
  expect(seen.refused).toBeGreaterThan(ROUNDS / 10)
})
