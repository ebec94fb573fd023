// Chooses the bubblewrap that keeps a program off the network: the system's, never one from a project.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findBubblewrap } from './transports.ts'

const place = mkdtempSync(join(tmpdir(), 'baton-bwrap-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

function install(...names: readonly string[]): string {
  const folder = join(place, ...names)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'bwrap'), '#!/bin/sh\nexec "$@"\n')
  chmodSync(join(folder, 'bwrap'), 0o755)
  return folder
}

test('a bwrap of the project or of one of its packages is passed over', () => {
  const project = join(place, 'project')
  const own = [install('project', 'bin'), install('elsewhere', 'node_modules', '.bin'), 'bin']
  const system = install('usr', 'bin')
  expect(findBubblewrap([...own, system].join(delimiter), project)).toBe(join(system, 'bwrap'))
  expect(findBubblewrap(own.join(delimiter), project)).toBeUndefined()
  expect(findBubblewrap(system, '/')).toBe(join(system, 'bwrap'))
})
