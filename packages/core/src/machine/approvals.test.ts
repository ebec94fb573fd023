// Approvals: bound to one request, given once and in time; remembered decisions; and sessions without anyone to ask.
import { describe, expect, test } from 'vitest'
import type { InputOf } from './input.ts'
import { clientTool, serverTool, TestSession } from '../testing/test-session.ts'

const NEW = { argumentsHash: 'new hash' }

describe('an approval', () => {
  const asked = (): TestSession =>
    new TestSession()
      .attach()
      .user('go')
      .says({ calls: [{ name: 'pay', approval: true }] })

  test('is asked for before the call starts', () => {
    const session = asked()
    expect(session.fact('approval-requested')).toEqual({
      type: 'approval-requested',
      callId: 'call_1_0',
      approvalId: 'approval_call_1_0_1',
      argumentsHash: 'hash of {}',
      expiresAtMs: session.nowMs + 600_000,
    })
    expect(session.owes()).toEqual(['ask-approval:approval_call_1_0_1', 'set-timer:approval:call_1_0:3'])
    session.send(session.approval('call_1_0', 'approve', { reason: 'fine' }))
    expect(session.factTypes()).toEqual(['approval-decided', 'call-started', 'turn-clock-set'])
    expect(session.fact('approval-decided')).toEqual({
      type: 'approval-decided',
      callId: 'call_1_0',
      approvalId: 'approval_call_1_0_1',
      decision: 'approve',
      principal: 'ann',
      reason: 'fine',
    })
    expect(session.returns('call_1_0', 'paid').told().at(-1)).toBe('call_1_0 = paid')
  })

  test('denied with a reason tells it to the model', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'deny', { reason: 'too much' }))
    expect(session.told().at(-1)).toBe('call_1_0 = Error: the call was denied: too much')
    expect(session.fact('call-settled')).toMatchObject({
      settlement: { type: 'denied', code: 'call_denied' },
      tellLate: false,
    })
  })

  test('that names no open request is refused, and told which one it names', () => {
    const session = asked()
    const genuine = session.approval('call_1_0', 'approve')
    const why = (approvalId: string) => {
      const decision = session.decide({ ...genuine, approvalId })
      return decision.type === 'refused' ? [decision.refusal.code, decision.refusal.message] : decision.type
    }
    for (const unknown of [
      'approval_call_9_0_1',
      'approval_call_1_0_2',
      'approval_call_1_0_0',
      'approval_call_1_0',
      '',
    ])
      expect(why(unknown)).toEqual(['approval_refused', `${unknown}: there is no such request`])
    session.send(genuine)
    expect(why('approval_call_1_0_1')).toEqual([
      'approval_refused',
      'approval_call_1_0_1: it was answered; the call is started',
    ])
    session.returns('call_1_0')
    expect(why('approval_call_1_0_1')).toEqual([
      'approval_refused',
      'approval_call_1_0_1: it is stale; the call is settled',
    ])
  })

  test('of a request that was replaced is refused', () => {
    const session = asked()
    const old = session.approval('call_1_0', 'approve')
    // As an older Baton repeated its request after an edit.
    const edited = { arguments: '{}', argumentsHash: 'h', tokenHash: 't' }
    const { approvalId } = old
    session.replay(
      { type: 'approval-decided', callId: 'call_1_0', approvalId, decision: 'edit', principal: 'ann', edited },
      {
        type: 'approval-requested',
        callId: 'call_1_0',
        approvalId: 'approval_call_1_0_2',
        argumentsHash: 'h',
        expiresAtMs: session.nowMs + 1000,
      },
    )
    const decision = session.decide(old)
    expect(decision).toMatchObject({ refusal: { message: `${approvalId}: a newer request replaced this one` } })
    session.send(session.approval('call_1_0', 'approve'))
    expect(session.call('call_1_0').state).toBe('started')
  })

  test('of a call that was cancelled meanwhile is refused', () => {
    const session = asked()
    const genuine = session.approval('call_1_0', 'approve')
    expect(session.interrupt().refusal(genuine)).toBe('approval_refused')
  })

  test('of another principal than the session’s is refused', () => {
    const session = new TestSession({ principal: 'ann' }).user('go').says({ calls: [{ name: 'pay', approval: true }] })
    const bobs = session.decide(session.approval('call_1_0', 'approve', { principal: 'bob' }))
    expect(bobs).toMatchObject({
      refusal: { code: 'approval_refused', message: expect.stringContaining('a principal other than "bob"') },
    })
    session.send(session.approval('call_1_0', 'approve'))
  })

  test('of two people at once counts once', () => {
    const session = asked()
    const [first, second] = [session.approval('call_1_0', 'approve'), session.approval('call_1_0', 'deny')]
    expect(session.send(first).refusal(second)).toBe('approval_refused')
    expect(session.call('call_1_0').state).toBe('started')
  })

  test('waits through a restart and is given after it', () => {
    const session = asked()
    const given = session.approval('call_1_0', 'approve')
    expect(session.restart().owes()).toContain('ask-approval:approval_call_1_0_1')
    expect(session.send(given).call('call_1_0').state).toBe('started')
  })

  test('comes in time up to its last millisecond', () => {
    const session = asked().after(600_000)
    expect(session.refusal(session.approval('call_1_0', 'approve'))).toBeUndefined()
    expect(session.after(1).refusal(session.approval('call_1_0', 'approve'))).toBe('approval_refused')
    session.fire('approval:call_1_0')
    expect(session.state.phase).toBe('modelling')
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'denied',
      code: 'approval_expired',
      message: 'the call was not approved in time',
    })
    expect(session.fact('call-settled').undecided).toBe('approval_call_1_0_1')
  })

  test('that was given but whose call did not begin in its time is no approval any more', () => {
    const session = asked().send({ type: 'pause' })
    session.send(session.approval('call_1_0', 'approve')).after(600_001).send({ type: 'continue' })
    expect(session.factTypes()).not.toContain('call-started')
    expect(session.told().at(-1)).toBe('call_1_0 = Error: the call was not approved in time')
  })

  test('that was given lets its call begin up to its last millisecond', () => {
    const session = asked().send({ type: 'pause' })
    session.send(session.approval('call_1_0', 'approve')).after(600_000).send({ type: 'continue' })
    expect(session.factTypes()).toContain('call-started')
  })

  test('is refused once, and its timer says nothing after it was given', () => {
    const session = new TestSession({ limits: { parallelCalls: 1 } }).user('go')
    session.says({ calls: ['read', { name: 'pay', approval: true }] })
    const { generation } = session.timer('approval:call_1_1')
    session.send(session.approval('call_1_1', 'approve')).after(600_001)
    expect(session.call('call_1_1').state).toBe('ready')
    expect(session.send({ type: 'timer-fired', timer: 'approval:call_1_1', generation }).facts).toEqual([])
  })

  test('with edited arguments is the approval of those', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'edit', { edited: { arguments: '{"amount":5}', check: NEW } }))
    expect(session.factTypes()).toEqual(['approval-decided', 'call-started', 'turn-clock-set'])
    expect(session.fact('approval-decided').edited).toEqual({
      arguments: '{"amount":5}',
      argumentsHash: 'new hash',
      approved: true,
    })
    expect(session.history.openCall('call_1_0')).toMatchObject({ arguments: '{"amount":5}' })
    expect(session.returns('call_1_0', 'paid').told().slice(1)).toEqual([
      'call_1_0 pay {}',
      'call_1_0 = [A person changed the arguments to {"amount":5}] | paid',
    ])
    expect(session.state.index[1]?.chars).toBe('pay{}'.length + '{"amount":5}'.length + 'paid'.length)
  })

  test('with edited arguments keeps its time: what does not begin in it does not run', () => {
    const session = asked().send({ type: 'pause' })
    session.send(session.approval('call_1_0', 'edit', { edited: { arguments: '{}', check: NEW } }))
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', argumentsHash: 'new hash' })
    session.after(600_001).send({ type: 'continue' })
    expect(session.told().at(-1)).toContain('the call was not approved in time')
  })

  test('with edited arguments that are missing or wrong is refused, and the request stays open', () => {
    const session = asked()
    const edit = (edited?: InputOf<'approval'>['edited']) =>
      session.decide(session.approval('call_1_0', 'edit', edited && { edited }))
    const refused = (code: string, message: string) => ({
      type: 'refused',
      refusal: { code, message: `approval_call_1_0_1: ${message}` },
    })
    expect(edit()).toEqual(refused('approval_refused', 'the edited arguments are missing'))
    for (const text of ['[5]', '{"a'])
      expect(edit({ arguments: text, check: NEW })).toEqual(
        refused('invalid_arguments', 'the edited arguments are not a JSON object'),
      )
    expect(edit({ arguments: '{}', check: { ...NEW, invalid: 'amount is missing' } })).toEqual(
      refused('invalid_arguments', 'amount is missing'),
    )
    expect(session.call('call_1_0').state).toBe('awaiting-approval')
  })

  test('with edited arguments that a policy denies settles the call as denied, and remembers nothing', () => {
    const session = asked()
    const edited = { arguments: '{"amount":9}', check: { ...NEW, denied: 'not over 5' } }
    session.send(session.approval('call_1_0', 'edit', { edited, remember: 'tool' }))
    expect(session.fact('call-settled')).toEqual({
      type: 'call-settled',
      callId: 'call_1_0',
      settlement: { type: 'denied', code: 'call_denied', message: 'not over 5' },
      tellLate: false,
    })
    expect(session.state.remembered).toEqual([])
  })

  test('approved and not started is started on recovery, started is unknown', () => {
    const session = new TestSession({
      tools: [serverTool('alone', { parallel: false }), serverTool('pay', { effect: 'once' })],
    })
    session.user('go').says({ calls: ['alone', { name: 'pay', approval: true }] })
    session.send(session.approval('call_1_1', 'approve'))
    expect(session.call('call_1_1').state).toBe('ready')
    session.restart().returns('call_1_0')
    expect(session.call('call_1_1').state).toBe('started')
    session.restart()
    expect(session.told().at(-1)).toBe('call_1_1 = Error: tool_result_unknown (it may have run)')
  })

  test('of a client call offers it', () => {
    const tools = [clientTool('spawn', { effect: 'once' })]
    const session = new TestSession({ tools })
      .attach()
      .user('go')
      .says({ calls: [{ name: 'spawn', approval: true }] })
    session.send(session.approval('call_1_0', 'approve'))
    expect(session.call('call_1_0').state).toBe('offered')
  })
})

describe('a decision that is to be remembered', () => {
  const decided = (decision: 'approve' | 'deny' | 'edit', remember: 'tool' | 'arguments'): TestSession => {
    const session = new TestSession()
      .user('go')
      .says({ calls: [{ name: 'read', arguments: '{"a":1}', approval: true }] })
    const edited = decision === 'edit' && {
      edited: { arguments: '{"a":2}', check: { argumentsHash: 'hash of {"a":2}' } },
    }
    session.send(session.approval('call_1_0', decision, { remember, ...edited }))
    return decision === 'deny' ? session : session.returns('call_1_0')
  }
  const again = (session: TestSession, text: string): string => {
    session.says({ calls: [{ name: 'read', arguments: text, approval: true }, 'put'] })
    return session.call('call_2_0').state
  }

  test.each([
    ['approve', 'tool', '{"a":9}', 'started'],
    ['approve', 'arguments', '{"a":1}', 'started'],
    ['approve', 'arguments', '{"a":9}', 'awaiting-approval'],
    ['deny', 'tool', '{"a":9}', 'settled'],
    ['deny', 'arguments', '{"a":1}', 'settled'],
    ['deny', 'arguments', '{"a":9}', 'awaiting-approval'],
    ['edit', 'arguments', '{"a":2}', 'started'],
    ['edit', 'arguments', '{"a":1}', 'awaiting-approval'],
  ] as const)('%s, for the %s: a later call with %s is %s', (decision, remember, text, state) => {
    const session = decided(decision, remember)
    expect(session.logged('approval-decided')[0]?.remember).toBe(remember)
    expect(again(session, text)).toBe(state)
  })

  test('denies with words that tell who decided, and when', () => {
    const session = decided('deny', 'tool')
    again(session, '{}')
    expect(session.fact('call-settled').settlement).toMatchObject({
      code: 'call_denied',
      message: 'a person decided earlier that such calls of "read" do not run',
    })
  })

  test('gives way to a newer one, and to a policy that denies', () => {
    const session = decided('approve', 'tool')
    session.says({ calls: [{ name: 'read', approval: true, denied: 'not today' }, 'put'] })
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'denied',
      code: 'call_denied',
      message: 'not today',
    })
    session.state = { ...session.state, remembered: [...session.state.remembered, DENIED] }
    session.returns('call_2_1').says({ calls: [{ name: 'read', approval: true }, 'put'] })
    expect(session.call('call_3_0').settlement).toBe('denied')
  })
  const DENIED = { name: 'read', argumentsHash: null, decision: 'deny' } as const

  test('is kept of the newest 256, and once for the same tool and arguments', () => {
    const decide = (session: TestSession, at: number, text: string): void => {
      session.says({ calls: [{ name: 'read', arguments: text, approval: true }] })
      session.send(session.approval(`call_${at}_0`, 'deny', { remember: 'arguments' }))
    }
    const session = new TestSession({ limits: { toolRounds: 1000, callsPerTurn: 1000 } }).user('go')
    for (let at = 1; at <= 257; at++) decide(session, at, `{"a":${at}}`)
    expect(session.state.remembered).toHaveLength(256)
    expect(session.state.remembered[0]?.argumentsHash).toBe('hash of {"a":2}')
  })

  test('outlives a restart', () => {
    expect(again(decided('approve', 'tool').restart(), '{}')).toBe('started')
  })
})

describe('a policy that denies', () => {
  test('settles the call at once, and nobody is asked', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'pay', approval: true, denied: 'never' }] })
    expect(session.factTypes()).not.toContain('approval-requested')
    expect(session.told().at(-1)).toBe('call_1_0 = Error: never')
  })
})

describe('a call that must be approved while nobody can be asked', () => {
  const NOBODY = 'call_1_0 = Error: no connected client can approve the call'
  const pay = { calls: [{ name: 'pay', approval: true }] }

  test.each([
    ['a user’s', { type: 'user-input', inputId: 'a', parts: [{ type: 'text', text: 'go' }] }],
    ['a program’s', { type: 'urgent-event', inputId: 'a', name: 'go' }],
  ] as const)('settles at once as denied, for %s input', (_, input) => {
    const session = new TestSession().attach('app', { asks: false }).send({ ...input, asks: false })
    expect(session.fact('input-accepted').asks).toBe(false)
    session.says(pay)
    expect(session.factTypes()).not.toContain('approval-requested')
    expect(session.fact('call-settled')).toMatchObject({ settlement: { code: 'call_denied' }, tellLate: false })
    expect(session.told().at(-1)).toBe(NOBODY)
  })

  test('settles at once for a transcript of people who cannot be asked', () => {
    const entry = { type: 'transcript', inputId: 't', speaker: 'ann', text: 'go', asks: false } as const
    expect(new TestSession().send(entry).fire('batch').says(pay).told().at(-1)).toBe(NOBODY)
  })

  test('waits where a client is there that can be asked', () => {
    const session = new TestSession().attach().user('go', { asks: false }).says(pay)
    expect(session.call('call_1_0').state).toBe('awaiting-approval')
  })

  test('waits where one of the turn’s inputs came from somebody who can be asked', () => {
    const session = new TestSession()
      .user('go', { asks: false })
      .user('and', { delivery: 'steer' })
      .says({ calls: ['read'] })
    session.returns('call_1_0').says(pay)
    expect(session.call('call_2_0').state).toBe('awaiting-approval')
    expect(new TestSession().user('go').says(pay).call('call_1_0').state).toBe('awaiting-approval')
  })

  test('is asked for in the next turn, where somebody is there', () => {
    const session = new TestSession().user('go', { asks: false }).says('hm').user('now me').says(pay)
    expect(session.call('call_2_0').state).toBe('awaiting-approval')
  })

  test('is asked for when its input was rewound and is asked again', () => {
    const session = new TestSession().user('go', { asks: false }).says('hm')
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: true }).says(pay)
    expect(session.call('call_2_0').state).toBe('awaiting-approval')
  })
})

describe('an approval that is about one destination', () => {
  const write = (asksFor: string, text = '{}') => ({ name: 'put', arguments: text, asksFor })
  const asked = (): TestSession => new TestSession().user('go').says({ calls: [write('a.txt', '{"n":1}')] })
  const next = (session: TestSession, call: ReturnType<typeof write>, step = 2): string => {
    session.says({ calls: [call, 'read'] })
    return session.call(`call_${step}_0`).state
  }

  test('stands for later calls to it, and for no other', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'approve')).returns('call_1_0')
    expect(next(session, write('a.txt', '{"n":2}'))).toBe('started')
    session.returns('call_2_0').returns('call_2_1')
    expect(next(session, write('b.txt'), 3)).toBe('awaiting-approval')
  })

  test('stands for later calls only if a person says so, where each call is asked about', () => {
    const each = (n: number) => ({ ...write('a.txt', `{"n":${n}}`), asksEach: true })
    const session = new TestSession().user('go').says({ calls: [each(1)] })
    session.send(session.approval('call_1_0', 'approve')).returns('call_1_0')
    expect(next(session, each(2))).toBe('awaiting-approval')
    session.send(session.approval('call_2_0', 'approve', { remember: 'tool' }))
    session.returns('call_2_0').returns('call_2_1')
    expect(next(session, each(3), 3)).toBe('started')
  })

  test('does not stand for the very call that was denied for good', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'deny', { remember: 'arguments' }))
    expect(next(session, write('a.txt', '{"n":2}'))).toBe('awaiting-approval')
    session.send(session.approval('call_2_0', 'approve')).returns('call_2_0').returns('call_2_1')
    expect(next(session, write('a.txt', '{"n":1}'), 3)).toBe('settled')
  })

  test('stands for that tool alone, and survives a snapshot', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'approve')).returns('call_1_0')
    session.says({ calls: [{ ...write('a.txt'), name: 'read' }] })
    expect(session.call('call_2_0').state).toBe('awaiting-approval')
    expect(session.state.remembered).toEqual([
      { name: 'put', argumentsHash: null, asksFor: 'a.txt', decision: 'approve' },
    ])
  })

  test('is asked for although the tool, or these arguments, were approved for later calls', () => {
    const session = new TestSession().user('go')
    for (const [step, remember] of [
      [1, 'tool'],
      [2, 'arguments'],
    ] as const) {
      session.says({ calls: [{ name: step === 1 ? 'put' : 'read', approval: true }] })
      session.send(session.approval(`call_${step}_0`, 'approve', { remember })).returns(`call_${step}_0`)
    }
    expect(next(session, write('a.txt'), 3)).toBe('awaiting-approval')
    session.send(session.approval('call_3_0', 'approve')).returns('call_3_0').returns('call_3_1')
    session.says({ calls: [{ ...write(''), name: 'read' }] })
    expect(session.call('call_4_0').state).toBe('awaiting-approval')
  })

  test('is not remembered for the tool, for a call without a destination, or where a person changed the arguments', () => {
    const session = asked()
    const edited = { arguments: '{"n":9}', check: { argumentsHash: 'hash of {"n":9}' } }
    session.send(session.approval('call_1_0', 'edit', { edited, remember: 'arguments' })).returns('call_1_0')
    expect(next(session, write(''))).toBe('awaiting-approval')
    session
      .send(session.approval('call_2_0', 'approve', { remember: 'tool' }))
      .returns('call_2_0')
      .returns('call_2_1')
    expect(session.state.remembered).toEqual([])
    expect(next(session, write(''), 3)).toBe('awaiting-approval')
  })

  test('once denied for the tool, is not asked for again', () => {
    const session = asked()
    session.send(session.approval('call_1_0', 'deny', { remember: 'tool' }))
    expect(next(session, write('b.txt'))).toBe('settled')
  })
})

test('the arguments that a person changed are those of the call, also as an older version wrote it', () => {
  const session = new TestSession()
    .attach()
    .user('go')
    .says({ calls: [{ name: 'read', approval: true }] })
  const { id = '' } = session.call('call_1_0').approval ?? {}
  const edited = { arguments: '{"a":1}', argumentsHash: 'hash of the new ones' }
  const decided = { callId: 'call_1_0', approvalId: id, decision: 'edit', principal: 'ann' } as const
  const started = { type: 'call-started', callId: 'call_1_0', attempt: 1, deadlineMs: session.nowMs + 1000 } as const
  session.replay({ type: 'approval-decided', ...decided, edited }, started)
  expect(session.call('call_1_0')).toMatchObject({ state: 'started', argumentsHash: 'hash of the new ones' })
  expect(session.history.openCall('call_1_0')?.arguments).toBe('{"a":1}')
})
