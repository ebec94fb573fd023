// A chat that lingers in one of two processes over a PostgreSQL database.
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LINGERING_SITUATIONS } from '../lingering-situations.ts'

const programs = findPostgres('sessions that linger over PostgreSQL', console.warn)

describe.skipIf(programs === undefined)('two processes over PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(programs ?? '')
  })
  afterAll(() => server.close())

  test.each(Object.keys(LINGERING_SITUATIONS))('%s', async (name) => {
    await expect(LINGERING_SITUATIONS[name]?.(server.createDatabase())).resolves.toBeUndefined()
  })
})
