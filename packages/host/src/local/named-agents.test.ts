// Sessions that name one of the agents that their host lists.
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost, createMemoryStore, defineAgent } from '../index.ts'

function define(name: string) {
  return defineAgent({ name, model: createScriptedModel({ steps: () => ({ text: `I am the ${name}.` }) }) })
}

const agents = [define('reader'), define('writer')]

test('a session gets the agent that it names, and keeps it', async () => {
  const store = createMemoryStore()
  await using host = createHost({ agents, store })
  const session = await host.session('s', { agent: 'writer' })
  expect((await session.send('Who are you?').answer).text).toBe('I am the writer.')
  await session.close()
  const again = await host.session('s')
  expect((await again.send('And now?').answer).text).toBe('I am the writer.')
})

test('a session that names another agent goes on with it', async () => {
  await using host = createHost({ agents })
  const first = await host.session('s', { agent: 'writer' })
  await first.send('Who are you?').answer
  const second = await host.session('s', { agent: 'reader' })
  expect((await second.send('And now?').answer).text).toBe('I am the reader.')
})

test.each([
  ['writr', 'the host lists no agent "writr"; did you mean "writer"?'],
  ['', 'the host lists no agent ""'],
])('an agent "%s" that no host lists is refused, with those that it lists', async (agent, message) => {
  await using host = createHost({ agents })
  await expect(host.session('s', { agent })).rejects.toMatchObject({
    code: 'invalid_agent',
    message,
    hint: 'It lists reader, writer.',
  })
  expect(await host.has('s')).toBe(false)
})

test('the single agent of a host has its name too', async () => {
  await using host = createHost({ agent: define('writer') })
  const session = await host.session('s', { agent: 'writer' })
  expect((await session.send('Who are you?').answer).text).toBe('I am the writer.')
})

test('a name does not go past agentOf, which brings services of the session', async () => {
  await using host = createHost({ agents, agentOf: () => ({ agent: agents[0]!, services: { db: 'ann' } }) })
  await expect(host.session('s', { agent: 'writer' })).rejects.toMatchObject({
    code: 'invalid_agent',
    message: 'this host chooses agents with agentOf, so a session cannot name the agent "writer"',
  })
})

test('an agent that is null is refused like one of another kind', async () => {
  await using host = createHost({ agents, variables: {} })
  await expect(host.session('s', { agent: null as never })).rejects.toMatchObject({ code: 'invalid_agent' })
})
