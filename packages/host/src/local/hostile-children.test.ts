// Trees of sessions under attack: agents, functions and models below a session that lie, throw, never answer or grow.
import type { Agent } from '@baton/core'
import { BatonError, defineAgent, delegate } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'
import { createManualTime, noUnhandledRejections } from './test-world.test-kit.ts'
import * as kit from './tree.test-kit.ts'

noUnhandledRejections()

const { acting, afterwards, asks, calls, createAgents, rest, startProcess, toldTo } = kit

/** A boss whose helper is what the function returns. */
function createFickle(find: (time: number) => unknown, steps = afterwards(asks('helper'), 'Done.')) {
  const time = createManualTime()
  const boss = createScriptedModel({ steps, timers: time.environment.timers })
  let asked = 0
  const ask = delegate({ name: 'helper', description: 'Helps', agent: () => find((asked += 1)) as Agent })
  const agent = defineAgent({ name: 'boss', model: boss, tools: [ask] }) as Agent
  return { time, boss, agent, countAsked: () => asked }
}

const helping = (name: string, text: string): Agent =>
  defineAgent({ name, model: createScriptedModel({ steps: () => ({ text }) }) }) as Agent

test.each([
  ['at once', 1],
  ['when its session is opened', 2],
])('an agent function that throws %s fails the call, and not the session', async (_, from) => {
  const { time, boss, agent } = createFickle((at) => {
    if (at >= from) throw new Error('the directory of agents is down: token-4711')
    return helping('helper', 'Helped.')
  })
  const store = createMemoryStore()
  const process = startProcess(time, store, { agent, secrets: ['token-4711'] })
  const session = await process.host.session('s')
  const begun = time.nowMs()
  expect((await time.until(session.send('Go.').answer)).text).toBe('Done.')
  expect(time.nowMs() - begun).toBeLessThan(60_000)
  expect(toldTo(boss)).toContain('the directory of agents is down')
  expect(toldTo(boss)).not.toContain('token-4711')
  expect(process.warnings.join('\n')).not.toContain('token-4711')
})

test('an agent function that returns another agent each time: the child runs, and its call settles', async () => {
  const { time, agent, countAsked } = createFickle((at) => helping(`helper${at}`, `I am number ${at}.`))
  const host = createHost({ environment: time.environment, agent })
  const session = await host.session('s')
  expect((await time.until(session.send('Go.').answer)).text).toBe('Done.')
  expect(countAsked()).toBeLessThan(10)
})

test('four levels of twenty agents that ask each agent below them: each agent is looked at, and not each path', async () => {
  let looked = 0
  let below: readonly Agent[] = []
  for (let level = 4; level > 0; level -= 1) {
    const next = below
    const tools = next.map((agent, at) =>
      delegate({
        name: `ask${at}`,
        description: 'Helps',
        agent: () => {
          looked += 1
          return agent
        },
      }),
    )
    below = Array.from({ length: 20 }, (_, at) => {
      const model = createScriptedModel({ steps: () => ({ text: 'Helped.' }) })
      return defineAgent({ name: `level${level}.${at}`, model, tools }) as Agent
    })
  }
  const { time, agent } = createFickle(() => below[0])
  const store = createMemoryStore()
  const host = createHost({ environment: time.environment, store, agent })
  await time.until((await host.session('s')).send('Go.').answer)
  expect(await kit.factsOf(store, 's', 'child-begun')).toMatchObject([{ acts: false }])
  expect(looked).toBeLessThan(3000)
})

test('an endless line of new agents below an agent counts as acting, and is not followed', async () => {
  let made = 0
  const make = (): Agent =>
    defineAgent({
      name: `agent${(made += 1)}`,
      model: createScriptedModel({ steps: () => ({ text: 'Helped.' }) }),
      tools: Array.from({ length: 20 }, (_, at) =>
        delegate({ name: `ask${at}`, description: 'Helps', agent: () => make() }),
      ),
    }) as Agent
  const { time, agent } = createFickle(() => make())
  const store = createMemoryStore()
  const host = createHost({ environment: time.environment, store, agent })
  await time.until((await host.session('s')).send('Go.').answer)
  expect(made).toBeLessThan(2000)
  expect(await kit.factsOf(store, 's', 'child-begun')).toMatchObject([{ acts: true }])
})

test.each([
  [
    'throws',
    () => {
      throw new Error('no words: key-8899')
    },
    'no words',
  ],
  ['returns a megabyte', () => 'word '.repeat(210_000), 'characters'],
  ['returns nothing', () => '   ', 'prompt must return text'],
  ['returns a promise', () => Promise.resolve('Go.') as unknown as string, 'prompt must return text'],
])('a prompt that %s fails the call; no session is begun', async (_, prompt, said) => {
  const time = createManualTime()
  const input = { type: 'object', properties: { task: { type: 'string' } } } as const
  const { agent, boss } = createAgents(time, { steps: [{ text: 'Helped.' }] }, { rules: { input, prompt } })
  const store = createMemoryStore()
  const host = createHost({ environment: time.environment, store, agent, secrets: ['key-8899'] })
  expect((await time.until((await host.session('s')).send('Go.').answer)).text).toBe('Done.')
  expect(toldTo(boss)).toContain(said)
  expect(toldTo(boss)).not.toContain('key-8899')
  expect(await kit.childrenOf(store)).toEqual([])
})

test('a thousand delegations in one answer: what is not allowed is refused, and the rest is done', async () => {
  const time = createManualTime()
  const many = Array.from({ length: 1000 }, (_, at) => ({ name: 'helper', arguments: { task: `Task ${at}.` } }))
  const { agent, boss } = createAgents(
    time,
    { steps: () => ({ text: 'Helped.' }) },
    { steps: afterwards({ calls: many }, 'Done.'), more: { limits: { callsPerTurn: 100 } } },
  )
  const store = createMemoryStore()
  const host = createHost({ environment: time.environment, store, agent })
  await time.until((await host.session('s')).send('Go.').answer)
  const begun = await kit.factsOf(store, 's', 'child-begun')
  expect(begun.length).toBeLessThanOrEqual(100)
  expect(await kit.factsOf(store, 's', 'child-closed')).toHaveLength(begun.length)
  expect(boss.requests.length).toBeLessThanOrEqual(2)
})

test('a key in the failure of a child’s model does not reach its caller', async () => {
  const time = createManualTime()
  const error = new BatonError({ code: 'model_auth_failed', message: 'the key sk-secret-1234 was refused' })
  const { agent, boss } = createAgents(time, { steps: [{ error }] })
  const store = createMemoryStore()
  const process = startProcess(time, store, { agent, secrets: ['sk-secret-1234'] })
  await time.until((await process.host.session('s')).send('Go.').answer)
  expect(toldTo(boss)).toContain('the agent \\"helper\\" failed')
  const logs = await Promise.all(['s', ...(await kit.childrenOf(store))].map((name) => kit.recordsOf(store, name)))
  expect(JSON.stringify([toldTo(boss), logs, process.warnings])).not.toContain('sk-secret-1234')
})

test('a stranger who opens a session first gives its children no other owner and no other agent', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  let ran = 0
  const pay = acting('pay', () => `paid ${(ran += 1)}`, { approval: true })
  const create = () => createAgents(time, { steps: afterwards(calls('pay'), 'Paid.'), tools: [pay] })
  const first = startProcess(time, store, { agent: create().agent })
  const ann = { principal: { id: 'ann' } }
  const turn = (await first.host.session('s', ann)).send('Pay.')
  turn.answer.catch(() => {})
  await rest(time)
  first.die()
  store.expireLeases()
  const second = startProcess(time, store, { agent: create().agent })
  await expect(second.host.session('s', { principal: { id: 'eve' } })).rejects.toMatchObject({ code: 'unauthorized' })
  const session = await second.host.session('s', ann)
  const [approval] = await session.approvals()
  await session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
  await passed(time, () => ran === 1)
  const [child = ''] = await kit.childrenOf(store)
  expect(await kit.factsOf(store, child, 'session-opened')).toMatchObject([{ principal: 'ann' }])
  expect(await kit.factsOf(store, 's', 'child-lost')).toEqual([])
})

const passed = (time: ReturnType<typeof createManualTime>, is: () => boolean): Promise<void> => kit.passUntil(time, is)

test('a tool of a child that opens a session by the name of a child is refused', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const seen: unknown[] = []
  const sneak = acting('sneak', async (_, context) => {
    await context.openSession(context.session).catch((cause: { code: string }) => seen.push(cause.code))
    return 'tried'
  })
  const { agent } = createAgents(time, { steps: afterwards(calls('sneak'), 'Done.'), tools: [sneak] })
  const host = createHost({ environment: time.environment, store, agent })
  await time.until((await host.session('s')).send('Go.').answer)
  expect(seen).toEqual(['illegal_input'])
})
