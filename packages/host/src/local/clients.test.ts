// Client tools by handlers in the same program: attached, throwing, slow, detached, and attached again after a store failure.
import { tool } from '@baton/core'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import type { TestWorldInit } from './test-world.ts'
import { act, callsOf, createTestWorld, noUnhandledRejections, never, resultsTold } from './test-world.ts'

afterEach(noUnhandledRejections())

const clientTool = (name: string, effect: 'pure' | 'once' = 'pure') =>
  tool({ name, description: name, input: { type: 'object' }, effect })

const world = (more: Partial<TestWorldInit> = {}) =>
  createTestWorld({ tools: [clientTool('look')], steps: [callsOf('look'), { text: 'done' }], ...more })

test.each<[string, () => unknown, boolean, string]>([
  ['a value', () => ({ seen: 1 }), false, '{"seen":1}'],
  ['text', () => 'plain', false, 'plain'],
  ['nothing', (): unknown => undefined, false, 'null'],
  ['content', () => ({ content: [{ type: 'text', text: 'part' }] }), false, 'part'],
  ['a function', (): unknown => () => {}, true, 'Error: the result is a function, which is not JSON'],
  [
    'a throw',
    () => {
      throw new Error('no camera')
    },
    true,
    'Error: no camera',
  ],
  ['a throw of nothing', (): unknown => Promise.reject(), true, 'Error: unknown'],
])('a handler that gives %s answers its call', async (_, look, isError, text) => {
  const { time, model, open } = world()
  const session = await open()
  await session.attach({ look })
  await time.until(session.send('go').answer)
  expect(resultsTold(model)).toEqual([{ isError, text }])
})

test('a handler that hangs settles at the deadline of its call', async () => {
  const { time, model, open } = world()
  const session = await open()
  await session.attach({ look: never })
  await time.until(session.send('go').answer)
  expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout')
})

test('without a client the call waits for one, and the one that comes gets it', async () => {
  const { time, model, open } = world()
  const session = await open()
  const turn = session.send('go')
  await time.pass(60_000)
  expect(session.phase).toBe('calling')
  await session.attach({ look: () => 'here I am' })
  await time.until(turn.answer)
  expect(resultsTold(model)[0]?.text).toBe('here I am')
})

test('a client that is attached while its session is closed does not stay', async () => {
  const { time, facts, open } = world()
  const session = await open()
  const attaching = session.attach({ look: () => 'never asked' })
  const closing = session.close()
  await expect(attaching).rejects.toMatchObject({ code: 'session_closed' })
  await closing
  expect(await facts('client-attached')).toHaveLength(1)
  expect(await facts('client-detached')).toHaveLength(1)
  await time.pass(60_000) // nobody holds the session any more
  expect(time.pending()).toBe(0)
})

test('a call without a handler is answered by hand; a second result is logged only', async () => {
  const { time, model, facts, open } = world()
  const session = await open()
  const client = await session.attach()
  const turn = session.send('go')
  await time.settle()
  expect(session.openCall('call_id2_1_0')).toMatchObject({ callId: 'call_id2_1_0', name: 'look', arguments: '{}' })
  const outcome = { type: 'ok', content: [{ type: 'text', text: 'by hand' }] } as const
  await client.toolResult('call_id2_1_0', outcome)
  await client.toolResult('call_id2_1_0', { type: 'ok', content: [{ type: 'text', text: 'once more' }] })
  await time.until(turn.answer)
  expect(resultsTold(model)[0]?.text).toBe('by hand')
  expect(await facts('result-ignored')).toMatchObject([{ reason: 'duplicate', preview: 'once more' }])
})

test('a handler named like a part of every object is not called by mistake', async () => {
  const { time, model, open } = world({
    tools: [clientTool('toString')],
    steps: [callsOf('toString'), { text: 'done' }],
  })
  const session = await open()
  await session.attach({})
  await time.until(session.send('go').answer)
  expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout')
})

test('of two clients the newer one gets the call, and a result of the other is foreign', async () => {
  const { time, model, facts, host, open } = world()
  const session = await open()
  const older = await session.attach({ look: () => 'older' })
  const second = await host.session('tested')
  await second.attach({
    look: async () => {
      await older.toolResult('call_id2_1_0', { type: 'ok', content: [{ type: 'text', text: 'forged' }] })
      return 'newer'
    },
  })
  await time.until(session.send('go').answer)
  expect(resultsTold(model)[0]?.text).toBe('newer')
  expect(await facts('result-ignored')).toMatchObject([{ reason: 'foreign' }])
})

test('a client that detaches in mid-call leaves a pure call to the next one', async () => {
  const { time, model, open } = world()
  const session = await open()
  const client = await session.attach({ look: never })
  const turn = session.send('go')
  await time.settle()
  await client.detach()
  await client.detach()
  await time.settle()
  await session.attach({ look: () => 'the next one' })
  await time.until(turn.answer)
  expect(resultsTold(model)[0]?.text).toBe('the next one')
})

test('a client that detaches while it runs a once call leaves it unknown, and nobody runs it again', async () => {
  const { time, model, open } = world({ tools: [clientTool('look', 'once')] })
  const session = await open()
  const client = await session.attach({ look: never })
  const turn = session.send('go')
  await time.settle()
  await client.detach()
  let again = 0
  await session.attach({ look: () => (again += 1) })
  await time.until(turn.answer)
  expect(again).toBe(0)
  expect(resultsTold(model)[0]?.text).toBe('Error: tool_result_timeout (it may have run)')
})

test('closing a handle detaches its clients and ends its readings; the session lives on', async () => {
  const { time, open } = world({ steps: [{ text: 'one' }, { text: 'two' }] })
  const session = await open()
  const other = await open()
  await session.attach({})
  const waiting = session.frames()[Symbol.asyncIterator]()
  const next = waiting.next()
  await session.close()
  await session.close()
  expect(await next).toEqual({ done: true, value: undefined })
  await expect(session.send('hello?').answer).rejects.toMatchObject({ code: 'session_closed' })
  await expect(session.attach()).rejects.toMatchObject({ code: 'session_closed' })
  await expect(session.interrupt()).rejects.toMatchObject({ code: 'session_closed' })
  expect(await session.submit({ type: 'pause' })).toMatchObject({ code: 'session_closed' })
  expect(await session.frames()[Symbol.asyncIterator]().next()).toEqual({ done: true, value: undefined })
  expect((await time.until(other.send('hello').answer)).text).toBe('one')
})

test('a client stays attached when its session is opened again after a store failure', async () => {
  const run = world({
    tools: [clientTool('look'), act(() => 'server')],
    steps: [callsOf('look'), { text: 'one' }, callsOf('look'), { text: 'two' }],
  })
  const session = await run.open()
  await session.attach({ look: () => 'here' })
  await run.time.until(session.send('go').answer)
  const { append } = run.store
  Object.assign(run.store, { append: () => Promise.reject(new Error('disk full')) })
  await expect(run.time.until(session.send('lost').answer)).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(run.store, { append })
  expect((await run.time.until(session.send('again').answer)).text).toBe('two')
  expect(resultsTold(run.model)[0]?.text).toBe('here')
})

test('a program that has handlers for other tools takes no call away', async () => {
  const { time, model, open } = world()
  const session = await open()
  await session.attach({ look: () => 'seen' })
  await session.attach({ other: () => 'never asked' })
  expect(await session.toolResult('call_id2_9_9', { type: 'ok', content: [] })).toMatchObject({ code: 'illegal_input' })
  await time.until(session.send('go').answer)
  expect(resultsTold(model)[0]?.text).toBe('seen')
})

test('clients that were detached and readings that ended are not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // that is what the flag gives
  const session = await world().open()
  const gone: WeakRef<object>[] = []
  for (let index = 0; index < 10; index++) {
    const client = await session.attach({})
    const frames = session.frames({ pos: 0 })
    gone.push(new WeakRef(client), new WeakRef(frames))
    await client.detach()
    for await (const frame of frames) if (frame.type === 'fact') break
  }
  await new Promise((resolve) => void setImmediate(resolve)) // what was looked at in this task is held to its end
  collectGarbage()
  const kept = gone.slice(0, -2).filter((each) => each.deref() !== undefined)
  expect(kept).toEqual([])
})
