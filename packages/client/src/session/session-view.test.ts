// The view of a session, folded from its events: everything open in it appears and disappears with its call, step or
// turn.
import type { CallView, ChatMessage, SessionDetails, SessionEvent } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { INFO, waitingCall } from '../played-server.test-kit.ts'
import { SessionView } from './session-view.ts'

function createView() {
  const view = new SessionView()
  /** Takes these events, with the fields that every event has filled in. */
  const take = (...events: readonly object[]): void => {
    for (const event of events) view.take({ at: 1, cursor: { pos: 1 }, ...event } as unknown as SessionEvent) // as sent by a server
  }
  return { view, take }
}

const call = (callId: string, more: Partial<CallView> = {}): object => ({
  type: 'call',
  call: waitingCall(callId, 'device', more),
})
const writing = (callId: string, offset: number, text: string, step = 1): object => ({
  type: 'call-writing',
  message: 't1',
  step,
  callId,
  name: 'look',
  offset,
  text,
})
const approval = (approvalId: string, callId: string): object => ({
  type: 'approval-requested',
  approvalId,
  call: waitingCall(callId, 'device', { status: 'awaiting-approval' }),
  expiresAtMs: 9,
})
const question = (questionId: string, callId: string): object => ({
  type: 'question-asked',
  questionId,
  callId,
  message: 'Which?',
  schema: {},
  expiresAtMs: 9,
})

test('the input of a call is shown as it is written, each part once, until the call is there', () => {
  const { view, take } = createView()
  // Its beginning was not read.
  take(writing('c0', 5, 'rest'))
  take(writing('c1', 0, '{"a'), writing('c1', 3, '":1'), writing('c1', 3, '":1}'), writing('c2', 0, '{'))
  expect(view.state.writing.map(({ callId, text }) => [callId, text])).toEqual([
    ['c1', '{"a":1}'],
    ['c2', '{'],
  ])
  take(call('c1'))
  expect(view.state.writing.map(({ callId }) => callId)).toEqual(['c2'])
  take({ type: 'turn-finished', message: 't1', turn: 1, stop: 'cancelled', text: '', usage: {} })
  expect(view.state.writing).toEqual([])
})

test('a call keeps the newest note of its tool until it settles, and what waits for a person goes with it', () => {
  const { view, take } = createView()
  take(call('c1', { status: 'running' }), { type: 'call-progress', callId: 'c1', note: 'half' })
  take(call('c1', { status: 'running', title: 'Looks' }), question('q1', 'c1'), question('q2', 'other'))
  expect(view.state.calls).toMatchObject([{ progress: 'half', call: { title: 'Looks' } }])
  take(call('c1', { status: 'settled' }))
  expect([view.state.calls, view.state.questions.map(({ questionId }) => questionId)]).toEqual([[], ['q2']])
  take({ type: 'question-answered', questionId: 'q2', callId: 'other' })
  expect(view.state.questions).toEqual([])
})

test('an approval is replaced by the next one of its call, and goes when it is decided, here or elsewhere', () => {
  const { view, take } = createView()
  take(approval('a1', 'c1'), approval('b1', 'c2'), approval('a2', 'c1'))
  const open = (): unknown => view.state.approvals.map(({ approvalId }) => approvalId)
  expect(open()).toEqual(['a2', 'b1'])
  take({ type: 'approval-decided', approvalId: 'b1', callId: 'c2', decision: 'deny', principal: { id: 'p' } })
  expect(open()).toEqual(['a2'])
  // It is running: the decision was made elsewhere.
  take(call('c1', { status: 'running' }))
  expect(open()).toEqual([])
})

test('a step that is void takes its own calls along, and says why until the model is asked again', () => {
  const { view, take } = createView()
  take(call('c1'), call('c2', { step: 2 }), writing('c3', 0, '{', 2))
  take({ type: 'step-reset', message: 't1', step: 2, reason: 'failed', retryAtMs: 7 })
  expect(view.state.calls.map(({ call: { callId } }) => callId)).toEqual(['c1'])
  expect(view.state.writing).toEqual([])
  expect(view.state.retrying).toMatchObject({ message: 't1', reason: 'failed', retryAtMs: 7 })
  take({ type: 'step-started', message: 't1', step: 2, attempt: 2, model: 'm' })
  expect(view.state.retrying).toBeUndefined()
  take({ type: 'step-reset', message: 't1', step: 2, reason: 'gave-up' })
  take({ type: 'turn-finished', message: 't1', turn: 1, stop: 'failed', text: '', usage: {} })
  expect(view.state.retrying).toBeUndefined()
})

test('messages that are removed take their calls along, and those that stay keep theirs', () => {
  const { view, take } = createView()
  const answer = (id: string, exchange: number): ChatMessage =>
    ({ role: 'assistant', id, turn: exchange, exchange, atMs: 1, steps: [] }) as ChatMessage // a running one
  view.load([answer('t1', 1), answer('t2', 2)], INFO as unknown as SessionDetails) // nothing else is read
  take(call('c1'), call('c2', { message: 't2' }))
  take({ type: 'messages-removed', fromExchange: 2, keep: [], keepSteps: [] })
  expect(view.state.calls.map(({ call: { callId } }) => callId)).toEqual(['c1'])
})

test('what is read anew replaces all that was known, and what does not change stays the same array', () => {
  const { view, take } = createView()
  take(call('c1'), question('q1', 'c1'), { type: 'session', title: 'Old', model: 'm' })
  const { calls } = view.state
  take({ type: 'session', title: 'New' })
  expect([view.state.title, view.state.model, view.state.calls === calls]).toEqual(['New', 'm', true])
  view.load([], INFO as unknown as SessionDetails) // nothing else is read
  expect(view.state).toMatchObject({ calls: [], questions: [], title: null, agent: 'a' })
})
