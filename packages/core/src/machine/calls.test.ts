// Outcomes of calls: results in time, late, repeated, forged; claims, offers, approvals.
import { describe, expect, test } from 'vitest'
import type { Outcome } from './input.ts'
import { toOutcome, TestSession } from '../testing/test-session.ts'

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
    ['a result', toOutcome('x'.repeat(11))],
    ['an error', { type: 'error', code: 'tool_failed', message: 'x'.repeat(11) }],
  ] as const)('over its size settles as result_too_large: %s', (_, outcome) => {
    const session = new TestSession({ limits: { resultChars: 10 } }).user('go').says({ calls: ['read'] })
    session.returns('call_1_0', outcome)
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'error',
      code: 'result_too_large',
      message: 'the result has 11 characters; at most 10 are allowed',
    })
  })

  test('at its size is taken', () => {
    const session = new TestSession({ limits: { resultChars: 10 } }).user('go').says({ calls: ['read'] })
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
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: toOutcome('old') })
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
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 0, outcome: toOutcome('x') })
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

  test('of a claimed call comes from its client under its own name, and from no other', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['spawn'] })
      .claim('call_1_0')
      .detach()
    session.attach('again').clientReturns('call_1_0', 'forged', 'again')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.attach().clientReturns('call_1_0', 'spawned')
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
    const outcome = toOutcome(`${'x'.repeat(1999)}😀y`)
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome })
    expect(session.fact('note-queued').text).toBe(
      `The tool "pay" (call_1_0) finished after all: "${'x'.repeat(1999)}😀…"`,
    )
  })

  test('each late result is told, not only the first', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay', 'pay'] })
      .interrupt()
    for (const callId of ['call_1_0', 'call_1_1'])
      session.send({ type: 'tool-finished', callId, attempt: 1, outcome: toOutcome(callId) })
    session.user('and?')
    expect(session.told().slice(-3)).toEqual([
      'user: The tool "pay" (call_1_0) finished after all: "call_1_0"',
      'user: The tool "pay" (call_1_1) finished after all: "call_1_1"',
      'user: and?',
    ])
  })

  test('that is late and comes twice is told once, while other calls of its step are open', () => {
    const session = asked().restart().restart().restart().restart()
    const late = { type: 'tool-finished', callId: 'call_1_1', attempt: 3, outcome: toOutcome('read') } as const
    expect(session.call('call_1_1').state).toBe('settled')
    expect(session.state.step?.calls[0]?.state).not.toBe('settled')
    expect(session.send(late).factTypes()).toEqual(['result-ignored', 'note-queued'])
    expect(session.send(late).factTypes()).toEqual(['result-ignored'])
  })

  test('of one of the last 256 calls is known, of an older one unknown', () => {
    const session = new TestSession().user('go')
    for (const step of [1, 2, 3]) session.says({ calls: Array.from({ length: 100 }, () => 'fly') }).user(`${step}`)
    expect(session.state.recentCalls).toHaveLength(256)
    const late = { type: 'tool-finished', attempt: 0, outcome: toOutcome('late') } as const
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
        message: 'the tool was started 3 times, and the process died each time',
      },
      tellLate: true,
    })
    const late = { type: 'tool-finished', callId: 'call_1_0', attempt: 3, outcome: toOutcome('found') } as const
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
    expect(session.refusal({ ...claim, offer: 2 })).toBe('call_not_offered')
    expect(session.refusal({ ...claim, connection: 'desk' })).toBe('call_not_offered')
    expect(session.refusal({ ...claim, callId: 'call_9_9' })).toBe('call_over')
    expect(session.refusal(claim)).toBeUndefined()
    session.detach().attach('desk')
    expect(session.refusal(claim)).toBe('call_not_offered')
  })

  test('of a call that has settled cannot be claimed', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look', 'read'] })
      .clientReturns('call_1_0')
    const claim = { type: 'call-claimed', callId: 'call_1_0', connection: 'phone', offer: 1 } as const
    expect(session.refusal(claim)).toBe('call_over')
    session.returns('call_1_1')
    expect(session.state.phase).toBe('modelling')
    expect(session.refusal(claim)).toBe('call_over')
    session.says('done')
    expect(session.refusal(claim)).toBe('call_over')
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

test('a plan of a run that a restart replaced says nothing', () => {
  const session = new TestSession()
    .user('go')
    .says({ calls: ['read'] })
    .restart()
  const entries = [{ content: 'old', status: 'pending', priority: 'medium' }] as const
  expect(session.call('call_1_0').attempt).toBe(2)
  expect(session.send({ type: 'plan-set', callId: 'call_1_0', attempt: 1, entries }).facts).toEqual([])
  expect(session.send({ type: 'plan-set', callId: 'call_1_0', attempt: 2, entries }).factTypes()).toEqual(['plan-set'])
})
