// The local host end to end: a scripted model calls a tool and gets its result.
import type { SessionEvent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createNodeEnvironment } from '../environment.ts'
import { createHost } from './create-host.ts'

const environment = createNodeEnvironment({
  post: () => Promise.reject(new Error('no network in this test')),
})

const add = tool({
  name: 'math.add',
  description: 'Adds two numbers',
  input: z.object({ a: z.number(), b: z.number() }),
  effect: 'pure',
  execute: ({ a, b }) => ({ sum: a + b }),
})

test('a turn calls a tool, and its result goes back to the model', async () => {
  const model = createScriptedModel({
    steps: [{ text: 'Let me see.', calls: [{ name: 'math.add', arguments: { a: 2, b: 3 } }] }, { text: 'It is 5.' }],
  })
  const host = createHost({ environment, agent: defineAgent({ name: 'calculator', model, tools: [add] }) })
  const session = await host.session('one')
  const turn = session.send('What is 2 + 3?')
  const events: SessionEvent[] = []
  for await (const event of turn) events.push(event)
  expect(await turn.answer).toEqual({
    outcome: 'answered',
    stop: 'end',
    text: 'Let me see.\n\nIt is 5.',
    usage: {},
    sources: [],
    limits: [],
    forgotten: false,
  })
  const kinds = events.map((event) => event.type)
  expect(kinds.filter((kind, index) => kind !== kinds[index - 1])).toEqual([
    'message-added',
    'message-entered',
    'message-added',
    'step-started',
    'session',
    'text',
    'call',
    'step-finished',
    'call',
    'step-closed',
    'step-started',
    'text',
    'step-finished',
    'step-closed',
    'turn-finished',
  ])
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    role: 'tool',
    parts: [{ callId: expect.stringMatching(/^call_\w{8}_1_0$/), content: [{ text: '{"sum":5}' }] }],
  })
  await host.stop()
})

test('an environment that is an instance of a class makes the ids of sessions and inputs', async () => {
  class Numbered {
    readonly clock = environment.clock
    readonly timers = environment.timers
    readonly transport = environment.transport
    #serial = 0

    newId(): string {
      this.#serial += 1
      return `id-${this.#serial}`
    }
  }
  const model = createScriptedModel({ steps: [{ text: 'Yes.' }] })
  const host = createHost({ environment: new Numbered(), agent: defineAgent({ name: 'counted', model }) })
  const session = await host.session(undefined)
  const turn = session.send('Is it so?')
  expect(await turn.answer).toMatchObject({ text: 'Yes.' })
  expect([session.id, turn.id]).toEqual([expect.stringMatching(/^id-\d+$/), expect.stringMatching(/^id-\d+$/)])
  await host.stop()
})

test.each<[string, unknown, string]>([
  ['interruptMs', -1, 'a number of milliseconds from 0 to 60000, not -1'],
  ['interruptMs', 60_001, 'a number of milliseconds from 0 to 60000, not 60001'],
  ['abortMs', Number.NaN, 'a number of milliseconds from 0 to 60000, not NaN'],
  ['lingerMs', '5 min', 'a number of milliseconds from 0 to 3600000, not "5 min"'],
  // As 0 it would remove every session.
  ['retentionMs', null, 'a number of milliseconds from 0 on, not null'],
  ['retentionMs', '30d', 'a number of milliseconds from 0 on, not "30d"'],
  ['snapshotRecords', 0, 'a number of records from 1 on, not 0'],
  ['defaultModel', 4, 'text or an object, not 4'],
  ['environment', 5, 'an object, not 5'],
  ['variables', 'KEY=1', 'an object of secrets, not text'],
  ['secrets', 'hunter2', 'an array of secrets, not text'],
  ['address', 8080, 'text, not 8080'],
  ['log', 'info', 'an object, not "info"'],
  ['observers', null, 'an array, not null'],
])('a host refuses %s %j', (name, value, issue) => {
  const refusal = { code: 'invalid_option', message: `createHost: ${name} must be ${issue}` }
  expect(() => createHost({ environment, [name]: value })).toThrow(expect.objectContaining(refusal))
})

test.each<[string, object, string, string]>([
  ['an agent that is only its fields', { agent: { name: 'a', model: 'offline' } }, 'invalid_agent', 'defineAgent({'],
  ['one agent as the agents', { agents: { name: 'a' } }, 'invalid_option', 'agents: [shop, desk]'],
  ['the name of a file as its store', { store: 'chat.db' }, 'invalid_option', 'await openSqliteStore('],
  ['a memory', { memory: {} }, 'invalid_option', 'kept in store'],
  ['a voice', { voice: {} }, 'invalid_option', '@baton/client/voice'],
  ['prices in place of their function', { priceOf: { 'a/b': {} } }, 'invalid_option', 'createPriceOf({'],
  ['models in place of their function', { modelOf: {} }, 'invalid_option', 'modelOf: (name) =>'],
  ['tools of its own', { tools: [] }, 'invalid_option', 'createHost({ agent: defineAgent('],
])('a host with %s is refused with what to write', (_, options, code, hint) => {
  expect(() => createHost(options)).toThrow(expect.objectContaining({ code, hint: expect.stringContaining(hint) }))
})

test('a session without an agent fails with how to give one', async () => {
  const host = createHost({ environment })
  await expect(host.session('s')).rejects.toMatchObject({
    code: 'invalid_agent',
    message: 'session s has no agent: neither the session nor the host names one',
    hint: expect.stringContaining('createHost({ agent'),
  })
  await host.stop()
})

test.each<[string, unknown, string, string]>([
  ['a user in place of a principal', { userId: 'ann' }, 'has no field "userId"', 'principal: { id: userId }'],
  ['a misspelt principal', { principle: { id: 'ann' } }, 'it is called "principal" here', 'Write "principal"'],
  ['a text as its principal', { principal: 'ann' }, 'an object with an id, not "ann"', 'principal: { id: userId }'],
  ['a text as its options', 'ann', 'must be an object of options, not text', ''],
])('a session with %s is refused, and does not belong to anonymous', async (_, init, message, hint) => {
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) }) })
  await expect(host.session('s', init as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining(message),
    hint: expect.stringContaining(hint),
  })
  expect((await host.sessions()).sessions).toEqual([])
  await host.stop()
})
