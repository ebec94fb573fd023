// Prompts and retries that are cancelled, or that another turn's end overtakes, before the session has answered them.
// Expected: docs/editors.md.
import { expect, test } from 'vitest'
import { createWorld, PLACE, settle } from './played-session.test-kit.ts'

const createEnd = (pos: number, read?: number) => ({
  events: [{ type: 'turn-finished', stop: 'end', cursor: { pos, ...(read !== undefined && { read }) } }],
  next: { pos },
})

test.each([
  ['the turn of another device that ended just before', createEnd(7), 'open'],
  ['its own answer, which failed at once', createEnd(7, 3), { stop: 'end' }],
  ['its own answer', createEnd(9), { stop: 'end' }],
])('the end of %s comes before the position of a retry is known', async (_, end, outcome) => {
  const { sessions, rewind, tell } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  const done = Promise.withResolvers<object>()
  rewind(() => done.promise)
  const retry = opened.retry(() => false)
  await settle()
  tell(end)
  await settle()
  done.resolve({ type: 'accepted', pos: 7, turn: 'm1' })
  await settle()
  expect(await Promise.race([retry, Promise.resolve('open')])).toEqual(outcome)
  tell(createEnd(9))
  expect(await retry).toEqual({ stop: 'end' })
  expect(opened.isBusy).toBe(false)
})

test('a retry that is cancelled while its rewind is under way ends the turn that it has begun', async () => {
  const { sessions, rewind, tell, done } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  const rewound = Promise.withResolvers<object>()
  rewind(() => rewound.promise)
  const prompt = sessions.beginPrompt('s')
  const retry = opened.retry(prompt.isCancelled)
  await settle()
  sessions.cancel('s', 'cancelled')
  rewound.resolve({ type: 'accepted', pos: 7, turn: 'm1' })
  await settle()
  expect(done.at(-1)).toBe('take back m1')
  tell({ events: [{ type: 'turn-finished', stop: 'cancelled', cursor: { pos: 9 } }], next: { pos: 9 } })
  expect(await retry).toEqual({ stop: 'cancelled' })
})

test.each(['cancel', 'close'] as const)('a prompt is taken back if it is accepted after a %s', async (how) => {
  const { sessions, answer, done } = createWorld()
  const opened = await sessions.open('s', PLACE)
  await opened.start('now')
  const stored = Promise.withResolvers<object>()
  answer(() => stored.promise)
  const prompt = opened.prompt('i1', [], sessions.beginPrompt('s').isCancelled)
  await settle()
  const closed = how === 'close' ? sessions.close('s') : sessions.cancel('s', 'cancelled')
  stored.resolve({ type: 'accepted' })
  await settle()
  expect(done.at(-1)).toBe('take back i1')
  await sessions.leave()
  await Promise.all([closed, prompt.catch(() => {})])
})
