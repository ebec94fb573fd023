// Clients of gateways over a real service: those of a live gateway are attached when they are needed, those of a dead
// one expire with their lease.
import { frontOf } from '@baton/core/internal'
import type { Host, Session } from '@baton/core'
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
const spawn = tool({ name: 'spawn', description: 's', input: { type: 'object' }, effect: 'once', timeoutMs: 60_000 })
const say = (text: string) => ({ type: 'ok', content: [{ type: 'text', text }] }) as const

/** Events after `one` has claimed the call; each returns the host that later results go through. */
const PLACES: Readonly<Record<string, (world: TemporalWorld, id: string) => Promise<Host>>> = {
  'its gateway lives': ({ host }) => Promise.resolve(host),
  'its lease is over': async (world, id) => {
    // It comes back with a short lease. From the start, a slow machine could end the lease before the claim.
    const session = await world.host.session(id, { principal: { id: 'ann' } })
    await frontOf(session).client({ client: 'one', leaseMs: LEASE_MS })
    await until(async () => (await listFacts(world, id)).includes('client-detached'))
    return world.host
  },
  'its worker was replaced': async (world) => {
    await world.replaceWorker()
    return world.host
  },
  'another gateway has the session': async ({ agent, store: logStore, taskQueue }) =>
    await createTemporalHost({ address: server?.address ?? '', agent, logStore, taskQueue }),
}

const STRANGERS: Readonly<Record<string, (session: Session, callId: string) => Promise<unknown>>> = {
  'another client': async (session, callId) => {
    const two = await frontOf(session).client({ client: 'two', leaseMs: 60_000 })
    expect(await two.result(callId, say('forged'))).toMatchObject({ ignored: 'foreign' })
  },
  'a client without handlers': async (session, callId) => (await session.attach()).result(callId, say('forged')),
}

async function listFacts(world: TemporalWorld, session: string): Promise<readonly string[]> {
  return (await world.records(session)).flatMap(({ facts }) => facts.map(({ type }) => type))
}

describe.skipIf(!server)('clients of gateways over Temporal', () => {
  test('a client given up while its session rested is asked at the next input', async () => {
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

  for (const [place, move] of Object.entries(PLACES))
    test.each(Object.entries(STRANGERS))(
      `a claimed once call, ${place}: a result of %s is foreign`,
      async (_, forge) => {
        const calls = [{ name: 'spawn', arguments: '{}' }]
        await playInWorld(server, { steps: [{ calls }, { text: 'done' }], tools: [spawn] }, async (world) => {
          const session = await world.host.session(randomUUID(), { principal: { id: 'ann' } })
          const one = await frontOf(session).client({ client: 'one', leaseMs: 60_000 })
          const turn = session.send('go')
          turn.answer.catch(() => {})
          await until(() => Promise.resolve(one.calls().length === 1))
          const callId = one.calls()[0]?.callId ?? ''
          await one.claim(callId)
          const host = await move(world, session.id)
          try {
            const through = await host.session(session.id, { principal: { id: 'ann' } })
            await expect(host.session(session.id, { principal: { id: 'eve' } })).rejects.toMatchObject({
              name: 'BatonError',
            })
            await forge(through, callId)
            await until(async () => (await listFacts(world, session.id)).includes('result-ignored'))
            const holder = await frontOf(through).client({ client: 'one', leaseMs: 60_000 })
            expect(await holder.result(callId, say('own'))).not.toHaveProperty('ignored')
            await until(async () => (await settlements(world, session.id)).length === 1)
            expect(JSON.stringify(await settlements(world, session.id))).toContain('own')
          } finally {
            if (host !== world.host) await host.stop()
          }
        })
      },
    )

  test('the client of a gateway that died is away after its lease, and its call goes to another one', async () => {
    if (!server) throw new Error('there is no service')
    await playInWorld(server, { steps, tools: [look] }, async (world) => {
      const { agent, store: logStore, taskQueue } = world
      const place = { address: server.address, agent, logStore, taskQueue }
      const dying = await createTemporalHost({ ...place, clientLeaseMs: LEASE_MS })
      const id = randomUUID()
      await (await dying.session(id)).attach({ look: () => 'nobody is there' } as never)
      // It releases everything without notifying the session, like a killed process.
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
