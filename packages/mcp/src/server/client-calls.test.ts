// The calls of one principal, as requests that come at once find them.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { ClientCalls } from './client-calls.ts'
import { createDirectAgent } from './direct-agent.ts'
import { readOptions } from './options.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

test('a client that returns twice at once to a call of another process gets one call, which counts once', async () => {
  const released = Promise.withResolvers<string>()
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({}),
    execute: () => released.promise,
  })
  const agent = defineAgent({ name: 'shop', model: createScriptedModel({ steps: [] }), tools: [pay] })
  const host = createHost({ agent })
  ends.push(() => host.stop())
  const parts = readOptions('the test', { agent }, false)
  const direct = createDirectAgent({ agent, resultChars: parts.limits.resultChars })
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
  const createCalls = (): ClientCalls =>
    new ClientCalls({
      host: { ...host, session } as typeof host,
      parts,
      principal: { id: 'p' },
      direct,
      begun: new Map(),
    })
  const finish = () => Promise.resolve({ content: [] })
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
