// Files of `baton init`, as read by git and npm.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Console } from '../console.ts'
import { GITIGNORE, createPackage } from './init-files.ts'
import { initCommand } from './init.ts'

test('git ignores a store and its helper files', () => {
  const patterns = GITIGNORE.trim().split('\n')
  const files = ['', '-wal', '-shm', '.lock', '.socket', '.server', '.before-1'].map((end) => `chat.db${end}`)
  expect(files.filter((file) => !patterns.some((pattern) => matchesGlob(file, pattern)))).toEqual([])
  expect(patterns.some((pattern) => matchesGlob('agent.ts', pattern))).toBe(false)
})

test('the package asks for the oldest Zod whose schemas describe themselves', () => {
  expect(createPackage('My Shop')).toMatchObject({ name: 'my-shop', dependencies: { zod: '^4.2.0' } })
})

test('the name of a folder does not steer the terminal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  let written = ''
  const terminal = { folder, write: (text) => void (written += text) } satisfies Partial<Console>
  await initCommand.run(['a\u001b[2J\u202eb'], terminal as unknown as Console) // the only members it uses
  expect(written).toContain('wrote a\\u001b[2J\\u202eb/agent.ts\n')
  expect(written).not.toContain('\u202e')
})
