// Pause, continue, stop and start through the Session API: every input is kept and answered, also over a restart.
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import {
  act,
  callsOf,
  createManualTime,
  createTestWorld,
  never,
  noUnhandledRejections,
  resultsTold,
  textsTold,
} from './test-world.ts'

afterEach(noUnhandledRejections())

test('what is said during a pause is answered after it, and the answer that was cut off is asked for again', async () => {
  const { open, time, model } = createTestWorld({ steps: () => ({ text: 'answer', pieceMs: 1000 }) })
  const session = await open()
  const first = session.send('one')
  await time.pass(1500)
  expect(await session.submit({ type: 'pause' })).toMatchObject({ type: 'accepted' })
  const second = session.send('two')
  await time.pass(3_600_000)
  expect(session.phase).toBe('paused')
  expect(model.requests).toHaveLength(1)
  await session.submit({ type: 'continue' })
  expect((await time.until(first.answer)).text).toBe('answer')
  expect((await time.until(second.answer)).text).toBe('answer')
  expect(textsTold(model, 'user')).toEqual(['one', 'two'])
})

test('a tool that runs when the session is paused goes on, and its result is told after the pause', async () => {
  const gate = Promise.withResolvers<string>()
  const { open, time, model } = createTestWorld({
    tools: [act(() => gate.promise)],
    steps: [callsOf('act'), { text: 'done' }],
  })
  const session = await open()
  const turn = session.send('go')
  await time.settle()
  await session.submit({ type: 'pause' })
  gate.resolve('found')
  await time.settle()
  expect(model.requests).toHaveLength(1)
  await session.submit({ type: 'continue' })
  expect((await time.until(turn.answer)).text).toBe('done')
  expect(resultsTold(model)).toEqual([{ isError: false, text: 'found' }])
})

test('a stop settles every call, calls nothing more, and refuses what is said with a code', async () => {
  const { open, time, model, facts } = createTestWorld({
    tools: [act(never), act(never, { name: 'pay', effect: 'once' })],
    steps: [callsOf('act', 'pay')],
  })
  const session = await open()
  const turn = session.send('go')
  await time.settle()
  const waiting = session.send('later')
  await time.settle()
  await session.submit({ type: 'stop' })
  expect(await time.until(turn.answer)).toMatchObject({ outcome: 'stopped' })
  expect((await facts('call-settled')).map(({ settlement }) => settlement.type)).toEqual(['cancelled', 'unknown'])
  await expect(session.send('now').answer).rejects.toMatchObject({ code: 'session_stopped' })
  await time.pass(3_600_000)
  expect(model.requests).toHaveLength(1)
  expect(time.pending()).toBe(0)
  waiting.answer.catch(() => {}) // it waits for a start that does not come in this test
})

test('inputs that waited at a stop are answered after the next start, in the next life of the host', async () => {
  const time = createManualTime()
  const store = createMemoryStore()
  const before = createTestWorld({ time, store, steps: () => ({ text: 'late', pieceMs: 60_000 }) })
  const session = await before.open()
  session.send('one').answer.catch(() => {})
  await time.settle()
  for (const said of ['two', 'three']) session.send(said).answer.catch(() => {})
  await session.submit({ type: 'transcript', inputId: 't', speaker: 'bob', text: 'we talk' })
  await session.submit({ type: 'stop' })
  await time.until(before.host.stop())
  const after = createTestWorld({ time, store, steps: () => ({ text: 'answer' }) })
  const again = await after.open()
  expect(again.phase).toBe('stopped')
  await time.pass(60_000)
  expect(after.model.requests).toHaveLength(0)
  await again.submit({ type: 'start' })
  await time.pass(60_000)
  expect(textsTold(after.model, 'user').join('\n')).toMatch(/one[^]*two[^]*three[^]*\[Transcript\] bob: we talk/)
  expect(again.phase).toBe('idle')
})

test('in one session there are never two model calls at once, whatever is said, paused, continued, stopped and started', async () => {
  let running = 0
  let most = 0
  const world = createTestWorld({ steps: () => ({ text: 'answer', pieceMs: 700 }) })
  const { run } = world.model
  Object.assign(world.model, {
    run: async (...request: Parameters<typeof run>) => {
      most = Math.max(most, (running += 1))
      try {
        return await run(...request)
      } finally {
        running -= 1
      }
    },
  })
  const session = await world.open()
  const acts = ['pause', 'continue', 'stop', 'start'] as const
  for (let index = 0; index < 40; index++) {
    session.send(`said ${index}`).answer.catch(() => {})
    await world.time.pass((index * 137) % 900)
    await session.submit({ type: acts[(index * 7) % 4] ?? 'start' })
  }
  await session.submit({ type: 'start' })
  await session.submit({ type: 'continue' })
  await world.time.pass(600_000)
  expect(most).toBe(1)
  expect(session.phase).toBe('idle')
})
