// Reminders of two hosts over one PostgreSQL store: both see that a session is due, and one of them tells it.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHost } from '../../local/create-host.ts'
import { openPostgresStore } from './postgres-store.ts'

const programs = findPostgres('reminders of two hosts over PostgreSQL', console.warn)
const SESSIONS = 40

describe.skipIf(programs === undefined)('two hosts over a PostgreSQL store', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres(programs ?? '')
  })
  afterAll(() => server.close())

  test('tell each session once, whichever of them set its reminder', async () => {
    const database = server.createDatabase()
    const open = async () => {
      const store = await openPostgresStore(database, { leaseMs: 2000 })
      const model = createScriptedModel({ steps: () => ({ text: 'noted' }) })
      const host = createHost({ agent: defineAgent({ name: 'a', model }), store, lingerMs: 0 })
      await host.recover({ everyMs: 1000 })
      const close = async (): Promise<void> => {
        await host.stop({ drainMs: 5000 })
        await store.close()
      }
      return { host, model, store, close }
    }
    const [one, two] = [await open(), await open()]
    const dueMs = Date.now() + 10_000
    for (let serial = 0; serial < SESSIONS; serial++) {
      const session = await (serial % 2 === 0 ? one : two).host.session(`s-${serial}`)
      await session.at(dueMs, 'Look.', { id: 'r' })
      if (serial % 4 < 2) await session.close()
    }
    await expect.poll(async () => (await one.store.listDue()).length, { interval: 200 }).toBe(0)
    await expect.poll(() => one.model.requests.length + two.model.requests.length, { interval: 200 }).toBe(SESSIONS)
    const counts: number[] = []
    for (let serial = 0; serial < SESSIONS; serial++) {
      let count = 0
      for await (const { facts } of one.store.read(`s-${serial}`, 0))
        for (const fact of facts) if (fact.type === 'input-accepted') count += 1
      counts.push(count)
    }
    expect(counts).toEqual(counts.map(() => 1))
    console.log(
      `PostgreSQL: ${one.model.requests.length} sessions told by one host, ${two.model.requests.length} by the other`,
    )
    await one.close()
    await two.close()
  })
})
