// A payment that waits in PostgreSQL: its server is killed, and a manager decides at another one over the same database.
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { playInbox } from './play-inbox.test-kit.ts'

const programs = findPostgres('the inbox of two servers', console.warn)

test.skipIf(programs === undefined)(
  'a manager finds the payment of a killed server in the inbox of another, edits the sum and approves; it is paid once',
  async () => {
    const postgres = await startPostgres(programs ?? '')
    const folder = mkdtempSync(join(tmpdir(), 'baton-inbox-'))
    try {
      await playInbox({ store: postgres.createDatabase(), paidFile: join(folder, 'paid') })
    } finally {
      rmSync(folder, { recursive: true })
      await postgres.close()
    }
    expect.hasAssertions()
  },
)
