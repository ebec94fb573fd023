// A cost limit on turns is refused if the price of a model is unknown: when the host is created, or when the model is
// chosen.
import { frontOf } from '@baton/core/internal'
import type { Model } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost } from './create-host.ts'

const known = createRemote('known')
const other = createRemote('other')
const priceOf = (model: string): number | undefined => (model === 'known' ? 5 : undefined)
const NOT_PRICED = { code: 'model_not_configured', message: expect.stringContaining('limits.turnCostMicros') }

function createRemote(id: string): Model {
  const model = createScriptedModel({ id, steps: () => ({ text: 'said' }) })
  return { ...model, capabilities: { ...model.capabilities, network: true } }
}

function define(model: Model) {
  return defineAgent({ name: 'careful', model, limits: { turnCostMicros: 100 } })
}

test('a host whose agent limits its cost is not made without the price of its model', async () => {
  expect(() => createHost({ agent: define(known) })).toThrow(expect.objectContaining(NOT_PRICED))
  expect(() => createHost({ agent: define(other), priceOf })).toThrow(expect.objectContaining(NOT_PRICED))
  expect(() => createHost({ agents: [define(other)], priceOf })).toThrow(expect.objectContaining(NOT_PRICED))
  await createHost({ agent: define(known), priceOf }).stop()
})

test('an agent that is chosen for a session, and a model that is chosen later, are refused', async () => {
  const find = (id: string) => (id === 'known' ? known : other)
  const host = createHost({ agentOf: ({ id }) => define(id === 's' ? known : other), modelOf: find, priceOf })
  await expect(host.session('t')).rejects.toMatchObject(NOT_PRICED)
  const session = await host.session('s')
  expect((await session.send('Hi').answer).text).toBe('said')
  await expect(session.send('Hi', { model: 'other' }).answer).rejects.toMatchObject(NOT_PRICED)
  expect(await frontOf(session).submit({ type: 'set-model', model: 'other' })).toMatchObject({
    type: 'refused',
    ...NOT_PRICED,
  })
  expect((await session.send('Hi').answer).text).toBe('said')
  await host.stop()
})

test('without a limit no price is needed', async () => {
  const host = createHost({ agent: defineAgent({ name: 'free', model: other }), priceOf })
  const session = await host.session('s')
  expect((await session.send('Hi').answer).text).toBe('said')
  await host.stop()
})

test('a model that runs on this machine needs none either', async () => {
  const here = { ...other, capabilities: { ...other.capabilities, network: false } }
  const host = createHost({ agent: define(here) })
  expect((await (await host.session('s')).send('Hi').answer).text).toBe('said')
  await host.stop()
})

test('a summary counts among what a turn costs', async () => {
  const model = createScriptedModel({
    id: 'known',
    steps: () => ({ text: 'said', usage: { outputTokens: 1 } }),
    capabilities: { contextTokens: 1000 },
  })
  const agent = defineAgent({ name: 'frugal', model, window: { reserveTokens: 100, keepExchanges: 1 } })
  const host = createHost({ agent, priceOf })
  const session = await host.session('s')
  const costs: unknown[] = []
  for (let turn = 0; turn < 12; turn++) costs.push((await session.send('x'.repeat(400)).answer).usage.costMicros)
  await host.stop()
  const summaries = model.requests.filter(({ instructions }) => instructions.startsWith('Summarise')).length
  expect(summaries).toBeGreaterThan(0)
  expect(costs.filter((cost) => cost === 10)).toHaveLength(summaries)
  expect(costs.filter((cost) => cost === 5)).toHaveLength(12 - summaries)
})
