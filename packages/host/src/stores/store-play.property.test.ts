// A store in a file answers random acts as the store in memory does.
import type { Store } from '@baton/core/internal'
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
  for (let seed = 1; seed <= chooseCount({ quick: 5, landing: 30, deep: 500 }); seed++) {
    let nowMs = 5_000_000
    const clock = { nowMs: () => nowMs, step: (ms: number) => void (nowMs += ms) }
    const memory = createMemoryStore({ clock })
    await using file = await openSqliteStore(join(folder, `${seed}.db`), { clock, onWarning: () => {} })
    await playStores({
      stores: new Map<string, Store>([
        ['memory', memory],
        ['SQLite', file],
      ]),
      clock,
      seed,
      acts: 150,
    })
  }
})
