// Files of `baton init`, as git and npm read them.
import { matchesGlob } from 'node:path'
import { expect, test } from 'vitest'
import { GITIGNORE, createPackage } from './init-files.ts'

test('git ignores a store and all that stands beside it', () => {
  const patterns = GITIGNORE.trim().split('\n')
  const files = ['', '-wal', '-shm', '.lock', '.socket', '.server', '.before-1'].map((end) => `chat.db${end}`)
  expect(files.filter((file) => !patterns.some((pattern) => matchesGlob(file, pattern)))).toEqual([])
  expect(patterns.some((pattern) => matchesGlob('agent.ts', pattern))).toBe(false)
})

test('the package asks for the oldest Zod whose schemas describe themselves', () => {
  expect(createPackage('My Shop')).toMatchObject({ name: 'my-shop', dependencies: { zod: '^4.2.0' } })
})
