// Which program the tools start if the PATH leads into the workspace.
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from './find-program.ts'

function createPlace() {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'baton-program-')))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const root = join(place, 'root')
  const write = (folder: string, mode = 0o755): string => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'rg'), '#!/bin/sh\n')
    chmodSync(join(folder, 'rg'), mode)
    return folder
  }
  const honest = write(join(place, 'bin'))
  const find = (...folders: readonly string[]) => findProgram('rg', root, folders.join(delimiter))
  return { place, root, write, honest, find }
}

test('a program outside of the workspace is found, also in a folder beside it whose name begins like it', () => {
  const { place, write, honest, find } = createPlace()
  expect(find('', 'bin', join(place, 'none'), write(join(place, 'plain'), 0o644), honest)).toBe(join(honest, 'rg'))
  expect(find(write(join(place, 'root-tools')))).toBe(join(place, 'root-tools/rg'))
})

test.each(['node_modules/.bin', '..bin'])('a program in the folder %s of the workspace does not count', (name) => {
  const { root, write, honest, find } = createPlace()
  const fake = write(join(root, name))
  expect([find(fake), find(fake, honest)]).toEqual([undefined, join(honest, 'rg')])
})

test('neither does one that is reached by a link, of its folder or of itself', () => {
  const { place, root, write, honest, find } = createPlace()
  const fake = write(join(root, 'bin'))
  symlinkSync(fake, join(place, 'linked'))
  mkdirSync(join(place, 'links'))
  symlinkSync(join(fake, 'rg'), join(place, 'links/rg'))
  symlinkSync(join(honest, 'rg'), join(root, 'rg'))
  expect([find(join(place, 'linked')), find(join(place, 'links')), find(root)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
