// Events for a reader that begins with the newest turn, and the end of a failed turn.
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { act, createTestWorld, listCalls, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

test('a reader that begins with a turn gets nothing of the interrupted one before it', async () => {
  let end: (result: string) => void = () => {}
  const tools = [
    act(() => new Promise<string>((resolve) => (end = resolve)), { onInterrupt: 'finish', effect: 'pure' }),
  ]
  const world = createTestWorld({
    tools,
    steps: (_, call) => (call === 0 ? { text: 'Let me see.', ...listCalls('act') } : { text: 'Yes?' }),
  })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await session.interrupt()
  const turn = session.send('next')
  await world.time.settle()
  // It ends in silence: one record closes the old step and begins the new turn.
  end('done')
  await world.time.until(turn.answer)
  const told: string[] = []
  for await (const event of session.events({ from: 'turn' })) {
    if (event.type === 'live') break
    told.push('message' in event && typeof event.message === 'string' ? `${event.type} ${event.message}` : event.type)
  }
  expect(told.filter((line) => line.startsWith('step-'))).toEqual([
    'step-started t2',
    'step-finished t2',
    'step-closed t2',
  ])
  const all: string[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'step-closed') all.push(event.message)
  }
  expect(all).toEqual(['t1', 't2'])
})

test('a failed turn ends with the text that its steps have', async () => {
  const world = createTestWorld({
    tools: [act(() => 'seen', { effect: 'pure' })],
    steps: [
      { text: 'Let me see.', ...listCalls('act') },
      { error: new BatonError({ code: 'model_auth_failed', message: 'no key', retryable: false }) },
    ],
  })
  const session = await world.open()
  await expect(world.time.until(session.send('go').answer)).rejects.toMatchObject({ code: 'model_auth_failed' })
  const ended = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'turn-finished') ended.push([event.stop, event.text, event.error?.code])
  }
  expect(ended).toEqual([['failed', 'Let me see.', 'model_auth_failed']])
})

test('the answer of an interrupted turn has what was said, and its last step says that it was interrupted', async () => {
  const world = createTestWorld({ steps: [{ pieces: ['One ', 'two ', 'three'], pieceMs: 100 }] })
  const session = await world.open()
  const turn = session.send('count')
  await world.time.pass(250)
  await session.interrupt()
  const { text, outcome } = await world.time.until(turn.answer)
  const finished: string[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'step-finished') finished.push(event.finish)
  }
  expect([text, outcome, finished]).toEqual(['One two ', 'interrupted', ['interrupted']])
})
