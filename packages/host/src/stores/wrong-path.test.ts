// Values that an untyped program passes as the path of a store.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openSharedSqliteStore } from './shared/shared-sqlite-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

test.each([
  [undefined, 'nothing|undefined'],
  [{ path: 'chat.db' }, 'an object'],
  [5, '5'],
  ['', '""|text'],
])('%j is refused', async (path, shown) => {
  for (const open of [openSqliteStore, openSharedSqliteStore])
    await expect(open(path as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(new RegExp(`^a store needs the path of its file as a string, not (${shown})`)),
    })
})

test.each([':memory:', 'file:chat.db?mode=memory', 'file:chat.db'])('%s is refused and makes no file', async (path) => {
  const before = readdirSync('.')
  for (const open of [openSqliteStore, openSharedSqliteStore])
    await expect(open(path)).rejects.toMatchObject({
      code: 'invalid_option',
      message: `a store needs a file, and ${JSON.stringify(path)} is SQLite’s name for something else`,
      hint: expect.stringContaining('createMemoryStore()'),
    })
  expect(readdirSync('.')).toEqual(before)
})
