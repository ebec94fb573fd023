// A store in a file answers random acts as the store in memory does.
import { playStores } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { createMemoryStore } from './memory-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-play-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('a SQLite file and memory answer any acts alike, and keep what they acknowledged', async () => {
  for (let seed = 1; seed <= chooseCount({ quick: 5, landing: 30, deep: 500 }); seed++)
    await playStores({
      open: async (clock) => ({
        memory: createMemoryStore({ clock }),
        SQLite: await openSqliteStore(join(folder, `${seed}.db`), { clock, onWarning: () => {} }),
      }),
      seed,
      acts: 150,
    })
})
