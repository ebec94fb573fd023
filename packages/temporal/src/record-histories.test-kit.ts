// Records the histories that `replay.process.test.ts` replays, over a real service, into packages/temporal/histories.
// Existing ones are not changed: histories of a published version must remain replayable. To add one, add its situation
// and run
// node --conditions=@baton/source packages/temporal/src/record-histories.test-kit.ts VERSION
import { frontOf } from '@baton/core/internal'
import type { Session } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { nameTask } from './task-workflow.ts'
import { GOAL_WORKFLOW, SEARCH_ATTRIBUTES } from './index.ts'
import { Submitter } from './submitter.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'
import { createTemporalWorld, until } from './temporal-world.test-kit.ts'

interface Situation {
  readonly name: string
  readonly init: TemporalWorldOptions
  readonly play: (world: TemporalWorld, id: string) => Promise<void>
}

const add = tool({
  name: 'add',
  description: 'adds',
  input: { type: 'object' },
  effect: 'pure',
  execute: () => ({ sum: 3 }),
})
const look = tool({ name: 'look', description: 'looks', input: { type: 'object' } as const })
const endless = tool({
  name: 'endless',
  description: 'ends when it is told to',
  input: { type: 'object' },
  execute: (_, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
})
const order = tool({
  name: 'order',
  description: 'orders',
  input: { type: 'object' },
  effect: 'once',
  approval: true,
  execute: () => 'ordered',
})
/** A task that runs until the situation opens its gate. */
function createGate() {
  let opened = Promise.withResolvers<void>()
  return {
    wait: () => opened.promise,
    open: () => {
      opened.resolve()
      opened = Promise.withResolvers()
    },
  }
}
const gate = createGate()
const gated = tool({
  name: 'gated',
  description: 'waits',
  input: { type: 'object' },
  effect: 'once',
  background: true,
  execute: async () => {
    await gate.wait()
    return 'through'
  },
})
/** Its tool needs an approval, which people give at the calling session. */
const clerk = () =>
  defineAgent({
    name: 'clerk',
    model: createScriptedModel({
      steps: ({ messages }) => (messages.at(-1)?.role === 'tool' ? { text: 'It is ordered.' } : call('order')),
    }),
    tools: [order],
  })
const call = (name: string): { readonly calls: readonly { readonly name: string; readonly arguments: string }[] } => ({
  calls: [{ name, arguments: '{}' }],
})

async function approve(session: Session): Promise<void> {
  await until(async () => (await session.approvals()).length > 0)
  const [approval] = await session.approvals()
  await session.decide({ approvalId: approval?.approvalId ?? '', decision: 'approve' })
}

const SITUATIONS: readonly Situation[] = [
  {
    name: 'tools',
    init: {
      steps: [{ calls: [...call('add').calls, ...call('look').calls] }, { text: 'seen' }, { text: 'more' }],
      tools: [add, look],
      host: { idleMs: 300 },
    },
    play: async ({ host }, id) => {
      const session = await host.session(id)
      await session.attach({ look: () => 'a tree' } as never)
      await session.send('look').answer
      await session.send('and more').answer
      await session.close()
    },
  },
  {
    name: 'runs',
    init: { steps: (_, index) => ({ text: `answer ${index}` }), host: { updatesMax: 3 } },
    play: async ({ host, handle }, id) => {
      const session = await host.session(id)
      for (let turn = 0; turn < 4; turn++) await session.send(`question ${turn}`).answer
      await handle(id).cancel()
    },
  },
  {
    name: 'cancelled',
    init: { steps: [call('endless')], tools: [endless] },
    play: async ({ host, handle }, id) => {
      const session = await host.session(id)
      session.send('go').answer.catch(() => {})
      await until(() => frontOf(session).phase === 'calling')
      await handle(id).cancel()
    },
  },
  {
    name: 'terminated-and-on',
    init: { steps: [call('endless'), { text: 'it is not known' }], tools: [endless], host: { idleMs: 300 } },
    play: async ({ host, handle }, id) => {
      const first = await host.session(id)
      first.send('go', { inputId: 'one' }).answer.catch(() => {})
      await until(() => frontOf(first).phase === 'calling')
      await handle(id).terminate()
      await first.close()
      const again = await host.session(id)
      await again.turn('one').answer
      await again.close()
    },
  },
  {
    name: 'listed',
    init: { steps: (_, index) => ({ text: `answer ${index}` }), host: { updatesMax: 3, idleMs: 300 } },
    play: async ({ host }, id) => {
      const session = await host.session(id, { principal: { id: 'ann' }, description: { title: 'A trip' } })
      for (let turn = 0; turn < 4; turn++) await session.send(`question ${turn}`).answer
      await session.describe({ title: 'Another trip' })
      await session.send('the last one').answer
      await session.close()
    },
  },
  {
    name: 'agent-refused',
    init: { steps: (_, index) => ({ text: `answer ${index}` }), host: { idleMs: 300 } },
    play: async ({ host, client }, id) => {
      const session = await host.session(id)
      await session.send('hello').answer
      const submitter = new Submitter({ client })
      // The first one is being decided when the others arrive.
      await Promise.allSettled([
        submitter.submit(id, { inputs: [{ type: 'describe', title: 'a title' }] }),
        submitter.submit(id, { inputs: [{ type: 'withdraw', target: 'nobody' }] }),
        submitter.submit(id, { inputs: [], agent: 'nobody' }),
      ])
      await session.send('are you there?').answer.catch(() => {}) // of an earlier version
      await session.close()
    },
  },
  {
    name: 'goal',
    init: { steps: [call('add'), { text: '{"valid":true}' }], tools: [add] },
    play: async ({ client, taskQueue }, id) => {
      const outputSchema = { type: 'object', properties: { valid: { type: 'boolean' } } }
      const args = [{ goal: 'Is it valid?', outputSchema }]
      await client.workflow.execute(GOAL_WORKFLOW, { taskQueue, workflowId: id, args })
    },
  },
  {
    name: 'goal-again',
    init: { steps: [{ text: 'It is valid.' }] },
    play: async ({ client, taskQueue }, id) => {
      const start = { taskQueue, workflowId: id, args: [{ goal: 'Is it valid?' }] }
      await client.workflow.execute(GOAL_WORKFLOW, start)
      await client.workflow.execute(GOAL_WORKFLOW, start)
    },
  },
  {
    name: 'delegating',
    init: {
      steps: [{ calls: [{ name: 'clerk', arguments: '{"task":"Order it."}' }] }, { text: 'done' }],
      tools: [delegate({ agent: clerk(), description: 'orders' })],
      host: { idleMs: 300 },
    },
    play: async ({ host }, id) => {
      const session = await host.session(id)
      const turn = session.send('go')
      await approve(session)
      await turn.answer
      await session.close()
    },
  },
  {
    name: 'delegating-runs',
    init: {
      steps: [{ calls: [{ name: 'clerk', arguments: '{"task":"Order it."}' }] }, { text: 'done' }],
      tools: [delegate({ agent: clerk(), description: 'orders' })],
      host: { idleMs: 300, updatesMax: 3 },
    },
    play: async ({ host }, id) => {
      const session = await host.session(id)
      const turn = session.send('go')
      await until(async () => (await session.approvals()).length > 0)
      for (let index = 0; index < 4; index++) await session.describe({ title: `title ${index}` })
      await approve(session)
      await turn.answer
      await session.close()
    },
  },
  ...[undefined, 3].map((updatesMax): Situation => ({
    name: updatesMax === undefined ? 'tasks' : 'tasks-runs',
    init: {
      steps: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'fine' } : call('gated')),
      tools: [gated],
      host: { idleMs: 300, ...(updatesMax !== undefined && { updatesMax }) },
    },
    play: async ({ host }, id) => {
      const session = await host.session(id)
      await session.send('go').answer
      for (let index = 0; index < 4; index++) await session.describe({ title: `title ${index}` })
      gate.open()
      await until(async () => (await session.info()).tasks.length === 0)
      await session.close()
    },
  })),
  {
    name: 'tasks-terminated',
    init: {
      steps: ({ messages }) => (messages.some(({ role }) => role === 'tool') ? { text: 'fine' } : call('gated')),
      tools: [gated],
      host: { idleMs: 300 },
    },
    play: async ({ host, handle }, id) => {
      const first = await host.session(id)
      await first.send('go').answer
      await handle(id).terminate()
      await first.close()
      const again = await host.session(id)
      await until(async () => (await again.info()).tasks.length === 0)
      await again.close()
    },
  },
]

async function record(server: TemporalServer, { name, init, play }: Situation, folder: string): Promise<void> {
  const file = join(folder, `${name}.json`)
  if (existsSync(file)) return
  const world = await createTemporalWorld(server, init)
  const id = randomUUID()
  await play(world, id)
  await until(async () => (await world.handle(id).describe()).status.name !== 'RUNNING')
  await save(server, id, file)
  for await (const { session } of world.store.children(id)) {
    await until(async () => (await world.handle(session).describe()).status.name !== 'RUNNING')
    await save(server, session, join(folder, `${name}-child.json`))
  }
  const tasks = (await world.records(id)).flatMap(({ facts }) => facts.filter(({ type }) => type === 'task-settled'))
  for (const fact of tasks) {
    const workflow = nameTask(id, { callId: 'callId' in fact ? fact.callId : '', attempt: 1 })
    await until(async () => (await world.handle(workflow).describe()).status.name !== 'RUNNING')
    await save(server, workflow, join(folder, `${name}-task.json`))
  }
  await world.close()
}

async function save(server: TemporalServer, workflow: string, file: string): Promise<void> {
  const shown = await server.command(['workflow', 'show', '--workflow-id', workflow, '--output', 'json'])
  // Removes who ran it and on which machine.
  const anonymous = shown.replaceAll(/\d+@[\w.-]+/g, 'worker').replaceAll(hostname(), 'host')
  writeFileSync(file, `${JSON.stringify(JSON.parse(anonymous))}\n`)
  process.stdout.write(`${file}\n`)
}

const program = findTemporal('histories', (message) => process.stderr.write(`${message}\n`))
const version = process.argv[2]
if (program === undefined || version === undefined) process.exit(1)
const folder = join(import.meta.dirname, '../histories', version)
mkdirSync(folder, { recursive: true })
const server = await startTemporal(program)
const names = Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--name', name, '--type', 'Keyword'])
await server.command(['operator', 'search-attribute', 'create', ...names])
for (const situation of SITUATIONS) await record(server, situation, folder)
await server.close()
process.exit(0)
