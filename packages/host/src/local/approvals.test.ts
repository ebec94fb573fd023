// Approvals through the Session API: a person is asked before the call starts, and a broken policy never lets one through.
import { afterEach, expect, test } from 'vitest'
import type { Tool } from '@baton/core'
import { act, callsOf, createTestWorld, noUnhandledRejections, never, resultsTold } from './test-world.ts'

afterEach(noUnhandledRejections())

async function asked(approval: Tool['approval']) {
  const runs: unknown[] = []
  const tools = [act((input) => void runs.push(input), { effect: 'once', approval })]
  const world = createTestWorld({ tools, steps: [callsOf('act'), { text: 'done' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  return { world, session, turn, runs }
}

test.each<[string, Tool['approval']]>([
  ['always', true],
  ['by a function', () => true],
  ['by an async function', () => Promise.resolve(true)],
])('a call that needs approval (%s) waits, and runs once it is approved', async (_, approval) => {
  const { world, session, turn, runs } = await asked(approval)
  expect(runs).toEqual([])
  expect(session.phase).toBe('calling')
  expect(await session.approve('call_id2_1_0', { decision: 'approve' })).toMatchObject({ type: 'accepted' })
  expect(await session.approve('call_id2_1_0', { decision: 'approve' })).toMatchObject({ code: 'approval_refused' })
  await world.time.until(turn.answer)
  expect(runs).toEqual([{}])
})

test('a call that a person denies does not run, and the model is told why', async () => {
  const { world, session, turn, runs } = await asked(true)
  await session.approve('call_id2_1_0', { decision: 'deny', reason: 'too dear' })
  await world.time.until(turn.answer)
  expect(runs).toEqual([])
  expect(resultsTold(world.model)[0]?.text).toBe('Error: a person denied the call: too dear')
})

test('a call that nobody approves expires, and the turn ends', async () => {
  const { world, turn, runs } = await asked(true)
  await world.time.pass(600_000)
  expect((await world.time.until(turn.answer)).text).toBe('done')
  expect(runs).toEqual([])
})

test.each<[string, () => boolean | Promise<boolean>, RegExp]>([
  [
    'throws',
    () => {
      throw new Error('policy bug')
    },
    /policy bug/,
  ],
  ['rejects', () => Promise.reject(new Error('policy down')), /policy down/],
  ['hangs', (): Promise<boolean> => never(), /took longer than 10000 ms/],
])('an approval function that %s stops its call only, and the model is told', async (_, approval, why) => {
  const { world, turn, runs } = await asked(approval)
  expect((await world.time.until(turn.answer)).text).toBe('done')
  expect(runs).toEqual([])
  expect(resultsTold(world.model)[0]?.text).toMatch(why)
})

test('an approval of a call that does not exist, or is not waiting, is refused', async () => {
  const { session } = await asked(false)
  expect(await session.approve('call_id2_9_9', { decision: 'approve' })).toMatchObject({ code: 'approval_refused' })
})
