// Baton in process, with the durable store: each record is written to disk.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@baton/host'
import { openBaton } from './baton-in-process.ts'
import type { OpenClient } from './client.ts'

export const open: OpenClient = async ({ base }) => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const store = await openSqliteStore(join(folder, 'sessions.db'))
  const client = openBaton({ base, store })
  return {
    run: client.run,
    close: async () => {
      await client.close()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}
