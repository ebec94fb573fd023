// Calls in the background over a real Temporal service: what only workflows can do to a task. The situations of every host are in
// the host contract.
import type { Session, ToolContext } from '@baton/core'
import { delegate, defineAgent, tool } from '@baton/core'
import type { ModelRequest } from '@baton/core/internal'
import type { Fact, FactOf, FactType } from '@baton/core/machine'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { GoalResult } from './index.ts'
import { GOAL_WORKFLOW, temporalTool } from './index.ts'
import { playInWorld, until } from './temporal-world.test-kit.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'

const program = findTemporal('calls in the background over Temporal', (message) => console.warn(message))
const server: TemporalServer | undefined = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const EMPTY = { type: 'object', properties: {} } as const

function readLast({ messages }: ModelRequest): string {
  const last = messages.at(-1)
  return JSON.stringify(last?.role === 'tool' ? last.parts.map(({ content }) => content) : last?.parts)
}

/** Begins the export when it is told "go", and answers everything else. It has no state. */
function exports(args: object = {}): (request: ModelRequest) => ScriptedStep {
  return (request) => {
    const text = readLast(request)
    if (text.includes('[Task]')) return { text: `Told: ${text}` }
    if (text.includes('runs in the background')) return { text: 'It runs.' }
    return text.includes('"go"') ? { calls: [{ name: 'export', arguments: args }] } : { text: 'Fine.' }
  }
}

/** An export that ends when the test says so, and hears when it is told to stop. */
function createExport(more: object = {}) {
  const started: string[] = []
  const stopped: string[] = []
  let finish: (text: string) => void = () => {}
  const run = (_: unknown, { idempotencyKey, signal }: ToolContext): Promise<string> => {
    started.push(idempotencyKey)
    return new Promise((resolve, reject) => {
      finish = resolve
      signal.addEventListener('abort', () => {
        stopped.push(idempotencyKey)
        reject(new Error('it was told to stop'))
      })
    })
  }
  const made = tool({
    name: 'export',
    description: 'exports',
    input: EMPTY,
    effect: 'once',
    background: true,
    timeoutMs: 3_600_000,
    execute: run,
    ...more,
  })
  return { started, stopped, finish: (text: string) => finish(text), tool: made }
}

async function factsOf<Type extends FactType>(
  world: TemporalWorld,
  session: string,
  type: Type,
): Promise<readonly FactOf<Type>[]> {
  const facts = (await world.records(session)).flatMap((record) => record.facts)
  return facts.filter((fact: Fact): fact is FactOf<Type> => fact.type === type)
}

async function answersOf(world: TemporalWorld, session: string): Promise<readonly string[]> {
  return (await factsOf(world, session, 'turn-finished')).map(({ text }) => text)
}

async function wakesOf(world: TemporalWorld, session: string): Promise<number> {
  return (await factsOf(world, session, 'input-accepted')).filter(({ inputId }) => inputId.startsWith('baton.task.'))
    .length
}

const hasEnded = (world: TemporalWorld, session: string): Promise<boolean> =>
  factsOf(world, session, 'task-settled').then(({ length }) => length > 0)

async function statusOf(world: TemporalWorld, workflow: string): Promise<string> {
  const described = await world
    .handle(workflow)
    .describe()
    .catch(() => undefined)
  return described?.status.name ?? 'GONE'
}

/** Begins the task. Returns the id of its workflow. */
async function begin(session: Session, { started }: { readonly started: readonly string[] }): Promise<string> {
  expect((await session.send('go', { inputId: 'one' }).answer).text).toBe('It runs.')
  await until(() => started.length === 1)
  const [task] = await session.tasks()
  return `baton.task.${session.id}/${task?.callId}/1`
}

async function countRuns(world: TemporalWorld, session: string): Promise<number> {
  let runs = 0
  for await (const _ of world.client.workflow.list({ query: `WorkflowId = "${session}"` })) runs += 1
  return runs
}

describe.skipIf(!server)('a task over Temporal', () => {
  test('is a workflow of its own, whose end wakes the session', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      expect(await statusOf(world, workflow)).toBe('RUNNING')
      expect(await session.tasks()).toMatchObject([{ name: 'export', status: 'running', task: 'running' }])
      expect((await session.info()).activity).toBe('idle')
      job.finish('file 7')
      await until(async () => (await answersOf(world, session.id)).length === 2)
      expect((await answersOf(world, session.id))[1]).toContain('file 7')
      await until(async () => (await statusOf(world, workflow)) === 'COMPLETED')
      expect([job.started.length, await wakesOf(world, session.id)]).toEqual([1, 1])
    })
  })

  test('runs on while its session continues as new, again and again', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool], host: { updatesMax: 3 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await begin(session, job)
      for (let turn = 0; turn < 8; turn++) expect((await session.send('and?').answer).text).toBe('Fine.')
      await until(async () => (await countRuns(world, session.id)) > 2)
      expect(await session.tasks()).toMatchObject([{ status: 'running' }])
      job.finish('file 7')
      await until(async () => (await wakesOf(world, session.id)) === 1)
      await until(async () => (await answersOf(world, session.id)).length === 10)
      expect((await answersOf(world, session.id)).at(-1)).toContain('file 7')
      expect([job.started.length, job.stopped.length]).toEqual([1, 0])
    })
  })

  test('keeps its workflow from completing, and lets it complete after its end', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool], host: { idleMs: 300 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await begin(session, job)
      // The same time is enough for a session without a task.
      const other = await world.host.session(randomUUID())
      await other.send('hello').answer
      await until(async () => (await statusOf(world, other.id)) === 'COMPLETED')
      expect(await statusOf(world, session.id)).toBe('RUNNING')
      await session.close()
      job.finish('file 7')
      await until(async () => (await statusOf(world, session.id)) === 'COMPLETED')
      expect(await answersOf(world, session.id)).toHaveLength(2)
    })
  })

  test.each(['once', 'idempotent'] as const)('of a tool that is %s, when its worker is replaced', async (effect) => {
    const job = createExport({ effect })
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await begin(session, job)
      await world.replaceWorker()
      if (effect === 'idempotent') {
        await until(() => job.started.length === 2)
        job.finish('file 7')
      }
      await until(async () => (await answersOf(world, session.id)).length === 2)
      const ends = await factsOf(world, session.id, 'task-settled')
      expect(ends.map(({ settlement }) => settlement.type)).toEqual([effect === 'once' ? 'unknown' : 'ok'])
      expect([job.started.length, new Set(job.started).size]).toEqual([effect === 'once' ? 1 : 2, 1])
      expect(await wakesOf(world, session.id)).toBe(1)
    })
  })

  test('is cancelled by a person: its tool is told to stop', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      const [task] = await session.tasks()
      await session.cancel(task?.callId ?? '')
      expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
      await until(() => job.stopped.length === 1)
      await until(async () => (await statusOf(world, workflow)) !== 'RUNNING')
      await expect(session.cancel(task?.callId ?? '')).rejects.toMatchObject({ code: 'call_over' })
    })
  })

  test('stays with the original when the session is copied', async () => {
    const job = createExport({ effect: 'pure' })
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      await begin(session, job)
      const copy = await world.host.session(await session.fork())
      expect((await copy.send('and?').answer).text).toBe('Fine.')
      expect(await copy.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
      expect(JSON.stringify(world.model.requests.at(-1))).toContain('goes on in the original conversation')
      expect(await session.tasks()).toMatchObject([{ status: 'running' }])
      expect([job.started.length, job.stopped.length]).toEqual([1, 0])
    })
  })

  test('is cancelled by a person after its session has continued as new', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool], host: { updatesMax: 3 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      await begin(session, job)
      for (let turn = 0; turn < 4; turn++) await session.send('and?').answer
      await until(async () => (await countRuns(world, session.id)) > 1)
      const [task] = await session.tasks()
      await session.cancel(task?.callId ?? '')
      await until(() => job.stopped.length === 1)
      expect(await session.tasks()).toMatchObject([{ status: 'settled', result: { type: 'unknown' } }])
    })
  })

  test('goes with its removed session, and leaves nothing', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      await (world.host as unknown as { remove(id: string): Promise<void> }).remove(session.id)
      await until(() => job.stopped.length === 1)
      await until(async () => (await statusOf(world, workflow)) === 'GONE')
      expect(await world.records(session.id)).toEqual([])
    })
  })

  test('ends with a cancelled workflow, which completes without waiting for it', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      await world.handle(session.id).cancel()
      await until(async () => (await statusOf(world, session.id)) === 'CANCELLED')
      await until(() => job.stopped.length === 1)
      await until(async () => (await statusOf(world, workflow)) !== 'RUNNING')
      expect(await factsOf(world, session.id, 'task-settled')).toMatchObject([{ settlement: { reason: 'stop' } }])
    })
  })

  test('no session has the name of its workflow', async () => {
    await withWorld({ steps: exports() }, async (world) => {
      const name = 'baton.task.kitchen/call_1/1'
      await expect(world.host.session(name)).rejects.toMatchObject({ code: 'illegal_input' })
    })
  })
})

describe.skipIf(!server)('what an operator terminates', () => {
  test.each(['once', 'idempotent'] as const)('the session of a task that is %s', async (effect) => {
    const job = createExport({ effect })
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      await world.handle(session.id).terminate()
      await session.close()
      const again = await world.host.session(session.id)
      // The first run counts as lost, as after a crash, and must stop.
      await until(() => job.stopped.length === 1)
      await until(async () => (await statusOf(world, workflow)) !== 'RUNNING')
      if (effect === 'idempotent') {
        await until(() => job.started.length === 2)
        job.finish('file 7')
      }
      await until(async () => (await answersOf(world, again.id)).length === 2)
      const ends = await factsOf(world, again.id, 'task-settled')
      expect(ends.map(({ settlement }) => settlement.type)).toEqual([effect === 'once' ? 'unknown' : 'ok'])
      expect(await wakesOf(world, again.id)).toBe(1)
    })
  })

  test('the workflow of a task: its session hears of it from the service', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      await world.handle(workflow).terminate()
      await until(() => hasEnded(world, session.id))
      expect(await factsOf(world, session.id, 'task-settled')).toMatchObject([{ settlement: { type: 'unknown' } }])
    })
  })

  test('the same after the session has continued as new: the next run asks', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool], host: { updatesMax: 3 } }, async (world) => {
      const session = await world.host.session(randomUUID())
      const workflow = await begin(session, job)
      for (let turn = 0; turn < 4; turn++) await session.send('and?').answer
      await until(async () => (await countRuns(world, session.id)) > 1)
      await world.handle(workflow).terminate()
      for (let turn = 0; turn < 4; turn++) await session.send('and?').answer
      await until(() => hasEnded(world, session.id))
      expect(await factsOf(world, session.id, 'task-settled')).toMatchObject([{ settlement: { type: 'unknown' } }])
      expect(await wakesOf(world, session.id)).toBe(1)
    })
  })
})

describe.skipIf(!server)('a goal with tasks', () => {
  const execute = async (world: TemporalWorld): Promise<GoalResult> => {
    const options = { taskQueue: world.taskQueue, workflowId: randomUUID(), args: [{ goal: 'go' }] }
    return (await world.client.workflow.execute(GOAL_WORKFLOW, options)) as GoalResult
  }

  test('ends when they have ended and woken: its verdict is the last one', async () => {
    const job = createExport()
    await withWorld({ steps: exports(), tools: [job.tool] }, async (world) => {
      const judged = execute(world)
      await until(() => job.started.length === 1)
      job.finish('file 7')
      const { text, calls, stop } = await judged
      expect(stop).toBe('end')
      expect(text).toContain('file 7')
      expect(calls).toMatchObject([{ name: 'export', result: { type: 'ok', content: [{ text: 'file 7' }] } }])
    })
  })

  test('ends when tasks may begin no more turns, with the verdict that it has', async () => {
    const job = createExport()
    const world = { steps: exports(), tools: [job.tool], limits: { wakes: 0 } }
    await withWorld(world, async (played) => {
      const judged = execute(played)
      await until(() => job.started.length === 1)
      job.finish('file 7')
      expect((await judged).text).toBe('It runs.')
    })
  })

  test('waits for an agent in the background, which is asked for an approval meanwhile', async () => {
    const pay = tool({
      name: 'pay',
      description: 'pays',
      input: EMPTY,
      effect: 'once',
      approval: true,
      execute: () => 'paid',
    })
    const payer = defineAgent({
      name: 'export',
      model: createScriptedModel({
        steps: ({ messages }) =>
          messages.at(-1)?.role === 'tool' ? { text: 'It is paid.' } : { calls: [{ name: 'pay', arguments: {} }] },
      }),
      tools: [pay],
    })
    const tools = [delegate({ agent: payer, description: 'Pays', background: true })]
    await withWorld({ steps: exports({ task: 'Pay.' }), tools }, async (world) => {
      const workflowId = randomUUID()
      const options = { taskQueue: world.taskQueue, workflowId, args: [{ goal: 'go' }] }
      const judged = world.client.workflow.execute(GOAL_WORKFLOW, options)
      await until(async () => (await answersOf(world, workflowId)).length === 1)
      const session = await world.host.session(workflowId)
      await until(async () => (await session.approvals()).length === 1)
      const [asked] = await session.approvals()
      await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
      expect(((await judged) as GoalResult).text).toContain('It is paid.')
    })
  })
})

test.skipIf(!server)(
  'an activity of another worker runs in the background, without the argument that chose so',
  async () => {
    const got: unknown[] = []
    const lookup = temporalTool({
      name: 'export',
      description: 'exports',
      input: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false } as const,
      effect: 'once',
      background: 'model',
      runs: 'activity',
      type: 'Export',
    })
    const activities = { Export: async (input: unknown) => `file ${got.push(input)}` } as never
    const steps = exports({ n: 1, run_in_background: true })
    await withWorld({ steps, tools: [lookup], worker: { activities } }, async (world) => {
      const session = await world.host.session(randomUUID())
      expect((await session.send('go').answer).text).toBe('It runs.')
      await until(async () => (await answersOf(world, session.id)).length === 2)
      expect((await answersOf(world, session.id))[1]).toContain('file 1')
      expect(got).toEqual([{ n: 1 }])
    })
  },
)

test.skipIf(!server)('a tool that an interrupt sends to the background is not started again', async () => {
  const job = createExport({ background: false, onInterrupt: 'background' })
  await withWorld({ steps: exports(), tools: [job.tool], host: { updatesMax: 3 } }, async (world) => {
    const session = await world.host.session(randomUUID())
    session.send('go').answer.catch(() => {})
    await until(() => job.started.length === 1)
    await session.interrupt()
    for (let turn = 0; turn < 4; turn++) await session.send('and?').answer
    expect(await session.tasks()).toMatchObject([{ status: 'running' }])
    job.finish('file 7')
    await until(async () => (await wakesOf(world, session.id)) === 1)
    expect([job.started.length, job.stopped.length]).toEqual([1, 0])
  })
})
