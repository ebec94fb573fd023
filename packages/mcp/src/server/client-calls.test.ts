// The calls of one principal, as requests that come at once find them.
import type { Agent, Host } from '@baton/host'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { ClientCalls } from './client-calls.ts'
import { createDirectAgent } from './direct-agent.ts'
import type { Finish } from './live-call.ts'
import { readOptions } from './options.ts'
import { toMcpResult } from './results.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const finish = () => Promise.resolve({ content: [] })

function createWorld(agent: Agent) {
  const host = createHost({ agent })
  ends.push(() => host.stop())
  const parts = readOptions('the test', { agent }, false)
  const direct = createDirectAgent({ agent, resultChars: parts.limits.resultChars })
  const createCalls = (over: Host = host): ClientCalls =>
    new ClientCalls({ host: over, parts, principal: { id: 'p' }, direct, begun: new Map() })
  return { host, createCalls }
}

test('a client that returns twice at once to a call of another process gets one call, which counts once', async () => {
  const released = Promise.withResolvers<string>()
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    execute: () => released.promise,
  })
  const { host, createCalls: create } = createWorld(
    defineAgent({ name: 'shop', model: createScriptedModel({ steps: [] }), tools: [pay] }),
  )
  let opened = 0
  const closed: number[] = []
  const session: typeof host.session = async (...given) => {
    const found = await host.session(...given)
    const at = (opened += 1)
    const close = async (): Promise<void> => {
      closed.push(at)
      await found.close()
    }
    return new Proxy(found, { get: (target, name) => (name === 'close' ? close : Reflect.get(target, name)) })
  }
  const createCalls = (): ClientCalls => create({ ...host, session } as typeof host)
  const begun = await createCalls().call('pay', {}, { asks: false, finish })
  const place = { session: begun.session.id, inputId: begun.inputId, type: 'tool' } as const

  const other = createCalls()
  const [one, two] = await Promise.all([other.find(place, finish), other.find(place, finish)])
  expect(two).toBe(one)
  expect(await other.find(place, finish)).toBe(one)
  released.resolve('paid')
  await one.over()
  expect(other.isBusy).toBe(false)
  // The first handle began the call, and is kept for the next one. Of the others one followed it, and one was not needed.
  expect([opened, new Set(closed)]).toEqual([3, new Set([2, 3])])
})

test('a call that is sent again with its key while it is opening runs once', async () => {
  let runs = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    execute: () => {
      runs += 1
      return 'paid'
    },
  })
  const { createCalls } = createWorld(
    defineAgent({ name: 'shop', model: createScriptedModel({ steps: [] }), tools: [pay] }),
  )
  const calls = createCalls()
  const given = { asks: false, finish, key: 'one' }
  const [one, two] = await Promise.all([calls.call('pay', {}, given), calls.call('pay', {}, given)])
  expect(two).toBe(one)
  await one.over()
  expect(runs).toBe(1)
})

test.each([
  ['stays', () => {}],
  ['has left', (calls: ClientCalls) => calls.close()],
])('a call whose client %s is the same one until its picture has been read', async (_, leave) => {
  const source = { type: 'base64', data: Buffer.from('a picture').toString('base64') } as const
  const draw = tool({
    name: 'draw',
    description: 'Draws.',
    input: z.object({}),
    execute: () => ({ content: [{ type: 'image', mediaType: 'image/png', source }] }),
  })
  const { createCalls } = createWorld(
    defineAgent({ name: 'shop', model: createScriptedModel({ steps: [] }), tools: [draw] }),
  )
  const calls = createCalls()
  const reading = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const read: Finish = async (session, made) => {
    ended.resolve()
    await reading.promise
    return await toMcpResult(made, { media: (handle) => session.media(handle), needsValue: false })
  }
  const given = { asks: false, finish: read, key: 'one' }
  const live = await calls.call('draw', {}, given)
  leave(calls)
  await ended.promise
  expect([await calls.call('draw', {}, given), calls.isBusy]).toEqual([live, true])
  reading.resolve()
  expect(await live.over()).toMatchObject({ content: [{ type: 'image', data: source.data }] })
  expect(calls.isBusy).toBe(false)
})

test('a found call that is cancelled while it waits ends no other turn of its conversation', async () => {
  const released = Promise.withResolvers<string>()
  const look = tool({ name: 'look', description: 'Looks.', input: z.object({}), execute: () => released.promise })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'one' }] })
  const { createCalls, host } = createWorld(defineAgent({ name: 'shop', model, tools: [look] }))
  const session = await host.session('talk', { principal: { id: 'p' } })
  const [first, second] = [session.send('go', { inputId: 'first' }), session.send('and?', { inputId: 'second' })]
  second.answer.catch(() => {})
  const found = await createCalls().find({ session: 'talk', inputId: 'second', type: 'agent' }, finish)
  found.cancel()
  await found.over()
  released.resolve('here')
  expect((await first.answer).text).toBe('one')
})
