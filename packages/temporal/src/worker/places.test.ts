// Sessions that a worker knows: forgotten when unused, and never while in use.
import type { Agent } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { readOpening } from '@baton/runtime'
import { expect, onTestFinished, test } from 'vitest'
import type { Identity } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import type { PlacesOptions } from './places.ts'
import { Places } from './places.ts'

const MOST = 1000
const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'hello' }) }) })

const identify = (session: string): Identity => ({ session, agent: 'a', principal: 'ann', meta: {} })

/** Places over a store with the session `busy`, whose agent is found when the gate opens. */
async function createPlaces() {
  const store = createMemoryStore()
  const bus = createMemoryBus()
  /** Returns the session's birth. */
  const talk = async (id: string): Promise<string> => {
    const host = createHost({ agent, store })
    await (await host.session('busy', { principal: { id } })).send('hi').answer
    await host.stop()
    return (await readOpening(store, 'busy'))?.birth ?? ''
  }
  await talk('ann')
  const gate = Promise.withResolvers<void>()
  let opened = 0
  const owners: string[] = []
  const places = new Places({
    catalog: {
      agentOf: async ({ id, principal }): Promise<Agent> => {
        opened += id === 'busy' ? 1 : 0
        owners.push(principal.id)
        if (id === 'busy') await gate.promise
        return agent
      },
    },
    store,
    bus,
    log: { info: () => {}, warn: () => {} },
    submitter: { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'], // no inputs are submitted
  })
  onTestFinished(() => places.close())
  return { places, open: gate.resolve, opened: () => opened, owners, store, bus, talk }
}

test('a session being opened for work is not forgotten when others arrive meanwhile', async () => {
  const { places, open, opened } = await createPlaces()
  const entering = places.enter(identify('busy'))
  for (let index = 0; index <= MOST; index++) await places.findWorld(identify(`other-${index}`))
  open()
  const first = await entering
  const second = await places.enter(identify('busy'))
  expect(second.view).toBe(first.view)
  expect(opened()).toBe(1)
})

test('the most recently used one is forgotten last', async () => {
  const { places, open, opened } = await createPlaces()
  open()
  await places.findWorld(identify('busy'))
  for (let index = 0; index < MOST - 1; index++) await places.findWorld(identify(`other-${index}`))
  await places.findWorld(identify('busy'))
  await places.findWorld(identify('one more'))
  await places.findWorld(identify('busy'))
  expect(opened()).toBe(1)
})

test('a removed session is forgotten alone: its successor keeps its view, and has the agent of its own owner', async () => {
  const { places, open, owners, store, bus, talk } = await createPlaces()
  open()
  const birth = (await readOpening(store, 'busy'))?.birth
  const first = await places.enter(identify('busy'))
  await store.remove('busy')
  await talk('bob')
  const second = await places.enter({ ...identify('busy'), principal: 'bob' })
  expect(owners).toEqual(['ann', 'bob'])
  bus.publish('busy', { type: 'removed', session: 'busy', ...(birth !== undefined && { birth }) })
  await expect(first.view.reach(100)).rejects.toMatchObject({ code: 'session_closed' })
  expect((await places.enter({ ...identify('busy'), principal: 'bob' })).view).toBe(second.view)
  expect((await places.enter(identify('busy'))).view).not.toBe(first.view)
})

test('an agent that cannot be found is looked up again by the next request', async () => {
  const store = createMemoryStore()
  let tries = 0
  const places = new Places({
    catalog: {
      agentOf: () => {
        tries += 1
        if (tries === 1) throw new Error('the list of agents is away')
        return agent
      },
    },
    store,
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    submitter: { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'], // no inputs are submitted
  })
  await expect(places.findWorld(identify('s'))).rejects.toThrow('away')
  expect((await places.findWorld(identify('s'))).agent.name).toBe('a')
  await places.close()
})

test.each([
  ['agent', { agent: 'b' }],
  ['owner', { principal: 'bob' }],
  ['meta', { meta: { tenant: 'b' } }],
  ['goal', { goal: { limits: { toolRounds: 3 } } }],
] as const)('a session whose %s has changed gets the agent of today, while its former work ends', async (_, change) => {
  const asked: unknown[] = []
  const places = new Places({
    catalog: {
      agentOf: ({ agent: name, principal, meta }) => {
        asked.push([name, principal.id, meta])
        return defineAgent({ name, model: createScriptedModel({ steps: [] }), limits: { toolRounds: 20 } })
      },
    },
    store: createMemoryStore(),
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    submitter: { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'], // no inputs are submitted
  })
  onTestFinished(() => places.close())
  const before = await places.enter(identify('s'))
  const identity: Identity = { ...identify('s'), ...change }
  const { world } = await places.enter(identity)
  expect(world).not.toBe(before.world)
  expect(asked[1]).toEqual([identity.agent, identity.principal, identity.meta])
  expect([world.agent.name, world.agent.limits.toolRounds]).toEqual([
    identity.agent,
    identity.goal?.limits?.['toolRounds'] ?? 20,
  ])
})
