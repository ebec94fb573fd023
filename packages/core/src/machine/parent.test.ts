// A child's side: it begins its task, asks upwards, follows the decisions of the root, ends, and reports its calls.
import { describe, expect, test } from 'vitest'
import { childTool, clientTool, serverTool, TestSession } from '../testing/test-session.ts'
import type { SpecChange } from '../testing/test-session.ts'
import { applyRecord } from './apply.ts'
import { createHistory } from './history.ts'
import type { InputOf } from './input.ts'
import { report } from './lanes.ts'
import type { LaneReport } from './lanes.ts'
import { restsAsChild } from './parent-state.ts'
import { initialState } from './state.ts'
import type { ParentItem } from './lane-values.ts'
import type { Grant } from './tree-values.ts'

const TOOLS = [
  serverTool('read', { provenance: { trust: 'untrusted' } }),
  serverTool('pay', { effect: 'once' }),
  clientTool('look', { effect: 'once' }),
]
const OPENED = {
  type: 'child-opened',
  session: 'above',
  birth: 'p',
  callId: 'call_p_1_0',
  root: 'above',
  depth: 1,
  tools: ['help'],
} as const

const GRANT: Grant = { depth: 1, sessions: 4 }

function told(session: TestSession, ...items: readonly ParentItem[]): InputOf<'parent-told'> {
  const from = session.state.parent?.pos ?? -1
  return { type: 'parent-told', birth: 'p', from, to: from + 3, items }
}

function begun(grant: Grant = GRANT, change: SpecChange = {}): TestSession {
  const session = new TestSession({ tools: TOOLS, ...change }).replay(OPENED)
  const task = [{ type: 'text', text: 'Find it.' } as const]
  return session.send(told(session, { type: 'task', callId: 'call_p_1_0', task, untrusted: ['web'], grant }))
}

function read(session: TestSession, after = -1): LaneReport | undefined {
  const { state, history, spec } = session
  return report(
    session.records.filter(({ pos }) => pos > after),
    { state, history, spec },
  )
}

describe('a child', () => {
  test('is told its task once, and begins', () => {
    const session = begun()
    expect(session.factTypes()).toEqual([
      'parent-told',
      'client-attached',
      'input-accepted',
      'turn-started',
      'inputs-entered',
      'model-started',
    ])
    expect(session.told()).toEqual(['user: Find it.'])
    expect(session.history.untrusted()).toEqual(['web'])
    expect(session.send({ ...told(session), from: -1, to: 2 }).facts).toEqual([])
    expect(session.refusal({ ...told(session), from: 9, to: 12 })).toBe('illegal_input')
    expect(session.refusal({ ...told(session), birth: 'other' })).toBe('illegal_input')
  })

  test('ends itself at what it was granted', () => {
    const session = begun({ ...GRANT, tokens: 50 })
    session.says({ calls: ['read'], usage: { inputTokens: 60 } }).returns('call_1_0')
    expect(session.fact('turn-finished').error?.code).toBe('turn_tokens_exceeded')
    expect(read(session)?.report.end).toMatchObject({ stop: 'failed', error: { code: 'turn_tokens_exceeded' } })
  })

  test('is not offered more rounds than it was granted', () => {
    const session = begun({ ...GRANT, rounds: 1 })
      .says({ calls: ['read'] })
      .returns('call_1_0')
    expect(session.fact('model-started').choice).toBe('none')
  })

  test('reports its answer, with what it read and spent', () => {
    const session = begun()
      .says({ calls: ['read'], usage: { inputTokens: 60, costMicros: 4 } })
      .returns('call_1_0')
    session.says({ text: 'Found.', usage: { outputTokens: 5 } })
    expect(read(session)?.report).toMatchObject({
      spent: { tokens: 65, costMicros: 4, rounds: 1, calls: 1 },
      acted: false,
      untrusted: ['web', 'read'],
      end: { stop: 'end', text: 'Found.' },
    })
  })

  test('attaches its parent again after a restart, and keeps what that holds', () => {
    const session = begun()
      .says({ calls: ['look'] })
      .restart()
    expect(session.state.clients.map(({ connection }) => connection)).toEqual(['parent'])
    expect(session.call('call_1_0').state).toBe('claimed')
  })

  test('is paused and continued with its parent', () => {
    const session = begun()
    session.send(told(session, { type: 'pause' }))
    expect(session.state.phase).toBe('paused')
    session.send(told(session, { type: 'continue' }))
    expect(session.state.phase).toBe('modelling')
  })
})

describe('what a child asks', () => {
  const asking = (): TestSession => begun().says({ calls: [{ name: 'pay', approval: true }] })

  test('has no timer there, and its turn’s clock stands', () => {
    const session = asking()
    expect(session.timers()).toEqual([])
    expect(session.owes()).toEqual([])
    expect(read(session)?.report).toMatchObject({
      waits: true,
      requests: [{ id: 'approval_call_1_0_1', path: [], asking: { type: 'approval', name: 'pay', withinMs: 600_000 } }],
    })
  })

  test('begins when the root approved it, however late', () => {
    const session = asking().after(3_600_000)
    const approved = {
      type: 'approval-decided',
      id: 'approval_call_1_0_1',
      decision: 'approve',
      principal: 'ann',
    } as const
    session.send(told(session, approved))
    expect(session.factTypes()).toEqual(expect.arrayContaining(['approval-decided', 'call-started']))
    session.send(told(session, { ...approved, decision: 'deny' }))
    expect(session.fact('decision-ignored')).toEqual({
      type: 'decision-ignored',
      id: 'approval_call_1_0_1',
      reason: 'closed',
    })
  })

  test.each([
    ['expired', 'approval_expired'],
    ['nobody', 'call_denied'],
  ] as const)('is denied when the root says "%s"', (why, code) => {
    const session = asking()
    session.send(told(session, { type: 'request-over', id: 'approval_call_1_0_1', why }))
    expect(session.fact('call-settled').settlement).toMatchObject({ type: 'denied', code })
  })

  test('a call for a client settles as the root says', () => {
    const session = begun().says({ calls: ['look'] })
    expect(read(session)?.report.requests).toMatchObject([{ id: 'call_1_0', asking: { type: 'call', name: 'look' } }])
    const settlement = { type: 'timed-out', reason: 'deadline' } as const
    session.send(told(session, { type: 'call-settled', id: 'call_1_0', settlement }))
    expect(session.fact('call-settled').settlement).toEqual(settlement)
    expect(read(session)?.report.acted).toBe(false)
  })

  test('a call that no client took is run by the child', () => {
    const session = begun().says({ calls: ['look'] })
    session.send(told(session, { type: 'call-taken-over', id: 'call_1_0' }))
    expect(session.owes()).toContain('run-tool:call_1_0:1')
  })

  test('a question of a tool is answered from above', () => {
    const session = begun().says({ calls: ['pay'] })
    const asked = {
      type: 'question-asked',
      callId: 'call_1_0',
      attempt: 1,
      n: 1,
      message: 'Which?',
      schema: {},
      timeoutMs: 9000,
    } as const
    session.send(asked)
    const [request] = read(session)?.report.requests ?? []
    expect(request).toMatchObject({ id: 'question_call_1_0_1', asking: { type: 'question', withinMs: 9000 } })
    session.send(told(session, { type: 'question-answered', id: 'question_call_1_0_1', value: 'red' }))
    expect(session.history.answerTo('call_1_0', 1)).toEqual({ value: 'red' })
  })
})

describe('an end', () => {
  test('before the task has begun leaves nothing to do', () => {
    const session = new TestSession({ tools: TOOLS }).replay(OPENED)
    const task = [{ type: 'text', text: 'Find it.' } as const]
    session.send(
      told(session, { type: 'task', callId: 'call_p_1_0', task, grant: GRANT }, { type: 'end', reason: 'interrupt' }),
    )
    expect(restsAsChild(session.state)).toBe(true)
    expect(read(session)?.report.end).toEqual({ stop: 'cancelled', text: '' })
  })

  test('gives calls at a client two seconds, and says what they did', () => {
    const session = begun().says({ calls: ['look'] })
    session.send(told(session, { type: 'end', reason: 'interrupt' }))
    expect(read(session)?.report.end).toBeUndefined()
    session.fire('grace')
    expect(read(session)?.report).toMatchObject({
      acted: true,
      did: { calls: [{ callId: 'call_1_0', name: 'look', settlement: 'unknown' }] },
      end: { stop: 'cancelled' },
    })
  })

  test('of a call that nobody had was not begun', () => {
    const session = begun().says({ calls: ['look'] })
    session.send(
      told(session, { type: 'end', reason: 'interrupt' }, { type: 'request-over', id: 'call_1_0', why: 'nobody' }),
    )
    expect(read(session)?.report).toMatchObject({ acted: false, did: { calls: [] }, end: { stop: 'cancelled' } })
  })
})

test('a log that is read in two parts says what it says as a whole', () => {
  const session = begun().says({ calls: [{ name: 'pay', approval: true }, 'read', 'look'] })
  session.returns('call_1_1')
  const id = 'approval_call_1_0_1'
  session
    .send(told(session, { type: 'approval-decided', id, decision: 'approve', principal: 'ann' }))
    .returns('call_1_0')
  const settlement = { type: 'ok', content: [] } as const
  session.send(told(session, { type: 'call-settled', id: 'call_1_2', settlement })).says('Done.')
  const whole = read(session)
  expect(whole?.report).toMatchObject({ requests: [], end: { text: 'Done.' } })
  for (let cut = 1; cut < session.records.length; cut++) {
    const before = session.records.slice(0, cut)
    const history = createHistory()
    let state = initialState('tested')
    for (const record of before) {
      state = applyRecord(state, record)
      history.fold(record)
    }
    const first = report(before, { state, history, spec: session.spec })
    const second = read(session, first?.to ?? -1)
    const closed = new Set([...(first?.report.closed ?? []), ...(second?.report.closed ?? [])])
    const open = [...(first?.report.requests ?? []), ...(second?.report.requests ?? [])].filter(
      (request) => !closed.has(request.id),
    )
    expect(open).toEqual([])
    expect(closed).toEqual(new Set(whole?.report.closed))
    const { requests: _, closed: __, ...rest } = second?.report ?? {}
    const { requests: ___, closed: ____, ...all } = whole?.report ?? {}
    expect(rest).toEqual(all)
    expect(second?.to).toBe(whole?.to)
  }
})

describe('tasks of a child', () => {
  const HELP = childTool('help', { onInterrupt: 'background' })
  const DELEGATE = { agent: 'helper', task: [], acts: true } as const
  const helping = { name: 'help', delegate: DELEGATE }

  test('its end wakes the child, and its caller reads the answer after that', () => {
    const session = begun()
      .says({ calls: [{ name: 'pay', background: true }] })
      .says('It is on its way.')
    expect([restsAsChild(session.state), read(session)?.report.end]).toEqual([false, undefined])
    session.returns('call_1_0', 'paid').says('It is paid.')
    expect(restsAsChild(session.state)).toBe(true)
    expect(read(session)?.report).toMatchObject({
      acted: true,
      did: { calls: [{ name: 'pay', settlement: 'ok' }] },
      end: { stop: 'end', text: 'It is paid.' },
    })
  })

  test('an approval of a task goes up, also between two turns of the child', () => {
    const session = begun()
      .says({ calls: [{ name: 'pay', background: true, approval: true }] })
      .says('It waits.')
    const [request] = read(session)?.report.requests ?? []
    expect(request).toMatchObject({ id: 'approval_call_1_0_1', asking: { type: 'approval', name: 'pay' } })
    session.send(
      told(session, { type: 'approval-decided', id: 'approval_call_1_0_1', decision: 'approve', principal: 'ann' }),
    )
    expect(session.state.tasks).toMatchObject([{ state: 'started' }])
  })

  test('end with the child, without a wake, and so does a child of its own that an interrupt would leave running', () => {
    const session = begun(GRANT, { tools: [...TOOLS, HELP] })
    session.says({ calls: [{ name: 'pay', background: true }, helping] })
    session.send(told(session, { type: 'end', reason: 'cancel' }))
    expect(session.factTypes()).toEqual(expect.arrayContaining(['task-cancelled', 'task-settled', 'child-ending']))
    expect(session.state).toMatchObject({ tasks: [], queue: [], notes: [], children: [{ phase: 'ending' }] })
  })

  test('too many wakes are notes, because nobody else writes to a child', () => {
    const session = begun(GRANT, { tools: TOOLS, limits: { wakes: 0 } })
    session
      .says({ calls: [{ name: 'pay', background: true }] })
      .says('ok')
      .returns('call_1_0', 'paid')
    expect(session.factTypes()).toEqual(['task-settled', 'note-queued'])
    expect(restsAsChild(session.state)).toBe(true)
  })
})
