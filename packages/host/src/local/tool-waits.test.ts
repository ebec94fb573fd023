// Waits of a running tool: before it is tried again, by its own clock, and for a person.
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import { act, createTestWorld, listCalls, noUnhandledRejections, resultsTold } from './test-world.test-kit.ts'

noUnhandledRejections()

test('the waits between tries are 500 ms, 1 s, 2 s and so on up to 10 s', async () => {
  const triedMs: number[] = []
  const fails = (): never => {
    triedMs.push(world.time.nowMs())
    throw new Error('busy')
  }
  const tools = [act(fails, { retry: { attempts: 8 }, timeoutMs: 600_000 })]
  const world = createTestWorld({ tools, steps: [listCalls('act'), { text: 'done' }] })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  const waits = triedMs.slice(1).map((ms, at) => ms - (triedMs[at] ?? 0))
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000])
})

test('two tools of one step that ask at the same time each get their own answer', async () => {
  const tools = ['one', 'two'].map((name) =>
    tool({
      name,
      description: name,
      input: { type: 'object' },
      execute: async (_, { ask }) => {
        const schema = { type: 'object', properties: { seats: { type: 'number' } } } as const
        return `${name}: ${JSON.stringify(await ask({ message: name, schema }))}`
      },
    }),
  )
  const world = createTestWorld({ tools, steps: [listCalls('one', 'two'), { text: 'done' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const asked = await session.questions()
  expect(asked.map(({ message }) => message)).toEqual(['one', 'two'])
  for (const [index, { questionId }] of asked.entries())
    await world.time.until(session.answer({ questionId, value: { seats: index + 1 } }))
  expect((await world.time.until(turn.answer)).text).toBe('done')
  expect(resultsTold(world.model).map(({ text }) => text)).toEqual(['one: {"seats":1}', 'two: {"seats":2}'])
})
