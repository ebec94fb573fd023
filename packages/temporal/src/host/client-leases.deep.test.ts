// Clients of gateways over a real service: those of one that lives are there when they are asked, those of one that died are
// away after their lease.
import { tool } from '@baton/core'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { createTemporalHost } from '../index.ts'
import type { TemporalWorld } from '../temporal-world.test-kit.ts'
import { playInWorld, settlements, until } from '../temporal-world.test-kit.ts'

const program = findTemporal('clients of a gateway over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const look = tool({ name: 'look', description: 'looks', input: { type: 'object' } as const, timeoutMs: 60_000 })
const steps = [{ calls: [{ name: 'look', arguments: '{}' }] }, { text: 'seen' }]
const LEASE_MS = 1500

async function listFacts(world: TemporalWorld, session: string): Promise<readonly string[]> {
  return (await world.records(session)).flatMap(({ facts }) => facts.map(({ type }) => type))
}

describe.skipIf(!server)('clients of gateways over Temporal', { timeout: 60_000 }, () => {
  test('a client that was given up while its session rested is asked as soon as somebody speaks', async () => {
    await playInWorld(server, { steps, tools: [look], host: { clientLeaseMs: LEASE_MS } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.attach({ look: () => 'a tree' } as never)
      await until(async () => (await listFacts(world, session.id)).includes('client-detached'))
      expect((await session.send('look').answer).text).toBe('seen')
      expect((await settlements(world, session.id)).map(({ type }) => type)).toEqual(['ok'])
      const facts = await listFacts(world, session.id)
      expect(facts.filter((type) => type === 'client-attached')).toHaveLength(2)
    })
  })

  test('the client of a gateway that died is away after its lease, and its call goes to another one', async () => {
    if (!server) throw new Error('there is no service')
    await playInWorld(server, { steps, tools: [look] }, async (world) => {
      const { agent, store: logStore, taskQueue } = world
      const place = { address: server.address, agent, logStore, taskQueue }
      const dying = await createTemporalHost({ ...place, clientLeaseMs: LEASE_MS })
      const id = randomUUID()
      await (await dying.session(id)).attach({ look: () => 'nobody is there' } as never)
      // It lets go of everything without a word to the session, as a process that is killed.
      await dying.stop()
      const session = await world.host.session(id)
      const turn = session.send('look')
      await until(async () => (await listFacts(world, id)).includes('call-offered'))
      await until(async () => (await listFacts(world, id)).includes('client-detached'))
      await session.attach({ look: () => 'a tree' } as never)
      expect((await turn.answer).text).toBe('seen')
      expect(JSON.stringify(await settlements(world, id))).toMatch(/a tree/)
    })
  })
})
