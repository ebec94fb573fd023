// Clients of a local session: attached again after a store failure, and not kept once they are detached.
import { tool } from '@baton/core'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import type { TestWorldInit } from './test-world.ts'
import { act, listCalls, createTestWorld, noUnhandledRejections, resultsTold } from './test-world.ts'

afterEach(noUnhandledRejections())

const clientTool = (name: string) => tool({ name, description: name, input: { type: 'object' }, effect: 'pure' })

const world = (more: Partial<TestWorldInit> = {}) =>
  createTestWorld({ tools: [clientTool('look')], steps: [listCalls('look'), { text: 'done' }], ...more })

test('a client stays attached when its session is opened again after a store failure', async () => {
  const run = world({
    tools: [clientTool('look'), act(() => 'server')],
    steps: [listCalls('look'), { text: 'one' }, listCalls('look'), { text: 'two' }],
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
