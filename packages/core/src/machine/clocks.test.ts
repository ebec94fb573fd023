// Clocks that pause: a client call's while no client is attached or its client is busy, a turn's while it waits only
// for people; and the time left after a restart.
import { describe, expect, test } from 'vitest'
import { clientTool, serverTool, TestSession } from '../testing/test-session.ts'

const TOOLS = [clientTool('look'), clientTool('spawn', { effect: 'once' }), serverTool('read', { timeoutMs: 500_000 })]
const CALL = 'call_1_0'

function calling(
  call = 'look',
  more: { sequential?: boolean; claims?: boolean; attached?: boolean } = {},
): TestSession {
  const session = new TestSession({ tools: TOOLS })
  const { attached = true, ...client } = more
  if (attached) session.attach('phone', client)
  return session.user('go').says({ calls: [call] })
}

function leftMs(session: TestSession, timer = `call:${CALL}`): number {
  return session.timer(timer).atMs - session.nowMs
}

describe('a client call', () => {
  test('has its 30 s while its client is there', () => {
    const session = calling()
    expect(session.fact('call-clock-set')).toEqual({
      type: 'call-clock-set',
      callId: CALL,
      mode: 'running',
      deadlineMs: session.nowMs + 30_000,
      remainingMs: 30_000,
      awayRemainingMs: 600_000,
      graces: 0,
    })
    expect(session.fire(`call:${CALL}`).told().at(-1)).toBe(`${CALL} = Error: tool_result_timeout`)
  })

  test('that ran out once written to a client may have run, if it is a once call', () => {
    const session = calling('spawn', { claims: false })
    expect(session.fire(`call:${CALL}`).told().at(-1)).toBe(`${CALL} = Error: tool_result_timeout (it may have run)`)
  })

  test('stands still while no client is attached; that time has its own limit of 10 minutes', () => {
    const session = calling().after(12_000).detach()
    expect(session.call(CALL).clock).toMatchObject({ mode: 'away', remainingMs: 18_000, awayRemainingMs: 600_000 })
    expect(leftMs(session)).toBe(600_000)
    session.after(100_000).attach()
    expect(session.factTypes()).toEqual(['client-attached', 'call-offered', 'call-clock-set', 'turn-clock-set'])
    expect(session.call(CALL).clock).toMatchObject({ mode: 'running', remainingMs: 18_000, awayRemainingMs: 500_000 })
    expect(leftMs(session)).toBe(18_000)
    session.after(3000).detach()
    expect(session.call(CALL).clock).toMatchObject({ remainingMs: 15_000 })
    expect(leftMs(session)).toBe(500_000)
    expect(session.fire(`call:${CALL}`).told().at(-1)).toBe(`${CALL} = Error: tool_result_timeout`)
  })

  test('made while nobody is attached waits for a client as long', () => {
    const session = calling('look', { attached: false })
    expect(session.call(CALL)).toMatchObject({ state: 'ready', clock: { mode: 'away', remainingMs: 30_000 } })
    expect(leftMs(session)).toBe(600_000)
    expect(leftMs(session.after(5).attach())).toBe(30_000)
  })

  test('whose time without a client is used up to the millisecond has none left', () => {
    const session = calling('look', { attached: false }).after(600_000).attach().detach()
    expect(session.call(CALL).clock).toMatchObject({ mode: 'away', awayRemainingMs: 0 })
    expect(leftMs(session)).toBe(0)
  })

  test('that runs out ends no turn, also where the turn’s clock was set with its own', () => {
    const session = calling('look', { attached: false }).attach()
    expect(session.timer(`call:${CALL}`).generation).toBe(session.timer('turn').generation)
    expect(session.fire(`call:${CALL}`).told().at(-1)).toBe(`${CALL} = Error: tool_result_timeout`)
  })

  test('behind another one does not run, and needs no clock', () => {
    const tools = [clientTool('show', { parallel: false }), clientTool('look')]
    const session = new TestSession({ tools })
      .attach()
      .user('go')
      .says({ calls: ['show', 'look'] })
    expect(session.call('call_1_1')).toMatchObject({ state: 'ready', clock: { mode: 'held', deadline: null } })
    session.detach()
    expect(session.call('call_1_1').clock).toMatchObject({ mode: 'away', remainingMs: 30_000 })
    session.after(1000).attach()
    expect(session.call('call_1_1').clock).toMatchObject({ mode: 'held', deadline: null, awayRemainingMs: 599_000 })
  })

  test('of an app that works one by one starts its clock when the app comes to it', () => {
    const session = calling('look', { sequential: true, claims: false })
    expect(session.call(CALL).clock).toMatchObject({ mode: 'waiting', remainingMs: 30_000 })
    expect(leftMs(session)).toBe(60_000)
    session.after(20_000).send({ type: 'call-reached', callId: CALL, offer: 1 })
    expect(session.call(CALL).clock.mode).toBe('running')
    expect(leftMs(session)).toBe(30_000)
    expect(session.after(5).send({ type: 'call-reached', callId: CALL, offer: 1 }).facts).toEqual([])
  })

  test('of such an app starts its clock at the latest 60 s after it was written', () => {
    const session = calling('look', { sequential: true }).fire(`call:${CALL}`)
    expect(session.call(CALL)).toMatchObject({ state: 'offered', clock: { mode: 'running' } })
    expect(leftMs(session)).toBe(30_000)
    expect(session.fire(`call:${CALL}`).fact('call-settled').settlement.type).toBe('timed-out')
  })

  test('reached by an older offer says nothing', () => {
    const session = calling('look', { sequential: true })
    expect(session.send({ type: 'call-reached', callId: CALL, offer: 0 }).facts).toEqual([])
    expect(session.send({ type: 'call-reached', callId: 'call_9_9', offer: 1 }).facts).toEqual([])
  })

  test('that moves straight to an app that works one by one waits for it to come to the call', () => {
    const session = new TestSession({ tools: TOOLS }).attach('slow', { sequential: true }).attach()
    session
      .user('go')
      .says({ calls: ['look'] })
      .after(10_000)
      .detach()
    const modes = session.facts.flatMap((fact) => (fact.type === 'call-clock-set' ? [fact.mode, fact.deadlineMs] : []))
    expect(modes).toEqual(['held', null, 'waiting', session.nowMs + 60_000])
    expect(session.call(CALL)).toMatchObject({
      offer: { connection: 'slow' },
      clock: { mode: 'waiting', remainingMs: 20_000 },
    })
    expect(leftMs(session)).toBe(60_000)
  })

  test('reached after its client left says nothing', () => {
    const session = calling('look', { sequential: true }).detach()
    expect(session.send({ type: 'call-reached', callId: CALL, offer: 1 }).facts).toEqual([])
  })

  test('claimed by a once client that is gone runs out its clock, though another client is there', () => {
    const session = new TestSession({ tools: TOOLS }).attach().attach('app', { claims: false, sequential: true })
    session.user('go').says({ calls: ['spawn'] })
    session.send({ type: 'call-reached', callId: CALL, offer: 1 }).after(10_000).detach('app')
    expect(session.call(CALL)).toMatchObject({ state: 'claimed', clock: { mode: 'running' } })
    expect(leftMs(session)).toBe(20_000)
    expect(session.fire(`call:${CALL}`).fact('call-settled').settlement).toEqual({
      type: 'unknown',
      reason: 'deadline',
    })
  })
})

describe('after a restart a client call', () => {
  test('keeps its deadline: the time in which the host was down counts', () => {
    const session = calling().after(5000).restart(7000)
    expect(session.fact('call-clock-set')).toEqual({
      type: 'call-clock-set',
      callId: CALL,
      mode: 'away',
      deadlineMs: session.nowMs + 600_000,
      remainingMs: 18_000,
      awayRemainingMs: 600_000,
      graces: 1,
    })
    expect(leftMs(session.attach())).toBe(18_000)
  })

  test('has at least 10 s, three times', () => {
    const session = calling()
    for (const graces of [1, 2, 3]) {
      session
        .after(leftMs(session) - 1)
        .restart()
        .attach()
      expect(session.call(CALL).clock.graces).toBe(graces)
      expect(leftMs(session)).toBe(10_000)
    }
    session.after(9_999).restart().attach()
    expect(leftMs(session)).toBe(1)
  })

  test('has at least 10 s of waiting for a client', () => {
    const session = calling('look', { attached: false }).after(599_000).restart(50_000)
    expect(leftMs(session)).toBe(10_000)
    expect(session.call(CALL).clock).toMatchObject({ remainingMs: 30_000, awayRemainingMs: 10_000 })
  })

  test('that was waited for keeps what was left of that', () => {
    const session = calling('look', { attached: false }).after(100_000).restart(50_000)
    expect(leftMs(session)).toBe(450_000)
  })

  test('that had waited for a client before keeps what is left of that too', () => {
    const session = calling('look', { attached: false }).after(100_000).attach().after(1000).restart()
    expect(session.call(CALL).clock).toMatchObject({ mode: 'away', remainingMs: 29_000, awayRemainingMs: 500_000 })
  })

  test('that was settled or had not begun is left as it is', () => {
    const tools = [clientTool('look'), clientTool('show', { parallel: false })]
    const session = new TestSession({ tools })
      .attach()
      .user('go')
      .says({ calls: ['look', 'show', 'look'] })
    session.clientReturns(CALL).restart()
    expect(session.call(CALL)).toMatchObject({ state: 'settled', clock: { deadline: null, graces: 0 } })
    expect(session.call('call_1_2').clock).toMatchObject({ mode: 'away', remainingMs: 30_000, graces: 0 })
  })

  test('that its app had not reached keeps its 30 s', () => {
    const session = calling('look', { sequential: true }).after(50_000).restart()
    expect(session.call(CALL).clock).toMatchObject({ mode: 'away', remainingMs: 30_000 })
  })

  test('is offered again under a new number', () => {
    const session = calling().restart()
    expect(session.call(CALL).state).toBe('ready')
    expect(session.attach('new').fact('call-offered')).toMatchObject({ connection: 'new', offer: 2 })
  })

  test('is not offered again where it is a once call that was written: its own late result settles it', () => {
    const session = calling('spawn', { claims: false }).restart().attach('new', { claims: false })
    expect(session.factTypes()).not.toContain('call-offered')
    session.clientReturns(CALL, 'spawned', 'new')
    expect(session.told().at(-1)).toBe(`${CALL} = spawned`)
  })
})

describe('a turn', () => {
  test('stands still while only approvals are waited for', () => {
    const session = new TestSession({ tools: TOOLS }).user('go').after(1000)
    session.says({ calls: [{ name: 'read', approval: true }] })
    expect(session.fact('turn-clock-set')).toEqual({ type: 'turn-clock-set', deadlineMs: null, remainingMs: 599_000 })
    expect(session.timers()).toEqual([`approval:${CALL}`])
    session.after(50_000).send(session.approval(CALL, 'approve'))
    expect(session.fact('turn-clock-set')).toEqual({
      type: 'turn-clock-set',
      deadlineMs: session.nowMs + 599_000,
      remainingMs: 599_000,
    })
  })

  test('stands still while a client is waited for, and runs while another call runs', () => {
    const session = calling('look', { attached: false })
    expect(session.state.turn?.deadline).toBeNull()
    expect(session.attach().state.turn?.deadline).not.toBeNull()
    const beside = new TestSession({ tools: TOOLS }).user('go').says({ calls: ['look', 'read'] })
    expect(beside.timers()).toContain('turn')
    expect(beside.returns('call_1_1').timers()).not.toContain('turn')
  })

  test('stands still while the session is paused', () => {
    const session = new TestSession().user('go').after(1000).send({ type: 'pause' })
    expect(session.state.turn).toMatchObject({ deadline: null, remainingMs: 599_000 })
    session.after(100_000).send({ type: 'continue' })
    expect(leftMs(session, 'turn')).toBe(599_000)
  })

  test('does not count the time in which the host was down', () => {
    const session = new TestSession().user('go').after(1000).restart(3_600_000)
    expect(leftMs(session, 'turn')).toBe(599_000)
    expect(session.fact('turn-clock-set')).toEqual({
      type: 'turn-clock-set',
      deadlineMs: session.nowMs + 599_000,
      remainingMs: 599_000,
    })
    expect(session.restart(0).factTypes()).not.toContain('turn-clock-set')
  })

  test('is as long after a long restart, and a client call has its grace', () => {
    const session = calling().after(5000).restart(3_600_000).attach()
    expect(leftMs(session)).toBe(10_000)
    expect(leftMs(session, 'turn')).toBe(595_000)
  })
})

test('a clock that went back is as it was: the largest time seen counts', () => {
  const session = new TestSession().user('go').after(-5000).says('hi').user('on')
  expect(session.state.nowMs).toBe(session.nowMs + 5000)
  expect(session.timer('turn').atMs).toBe(session.nowMs + 605_000)
})
