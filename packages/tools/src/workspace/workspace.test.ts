// Swaps between the check of a path and its use, made at exactly that moment. With the system's report of what a
// descriptor refers to, and without it.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Workspace } from './workspace.ts'

let place = ''
let root = ''

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'baton-workspace-'))
  root = join(place, 'root')
  mkdirSync(join(root, 'folder', 'deep'), { recursive: true })
  mkdirSync(join(place, 'outside', 'deep'), { recursive: true })
  writeFileSync(join(root, 'folder', 'file'), 'inside')
  writeFileSync(join(root, '.env'), 'TOKEN=1')
  writeFileSync(join(place, 'outside', 'file'), 'outside')
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

function swapFolder(): void {
  renameSync(join(root, 'folder'), join(root, 'old'))
  symlinkSync('../outside', join(root, 'folder'))
}

function swapBack(): void {
  rmSync(join(root, 'folder'))
  renameSync(join(root, 'old'), join(root, 'folder'))
}

describe.each([
  ['of Linux', undefined],
  ['without /proc', '/nowhere'],
])('a workspace %s', (_system, descriptors) => {
  const openWorkspace = (): Workspace => new Workspace(root, [], descriptors)

  async function readAfter(swap: () => void): Promise<string> {
    const workspace = openWorkspace()
    const guard = workspace.guard()
    const path = await workspace.locate('folder/file', guard)
    swap()
    return workspace.readFile(path, guard, async ({ handle }) => handle.readFile('utf8'))
  }

  function namesIn(path: string, meanwhile: () => void = () => undefined): Promise<readonly string[]> {
    return openWorkspace().readFolder(path, async (folder) => {
      const found: string[] = []
      meanwhile()
      for await (const { name } of folder) found.push(name)
      return found
    })
  }

  test('nothing is swapped: file and folder are read', async () => {
    expect(await readAfter(() => undefined)).toBe('inside')
    expect((await namesIn('folder')).toSorted()).toEqual(['deep', 'file'])
  })

  test('a folder on the way becomes a link out', async () => {
    await expect(readAfter(swapFolder)).rejects.toMatchObject({ code: 'path_outside_workspace' })
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
    swapFolder()
    await expect(namesIn('folder')).rejects.toMatchObject({ code: 'tool_failed' })
    await expect(namesIn('folder/deep')).rejects.toMatchObject({ code: 'path_outside_workspace' })
  })

  test('a folder that was swapped and put back is read again', async () => {
    swapFolder()
    swapBack()
    expect(await namesIn('folder/deep')).toEqual([])
  })
})

test('without /proc, a listing during which its folder was swapped does not count', async () => {
  const listing = new Workspace(root, [], '/nowhere').readFolder('folder', (folder) => {
    swapFolder()
    return folder.read()
  })
  await expect(listing).rejects.toMatchObject({ code: 'path_outside_workspace' })
})
