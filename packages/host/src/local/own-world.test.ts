// A session's own world: its agent, also after reopening and recovery.
import { frontOf } from '@baton/core/internal'
import type { Agent, AgentOptions } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'
import {
  act,
  listCalls,
  createManualTime,
  never,
  noUnhandledRejections,
  ownStore,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

function createAgent(name: string, text: string, more: Partial<AgentOptions> = {}): Agent {
  return defineAgent({ name, model: createScriptedModel({ steps: () => ({ text }) }), ...more })
}

test('each session gets its agent by what is known of it, also when it is opened again and recovered', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const asked: unknown[] = []
  const disposed: string[] = []
  const open = () =>
    createHost({
      environment: time.environment,
      store,
      agentOf: (session) => {
        asked.push(session)
        const agent = createAgent('tenant', `hello ${session.principal.id}`)
        return { agent, dispose: () => void disposed.push(session.id) }
      },
    })
  const first = open()
  const session = await time.until(first.session('s1', { principal: { id: 'ann' } }))
  expect((await time.until(session.send('hi').answer)).text).toBe('hello ann')
  await session.describe({ meta: { repository: 'a/b' } })
  await time.until(first.stop())
  expect(disposed).toEqual(['s1'])
  const again = await time.until(open().session('s1', { principal: { id: 'ann' } }))
  expect((await time.until(again.send('hi').answer)).text).toBe('hello ann')
  expect(asked).toEqual([
    { id: 's1', agent: '', principal: { id: 'ann' }, meta: {} },
    { id: 's1', agent: 'tenant', principal: { id: 'ann' }, meta: { repository: 'a/b' } },
  ])
})

test('resources opened for a session are released once, even if the session cannot be opened or is given up', async () => {
  const time = createManualTime()
  const store = ownStore()
  let isFull = true
  let disposed = 0
  const append: typeof store.append = (...request) =>
    isFull ? Promise.reject(new Error('the disk is full')) : store.append(...request)
  const host = createHost({
    environment: time.environment,
    store: { ...store, append },
    agentOf: () => ({ agent: createAgent('tenant', 'hello'), dispose: () => void (disposed += 1) }),
  })
  await expect(time.until(host.session('s'))).rejects.toMatchObject({ code: 'store_failed' })
  expect(disposed).toBe(1)
  isFull = false
  const session = await time.until(host.session('s'))
  store.expireLeases()
  await store.acquire('s', 'another host')
  await expect(time.until(session.send('hi').answer)).rejects.toMatchObject({ code: 'store_conflict' })
  await time.settle()
  expect(disposed).toBe(2)
  await time.until(host.stop())
  expect(disposed).toBe(2)
})

test('a session with its own agent is recovered with it and its tools', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const ran: string[] = []
  const tools = [act(() => (ran.push('run'), ran.length === 1 ? never() : 'done'), { name: 'own', timeoutMs: 60_000 })]
  const steps = [listCalls('own'), { text: 'finished' }]
  const model = createScriptedModel({ steps: (request) => (request.messages.length < 3 ? steps[0]! : steps[1]!) })
  const agents = [createAgent('first', 'x'), defineAgent({ name: 'second', model, tools })]
  const before = createHost({ environment: time.environment, store, agents })
  const session = await time.until(before.session(SESSION, { agent: agents[1]! }))
  void session.send('go').answer.catch(() => {})
  await time.settle()
  expect(ran).toEqual(['run'])
  // Its process dies, and its work ends.
  store.expireLeases()
  const after = createHost({ environment: time.environment, store, agents })
  expect(await time.until(after.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(100)
  expect(ran).toEqual(['run', 'run'])
  const again = await time.until(after.session(SESSION))
  expect(frontOf(again).phase).toBe('idle')
})

test('an agent that cannot be had fails the opening with its reason, and the next opening asks again', async () => {
  const time = createManualTime()
  let works = false
  const host = createHost({
    environment: time.environment,
    agentOf: () => (works ? createAgent('a', 'hello') : Promise.reject(new Error('the tenant is unknown'))),
  })
  await expect(time.until(host.session('s'))).rejects.toThrow('the tenant is unknown')
  works = true
  expect((await time.until((await host.session('s')).send('hi').answer)).text).toBe('hello')
  const hanging = createHost({ environment: time.environment, agentOf: never })
  await expect(time.until(hanging.session('s'))).rejects.toMatchObject({ code: 'invalid_agent' })
})

test('a new session’s agent is chosen by what the session will be described with', async () => {
  const time = createManualTime()
  const asked: unknown[] = []
  const agentOf = ({ meta }: { readonly meta: object }): Agent => {
    asked.push(meta)
    return createAgent('tenant', 'hello')
  }
  const host = createHost({ environment: time.environment, agentOf })
  await time.until(host.session('s1', { description: { title: 'T', meta: { project: 'p1' } } }))
  expect(asked).toEqual([{ project: 'p1' }])
})

test('a session that cannot be opened releases its parts, and a hanging dispose blocks no one', async () => {
  const time = createManualTime()
  const closed: string[] = []
  const look = act(() => 'seen', { name: 'look' })
  const source = { name: 'tools', list: async () => [look], close: async () => void closed.push('source') }
  const host = createHost({
    environment: time.environment,
    agentOf: ({ id }) => {
      if (id === 'bad') return { agent: createAgent('tenant', 'hello'), dispose: never }
      if (id === 'good') return createAgent('tenant', 'hello')
      const agent = createAgent('tenant', 'hello', { tools: [look], sources: [source] }) // two tools of one name
      return { agent, dispose: () => void closed.push(id) }
    },
  })
  await expect(time.until(host.session('twice'))).rejects.toMatchObject({ code: 'invalid_agent' })
  expect(closed).toEqual(['source', 'twice'])
  await (await time.until(host.session('bad'))).close()
  await (await time.until(host.session('good'))).close()
  await time.until(host.remove('good'))
  await time.until(host.session('good'))
  await time.until(host.stop())
})
