// What happens between the check of a path and its use: the place is swapped in just that moment.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Workspace } from './workspace.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-workspace-'))
  root = join(place, 'root')
  mkdirSync(join(root, 'folder'), { recursive: true })
  mkdirSync(join(place, 'outside'))
  writeFileSync(join(root, 'folder', 'file'), 'inside')
  writeFileSync(join(root, '.env'), 'TOKEN=1')
  writeFileSync(join(place, 'outside', 'file'), 'outside')
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

async function readAfter(swap: () => void): Promise<string> {
  const workspace = new Workspace(root, [])
  const guard = workspace.guard()
  const path = await workspace.locate('folder/file', guard)
  swap()
  return workspace.readFile(path, guard, async ({ handle }) => handle.readFile('utf8'))
}

test('nothing is swapped: the file is read', async () => {
  expect(await readAfter(() => undefined)).toBe('inside')
})

test('a folder on the way becomes a link out', async () => {
  const swap = (): void => {
    renameSync(join(root, 'folder'), join(root, 'old'))
    symlinkSync('../outside', join(root, 'folder'))
  }
  await expect(readAfter(swap)).rejects.toMatchObject({ code: 'path_outside_workspace' })
})

test('the file itself becomes a link out', async () => {
  const swap = (): void => {
    rmSync(join(root, 'folder', 'file'))
    symlinkSync('../../outside/file', join(root, 'folder', 'file'))
  }
  await expect(readAfter(swap)).rejects.toMatchObject({ code: 'tool_failed' })
})

test('the file itself becomes a secret of the workspace', async () => {
  const swap = (): void => {
    renameSync(join(root, 'folder'), join(root, 'old'))
    mkdirSync(join(root, '.aws'))
    writeFileSync(join(root, '.aws', 'file'), 'TOKEN=1')
    symlinkSync('.aws', join(root, 'folder'))
  }
  await expect(readAfter(swap)).rejects.toMatchObject({ code: 'path_protected' })
})

test('a folder that is about to be listed becomes a link out, or lies behind one', async () => {
  const workspace = new Workspace(root, [])
  mkdirSync(join(root, 'folder', 'deep'))
  mkdirSync(join(place, 'outside', 'deep'))
  const guard = workspace.guard()
  const near = await workspace.locate('folder', guard)
  const far = await workspace.locate('folder/deep', guard)
  renameSync(join(root, 'folder'), join(root, 'old'))
  symlinkSync('../outside', join(root, 'folder'))
  const names = (path: string): Promise<readonly string[]> =>
    workspace.readFolder(path, async (folder) => {
      const found: string[] = []
      for await (const { name } of folder) found.push(name)
      return found
    })
  await expect(names(near)).rejects.toMatchObject({ code: 'tool_failed' })
  await expect(names(far)).rejects.toMatchObject({ code: 'path_outside_workspace' })
})
