// Transient events (`call-writing`, `call-progress` and `server-tool`): a late reader gets those still being written,
// and no others.
import type { Model, ModelEvent, Session, SessionEvent } from '@baton/core'
import { expect, test } from 'vitest'
import type { ManualTime } from './test-world.test-kit.ts'
import { act, createManualTime, createTestWorld, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const PASSING = new Set(['call-writing', 'call-progress', 'server-tool'])

const WRITTEN: readonly ModelEvent[] = [
  { type: 'server-tool', name: 'web_search', status: 'started' },
  { type: 'server-tool', name: 'web_search', status: 'finished' },
  { type: 'call-start', index: 0, name: 'act' },
  { type: 'call-delta', index: 0, text: '{"a":' },
]

/** Reads the events currently available to a new reader. */
async function readNow(session: Session, time: ManualTime): Promise<readonly string[]> {
  const told: string[] = []
  const stream = session.events({ from: 'start' })
  const reading = (async () => {
    for await (const { type } of stream) if (PASSING.has(type)) told.push(type)
  })()
  await time.settle()
  stream.leave()
  await time.until(reading)
  return told
}

test('who comes later is told of a call while it is written, and of no progress and no tool of the provider', async () => {
  const time = createManualTime()
  const gates = { written: Promise.withResolvers<void>(), done: Promise.withResolvers<void>() }
  let asked = 0
  const model: Model = {
    id: 'slow',
    provider: 'slow',
    capabilities: { tools: 'native', images: false },
    run: async (_request, sink) => {
      asked += 1
      if (asked > 1) return { parts: [{ type: 'text', text: 'done' }], finish: 'end', usage: {}, model: 'slow' }
      for (const event of WRITTEN) sink(event)
      await gates.written.promise
      const parts = [{ type: 'call', name: 'act', arguments: '{"a":1}' }] as const
      return { parts, finish: 'tool-calls', usage: {}, model: 'slow' }
    },
  }
  const tool = act(async (_, { progress }) => {
    progress('half')
    await gates.done.promise
    return 'ok'
  })
  const world = createTestWorld({ time, steps: [], models: model, tools: [tool] })
  const session = await world.open()
  const live: SessionEvent[] = []
  const turn = session.send('go')
  const reading = (async () => {
    for await (const event of turn) live.push(event)
  })()
  await time.settle()
  expect(await readNow(session, time)).toEqual(['call-writing'])
  gates.written.resolve()
  await time.settle()
  expect(live.filter(({ type }) => type === 'call-progress')).toHaveLength(1)
  expect(await readNow(session, time)).toEqual([])
  gates.done.resolve()
  await time.until(Promise.all([turn.answer, reading]))
  expect(new Set(live.map(({ type }) => type).filter((type) => PASSING.has(type)))).toEqual(PASSING)
  expect(await readNow(session, time)).toEqual([])
})
