// A process that appends to a SQLite store, prints what was acknowledged, and dies abruptly. Arguments: the store
// module, the file, the number of appends, and the characters of each.
import { writeSync } from 'node:fs'
import type { openSqliteStore } from '@baton/host'

interface StoreModule {
  readonly openSqliteStore: typeof openSqliteStore
}

async function run([module = '', path = '', count = '', chars = '']: readonly string[]): Promise<void> {
  const { openSqliteStore: open } = (await import(module)) as StoreModule // the store's own module, or a modified copy
  const store = await open(path)
  const owned = await store.acquire('s', 'me')
  if (owned.type !== 'acquired') throw new Error(`not acquired: ${owned.type}`)
  let { pos } = owned
  for (let number = 0; number < Number(count); number++) {
    const fact = { type: 'note-queued', note: pos + 1, text: 'x'.repeat(Number(chars)) } as const
    const input = { type: 'pause' } as const
    pos = await store.append('s', owned.epoch, pos, [
      { version: 1, pos: pos + 1, nowMs: 1, epoch: owned.epoch, input, facts: [fact] },
    ])
  }
  writeSync(1, `${pos}\n`)
  process.kill(process.pid, 'SIGKILL')
}

await run(process.argv.slice(2))
