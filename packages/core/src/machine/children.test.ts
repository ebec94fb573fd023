// Calls that a child session runs, at the parent: they begin, report, ask, end and are closed. The interleavings are
// played by the small world of the package `testing`.
import { describe, expect, test } from 'vitest'
import { childTool, clientTool, serverTool, TestSession } from '../testing/test-session.ts'
import type { SpecChange } from '../testing/test-session.ts'
import type { InputOf } from './input.ts'
import { itemsFor, report } from './lanes.ts'
import type { ChildEnd, ChildReport, ChildRequest } from './lane-values.ts'
import type { Delegation } from './tree-values.ts'

const CALL = 'call_1_0'
const TASK: Delegation = { agent: 'helper', task: [{ type: 'text', text: 'Find it.' }], acts: true }
const TOOLS = [childTool('help'), serverTool('read'), clientTool('look')]

function begun(change: SpecChange = {}, delegate: Delegation = TASK): TestSession {
  return new TestSession({ tools: TOOLS, ...change }).user('go').says({ calls: [{ name: 'help', delegate }] })
}

const NOTHING: ChildReport = {
  spent: { tokens: 0, costMicros: 0, rounds: 0, calls: 0 },
  acted: false,
  waits: false,
  untrusted: [],
  did: { calls: [] },
  requests: [],
  closed: [],
  ended: [],
}

function said(session: TestSession, more: Partial<ChildReport>, callId = CALL): InputOf<'child-reported'> {
  const from = session.state.children.find((child) => child.callId === callId)?.pos ?? -1
  return { type: 'child-reported', callId, birth: 'c', from, to: from + 5, report: { ...NOTHING, ...more } }
}

const END: ChildEnd = { stop: 'end', text: 'Found.' }

const APPROVAL: ChildRequest = {
  id: 'approval_call_c_1_0_1',
  path: [],
  asking: {
    type: 'approval',
    callId: 'call_c_1_0',
    name: 'pay',
    arguments: '{}',
    argumentsHash: 'h',
    effect: 'once',
    withinMs: 5000,
  },
}

describe('a delegated call', () => {
  test('begins with a child that is owed, in the record of the answer', () => {
    const session = begun()
    expect(session.fact('child-begun')).toEqual({
      type: 'child-begun',
      callId: CALL,
      agent: 'helper',
      depth: 1,
      task: TASK.task,
      grant: { depth: 1, sessions: 63, tokens: 1_000_000, rounds: 199, calls: 1023 },
      asks: true,
      acts: true,
    })
    expect(session.owes()).toContain(`run-child:${CALL}`)
    expect(session.owes()).not.toContain(`run-tool:${CALL}:1`)
  })

  test('settles in the record that closes its child', () => {
    const session = begun()
    session.send(said(session, { end: END }))
    expect(session.factTypes().slice(0, 3)).toEqual(['child-reported', 'call-settled', 'child-closed'])
    expect(session.told()).toContain(`${CALL} = Found.`)
    expect(session.owes()).not.toContain(`run-child:${CALL}`)
    expect(session.effects).toContainEqual({ type: 'leave-child', callId: CALL })
  })

  test('that an operator stopped says so', () => {
    const session = begun()
    session.send(said(session, { end: { stop: 'cancelled', text: '' } }))
    expect(session.told().join('\n')).toContain('[It was stopped by whoever runs it, and not by this conversation.]')
  })

  test('that the caller ended does not say so', () => {
    const session = begun()
    session.send({ type: 'interrupt', reason: 'user', heard: { type: 'all' } })
    session.send(said(session, { end: { stop: 'cancelled', text: '' } }))
    expect(session.told().join('\n')).not.toContain('stopped by')
  })

  test('ignores a report that comes again, and one of a closed child', () => {
    const session = begun()
    const first = said(session, {})
    session.send(first)
    expect(session.send(first).facts).toEqual([])
    session.send(said(session, { end: END }))
    expect(session.send(said(session, { end: END })).facts).toEqual([])
  })

  test('refuses a report with a gap, and one of another log', () => {
    const session = begun()
    session.send(said(session, {}))
    expect(session.refusal({ ...said(session, {}), from: 9, to: 12 })).toBe('illegal_input')
    expect(session.refusal({ ...said(session, {}), birth: 'other' })).toBe('illegal_input')
    expect(session.refusal(said(session, { end: { stop: 'never', text: '' } }))).toBe('illegal_input')
  })

  test('is untrusted if its child read something untrusted', () => {
    const session = begun()
    session.send(said(session, { untrusted: ['web.fetch'], end: END }))
    expect(session.fact('call-settled').provenance).toEqual({ trust: 'untrusted' })
    expect(session.history.untrusted()).toEqual(['help'])
  })

  test('that nothing has prepared does not begin', () => {
    const session = new TestSession({ tools: TOOLS }).user('go').says({ calls: ['help'] })
    expect(session.fact('call-settled').settlement).toMatchObject({ type: 'error', code: 'invalid_arguments' })
  })

  test('of an agent on the last level does not begin', () => {
    const session = begun({ limits: { treeDepth: 0 } })
    expect(session.fact('call-settled').settlement).toMatchObject({ type: 'error', code: 'delegation_too_deep' })
  })
})

describe('children side by side', () => {
  const calls = Array.from({ length: 10 }, () => ({ name: 'help', delegate: TASK }))

  test('8 run, with equal shares of the tree, and the others wait', () => {
    const session = new TestSession({ tools: TOOLS }).user('go').says({ calls })
    const grants = session.state.children.map(({ grant }) => grant.sessions)
    expect(grants).toHaveLength(8)
    expect(grants.reduce((sum, share) => sum + share + 1, 0)).toBeLessThanOrEqual(64)
    session.send(said(session, { end: END }))
    expect(session.state.children).toHaveLength(8)
    expect(session.call('call_1_8').state).toBe('started')
  })

  test('one that goes over the limit of the turn ends all, and the turn fails', () => {
    const session = new TestSession({ tools: TOOLS, limits: { turnTokens: 100 } })
      .user('go')
      .says({ calls: calls.slice(0, 2) })
    session.send(said(session, { spent: { tokens: 150, costMicros: 0, rounds: 1, calls: 1 } }))
    expect(session.logged('child-ending').map(({ callId, reason }) => [callId, reason])).toEqual([
      ['call_1_0', 'limit'],
      ['call_1_1', 'limit'],
    ])
    session.send(
      said(session, {
        end: { stop: 'cancelled', text: '' },
        spent: { tokens: 150, costMicros: 0, rounds: 1, calls: 1 },
      }),
    )
    session.send(said(session, { end: { stop: 'cancelled', text: '' } }, 'call_1_1'))
    expect(session.fact('turn-finished').error?.code).toBe('turn_tokens_exceeded')
  })

  test('totals are absolute: a total that is said again adds nothing', () => {
    const session = begun()
    const spent = { tokens: 70, costMicros: 3, rounds: 2, calls: 4 }
    session.send(said(session, { spent })).send(said(session, { spent }))
    expect(session.state.turn).toMatchObject({ tokens: 70, costMicros: 3, below: { rounds: 2, calls: 4 } })
  })
})

describe('an end', () => {
  test('by the deadline of the call waits for what the child says', () => {
    const session = begun().fire(`call:${CALL}`)
    expect(session.fact('child-ending')).toMatchObject({ reason: 'deadline', untilMs: session.nowMs + 10_000 })
    expect(session.call(CALL).state).toBe('started')
    session.send(said(session, { end: { stop: 'cancelled', text: '' } }))
    expect(session.fact('call-settled').settlement).toEqual({ type: 'timed-out', reason: 'deadline' })
  })

  test('without a word of the child is unknown, and what it says later is a note', () => {
    const session = begun().fire(`call:${CALL}`).fire(`child:${CALL}`)
    expect(session.fact('call-settled').settlement).toEqual({ type: 'unknown', reason: 'deadline' })
    expect(session.owes()).toContain(`run-child:${CALL}`)
    session.send(said(session, { end: END }))
    expect(session.factTypes().slice(0, 4)).toEqual(['child-reported', 'result-ignored', 'note-queued', 'child-closed'])
  })

  test('without a word of a child that cannot act is no more than late', () => {
    const session = begun({}, { ...TASK, acts: false })
      .fire(`call:${CALL}`)
      .fire(`child:${CALL}`)
    expect(session.fact('call-settled').settlement).toEqual({ type: 'timed-out', reason: 'deadline' })
  })

  test('by its time, and kept by an interrupt as a task, still has an end that nothing holds up', () => {
    const tools = [childTool('help', { onInterrupt: 'background' })]
    const session = begun({ tools }).fire(`call:${CALL}`).user('wait', { delivery: 'interrupt' })
    expect(session.state.tasks).toMatchObject([{ callId: CALL, state: 'started' }])
    session.fire(`child:${CALL}`)
    expect(session.fact('task-settled').settlement).toEqual({ type: 'unknown', reason: 'deadline' })
  })

  test('says what the child did, and is known if all of that is', () => {
    const did = { calls: [{ callId: 'call_c_1_0', name: 'mail.send', settlement: 'ok' }] }
    const session = begun().interrupt()
    session.send(said(session, { acted: true, did, end: { stop: 'cancelled', text: '' } }))
    expect(session.fact('call-settled')).toMatchObject({
      settlement: { type: 'cancelled', reason: 'interrupt', begun: true },
      detail: '[It called mail.send (ok).]',
    })
  })

  test('with an unknown call below is unknown', () => {
    const did = { calls: [{ callId: 'call_c_1_0', name: 'pay', settlement: 'unknown' }] }
    const session = begun().interrupt()
    session.send(said(session, { acted: true, did, end: { stop: 'cancelled', text: '' } }))
    expect(session.fact('call-settled').settlement).toEqual({ type: 'unknown', reason: 'interrupt' })
  })

  test('by a stop settles the call at once, and the entry stays', () => {
    const session = begun().send({ type: 'stop' })
    expect(session.factTypes()).toEqual([
      'child-ending',
      'call-settled',
      'step-closed',
      'turn-finished',
      'session-stopped',
    ])
    expect(session.state.children).toMatchObject([{ phase: 'ending', deadline: null }])
  })

  test('by a rewind tells no model what came of it', () => {
    const session = begun().send({ type: 'rewind', inputId: 'r', exchange: 1, again: false, interrupt: true })
    session.send(said(session, { end: END }))
    expect(session.factTypes()).toEqual(['child-reported', 'result-ignored', 'child-closed'])
  })

  test('of a lost child is unknown if it may have acted', () => {
    const session = begun().send({
      type: 'child-lost',
      callId: CALL,
      code: 'log_damaged',
      message: 'record 3 is damaged',
    })
    expect(session.fact('call-settled').settlement).toMatchObject({ type: 'unknown', reason: 'executor-lost' })
    const harmless = begun({}, { ...TASK, acts: false })
    harmless.send({ type: 'child-lost', callId: CALL, code: 'log_damaged', message: 'record 3 is damaged' })
    expect(harmless.fact('call-settled').settlement).toMatchObject({ type: 'error', code: 'child_lost' })
  })

  test('of a child whose tool was removed is lost after its time', () => {
    const session = begun()
    session.spec = { ...session.spec, hash: 'v2', tools: [] }
    session.send({ type: 'agent-changed' }).fire(`child:${CALL}`)
    expect(session.factTypes().slice(0, 2)).toEqual(['call-settled', 'child-lost'])
  })
})

const asked = (name: string): ChildRequest => ({
  id: 'call_c_1_0',
  path: [],
  asking: {
    type: 'call',
    callId: 'call_c_1_0',
    arguments: '{}',
    argumentsHash: 'h',
    awayMs: 7000,
    name,
    effect: 'once',
    runs: 'client',
    timeoutMs: 30_000,
    parallel: true,
    onInterrupt: 'cancel',
  },
})

describe('time', () => {
  test('of the call stands while its child waits for people, and so does that of the turn', () => {
    const session = begun()
    session.send(said(session, { waits: true, requests: [APPROVAL] }))
    expect(session.timers()).toEqual([`approval:call_c_1_0`])
    session.send(said(session, { waits: false, closed: [APPROVAL.id] }))
    expect(session.timers()).toEqual([`call:${CALL}`, 'turn'])
  })

  test('of the call runs while a client does its child’s call, and stands as soon as that client is away', () => {
    const session = new TestSession({ tools: TOOLS }).attach('phone')
    session.user('go').says({ calls: [{ name: 'help', delegate: TASK }] })
    session.send(said(session, { waits: true, requests: [asked('look')] })).claim('call_c_1_0')
    expect(session.timers()).toEqual([`call:${CALL}`, 'call:call_c_1_0', 'turn'])
    session.send({ type: 'client-detached', connection: 'phone' })
    expect(session.timers()).toEqual(['call:call_c_1_0'])
  })

  test('of the call goes on after a restart where it stood', () => {
    const session = begun()
    const { atMs } = session.timer(`call:${CALL}`)
    session.restart(20_000)
    expect(session.timer(`call:${CALL}`).atMs).toBe(atMs + 20_000)
    expect(session.call(CALL).state).toBe('started')
  })
})

describe('a request of a child', () => {
  const decide = (decision: 'approve' | 'deny', more: Partial<InputOf<'approval'>> = {}) =>
    ({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision, ...more }) as const

  test('is shown at the root, decided there, and told down', () => {
    const session = begun()
    session.send(said(session, { requests: [APPROVAL] }))
    expect(session.fact('request-relayed')).toMatchObject({ path: [{ callId: CALL, agent: 'helper' }] })
    expect(session.owes()).toContain(`ask-approval:${APPROVAL.id}`)
    session.send(decide('approve'))
    expect(itemsFor(session.records.slice(-1), CALL)).toEqual([
      { type: 'approval-decided', id: APPROVAL.id, decision: 'approve', principal: 'ann' },
    ])
    expect(session.refusal(decide('deny'))).toBe('approval_refused')
  })

  test('expires by the time of the root alone', () => {
    const session = begun()
    session.send(said(session, { requests: [APPROVAL] })).fire('approval:call_c_1_0')
    expect(itemsFor(session.records.slice(-1), CALL)).toEqual([
      { type: 'request-over', id: APPROVAL.id, why: 'expired' },
    ])
  })

  test('is over at once where no person can be asked', () => {
    const session = new TestSession({ tools: TOOLS }).user('go', { asks: false })
    session.says({ calls: [{ name: 'help', delegate: TASK }] })
    session.send(said(session, { requests: [APPROVAL] }))
    expect(session.fact('request-withdrawn').reason).toBe('nobody')
  })

  test('of an ended child is shown to nobody', () => {
    const session = begun().fire(`call:${CALL}`)
    session.send(said(session, { requests: [APPROVAL] }))
    expect(session.factTypes()).toEqual(['child-reported'])
  })

  test('with an edit that a policy denies stays open', () => {
    const session = begun()
    session.send(said(session, { requests: [APPROVAL] }))
    const check = { argumentsHash: 'x', denied: 'not to strangers' }
    const edited = { arguments: '{"a":1}', check }
    expect(session.refusal({ ...decide('approve'), decision: 'edit', edited })).toBe('approval_refused')
    expect(session.refusal(decide('approve'))).toBeUndefined()
  })

  test('is remembered for children of the same agent, and for no tool of the root', () => {
    const session = begun({ tools: [...TOOLS, serverTool('pay', { effect: 'once' })] })
    session.send(said(session, { requests: [APPROVAL] })).send(decide('approve', { remember: 'tool' }))
    session.send(said(session, { closed: [APPROVAL.id], end: END }))
    session.says({
      calls: [
        { name: 'help', delegate: TASK },
        { name: 'pay', approval: true },
      ],
    })
    expect(session.call('call_2_1').state).toBe('awaiting-approval')
    const next = { ...APPROVAL, id: 'approval_call_d_1_0_1', asking: { ...APPROVAL.asking, callId: 'call_d_1_0' } }
    session.send({ ...said(session, { requests: [next as ChildRequest] }, 'call_2_0'), birth: 'd' })
    expect(session.fact('approval-decided')).toMatchObject({ decision: 'approve', via: 'call_2_0' })
    expect(session.factTypes()).not.toContain('request-relayed')
  })
})

describe('a call of a child for a client', () => {
  test('is offered to a client that knows the tool, and to no other', () => {
    const session = new TestSession({ tools: TOOLS }).attach('all').attach('names', { tools: ['scan'] })
    session.user('go').says({ calls: [{ name: 'help', delegate: TASK }] })
    session.send(said(session, { requests: [asked('scan')] }))
    expect(session.fact('call-offered')).toMatchObject({ connection: 'names' })
    session.send({ type: 'client-detached', connection: 'names' })
    expect(session.call('call_c_1_0').state).toBe('ready')
    expect(session.timers()).toContain('call:call_c_1_0')
  })

  test('settles at the root by its client, and the child is told', () => {
    const session = new TestSession({ tools: TOOLS }).attach()
    session.user('go').says({ calls: [{ name: 'help', delegate: TASK }] })
    session
      .send(said(session, { requests: [asked('look')] }))
      .claim('call_c_1_0')
      .clientReturns('call_c_1_0', 'seen')
    expect(itemsFor(session.records.slice(-1), CALL)).toMatchObject([
      { type: 'call-settled', id: 'call_c_1_0', settlement: { type: 'ok' } },
    ])
    session.clientReturns('call_c_1_0', 'again')
    expect(session.fact('result-ignored').reason).toBe('duplicate')
  })

  test('that nobody has claimed is with nobody once its child has to end; a claimed one waits for its client', () => {
    const play = (claims: boolean): TestSession => {
      const session = new TestSession({ tools: TOOLS }).attach()
      session.user('go').says({ calls: [{ name: 'help', delegate: TASK }] })
      session.send(said(session, { requests: [asked('look')] }))
      return claims ? session.claim('call_c_1_0').interrupt() : session.interrupt()
    }
    expect(itemsFor(play(false).records.slice(-1), CALL)).toEqual([
      { type: 'end', reason: 'interrupt' },
      { type: 'request-over', id: 'call_c_1_0', why: 'nobody' },
    ])
    expect(itemsFor(play(true).records.slice(-1), CALL)).toEqual([{ type: 'end', reason: 'interrupt' }])
  })

  test('that no client took in time goes back to a child that can run it', () => {
    const session = begun()
    const request = asked('scan')
    const asking = { ...request.asking, fallback: true } as ChildRequest['asking']
    session.send(said(session, { requests: [{ ...request, asking }] })).fire('call:call_c_1_0')
    expect(itemsFor(session.records.slice(-1), CALL)).toEqual([{ type: 'call-taken-over', id: 'call_c_1_0' }])
  })
})

test('what a log says up to a place, and from there on, is what it says as a whole', () => {
  const parent = begun()
  parent.send(said(parent, { requests: [APPROVAL] }))
  parent.send({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision: 'approve' })
  parent.send({ type: 'pause' }).send({ type: 'continue' }).interrupt()
  const whole = itemsFor(parent.records, CALL)
  expect(whole.map(({ type }) => type)).toEqual(['task', 'approval-decided', 'pause', 'continue', 'end'])
  for (let cut = 0; cut <= parent.records.length; cut++)
    expect([...itemsFor(parent.records.slice(0, cut), CALL), ...itemsFor(parent.records.slice(cut), CALL)]).toEqual(
      whole,
    )
  // A root has no parent to report to.
  expect(report(parent.records, { state: parent.state, history: parent.history, spec: parent.spec })).toBeUndefined()
})
