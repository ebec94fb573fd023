// Long calls as tasks of 2025-11-25; those of 2026-07-28 are in strangers.test.ts.
import { tool } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Served } from './mcp-client.test-kit.ts'
import { serveTools } from './mcp-client.test-kit.ts'
import type { LiveCall } from './live-call.ts'
import type { McpServerLimits } from './options.ts'
import { Tasks } from './tasks.ts'

const Task = z.looseObject({ taskId: z.string(), status: z.string(), ttl: z.number() })
const CreateTask = z.looseObject({ task: Task })
const Result = z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) })
const TaskList = z.looseObject({ tasks: z.array(Task) })

let served: Served | undefined
afterEach(() => served?.end())

const bake = tool({
  name: 'bake',
  description: 'Bakes.',
  input: z.object({}),
  timeoutMs: 120_000,
  execute: async (_, { ask }) => {
    const { sweet } = await ask({ message: 'Sweet?', schema: z.object({ sweet: z.boolean() }) })
    return sweet ? 'a sweet cake' : 'a pie'
  },
})
const quick = tool({ name: 'quick', description: 'Is quick.', input: z.object({}), execute: () => 'done' })

test('a client of 2025-11-25 begins a task, is asked while it waits for the result, and sees it in its list', async () => {
  served = serveTools([bake, quick], { limits: { taskMs: 60_000 } })
  const client = await served.connect('2025-11-25', {
    elicit: () => ({ action: 'accept', content: { sweet: true } }),
  })
  const { tools } = await client.listTools()
  expect(tools.map(({ execution }) => execution?.taskSupport)).toEqual(['optional', undefined])
  const params = { name: 'bake', arguments: {}, task: { ttl: 999_999_999 } }
  const { task } = await client.request({ method: 'tools/call', params }, CreateTask)
  expect(task).toMatchObject({ status: 'working', ttl: 60_000 })
  const { taskId } = task
  const result = await client.request({ method: 'tasks/result', params: { taskId } }, Result)
  expect(result.content[0]?.text).toBe('a sweet cake')
  expect(result._meta).toMatchObject({ 'io.modelcontextprotocol/related-task': { taskId } })
  const { tasks } = await client.request({ method: 'tasks/list', params: {} }, TaskList)
  expect(tasks.map(({ status }) => status)).toEqual(['completed'])
  const again = client.request({ method: 'tasks/cancel', params: { taskId } }, Task)
  await expect(again).rejects.toThrow('the task is already completed')
  const wrong = client.request({ method: 'tools/call', params: { ...params, name: 'quick' } }, CreateTask)
  await expect(wrong).rejects.toThrow('"quick" cannot run as a task')
})

test('a cancelled task of 2025-11-25 has no result', async () => {
  served = serveTools([bake])
  const client = await served.connect('2025-11-25', { elicit: () => new Promise(() => {}) })
  const params = { name: 'bake', arguments: {}, task: {} }
  const { task } = await client.request({ method: 'tools/call', params }, CreateTask)
  const { taskId } = task
  const waiting = client.request({ method: 'tasks/result', params: { taskId } }, Result)
  expect(await client.request({ method: 'tasks/cancel', params: { taskId } }, Task)).toMatchObject({
    status: 'cancelled',
  })
  expect((await waiting).content[0]?.text).toBe('cancelled: the task was cancelled')
})

test('calls that cannot begin are no tasks: the next one that can begins', async () => {
  const timers = { start: () => () => {} }
  const tasks = new Tasks({ tasksPerPrincipal: 2, tasks: 3, taskMs: 60_000 } as McpServerLimits, timers) // the limits of tasks
  for (let tries = 0; tries < 5; tries += 1)
    await expect(tasks.create('ann', () => Promise.reject(new Error('the store is away')))).rejects.toThrow('away')
  const live = { cancel: () => {}, waiting: [] } as Partial<LiveCall> as LiveCall // a call that runs
  for (const owner of ['ann', 'ann', 'bob'])
    expect((await tasks.create(owner, () => Promise.resolve(live))).owner).toBe(owner)
  await expect(tasks.create('ann', () => Promise.resolve(live))).rejects.toMatchObject({ code: 'rate_limited' })
})
