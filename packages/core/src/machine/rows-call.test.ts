// What becomes of calls: results in time, late, repeated, forged; claims, offers, approvals.
import { describe, expect, test } from 'vitest'
import type { Outcome } from './input.ts'
import { clientTool, outcomeOf, serverTool, TestSession } from '../testing/test-session.ts'

describe('a result', () => {
  const asked = (): TestSession =>
    new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look', 'read'] })

  test('settles its call, and once all have settled the model is called', () => {
    const session = asked().clientReturns('call_1_0', 'seen')
    expect(session.facts).toEqual([
      {
        type: 'call-settled',
        callId: 'call_1_0',
        settlement: { type: 'ok', content: [{ type: 'text', text: 'seen' }] },
        tellLate: false,
      },
    ])
    expect(session.effects).toEqual([{ type: 'clear-timer', timer: 'call:call_1_0', generation: 3 }])
    expect(session.state.phase).toBe('calling')
    expect(session.returns('call_1_1').state.phase).toBe('modelling')
  })

  test('of a failing tool goes to the model and ends nothing', () => {
    const failed = (message: string): Outcome => ({ type: 'error', code: 'tool_failed', message })
    const session = asked().clientReturns('call_1_0', failed('no camera')).returns('call_1_1', failed(''))
    expect(session.told().slice(-2)).toEqual(['call_1_0 = Error: no camera', 'call_1_1 = Error: unknown'])
    expect(session.state.index.at(-1)?.chars).toBe('look{}read{}'.length + 'no camera'.length)
  })

  test('that is empty is a result', () => {
    const session = asked().clientReturns('call_1_0', '').returns('call_1_1', { type: 'ok', content: [] })
    expect(session.told().slice(-2)).toEqual(['call_1_0 = ', 'call_1_1 = '])
  })

  test.each([
    ['a result', outcomeOf('x'.repeat(11))],
    ['an error', { type: 'error', code: 'tool_failed', message: 'x'.repeat(11) }],
    [
      'media',
      {
        type: 'ok',
        content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'x'.repeat(11) } }],
      },
    ],
  ] as const)('over its size settles as result_too_large: %s', (_, outcome) => {
    const session = new TestSession({ limits: { resultBytes: 10 } }).user('go').says({ calls: ['read'] })
    session.returns('call_1_0', outcome)
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'error',
      code: 'result_too_large',
      message: 'the result has 11 characters; at most 10 are taken',
    })
  })

  test('at its size is taken', () => {
    const session = new TestSession({ limits: { resultBytes: 10 } }).user('go').says({ calls: ['read'] })
    expect(session.returns('call_1_0', 'x'.repeat(10)).fact('call-settled').settlement.type).toBe('ok')
  })

  test('that a tool cut in the middle of a character is told whole', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .returns('call_1_0', 'smile \ud83d')
    expect(session.told().at(-1)).toBe('call_1_0 = smile \ufffd')
  })

  test('repeated while other calls run is a duplicate', () => {
    const session = asked().clientReturns('call_1_0', 'seen').clientReturns('call_1_0', 'forged')
    expect(session.facts).toEqual([
      { type: 'result-ignored', callId: 'call_1_0', reason: 'duplicate', outcome: 'ok', preview: 'forged' },
    ])
    expect(session.returns('call_1_1').told().slice(-2)).toEqual(['call_1_0 = seen', 'call_1_1 = done'])
  })

  test('repeated after its step is a duplicate, also of a failed one', () => {
    const broken: Outcome = { type: 'error', code: 'tool_failed', message: 'broken' }
    const session = asked().clientReturns('call_1_0', broken).returns('call_1_1')
    session.clientReturns('call_1_0', broken)
    expect(session.facts).toEqual([
      { type: 'result-ignored', callId: 'call_1_0', reason: 'duplicate', outcome: 'error', preview: 'Error: broken' },
    ])
  })

  test('after the deadline is late, changes nothing and is told to nobody', () => {
    const session = asked().fire('call:call_1_0').clientReturns('call_1_0', 'seen')
    expect(session.factTypes()).toEqual(['result-ignored'])
    expect(session.fact('result-ignored').reason).toBe('late')
    expect(session.returns('call_1_1').told().slice(-2)).toEqual([
      'call_1_0 = Error: tool_result_timeout',
      'call_1_1 = done',
    ])
  })

  test('of an unknown call is logged as such', () => {
    const session = asked().clientReturns('call_9_0', 'x')
    expect(session.fact('result-ignored')).toMatchObject({ callId: 'call_9_0', reason: 'unknown' })
  })

  test('is logged by its beginning, in whole characters', () => {
    const session = asked().clientReturns('call_9_0', `${'x'.repeat(199)}😀y`)
    expect(session.fact('result-ignored').preview).toBe(`${'x'.repeat(199)}😀…`)
    session.clientReturns('call_9_0', 'x'.repeat(200))
    expect(session.fact('result-ignored').preview).toBe('x'.repeat(200))
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'u' } } as const
    session.clientReturns('call_9_0', { type: 'ok', content: [{ type: 'text', text: 'a' }, image] })
    expect(session.fact('result-ignored').preview).toBe('a [image]')
  })

  test('of an attempt that a restart replaced is stale', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .restart()
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: outcomeOf('old') })
    expect(session.fact('result-ignored').reason).toBe('stale')
    expect(session.returns('call_1_0', 'new').told().at(-1)).toBe('call_1_0 = new')
  })

  test('of a server tool from a client is foreign', () => {
    const session = asked().clientReturns('call_1_1', 'forged')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    expect(session.call('call_1_1').state).toBe('started')
  })

  test('of a client call from the server is stale', () => {
    const session = asked()
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 0, outcome: outcomeOf('x') })
    expect(session.fact('result-ignored').reason).toBe('stale')
  })

  test('from a connection that is not attached is foreign', () => {
    const session = asked().clientReturns('call_1_0', 'forged', 'nobody')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    expect(session.call('call_1_0').state).toBe('offered')
  })

  test('from another client is foreign while the holder is there', () => {
    const session = asked().attach('desk').clientReturns('call_1_0', 'forged', 'desk')
    expect(session.fact('result-ignored').reason).toBe('foreign')
  })

  test('of a version 1 app that came back before its old connection was seen to be dead is its own', () => {
    const app = { claims: false } as const
    const session = new TestSession()
      .attach('other', app)
      .attach('phone', app)
      .user('go')
      .says({ calls: ['spawn'] })
    session.clientReturns('call_1_0', 'forged', 'other')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.attach('stranger', { ...app, principal: 'bob' }).clientReturns('call_1_0', 'forged', 'stranger')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.attach('again', app).clientReturns('call_1_0', 'spawned', 'again')
    expect(session.told().at(-1)).toBe('call_1_0 = spawned')
  })

  test('after a reconnect comes over the new connection of the same principal, and of no other', () => {
    const session = new TestSession().attach('first', { principal: 'bob' }).attach('phone', { claims: false })
    session
      .user('go')
      .says({ calls: ['spawn'] })
      .detach()
    expect(session.call('call_1_0').state).toBe('claimed')
    session.attach('other', { principal: 'bob' }).clientReturns('call_1_0', 'forged', 'other')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.attach('again', { claims: false }).clientReturns('call_1_0', 'spawned', 'again')
    expect(session.told().at(-1)).toBe('call_1_0 = spawned')
  })

  test('of a claimed call comes over the new connection of a version 2 client too', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['spawn'] })
      .claim('call_1_0')
      .detach()
    session.attach('again').clientReturns('call_1_0', 'spawned', 'again')
    expect(session.told().at(-1)).toBe('call_1_0 = spawned')
  })

  test('of a call that was taken back but run all the same is a result', () => {
    const session = asked().detach().attach('other', { principal: 'bob' })
    session.detach('other').attach('again')
    expect(session.call('call_1_0').offer).toMatchObject({ connection: 'again', number: 3 })
    session.clientReturns('call_1_0', 'seen', 'again')
    expect(session.fact('call-settled').settlement.type).toBe('ok')
  })

  test('a note of a long late result is cut to 2,000 characters, whole ones', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay'] })
      .interrupt()
    const outcome = outcomeOf(`${'x'.repeat(1999)}😀y`)
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome })
    expect(session.fact('note-queued').text).toBe(
      `The tool "pay" (call_1_0) finished after all: ${'x'.repeat(1999)}😀…`,
    )
  })

  test('each late result is told, not only the first', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay', 'pay'] })
      .interrupt()
    for (const callId of ['call_1_0', 'call_1_1'])
      session.send({ type: 'tool-finished', callId, attempt: 1, outcome: outcomeOf(callId) })
    session.user('and?')
    expect(session.told().slice(-3)).toEqual([
      'user: The tool "pay" (call_1_0) finished after all: call_1_0',
      'user: The tool "pay" (call_1_1) finished after all: call_1_1',
      'user: and?',
    ])
  })

  test('of one of the last 256 calls is known, of an older one unknown', () => {
    const session = new TestSession().user('go')
    for (const step of [1, 2, 3]) session.says({ calls: Array.from({ length: 100 }, () => 'fly') }).user(`${step}`)
    expect(session.state.recentCalls).toHaveLength(256)
    const late = { type: 'tool-finished', attempt: 0, outcome: outcomeOf('late') } as const
    expect(session.send({ ...late, callId: 'call_1_44' }).fact('result-ignored').reason).toBe('duplicate')
    expect(session.send({ ...late, callId: 'call_1_43' }).fact('result-ignored').reason).toBe('unknown')
  })

  test('of a tool that was given up after three starts is told as late, once', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read', 'put'] })
      .restart()
      .restart()
      .restart()
    expect(session.logged('call-settled').at(0)).toMatchObject({
      callId: 'call_1_0',
      settlement: {
        type: 'error',
        code: 'recovery_exhausted',
        message: 'the tool was started 3 times and each time the process died',
      },
      tellLate: true,
    })
    const late = { type: 'tool-finished', callId: 'call_1_0', attempt: 3, outcome: outcomeOf('found') } as const
    expect(session.send(late).fact('result-ignored').reason).toBe('late')
    expect(session.fact('note-queued').note).toBe(1)
    expect(session.send(late).factTypes()).toEqual(['result-ignored'])
    expect(session.fact('result-ignored').reason).toBe('duplicate')
  })
})

describe('an offer', () => {
  test('goes to the client that came last, and is claimed before it acts', () => {
    const session = new TestSession()
      .attach()
      .attach('desk')
      .user('go')
      .says({ calls: ['look'] })
    expect(session.fact('call-offered')).toEqual({
      type: 'call-offered',
      callId: 'call_1_0',
      connection: 'desk',
      offer: 1,
    })
    expect(session.effects).toContainEqual({ type: 'offer-call', callId: 'call_1_0', connection: 'desk', offer: 1 })
    session.claim('call_1_0')
    expect(session.facts).toEqual([{ type: 'call-claimed', callId: 'call_1_0', connection: 'desk' }])
    expect(session.claim('call_1_0').facts).toEqual([])
    expect(session.owes()).toContain('offer-call:call_1_0:1')
  })

  test('claimed with an old number or over another connection is refused', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look'] })
    const claim = { type: 'call-claimed', callId: 'call_1_0', connection: 'phone', offer: 1 } as const
    expect(session.refusal({ ...claim, offer: 2 })).toBe('illegal_input')
    expect(session.refusal({ ...claim, connection: 'desk' })).toBe('illegal_input')
    expect(session.refusal({ ...claim, callId: 'call_9_9' })).toBe('illegal_input')
    expect(session.refusal(claim)).toBeUndefined()
    session.detach().attach('desk')
    expect(session.refusal(claim)).toBe('illegal_input')
  })

  test('of a call that has settled cannot be claimed', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look', 'read'] })
      .clientReturns('call_1_0')
    const claim = { type: 'call-claimed', callId: 'call_1_0', connection: 'phone', offer: 1 } as const
    expect(session.refusal(claim)).toBe('illegal_input')
  })

  test('over version 1 is claimed by its delivery', () => {
    const session = new TestSession()
      .attach('phone', { claims: false })
      .user('go')
      .says({ calls: ['spawn'] })
    expect(session.factTypes()).toEqual(['step-finished', 'call-offered', 'call-claimed', 'call-clock-set'])
    expect(session.call('call_1_0').state).toBe('claimed')
  })

  test('that could not be written goes to another client, also of a once call', () => {
    const session = new TestSession()
      .attach()
      .attach('app', { claims: false })
      .user('go')
      .says({ calls: ['spawn'] })
    session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 })
    expect(session.fact('call-returned').reason).toBe('send_failed')
    expect(session.fact('call-offered')).toMatchObject({ connection: 'phone', offer: 2 })
    session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 })
    expect(session.facts).toEqual([])
  })

  test('that could not be written is not written to the same connection for ever', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look'] })
    session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 })
    expect(session.factTypes()).toEqual(['call-returned', 'client-detached', 'call-clock-set', 'turn-clock-set'])
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', clock: { mode: 'away' } })
    expect(session.attach().fact('call-offered').offer).toBe(2)
  })

  test('that a version 2 client has claimed was written, whatever its front says later', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look'] })
      .claim('call_1_0')
    expect(session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 }).facts).toEqual([])
  })

  test('of a call that was never made says nothing', () => {
    const session = new TestSession().user('go').says({ calls: ['read'] })
    expect(session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 }).facts).toEqual([])
    expect(session.send({ type: 'call-reached', callId: 'call_1_0', offer: 1 }).facts).toEqual([])
    expect(session.send({ type: 'offer-failed', callId: 'call_9_9', offer: 1 }).facts).toEqual([])
  })

  test('failing after its call has settled says nothing', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look', 'read'] })
      .clientReturns('call_1_0')
    expect(session.send({ type: 'offer-failed', callId: 'call_1_0', offer: 1 }).facts).toEqual([])
  })
})

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
    expect(session.owes()).toEqual(['ask-approval:call_1_0:approval_call_1_0_1', 'set-timer:approval:call_1_0:3'])
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
    expect(session.told().at(-1)).toBe('call_1_0 = Error: a person denied the call: too much')
    expect(session.fact('call-settled')).toMatchObject({
      settlement: { type: 'denied', code: 'call_denied' },
      tellLate: false,
    })
  })

  test('that is forged, stale, or for other arguments is refused', () => {
    const session = asked()
    const genuine = session.approval('call_1_0', 'approve')
    for (const forged of [
      { tokenHash: 'guessed' },
      { argumentsHash: 'hash of {"a":1}' },
      { approvalId: 'approval_call_1_0_0' },
      { callId: 'call_9_0' },
    ])
      expect(session.refusal({ ...genuine, ...forged })).toBe('approval_refused')
    session.send(genuine)
    expect(session.refusal(genuine)).toBe('approval_refused')
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
      message: 'the approval of the call came too late or not at all',
    })
  })

  test('that was given but whose call did not begin in its time is no approval any more', () => {
    const session = asked().send({ type: 'pause' })
    session.send(session.approval('call_1_0', 'approve')).after(600_001).send({ type: 'continue' })
    expect(session.factTypes()).not.toContain('call-started')
    expect(session.told().at(-1)).toBe('call_1_0 = Error: the approval of the call came too late or not at all')
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

  test('with edited arguments is a new proposal, which must be approved in its turn', () => {
    const session = asked()
    const old = session.approval('call_1_0', 'approve')
    const edited = {
      arguments: '{"amount":5}',
      check: { argumentsHash: 'new hash', approval: { tokenHash: 'new token' } },
    }
    expect(session.refusal(session.approval('call_1_0', 'edit'))).toBe('approval_refused')
    expect(session.refusal(session.approval('call_1_0', 'edit', { edited: { ...edited, arguments: '[5]' } }))).toBe(
      'approval_refused',
    )
    expect(session.refusal(session.approval('call_1_0', 'edit', { edited: { ...edited, arguments: '{"a' } }))).toBe(
      'approval_refused',
    )
    session.send(session.approval('call_1_0', 'edit', { edited }))
    expect(session.fact('approval-decided').edited).toEqual({
      arguments: '{"amount":5}',
      argumentsHash: 'new hash',
      tokenHash: 'new token',
    })
    expect(session.fact('approval-requested')).toMatchObject({
      approvalId: 'approval_call_1_0_2',
      argumentsHash: 'new hash',
    })
    expect(session.refusal(old)).toBe('approval_refused')
    session.send(session.approval('call_1_0', 'approve'))
    expect(session.history.openCall('call_1_0')).toMatchObject({ arguments: '{"amount":5}' })
    expect(session.returns('call_1_0', 'paid').told().slice(1)).toEqual([
      'call_1_0 pay {}',
      'call_1_0 = [A person changed the arguments to {"amount":5}] | paid',
    ])
    expect(session.state.index[1]?.chars).toBe('pay{}'.length + '{"amount":5}'.length + 'paid'.length)
  })

  test('with edited arguments that need none starts the call', () => {
    const session = asked()
    const edited = { arguments: '{"amount":1}', check: { argumentsHash: 'small' } }
    session.send(session.approval('call_1_0', 'edit', { edited }))
    expect(session.factTypes()).toEqual(['approval-decided', 'call-started', 'turn-clock-set'])
    expect(session.call('call_1_0')).toMatchObject({ argumentsHash: 'small' })
    expect(session.history.openCall('call_1_0')?.arguments).toBe('{"amount":1}')
  })

  test('with edited arguments that are wrong settles the call', () => {
    const session = asked()
    const check = { argumentsHash: 'h', invalid: 'amount is missing', approval: { tokenHash: 't' } }
    session.send(session.approval('call_1_0', 'edit', { edited: { arguments: '{}', check } }))
    expect(session.fact('call-settled').tellLate).toBe(false)
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'error',
      code: 'invalid_arguments',
      message: 'amount is missing',
    })
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
