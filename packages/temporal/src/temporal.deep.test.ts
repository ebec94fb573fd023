// A Temporal host beyond the contract of every host: runs that continue as new ones, sessions at rest, cancellation,
// long payloads, goals, and tools that are custom activities.
import { frontOf } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import { defineAgent, tool } from '@baton/core'
import { createHost, createMemoryStore } from '@baton/host'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { ApplicationFailure } from '@temporalio/common'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { GoalResult } from './index.ts'
import { GOAL_WORKFLOW, SESSION_WORKFLOW, temporalTool } from './index.ts'
import { Submitter } from './submitter.ts'
import { playInWorld, settlements, until } from './temporal-world.test-kit.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'

const program = findTemporal('sessions and goals over Temporal', (message) => console.warn(message))
const server: TemporalServer | undefined = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const add = tool({
  name: 'add',
  description: 'adds',
  input: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  } as const,
  effect: 'pure',
  execute: ({ a, b }) => ({ sum: a + b }),
})
const callAdd = { calls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] }
const look = tool({ name: 'look', description: 'looks', input: { type: 'object' } as const, timeoutMs: 60_000 })
const VERDICT = {
  type: 'object',
  properties: { valid: { type: 'boolean' }, evidence: { type: 'array', items: { type: 'string' } } },
  required: ['valid', 'evidence'],
  additionalProperties: false,
} as const

describe.skipIf(!server)('a session over Temporal', () => {
  test('continues over many runs, with the log of a local host', async () => {
    const said = Array.from({ length: 12 }, (_, index) => `question ${index}`)
    const steps: TemporalWorldOptions['steps'] = (_, call) => ({ text: `answer ${call % said.length}` })
    const local = createMemoryStore()
    await withWorld({ steps, host: { updatesMax: 4 } }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      for (const [index, text] of said.entries())
        expect((await session.send(text, { inputId: `i${index}` }).answer).text).toBe(`answer ${index}`)
      const runs: unknown[] = []
      for await (const run of world.client.workflow.list({ query: `WorkflowId = "${id}"` })) runs.push(run)
      expect(runs.length).toBeGreaterThanOrEqual(3)
      const host = createHost({ agent: world.agent, store: local })
      const other = await host.session('local')
      for (const [index, text] of said.entries()) await other.send(text, { inputId: `i${index}` }).answer
      await host.stop()
      const records = []
      for await (const record of local.read('local', 0)) records.push(record)
      expect(canonicalLog(await world.records(id))).toEqual(canonicalLog(records))
    })
  })

  test('a call waits for its client over runs that continue as new ones, and a new worker', async () => {
    const steps = [{ calls: [{ name: 'look', arguments: '{}' }] }, { text: 'seen' }]
    await withWorld({ steps, tools: [look], host: { updatesMax: 3 } }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const turn = session.send('go')
      await until(() => frontOf(session).phase === 'calling')
      for (let index = 0; index < 8; index++) await session.describe({ title: `title ${index}` })
      await world.replaceWorker()
      await session.attach({ look: () => 'a tree' } as never)
      expect((await turn.answer).text).toBe('seen')
      expect((await settlements(world, id)).map(({ type }) => type)).toEqual(['ok'])
    })
  })

  test('has the time of the service, whatever the clock of its worker says', async () => {
    const worker = { clock: { nowMs: () => 1000 }, newId: () => 'of-the-worker' }
    const steps = [{ calls: [{ name: 'add', arguments: '{"a":1,"b":2}' }] }, { text: 'one' }]
    await withWorld({ steps, tools: [add], worker }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('first').answer
      const records = await world.records(session.id)
      expect(records.every(({ nowMs }) => Math.abs(nowMs - Date.now()) < 600_000)).toBe(true)
      expect(records.slice(1).map(({ wallMs }) => wallMs)).toEqual(records.slice(1).map(() => 1000))
      const calls = records.flatMap(({ facts }) => facts.filter((fact) => fact.type === 'call-settled'))
      expect(calls.map(({ callId }) => callId)).toEqual(['call_ofthewor_1_0'])
    })
  })

  test('a client that is attached while its session is closed is refused at once, and does not stay', async () => {
    await withWorld({ steps: [], tools: [look] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const attaching = session.attach({ look: () => 'never asked' } as never)
      const closing = session.close()
      await expect(attaching).rejects.toMatchObject({ code: 'session_closed' })
      await closing
      const count = async (type: string): Promise<number> =>
        (await world.records(session.id)).flatMap(({ facts }) => facts).filter((fact) => fact.type === type).length
      await until(async () => (await count('client-attached')) === 1)
      await until(async () => (await count('client-detached')) === 1)
    })
  })

  test('a session that rests completes, and the next input starts it again', async () => {
    await withWorld({ steps: [{ text: 'one' }, { text: 'two' }], host: { idleMs: 300 } }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      await session.send('first').answer
      await until(async () => (await world.handle(id).describe()).status.name === 'COMPLETED')
      expect((await session.send('second').answer).text).toBe('two')
      expect((await session.messages()).messages).toHaveLength(4)
    })
  })

  test('a workflow that is cancelled settles its calls and ends the turn', async () => {
    let hasStarted = false
    const slow = tool({
      name: 'slow',
      description: 'slow',
      input: { type: 'object' },
      effect: 'pure',
      execute: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          hasStarted = true
          signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
    })
    await withWorld({ steps: [{ calls: [{ name: 'slow', arguments: '{}' }] }], tools: [slow] }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const turn = session.send('go')
      turn.answer.catch(() => {})
      await until(() => hasStarted)
      await world.handle(id).cancel()
      await until(async () => (await world.handle(id).describe()).status.name === 'CANCELLED')
      expect((await settlements(world, id)).map(({ type }) => type)).toEqual(['cancelled'])
      expect(await turn.answer.catch((cause: unknown) => cause)).toBeDefined()
    })
  })

  test('takes what is longer than the service takes, and refuses with a code what is longer than it may be', async () => {
    const big = 'x'.repeat(60_000)
    const calls = Array.from({ length: 20 }, () => ({
      name: 'say',
      arguments: JSON.stringify({ text: big.slice(0, 40_000) }),
    }))
    const say = tool({
      name: 'say',
      description: 'says',
      input: { type: 'object', properties: { text: { type: 'string' } } },
      effect: 'pure',
      execute: ({ text }: { text?: string }) => String(text?.length),
    })
    await withWorld({ steps: [{ calls }, { text: 'done' }], tools: [say] }, async (world) => {
      const session = await world.host.session(randomUUID())
      expect((await session.send(big).answer).text).toBe('done')
      await expect(session.send('x'.repeat(70_000)).answer).rejects.toMatchObject({ code: 'input_too_large' })
      expect((await world.handle(session.id).describe()).historyLength).toBeLessThan(400)
    })
  })

  test('a hundred inputs at once are each answered, in Updates that the service takes', async () => {
    const steps = Array.from({ length: 101 }, () => ({ text: 'ok' }))
    await withWorld({ steps, limits: { queueInputs: 200 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      const turns = Array.from({ length: 100 }, (_, index) => session.send(`question ${index}`))
      const answers = await Promise.all(turns.map(({ answer }) => answer))
      expect(answers.map(({ outcome }) => outcome)).toEqual(turns.map(() => 'answered'))
    })
  })

  test('an input that is decided with a change of the agent gets its own answer', async () => {
    await withWorld({ steps: [{ text: 'ok' }] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('go').answer
      const submitter = new Submitter({ client: world.client })
      for (let round = 0; round < 10; round++) {
        // The first one is being decided when the others come.
        const [, refused] = await Promise.all([
          submitter.submit(session.id, { inputs: [{ type: 'describe', title: `round ${round}` }] }),
          submitter.submit(session.id, { inputs: [{ type: 'withdraw', target: 'nobody' }] }),
          submitter.submit(session.id, { inputs: [], agent: 'tested' }),
        ])
        expect(refused).toMatchObject([{ type: 'refused', code: 'unknown_input' }])
      }
    })
  })

  test('a change to an agent that no worker has is refused, and the session goes on with its own', async () => {
    const steps = [{ text: 'one' }, { text: 'two' }, { text: 'three' }]
    await withWorld({ steps, host: { updatesMax: 4 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('first').answer
      const nobody = defineAgent({ name: 'nobody', model: world.model })
      await expect(world.host.session(session.id, { agent: nobody })).rejects.toMatchObject({ code: 'invalid_agent' })
      expect((await session.send('second').answer).text).toBe('two')
      // The next run of the workflow has its agent too.
      for (let round = 0; round < 4; round++) await session.describe({ title: `title ${round}` })
      expect((await session.send('third').answer).text).toBe('three')
      expect((await session.info()).agent).toBe('tested')
    })
  })

  test('an input that is decided with a refused change of the agent gets its own answer', async () => {
    await withWorld({ steps: [{ text: 'ok' }] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('go').answer
      const submitter = new Submitter({ client: world.client })
      // The first one is being decided when the others come.
      const [, refused, changed] = await Promise.allSettled([
        submitter.submit(session.id, { inputs: [{ type: 'describe', title: 'a title' }] }),
        submitter.submit(session.id, { inputs: [{ type: 'withdraw', target: 'nobody' }] }),
        submitter.submit(session.id, { inputs: [], agent: 'nobody' }),
      ])
      expect(refused).toMatchObject({ status: 'fulfilled', value: [{ type: 'refused', code: 'unknown_input' }] })
      expect(changed).toMatchObject({ status: 'rejected', reason: { code: 'invalid_agent' } })
    })
  })

  test('an input for which no worker comes is refused in its time, and may be sent again', async () => {
    await withWorld({ steps: [] }, async ({ client }) => {
      const id = randomUUID()
      const identity = { session: id, principal: 'anonymous', agent: 'tested', meta: {} }
      await client.workflow.start(SESSION_WORKFLOW, { workflowId: id, taskQueue: `${id}-nobody`, args: [{ identity }] })
      const submitted = new Submitter({ client, tryMs: 1500 }).submit(id, { inputs: [{ type: 'pause' }] })
      await expect(submitted).rejects.toMatchObject({ code: 'store_failed', retryable: true })
    })
  })

  test('a conversation that began on a local host continues over Temporal', async () => {
    const store = createMemoryStore()
    const steps = [{ text: 'one' }, { text: 'two' }]
    await withWorld({ steps, store }, async (world) => {
      const id = randomUUID()
      const host = createHost({ agent: world.agent, store })
      await (await host.session(id)).send('first').answer
      await host.stop()
      const session = await world.host.session(id)
      expect((await session.send('second').answer).text).toBe('two')
      expect((await session.messages()).messages.map((message) => message.role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
      ])
    })
  })
})

describe.skipIf(!server)('a goal', () => {
  const verdict = { text: '{"valid":true,"evidence":["call_0"]}' }

  test('is judged from the Temporal command line, with a typed verdict and the calls behind it', async () => {
    await withWorld({ steps: [callAdd, verdict], tools: [add] }, async (world) => {
      const id = randomUUID()
      const principal = { id: 'ann' }
      const goal = { agent: 'tested', goal: 'Is it valid?', tools: ['add'], outputSchema: VERDICT, principal }
      const input = JSON.stringify(goal)
      const words = ['--type', GOAL_WORKFLOW, '--task-queue', world.taskQueue, '--workflow-id', id, '--input', input]
      const printed = await server?.command(['workflow', 'execute', ...words, '-o', 'json'])
      const { result } = JSON.parse(printed ?? '') as { readonly result: GoalResult }
      expect(result).toMatchObject({ session: id, stop: 'end', output: { valid: true, evidence: ['call_0'] } })
      expect(result.calls).toMatchObject([
        { name: 'add', input: { a: 1, b: 2 }, result: { type: 'ok', value: { sum: 3 } } },
      ])
      expect((await (await world.host.session(id, { principal })).info()).principal).toEqual(principal)
      await expect(world.host.session(id)).rejects.toMatchObject({ code: 'unauthorized' })
    })
  })

  test('is refused under the id of a conversation, and judged under that of a session in which nobody has spoken', async () => {
    await withWorld({ steps: [{ text: 'hello' }, verdict], host: { idleMs: 300 } }, async (world) => {
      const start = { goal: 'Is it valid?' }
      const judge = (workflowId: string): Promise<unknown> =>
        world.client.workflow
          .execute(GOAL_WORKFLOW, { taskQueue: world.taskQueue, workflowId, args: [start] })
          .catch((cause: unknown) => cause)
      const [spoken, silent] = [await world.host.session(randomUUID()), await world.host.session(randomUUID())]
      expect(await judge(silent.id)).toMatchObject({ name: 'WorkflowExecutionAlreadyStartedError' })
      await spoken.send('hello').answer
      for (const { id } of [spoken, silent])
        await until(async () => (await world.handle(id).describe()).status.name === 'COMPLETED')
      expect(await judge(spoken.id)).toMatchObject({ cause: { type: 'session_exists' } })
      expect((await spoken.messages()).messages).toHaveLength(2)
      expect(await judge(silent.id)).toMatchObject({ session: silent.id, stop: 'end' })
      const foreign = await world.host.session(randomUUID(), { principal: { id: 'ann' } })
      await until(async () => (await world.handle(foreign.id).describe()).status.name === 'COMPLETED')
      expect(await judge(foreign.id)).toMatchObject({ cause: { type: 'unauthorized' } })
    })
  })

  test('that has ended gives its first verdict at once to a second start under its id, or fails as it did', async () => {
    await withWorld({ steps: (_, call) => (call === 0 ? verdict : { text: 'no' }) }, async (world) => {
      const judge = (workflowId: string, start: object): Promise<unknown> =>
        world.client.workflow.execute(GOAL_WORKFLOW, {
          taskQueue: world.taskQueue,
          workflowId,
          args: [start],
          // Far less than the day that an idle session lives.
          workflowExecutionTimeout: '20s',
        })
      const first = await judge('judged-once', { goal: 'Is it valid?' })
      expect(await judge('judged-once', { goal: 'Is it valid?' })).toEqual(first)
      expect(await judge('judged-once', { goal: 'Another one?' })).toEqual(first)
      expect(await world.records('judged-once')).toSatisfy(
        (records: readonly SessionRecord[]) =>
          records.flatMap(({ facts }) => facts).filter(({ type }) => type === 'model-started').length === 1,
      )
      const narrow = { goal: 'Is it?', outputSchema: VERDICT }
      const failed = await judge('failed-once', narrow).catch((cause: unknown) => cause)
      const again = await judge('failed-once', narrow).catch((cause: unknown) => cause)
      const typeOf = (cause: unknown): unknown => ((cause as Error).cause as ApplicationFailure | undefined)?.type
      expect([typeOf(failed), typeOf(again)]).toEqual(['invalid_output', 'invalid_output'])
    })
  })

  test.each([
    [{ agent: 'nobody', goal: 'x' }, 'invalid_agent', 'nobody'],
    [{ goal: 'x', tools: ['subtract'] }, 'invalid_agent', 'subtract'],
    [{ goal: '' }, 'invalid_goal', 'goal must be a non-empty string'],
    [{ goal: 'x', limits: { hours: 3 } }, 'invalid_agent', 'hours'],
    [{ goal: 'x', outputschema: VERDICT }, 'invalid_goal', 'no field "outputschema"; did you mean "outputSchema"?'],
    [{ Goal: 'x', Agent: 'tested' }, 'invalid_goal', 'no field "Goal"; did you mean "goal"?'],
    [{ goal: 'x', deadline: 3 }, 'invalid_goal', 'no field "deadline"'],
    [{ goal: 'x', agent: 7 }, 'invalid_goal', 'agent must be the name of an agent'],
    [{ goal: 'x', principal: 7 }, 'invalid_goal', 'principal must be { "id": text }'],
    [{ goal: 'x', principal: 'ann' }, 'invalid_goal', 'principal must be { "id": text }'],
    [['x'], 'invalid_goal', 'its argument is not an object'],
  ])('%j fails with %s', async (start, type, words) => {
    await withWorld({ steps: [], tools: [add] }, async (world) => {
      const options = { taskQueue: world.taskQueue, workflowId: randomUUID(), args: [start] }
      const failed: unknown = await world.client.workflow
        .execute(GOAL_WORKFLOW, options)
        .catch((cause: unknown) => cause)
      const cause = failed instanceof Error ? failed.cause : undefined
      expect(cause).toBeInstanceOf(ApplicationFailure)
      expect(cause).toMatchObject({ type })
      expect((cause as Error).message).toContain(words)
    })
  })

  test('waits for a person to approve, and continues with the decision', async () => {
    const pay = tool({
      name: 'pay',
      description: 'pays',
      input: { type: 'object' },
      approval: true,
      execute: () => 'paid',
    })
    const steps = [{ calls: [{ name: 'pay', arguments: '{}' }] }, verdict]
    await withWorld({ steps, tools: [pay] }, async (world) => {
      const id = randomUUID()
      const args = [{ goal: 'Pay it', outputSchema: VERDICT }]
      const started = await world.client.workflow.start(GOAL_WORKFLOW, {
        taskQueue: world.taskQueue,
        workflowId: id,
        args,
      })
      await until(async () => (await world.records(id)).length > 0)
      const session = await world.host.session(id)
      await until(async () => (await session.approvals()).length > 0)
      const [asked] = await session.approvals()
      await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
      expect(await started.result()).toMatchObject({ output: { valid: true } })
    })
  })
})

describe.skipIf(!server)('a tool that is a custom activity', () => {
  test.each([
    ['gives its value', 'count', { words: 2 }, 'ok'],
    ['fails with its message', 'break', undefined, 'error'],
  ])('%s', async (_, type, value, settled) => {
    const own = temporalTool({
      name: 'own',
      description: 'counts words',
      input: { type: 'object', properties: { text: { type: 'string' } } } as const,
      effect: 'pure',
      runs: 'activity',
      type,
    })
    const activities = {
      count: async ({ text }: { text: string }, { callId }: { callId: string }) =>
        callId.startsWith('call_') ? { words: text.split(' ').length } : {},
      break: async () => {
        throw ApplicationFailure.nonRetryable('it is broken')
      },
    }
    const steps = [{ calls: [{ name: 'own', arguments: '{"text":"two words"}' }] }, { text: 'done' }]
    await withWorld({ steps, tools: [own], worker: { activities } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await session.send('go').answer
      const [settlement] = await settlements(world, session.id)
      expect(settlement).toMatchObject({ type: settled, ...(value && { value }) })
    })
  })
})
