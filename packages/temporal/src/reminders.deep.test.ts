// Reminders over Temporal: timers of the workflow, which outlive gateways, workers and runs.
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { playInWorld, until } from './temporal-world.test-kit.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'

const program = findTemporal('reminders over Temporal', (message) => console.warn(message))
const server: TemporalServer | undefined = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const steps: TemporalWorldOptions['steps'] = () => ({ text: 'noted' })

/** Ids of the inputs that reminders became, oldest first. */
async function listReminded(world: TemporalWorld, session: string): Promise<readonly string[]> {
  const facts = (await world.records(session)).flatMap((record) => record.facts)
  return facts.flatMap((fact) =>
    fact.type === 'input-accepted' && fact.inputId.startsWith('baton.reminder.') ? [fact.inputId] : [],
  )
}

describe.skipIf(!server)('a session over Temporal', () => {
  test('is reminded once at each time, also over runs that continue as new ones, a new worker and without a handle', async () => {
    await withWorld({ steps, host: { updatesMax: 3, idleMs: 300 } }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const beginMs = Date.now()
      const times = [2000, 2500, 6000].map((ms) => beginMs + ms)
      for (const [index, time] of times.entries()) await session.at(time, 'Look.', { id: `r${index}` })
      await session.at(beginMs + 3000, 'Never.', { id: 'cancelled' })
      await session.cancelReminder('cancelled')
      await session.close()
      await world.replaceWorker()
      await until(async () => (await listReminded(world, id)).length === 3)
      await until(async () => (await world.handle(id).describe()).status.name === 'COMPLETED')
      const expected = times.map((time, index) => `baton.reminder.r${index}.${time}`)
      expect(await listReminded(world, id)).toEqual(expected)
    })
  })

  test('that waits for a reminder does not complete, and a rule gives it its next time', async () => {
    await withWorld({ steps, host: { idleMs: 100 } }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const { dueMs } = await session.every(60_000, 'Look.', { id: 'often' })
      expect(Math.abs(dueMs - 60_000 - Date.now())).toBeLessThan(30_000)
      await session.at(Date.now() + 1000, 'Look.', { id: 'once' })
      await until(async () => (await listReminded(world, id)).length === 1)
      expect((await world.handle(id).describe()).status.name).toBe('RUNNING')
      await session.cancelReminder('often')
      await until(async () => (await world.handle(id).describe()).status.name === 'COMPLETED')
    })
  })
})
