// Handles of one session through one gateway, without a service: opening while another handle leaves, and what remains
// after a failure.
import { BatonError, defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { createCatalog, SYSTEM_TIME } from '@baton/runtime'
import type { Client } from '@temporalio/client'
import { openEvents } from '@baton/runtime'
import { expect, test } from 'vitest'
import type { Submission } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import { digest, digestMedia } from '../digest.ts'
import { ServiceCalls } from '../service-calls.ts'
import { TemporalEngine } from './temporal-engine.ts'

const ANN = { id: 'ann' }
const model = createScriptedModel({ steps: () => ({ text: 'hello' }) })
const agent = defineAgent({ name: 'one', model })
const other = defineAgent({ name: 'other', model })

/** A session written by a local host, behind a service whose Updates the test answers. */
async function createWorld() {
  const store = createMemoryStore()
  const host = createHost({ store, agent })
  const write = async (title: string): Promise<void> => {
    const session = await host.session('s', { principal: ANN })
    await session.describe({ title })
    await session.close()
  }
  await write('first')
  const memory = createMemoryBus()
  let listening = 0
  const bus: typeof memory = {
    ...memory,
    subscribe: async (...given) => {
      const unsubscribe = await memory.subscribe(...given)
      listening += 1
      return () => {
        listening -= 1
        unsubscribe()
      }
    },
  }
  const updates: { readonly submission: Submission; readonly answer: PromiseWithResolvers<never[]> }[] = []
  const executeUpdate = async (
    _: string,
    { args: [submission] }: { readonly args: [Submission] },
  ): Promise<never[]> => {
    const answer = Promise.withResolvers<never[]>()
    updates.push({ submission, answer })
    return await answer.promise
  }
  const client = {
    withDeadline: <Value>(_: number, act: () => Promise<Value>) => act(),
    withAbortSignal: <Value>(_: AbortSignal, act: () => Promise<Value>) => act(),
    workflow: { getHandle: () => ({ executeUpdate }) },
  } as unknown as Client // the calls of a gateway whose session has its workflow
  const log = { info: () => {}, warn: () => {} }
  const { blobs } = store
  const catalog = createCatalog({ agents: [agent, other], environment: SYSTEM_TIME, blobs, log, digest, digestMedia })
  const calls = new ServiceCalls(client)
  const engine = new TemporalEngine({
    client,
    calls,
    taskQueue: 'baton',
    catalog,
    store,
    bus,
    log,
    tuning: {},
    leaseMs: 60_000,
  })
  const news = async (): Promise<void> => {
    await write('second')
    memory.publish('s', { type: 'pos', pos: 100 })
  }
  return { engine, updates, news, listening: () => listening }
}

test('a session that must exist is not made, and who asks for a new one beside it does not get its refusal', async () => {
  const { engine } = await createWorld()
  const opening = { principal: ANN, mustExist: true }
  const existing = await engine.open('s', opening)
  expect(existing.engine.state().title).toBe('first')
  existing.leave()
  await expect(engine.open('none', opening)).rejects.toMatchObject({ code: 'unknown_session' })
  const [refused, made] = await Promise.allSettled([
    engine.open('none', opening),
    engine.open('none', { principal: ANN, agent: defineAgent({ name: 'unknown', model }) }),
  ])
  expect(refused).toMatchObject({ reason: { code: 'unknown_session' } })
  expect(made).not.toMatchObject({ reason: { code: 'unknown_session' } })
})

test('a session stays open for a caller who arrives while the last one leaves', async () => {
  const { engine, updates, news, listening } = await createWorld()
  const first = await engine.open('s', { principal: ANN })
  const coming = engine.open('s', { principal: ANN })
  first.leave()
  const second = await coming
  expect(listening()).toBe(1)
  // Also while its agent is being changed, which takes an Update.
  const changing = engine.open('s', { principal: ANN, agent: other })
  await expect.poll(() => updates.length).toBe(1)
  second.leave()
  updates[0]?.answer.resolve([])
  const third = await changing
  const reader = openEvents(third.engine, { delivery: true })
  await news()
  expect((await reader.nextBatch())?.events).not.toEqual([])
  reader.leave()
  expect(listening()).toBe(1)
  third.leave()
  third.leave()
  expect(listening()).toBe(0)
})

test('a caller who may not change the agent holds nothing, and takes nothing from the others', async () => {
  const { engine, updates, listening } = await createWorld()
  const first = await engine.open('s', { principal: ANN })
  const changing = engine.open('s', { principal: ANN, agent: other })
  await expect.poll(() => updates.length).toBe(1)
  updates[0]?.answer.reject(new BatonError({ code: 'invalid_agent', message: 'no worker has it' }))
  await expect(changing).rejects.toMatchObject({ code: 'invalid_agent' })
  expect(listening()).toBe(1)
  first.leave()
  expect(listening()).toBe(0)
  // The same if it was the only one.
  const alone = engine.open('s', { principal: ANN, agent: other })
  await expect.poll(() => updates.length).toBe(2)
  updates[1]?.answer.reject(new BatonError({ code: 'invalid_agent', message: 'no worker has it' }))
  await expect(alone).rejects.toMatchObject({ code: 'invalid_agent' })
  expect(listening()).toBe(0)
})

test('a session whose agent could not be changed keeps its agent at this gateway too', async () => {
  const { engine, updates } = await createWorld()
  const first = await engine.open('s', { principal: ANN })
  const changing = engine.open('s', { principal: ANN, agent: other })
  await expect.poll(() => updates.length).toBe(1)
  updates[0]?.answer.reject(new BatonError({ code: 'invalid_agent', message: 'no worker has it' }))
  await expect(changing).rejects.toMatchObject({ code: 'invalid_agent' })
  expect(first.engine.world.agent).toBe(agent)
  first.leave()
})

test('a handle of a removed session that leaves takes nothing from the new session of its name', async () => {
  const { engine, listening } = await createWorld()
  const removed = await engine.open('s', { principal: ANN })
  engine.drop('s', undefined)
  const fresh = await engine.open('s', { principal: ANN })
  removed.leave()
  const again = await engine.open('s', { principal: ANN })
  expect(again.engine).toBe(fresh.engine)
  expect(listening()).toBe(1)
  fresh.leave()
  again.leave()
  expect(listening()).toBe(0)
})
