// Leftovers of a worker or a gateway: an activity that waits for a slow store, and a gateway that stops while its
// inputs are not accepted.
import type { Store } from '@baton/core'
import { createMemoryStore, tool } from '@baton/host'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { TemporalWorld } from './temporal-world.test-kit.ts'
import { playInWorld, until } from './temporal-world.test-kit.ts'

const program = findTemporal('gateways that stop', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

async function findActivity(world: TemporalWorld, session: string, type: string) {
  const { raw } = await world.handle(session).describe()
  return raw.pendingActivities?.find(({ activityType }) => activityType?.name === type)
}

describe.skipIf(!server)('over Temporal', () => {
  test('an activity that waits for a slow store gives signs of life, so one whose worker died is missed by them', async () => {
    const store = createMemoryStore()
    const opened = Promise.withResolvers<void>()
    const slow: Store = {
      ...store,
      put: async (session, records) => {
        if (records.some(({ pos }) => pos > 0)) await opened.promise
        await store.put(session, records)
      },
    }
    await playInWorld(server, { steps: [], store: slow }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const configured = session.configure({ settings: { temperature: 0.5 } })
      await until(async () => Boolean((await findActivity(world, id, 'baton.publish'))?.lastHeartbeatTime))
      expect((await findActivity(world, id, 'baton.publish'))?.attempt).toBe(1)
      opened.resolve()
      await configured
      const { events } = await world.handle(id).fetchHistory()
      const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: one }) => one ?? []) ?? []
      expect(scheduled.map((one) => Number(one.heartbeatTimeout?.seconds))).toEqual(scheduled.map(() => 10))
      expect(scheduled.length).toBeGreaterThan(0)
    })
  })

  test('a tool that waits for a slow store before it begins is not lost, and runs once', async () => {
    const store = createMemoryStore()
    const opened = Promise.withResolvers<void>()
    const slow: Store = {
      ...store,
      put: async (session, records) => {
        if (records.some(({ facts }) => facts.some(({ type }) => type === 'call-started'))) await opened.promise
        await store.put(session, records)
      },
    }
    let runs = 0
    const save = tool({
      name: 'save',
      description: 'saves',
      input: { type: 'object', properties: {} },
      effect: 'once',
      execute: () => `saved ${++runs} times`,
    })
    const steps = [{ calls: [{ name: 'save', arguments: {} }] }, { pieces: ['Done.'] }]
    const worker = { timesOf: () => ({ heartbeatMs: 3000 }) }
    await playInWorld(server, { steps, tools: [save], store: slow, worker }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const { answer } = session.send('save it')
      await until(async () => Boolean((await findActivity(world, id, 'baton.tool'))?.lastHeartbeatTime))
      opened.resolve()
      expect((await answer).text).toBe('Done.')
      const facts = (await world.records(id)).flatMap((record) => record.facts)
      const settlements = facts.flatMap((fact) => (fact.type === 'call-settled' ? fact.settlement.type : []))
      expect([settlements, runs]).toEqual([['ok'], 1])
    })
  })

  test('a gateway stops while the service is down; its callers get an error', async () => {
    await playInWorld(server, { steps: [] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await world.endWorker()
      await server?.kill()
      const code: unknown = expect.stringMatching(/^(store_failed|session_closed)$/)
      const said = session.send('is anybody there?').answer.catch((cause: unknown) => cause)
      await world.host.stop()
      expect(await said).toMatchObject({ code })
      await server?.start()
    })
  })
})
