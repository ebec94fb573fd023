// Sessions that a worker knows: forgotten when unused, and never while in use.
import type { Agent } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
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
  const host = createHost({ agent, store })
  await (await host.session('busy', { principal: { id: 'ann' } })).send('hi').answer
  await host.stop()
  const gate = Promise.withResolvers<void>()
  let opened = 0
  const places = new Places({
    catalog: {
      agentOf: async ({ id }): Promise<Agent> => {
        opened += id === 'busy' ? 1 : 0
        if (id === 'busy') await gate.promise
        return agent
      },
    },
    store,
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    submitter: { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'], // no inputs are submitted
  })
  onTestFinished(() => places.close())
  return { places, open: gate.resolve, opened: () => opened }
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
