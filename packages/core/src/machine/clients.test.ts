// Clients with different capabilities, and clients with a lease.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'
import { apply } from './apply.ts'
import { initialState } from './state.ts'

describe('a client without a connection', () => {
  const leased = (leaseMs = 5000): TestSession => new TestSession().attach('http', { leaseMs })

  test('is gone when its lease ends, and its call goes to another', () => {
    const session = leased()
      .attach('desk', { tools: [] })
      .user('go')
      .says({ calls: ['look'] })
    expect(session.call('call_1_0')).toMatchObject({ offer: { connection: 'http' } })
    session.fire('lease:http')
    expect(session.factTypes()).toEqual(['client-detached', 'call-returned', 'call-clock-set', 'turn-clock-set'])
    expect(session.state.clients.map((client) => client.connection)).toEqual(['desk'])
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', clock: { mode: 'away' } })
  })

  test('renews its lease by attaching again, and keeps its calls', () => {
    const session = leased()
      .user('go')
      .says({ calls: ['look'] })
      .after(4000)
      .attach('http', { leaseMs: 5000 })
    expect(session.facts).toEqual([{ type: 'client-renewed', connection: 'http', untilMs: session.nowMs + 5000 }])
    expect(session.timer('lease:http').atMs).toBe(session.nowMs + 5000)
    expect(session.call('call_1_0').state).toBe('offered')
  })

  test('that attaches again with other tools can run those: what it was offered goes to another, what waits comes to it', () => {
    const session = leased()
      .attach('desk', { leaseMs: 5000, tools: [] })
      .user('go')
      .says({ calls: ['look'] })
      .attach('http', { leaseMs: 5000, tools: [] })
    expect(session.call('call_1_0')).toMatchObject({ state: 'ready', clock: { mode: 'away' } })
    session.attach('desk', { leaseMs: 5000 })
    expect(session.call('call_1_0')).toMatchObject({ state: 'offered', offer: { connection: 'desk' } })
    expect(session.state.clients).toMatchObject([
      { connection: 'http', tools: [] },
      { connection: 'desk', tools: null },
    ])
    session.attach('desk', { leaseMs: 5000 })
    expect(session.factTypes()).toEqual(['client-renewed'])
  })

  test('whose lease was renewed is not ended by its older timer', () => {
    const session = leased()
    const { generation } = session.timer('lease:http')
    session.attach('http', { leaseMs: 9000 })
    expect(session.send({ type: 'timer-fired', timer: 'lease:http', generation }).facts).toEqual([])
    expect(session.send({ type: 'timer-fired', timer: 'lease:nobody', generation }).facts).toEqual([])
  })

  test('that detaches leaves no timer, and comes back with its result', () => {
    const session = leased()
      .user('go')
      .says({ calls: ['spawn'] })
      .claim('call_1_0')
      .detach('http')
    expect(session.timers()).not.toContain('lease:http')
    session.attach('http', { leaseMs: 5000 }).clientReturns('call_1_0', 'spawned', 'http')
    expect(session.told().at(-1)).toBe('call_1_0 = spawned')
  })

  test('holds its place while the session is stopped too, and no longer', () => {
    expect(leased().send({ type: 'stop' }).fire('lease:http').state.clients).toEqual([])
  })

  test('asks for over nothing and at most an hour', () => {
    const can = { sequential: false, claims: true, reportsPlayback: true, asks: true }
    const attaching = (leaseMs: number) =>
      new TestSession().refusal({ type: 'client-attached', connection: 'http', principal: 'ann', ...can, leaseMs })
    expect([0, -1, NaN, 3_600_001, Infinity].map(attaching)).toEqual(Array(5).fill('invalid_event'))
    expect(attaching(3_600_000)).toBeUndefined()
  })

  test('is not made one by attaching again what has a connection', () => {
    expect(new TestSession().attach().attach('phone', { leaseMs: 5000 }).facts).toEqual([])
  })

  test('cannot be renewed by another principal', () => {
    const can = { sequential: false, claims: true, reportsPlayback: true, asks: true, leaseMs: 5000 }
    const bob = { type: 'client-attached', connection: 'http', principal: 'bob', ...can } as const
    expect(leased().refusal(bob)).toBe('unauthorized')
  })
})

describe('an older record of a client', () => {
  const attached = { type: 'client-attached', connection: 'c', principal: 'ann', sequential: true } as const

  test.each([
    [1, false],
    [2, true],
  ] as const)('with protocol %i tells whether it claims: %s', (protocol, claims) => {
    const [client] = apply(initialState('s'), { ...attached, protocol }).clients
    const can = { claims, reportsPlayback: claims, asks: claims, tools: null, lease: null }
    expect(client).toEqual({ connection: 'c', principal: 'ann', sequential: true, ...can })
  })
})
