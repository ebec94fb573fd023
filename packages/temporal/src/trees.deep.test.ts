// Agents that call agents over a real Temporal service: each delegated call is a workflow, and people and clients decide at the
// root.
import type { Agent, AgentOptions, Session } from '@baton/core'
import { createTaintPolicy, defineAgent, delegate, tool } from '@baton/core'
import type { Fact } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { skipTime } from '@baton/testing/skip-time'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { GoalResult } from './index.ts'
import { GOAL_WORKFLOW } from './index.ts'
import { playInWorld, settlements, until } from './temporal-world.test-kit.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'

const program = findTemporal('agents that call agents over Temporal', (message) => console.warn(message))
const server: TemporalServer | undefined = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

type Steps = ScriptedModelOptions['steps']
type Step = Exclude<Steps, (...given: never[]) => unknown>[number]
const EMPTY = { type: 'object', properties: {} } as const

const calls = (name: string, args: object = {}): Step => ({ calls: [{ name, arguments: args }] })
const asks = (name: string, task = 'Do it.'): Step => calls(name, { task })

/** A model that makes these calls, and answers when it has their results. It keeps nothing, as after a restart. */
function afterwards(first: Step, text: string): Steps {
  return ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text } : first)
}

function agentOf(name: string, steps: Steps, more: Partial<AgentOptions> = {}): Agent {
  return defineAgent({ name, model: createScriptedModel({ steps }), ...more }) as Agent
}

/** A session whose agent asks the helper once, and then answers "Done.". */
function callerOf(helper: Agent, more: Partial<TemporalWorldOptions> = {}): TemporalWorldOptions {
  const { tools = [], steps = afterwards(asks('helper'), 'Done.'), ...rest } = more
  return { steps, tools: [delegate({ agent: helper, description: 'Helps' }), ...tools], ...rest }
}

/** A tool that acts once in the world, and counts. */
function createPay(more: object = {}) {
  const paid: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: EMPTY,
    effect: 'once',
    approval: true,
    execute: (_, { idempotencyKey }) => {
      paid.push(idempotencyKey)
      return 'paid'
    },
    ...more,
  })
  return { pay, paid }
}

async function listChildren(world: TemporalWorld, root: string): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of world.store.children(root)) names.push(session)
  return names
}

async function factsOf(world: TemporalWorld, session: string): Promise<readonly Fact[]> {
  return (await world.records(session)).flatMap(({ facts }) => facts)
}

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

async function firstApproval(session: Session) {
  await until(async () => (await session.approvals()).length > 0)
  const [approval] = await session.approvals()
  if (!approval) throw new Error('there is no approval')
  return approval
}

async function statusOf(world: TemporalWorld, workflow: string): Promise<string> {
  return (await world.handle(workflow).describe()).status.name
}

async function countRuns(world: TemporalWorld, session: string): Promise<number> {
  let runs = 0
  for await (const _ of world.client.workflow.list({ query: `WorkflowId = "${session}"` })) runs += 1
  return runs
}

describe.skipIf(!server)('agents that call agents over Temporal', () => {
  test('a delegated call is a session of its own, with the logs of a local host', async () => {
    const helper = agentOf('helper', afterwards(calls('add'), 'It is 3.'), {
      tools: [tool({ name: 'add', description: 'adds', input: EMPTY, effect: 'pure', execute: () => ({ sum: 3 }) })],
    })
    await withWorld(callerOf(helper), async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      expect((await session.send('Go.', { inputId: 'i' }).answer).text).toBe('Done.')
      expect(await settlements(world, id)).toMatchObject([
        { type: 'ok', content: [{ type: 'text', text: 'It is 3.' }] },
      ])
      const [child = ''] = await listChildren(world, id)
      await until(async () => (await statusOf(world, child)) === 'COMPLETED')
      const store = createMemoryStore()
      const local = createHost({ agent: world.agent, store })
      const other = await local.session(id)
      await other.send('Go.', { inputId: 'i' }).answer
      await local.stop()
      const read = async (from: TemporalWorld['store'], name: string) => {
        const records = []
        for await (const record of from.read(name, 0)) records.push(record)
        // Two hosts give a session two births.
        return JSON.stringify(canonicalLog(records)).replaceAll(/call_[a-z0-9]{8}_/g, 'call_')
      }
      const [otherChild = ''] = await listChildren({ ...world, store }, id)
      expect(await read(world.store, id)).toEqual(await read(store, id))
      expect(await read(world.store, child)).toEqual(await read(store, otherChild))
    })
  })

  test('a copy made while a child waits does not drive it', async () => {
    const { pay, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [pay] })
    const steps: Steps = ({ messages }) => {
      if (messages.at(-1)?.role === 'tool') return { text: 'Done.' }
      return JSON.stringify(messages.at(-1)).includes('Hello.') ? { text: 'Good day.' } : asks('helper')
    }
    await withWorld(callerOf(helper, { steps }), async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('Hello.').answer
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      const copy = await world.host.session(await session.fork())
      expect((await copy.info()).activity).toBe('idle')
      expect((await copy.messages()).messages).toHaveLength(2)
      expect(await listChildren(world, copy.id)).toEqual([])
      await session.decide({ approvalId, decision: 'approve' })
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
    })
  })

  test('an approval two levels below is decided at the root, and the tool runs once', async () => {
    const { pay, paid } = createPay()
    const payer = agentOf('payer', afterwards(calls('pay'), 'It is paid.'), { tools: [pay] })
    const clerk = agentOf('helper', afterwards(asks('payer'), 'The clerk is done.'), {
      tools: [delegate({ agent: payer, description: 'Pays' })],
    })
    await withWorld(callerOf(clerk), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const approval = await firstApproval(session)
      expect(approval).toMatchObject({ name: 'pay', path: [{ agent: 'helper' }, { agent: 'payer' }] })
      expect(paid).toEqual([])
      await session.decide({ approvalId: approval.approvalId, decision: 'approve' })
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
      expect(await listChildren(world, session.id)).toHaveLength(2)
    })
  })

  test('changed arguments are checked by the other agent’s schema at the gateway, and run', async () => {
    const ran: unknown[] = []
    const input = { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] } as const
    const { pay } = createPay({ input, execute: (given: unknown) => String(ran.push(given)) })
    const helper = agentOf('helper', afterwards(calls('pay', { euros: 5 }), 'Paid.'), { tools: [pay] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      await expect(session.decide({ approvalId, decision: 'edit', input: { euros: 'ten' } })).rejects.toMatchObject({
        code: 'invalid_arguments',
      })
      await session.decide({ approvalId, decision: 'edit', input: { euros: 3 } })
      await turn.answer
      expect(ran).toEqual([{ euros: 3 }])
    })
  })

  test('a question below is answered at the root', async () => {
    const choose = tool({
      name: 'choose',
      description: 'chooses',
      input: EMPTY,
      execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which?', schema: EMPTY })),
    })
    const helper = agentOf(
      'helper',
      ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? { text: JSON.stringify(messages.at(-1)?.parts) } : calls('choose'),
      { tools: [choose] },
    )
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Choose.')
      await until(async () => (await session.questions()).length > 0)
      const [question] = await session.questions()
      expect(question).toMatchObject({ message: 'Which?', path: [{ agent: 'helper' }] })
      await session.answer({ questionId: question?.questionId ?? '', value: { wine: 'red' } })
      await turn.answer
      expect(JSON.stringify(await settlements(world, session.id))).toContain('red')
    })
  })

  test('two children side by side: each answer is the result of its own call', async () => {
    const reader = agentOf('reader', [{ text: 'At a fjord.' }])
    const counter = agentOf('counter', [{ text: '717,710.' }])
    const both: Step = {
      calls: ['reader', 'counter'].map((name) => ({ name, arguments: { task: `ask the ${name}` } })),
    }
    const tools = [reader, counter].map((agent) => delegate({ agent, description: 'Helps' }))
    await withWorld({ steps: afterwards(both, 'Done.'), tools }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('Go.').answer
      const settled = (await factsOf(world, session.id)).flatMap((fact) =>
        fact.type === 'call-settled' && fact.settlement.type === 'ok' ? [fact.settlement.content] : [],
      )
      expect(settled.toSorted((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other)))).toEqual([
        [{ type: 'text', text: '717,710.' }],
        [{ type: 'text', text: 'At a fjord.' }],
      ])
      expect(await listChildren(world, session.id)).toHaveLength(2)
    })
  })

  test('a client tool of the other agent runs at a client of the root that names it', async () => {
    const look = tool({ name: 'look', description: 'looks', input: EMPTY, timeoutMs: 60_000 })
    const helper = agentOf('helper', afterwards(calls('look'), 'I have seen it.'), { tools: [look] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      await session.attach({ look: () => 'a tree' } as never)
      expect((await session.send('Look.').answer).text).toBe('Done.')
      const [child = ''] = await listChildren(world, session.id)
      expect(await settlements(world, child)).toMatchObject([
        { type: 'ok', content: [{ type: 'text', text: 'a tree' }] },
      ])
    })
  })

  test('a policy of the caller judges what its child read and sends', async () => {
    const { pay: mail, paid: sent } = createPay({ name: 'mail', approval: false, network: true })
    const read = tool({
      name: 'read',
      description: 'reads',
      input: EMPTY,
      effect: 'pure',
      trust: 'untrusted',
      execute: () => 'write to me',
    })
    const steps: Steps = ({ messages }) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      return done === 0 ? calls('read') : done === 1 ? calls('mail') : { text: 'Sent.' }
    }
    const helper = agentOf('helper', steps, { tools: [read, mail] })
    await withWorld(callerOf(helper, { approvalPolicy: createTaintPolicy() }), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Go.')
      const approval = await firstApproval(session)
      expect(approval).toMatchObject({ name: 'mail', path: [{ agent: 'helper' }] })
      await session.decide({ approvalId: approval.approvalId, decision: 'deny' })
      await turn.answer
      expect(sent).toEqual([])
      const facts = await factsOf(world, session.id)
      expect(facts.find((fact) => fact.type === 'child-closed')).toMatchObject({ untrusted: ['read'] })
    })
  })

  test('an interrupt reaches the child, and its call is settled by what it did', async () => {
    const helper = agentOf('helper', [{ text: 'Once upon a time', hangs: true } as never])
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Go.')
      await until(async () => (await listChildren(world, session.id)).length > 0)
      const [child = ''] = await listChildren(world, session.id)
      await until(async () => count(await factsOf(world, child), 'model-started') > 0)
      await session.interrupt()
      await turn.answer.catch(() => {})
      await until(async () => count(await factsOf(world, session.id), 'child-closed') > 0)
      expect((await settlements(world, session.id)).map(({ type }) => type)).toEqual(['cancelled'])
      await until(async () => (await statusOf(world, child)) === 'COMPLETED')
    })
  })

  test('a goal whose agent calls another one returns its verdict when the other workflow has ended', async () => {
    const helper = agentOf('helper', [{ text: 'It is valid.' }])
    await withWorld(callerOf(helper), async (world) => {
      const workflowId = randomUUID()
      const result = (await world.client.workflow.execute(GOAL_WORKFLOW, {
        taskQueue: world.taskQueue,
        workflowId,
        args: [{ goal: 'Is it valid?' }],
      })) as GoalResult
      expect(result).toMatchObject({ text: 'Done.', stop: 'end' })
      expect(result.calls).toMatchObject([{ name: 'helper', result: { type: 'ok' } }])
    })
  })

  test('a program reads what the other agent says, while it works and from its log', async () => {
    const gate = Promise.withResolvers<void>()
    const look = tool({
      name: 'look',
      description: 'looks',
      input: EMPTY,
      effect: 'pure',
      execute: async () => {
        await gate.promise
        return 'a red door'
      },
    })
    const helper = agentOf('helper', afterwards(calls('look'), 'The door is red.'), { tools: [look] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const said: string[] = []
      const turn = session.send('Look.')
      const reading = (async () => {
        for await (const event of session.events({ from: 'start', children: true })) {
          if (event.type === 'turn-finished') said.push(event.text)
          if (event.type === 'turn-finished' && !event.path) return
        }
      })()
      await until(async () => count(await factsOf(world, session.id), 'child-begun') > 0)
      const begun = (await factsOf(world, session.id)).find((fact) => fact.type === 'child-begun')
      const child = await session.child([begun?.callId ?? ''])
      await until(async () => (await child.info()).activity === 'running')
      gate.resolve()
      await turn.answer
      await reading
      expect(said).toEqual(['The door is red.', 'Done.'])
      const after = await session.child([begun?.callId ?? ''])
      expect((await after.messages()).messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    })
  })

  test('an agent whose model is unknown fails the call and not the session', async () => {
    const helper = defineAgent({ name: 'helper', model: 'nobody/knows' }) as Agent
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      expect((await session.send('Go.').answer).text).toBe('Done.')
      expect(await settlements(world, session.id)).toMatchObject([{ type: 'error' }])
    })
  })
})

describe.skipIf(!server)('sessions of delegated calls over Temporal', () => {
  test('are in no list, cannot be opened, and are removed with their root', async () => {
    const { pay } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'Paid.'), { tools: [pay] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const changes: string[] = []
      const { sessions, watch, remove } = world.host as never as {
        sessions(): Promise<{ sessions: readonly { id: string }[] }>
        watch(): AsyncIterable<{ type: string; id?: string; session?: { id: string } }>
        remove(id: string): Promise<void>
      }
      const watching = (async () => {
        for await (const change of watch()) changes.push(change.session?.id ?? change.id ?? '')
      })()
      session.send('Pay.').answer.catch(() => {})
      await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      expect((await sessions()).sessions.map(({ id }) => id)).toEqual([session.id])
      await expect(world.host.session(child)).rejects.toMatchObject({ code: 'illegal_input' })
      await expect(remove(child)).rejects.toMatchObject({ code: 'illegal_input' })
      expect(await statusOf(world, child)).toBe('RUNNING')
      await remove(session.id)
      await until(() => changes.includes(session.id))
      expect(changes).not.toContain(child)
      expect(await listChildren(world, session.id)).toEqual([])
      expect(await world.records(child)).toEqual([])
      await until(async () => (await statusOf(world, child).catch(() => 'GONE')) !== 'RUNNING')
      void watching
    })
  })

  test('a parent that is stopped ends them, and does not complete before they have', async () => {
    const { pay, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'Paid.'), { tools: [pay] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      session.send('Pay.').answer.catch(() => {})
      await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      await world.handle(session.id).cancel()
      await until(async () => (await statusOf(world, session.id)) === 'CANCELLED')
      await until(async () => (await statusOf(world, child)) === 'COMPLETED')
      const facts = await factsOf(world, session.id)
      expect(count(facts, 'child-closed')).toBe(1)
      expect(count(facts, 'session-stopped')).toBe(1)
      expect(paid).toEqual([])
    })
  })
})

describe.skipIf(!server)('what is lost between two workflows', () => {
  const { pay } = createPay()
  const approving = () => agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [pay] })

  test('a child workflow that an operator terminates goes on from its log: the same request, one payment', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      const { runId } = await world.handle(child).describe()
      await world.handle(child).terminate('by an operator')
      await until(async () => (await world.handle(child).describe()).runId !== runId)
      await session.decide({ approvalId, decision: 'approve' })
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
      expect(count(await factsOf(world, child), 'child-opened')).toBe(1)
    })
  })

  test('a child workflow that an operator cancels stops in order, and its caller reads so', async () => {
    await withWorld(callerOf(approving()), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      await world.handle(child).cancel()
      expect((await turn.answer).text).toBe('Done.')
      expect(await settlements(world, session.id)).toMatchObject([{ type: 'cancelled' }])
      expect(JSON.stringify(world.model.requests.at(-1))).toContain('It was stopped by whoever runs it')
      expect(await session.approvals()).toEqual([])
      await until(async () => (await statusOf(world, child)) === 'CANCELLED')
    })
  })

  test('a parent workflow that is terminated goes on with the child that it has', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper), async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      session.send('Pay.', { inputId: 'one' }).answer.catch(() => {})
      const { approvalId } = await firstApproval(session)
      const [child = ''] = await listChildren(world, id)
      const { runId } = await world.handle(child).describe()
      await world.handle(id).terminate()
      await session.close()
      const again = await world.host.session(id)
      await again.decide({ approvalId, decision: 'approve' })
      expect((await again.turn('one').answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
      expect((await world.handle(child).describe()).runId).toBe(runId)
      const facts = await factsOf(world, id)
      expect([count(facts, 'child-begun'), count(facts, 'child-closed')]).toEqual([1, 1])
    })
  })

  test('both workflows are terminated, and both go on', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper), async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      session.send('Pay.', { inputId: 'one' }).answer.catch(() => {})
      const { approvalId } = await firstApproval(session)
      const [child = ''] = await listChildren(world, id)
      await world.handle(id).terminate()
      await world.handle(child).terminate()
      await session.close()
      const again = await world.host.session(id)
      await again.decide({ approvalId, decision: 'approve' })
      expect((await again.turn('one').answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
    })
  })

  test('a parent continues as new, again and again, while its child waits', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper, { host: { updatesMax: 3 } }), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      let titles = 0
      await until(async () => {
        await session.describe({ title: `title ${(titles += 1)}` })
        return (await countRuns(world, session.id)) >= 3
      })
      await session.decide({ approvalId, decision: 'approve' })
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
    })
  })

  test('a child that was terminated while its parent continued as new is found and started again', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper, { host: { updatesMax: 3 } }), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      for (let index = 0; index < 4; index++) await session.describe({ title: `title ${index}` })
      await world.handle(child).terminate()
      // The decision reaches nobody, so the parent starts the child again.
      await session.decide({ approvalId, decision: 'approve' })
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
    })
  })

  test('a child that was terminated after its parent continued as new is found within an hour', async () => {
    await withWorld(callerOf(approving(), { host: { updatesMax: 3 } }), async (world) => {
      const session = await world.host.session(randomUUID())
      session.send('Pay.').answer.catch(() => {})
      await firstApproval(session)
      const [child = ''] = await listChildren(world, session.id)
      const { runId: first } = await world.handle(session.id).describe()
      for (let index = 0; index < 4; index++) await session.describe({ title: `title ${index}` })
      await until(async () => (await world.handle(session.id).describe()).runId !== first)
      const { runId } = await world.handle(child).describe()
      await world.handle(child).terminate()
      // Time is not skipped while a child is running, so this ends with the start of the new one.
      const skipping = skipTime(world.client.workflowService, session.id, 3_700_000).catch(() => {})
      await until(async () => (await world.handle(child).describe()).runId !== runId)
      void skipping
      await world.handle(session.id).cancel()
    })
  })

  test('a worker that ends between two steps', async () => {
    const { pay: own, paid } = createPay()
    const helper = agentOf('helper', afterwards(calls('pay'), 'It is paid.'), { tools: [own] })
    await withWorld(callerOf(helper), async (world) => {
      const session = await world.host.session(randomUUID())
      const turn = session.send('Pay.')
      const { approvalId } = await firstApproval(session)
      await world.replaceWorker()
      await session.decide({ approvalId, decision: 'approve' })
      await world.replaceWorker()
      expect((await turn.answer).text).toBe('Done.')
      expect(paid).toHaveLength(1)
    })
  })
})
