// Which calls run at the same time: all, unless a call must run alone or the cap is reached.
import { expect, test } from 'vitest'
import type { CallState } from './state.ts'
import { clientTool, serverTool, TestSession } from '../testing/test-session.ts'

const TOOLS = [
  serverTool('a'),
  serverTool('b'),
  serverTool('alone', { parallel: false }),
  clientTool('look'),
  clientTool('show', { parallel: false }),
]

function calling(calls: readonly string[], parallelCalls = 8): TestSession {
  return new TestSession({ tools: TOOLS, limits: { parallelCalls } }).attach().user('go').says({ calls })
}

function states(session: TestSession): readonly CallState[] {
  return session.state.step?.calls.map((call) => call.state) ?? []
}

test('server and client calls of an answer run beside each other', () => {
  expect(states(calling(['a', 'look', 'b', 'look']))).toEqual(['started', 'offered', 'started', 'offered'])
})

test('no more server tools run at once than the agent allows; client calls do not count', () => {
  const session = calling(['look', 'a', 'b', 'a', 'look'], 2)
  expect(states(session)).toEqual(['offered', 'started', 'started', 'ready', 'offered'])
  expect(states(session.returns('call_1_2'))).toEqual(['offered', 'started', 'settled', 'started', 'offered'])
})

test('a call that wants no other beside it waits for all before it, and all after it wait for it', () => {
  const session = calling(['a', 'b', 'alone', 'a', 'look'])
  expect(states(session)).toEqual(['started', 'started', 'ready', 'ready', 'ready'])
  expect(states(session.returns('call_1_1'))).toEqual(['started', 'settled', 'ready', 'ready', 'ready'])
  expect(states(session.returns('call_1_0'))).toEqual(['settled', 'settled', 'started', 'ready', 'ready'])
  expect(states(session.returns('call_1_2'))).toEqual(['settled', 'settled', 'settled', 'started', 'offered'])
})

test('a first one alone lets nothing else begin', () => {
  expect(states(calling(['alone', 'a']))).toEqual(['started', 'ready'])
  expect(states(calling(['show', 'look']))).toEqual(['offered', 'ready'])
  expect(states(calling(['show', 'show', 'a']))).toEqual(['offered', 'ready', 'ready'])
})

test('a claimed client call is running too', () => {
  const session = calling(['look', 'alone'])
  expect(states(session.claim('call_1_0').attach('desk'))).toEqual(['claimed', 'ready'])
  expect(states(session.clientReturns('call_1_0'))).toEqual(['settled', 'started'])
})

test('one alone that waits for an approval does not hold the others up', () => {
  const session = new TestSession({ tools: TOOLS }).user('go')
  session.says({ calls: [{ name: 'alone', approval: true }, 'a'] })
  expect(states(session)).toEqual(['awaiting-approval', 'started'])
  session.send(session.approval('call_1_0', 'approve'))
  expect(states(session)).toEqual(['ready', 'started'])
  expect(states(session.returns('call_1_1'))).toEqual(['started', 'settled'])
})

test('a client call waits for a client, and is offered to the one that comes', () => {
  const session = new TestSession({ tools: TOOLS }).user('go').says({ calls: ['look'] })
  expect(states(session)).toEqual(['ready'])
  expect(states(session.attach())).toEqual(['offered'])
})

test('nothing begins while the session is paused', () => {
  const session = calling(['alone', 'a', 'look']).send({ type: 'pause' }).returns('call_1_0')
  expect(states(session)).toEqual(['settled', 'ready', 'ready'])
  expect(states(session.send({ type: 'continue' }))).toEqual(['settled', 'started', 'offered'])
})

test('each start has a number, a deadline and stays the same call', () => {
  const session = calling(['a'])
  expect(session.fact('call-started')).toEqual({
    type: 'call-started',
    callId: 'call_1_0',
    attempt: 1,
    deadlineMs: session.nowMs + 30_000,
  })
  session.after(7000).restart()
  expect(session.fact('call-started')).toMatchObject({ attempt: 2, deadlineMs: session.nowMs + 30_000 })
  expect(session.owes()).toEqual(['run-tool:call_1_0:2', 'set-timer:call:call_1_0:4', 'set-timer:turn:2'])
})

test('a server tool that waits for its place has no clock, whether clients are there or not', () => {
  const session = new TestSession({ tools: TOOLS, limits: { parallelCalls: 1 } }).user('go').says({ calls: ['a', 'b'] })
  expect(session.timers()).toEqual(['call:call_1_0', 'turn'])
})

test('one alone whose approval has expired while it waited ends, and those behind it begin', () => {
  const session = new TestSession({ tools: TOOLS, limits: { parallelCalls: 1, approvalMs: 1000 } }).user('go')
  session.says({ calls: ['a', { name: 'alone', approval: true }, 'b'] })
  session.send(session.approval('call_1_1', 'approve'))
  expect(states(session)).toEqual(['started', 'ready', 'ready'])
  session.after(1001).returns('call_1_0')
  expect(states(session)).toEqual(['settled', 'settled', 'started'])
  expect(session.call('call_1_1').settlement).toBe('denied')
})
