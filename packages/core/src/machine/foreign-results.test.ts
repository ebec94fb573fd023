// A client-run call accepts only its holder's result, wherever the holder is connected. Every way to settle a call from
// outside (both WebSocket protocols, HTTP, ACP, programs, Temporal) reaches the machine as one of the rows below.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'

const CALL = 'call_1_0'
const LEASE = { leaseMs: 60_000 }
const APP = { claims: false, sequential: true, reportsPlayback: false, asks: false } as const

type Tool = 'spawn' | 'look'

/** `one` got the offer of the call and claimed it; `two` is another client of the same principal. */
function claimed(tool: Tool = 'spawn'): TestSession {
  return new TestSession()
    .attach('two', LEASE)
    .attach('one', LEASE)
    .user('go')
    .says({ calls: [tool] })
    .claim(CALL)
}

/** The holder's state when the result arrives; the lease of `two` is renewed. */
const PLACES: Readonly<Record<string, () => TestSession>> = {
  'holder here': () => claimed(),
  'holder away within its lease': () => claimed().after(30_000).attach('two', LEASE),
  'lease of the holder over': () => claimed('spawn').after(20_000).attach('two', LEASE).fire('lease:one'),
  'holder released': () => claimed().detach('one'),
  'server restarted': () => claimed().restart(1000).attach('two', LEASE),
  'server restarted twice': () => claimed().restart(1000).restart(1000).attach('two', LEASE),
  'interrupted, and the lease over': () => claimed().interrupt().detach('one'),
  'settled as unknown, and the lease over': () => claimed().detach('one').fire(`call:${CALL}`),
}

const BRINGERS: readonly [string, 'counts' | 'foreign', (session: TestSession) => TestSession][] = [
  [
    'the holder, here or back under its name',
    'counts',
    (session) => session.attach('one', LEASE).clientReturns(CALL, 'own', 'one'),
  ],
  ['another client that claims', 'foreign', (session) => session.clientReturns(CALL, 'forged', 'two')],
  ['a new client that claims', 'foreign', (session) => session.attach('new').clientReturns(CALL, 'forged', 'new')],
  ['an app of version 1', 'foreign', (session) => session.attach('app', APP).clientReturns(CALL, 'forged', 'app')],
  [
    'a client of another principal',
    'foreign',
    (session) => session.attach('eve', { principal: 'eve' }).clientReturns(CALL, 'forged', 'eve'),
  ],
  ['a client that is not attached', 'foreign', (session) => session.clientReturns(CALL, 'forged', 'nobody')],
]

/** The outcome of the newest result. */
function outcome(session: TestSession): string {
  const [fact] = session.facts
  if (fact?.type === 'result-ignored') return fact.reason
  return fact?.type === 'call-settled' ? fact.settlement.type : 'nothing'
}

describe('a result of a claimed call', () => {
  for (const [place, at] of Object.entries(PLACES))
    for (const [who, counts, bring] of BRINGERS) {
      const expected = counts === 'foreign' ? 'foreign' : place.startsWith('settled') ? 'late' : 'ok'
      test(`${place}: brought by ${who} it is ${expected}`, () => {
        expect(outcome(bring(at()))).toBe(expected)
      })
    }

  for (const [place, at] of Object.entries(PLACES))
    test(`${place}: the true result is taken after a forged one`, () => {
      const session = at().clientReturns(CALL, 'forged', 'two').attach('one', LEASE).clientReturns(CALL, 'own', 'one')
      expect(outcome(session)).toBe(place.startsWith('settled') ? 'late' : 'ok')
    })
})

describe('a result of a call that moved', () => {
  test('unclaimed, to another client: the newer holder’s counts, the older one’s is foreign', () => {
    const session = new TestSession()
      .attach('two')
      .attach('one')
      .user('go')
      .says({ calls: ['spawn'] })
      .detach('one')
    expect(session.call(CALL)).toMatchObject({ state: 'offered', offer: { connection: 'two' } })
    session.attach('one').clientReturns(CALL, 'late', 'one')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.claim(CALL).clientReturns(CALL, 'own', 'two')
    expect(session.fact('call-settled').settlement).toMatchObject({ content: [{ text: 'own' }] })
  })

  test('claimed and repeatable, offered anew: the newer holder’s counts, the older one’s is foreign', () => {
    const session = claimed('look').detach('one')
    expect(session.call(CALL)).toMatchObject({ state: 'offered', offer: { connection: 'two' } })
    session.attach('one', LEASE).clientReturns(CALL, 'late', 'one')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.claim(CALL).clientReturns(CALL, 'own', 'two')
    expect(session.fact('call-settled').settlement).toMatchObject({ content: [{ text: 'own' }] })
  })

  test('claimed and repeatable, while nobody is there to take it: only its last holder’s counts', () => {
    const session = claimed('look').detach('two').detach('one')
    expect(session.call(CALL).state).toBe('ready')
    session.send({ type: 'pause' }).attach('two').clientReturns(CALL, 'forged', 'two')
    expect(session.fact('result-ignored').reason).toBe('foreign')
    session.attach('one').clientReturns(CALL, 'own', 'one')
    expect(session.fact('call-settled').settlement.type).toBe('ok')
  })
})

// Version 1 has no device names and no claims: delivery is the claim, and a reconnected app has a new connection.
describe('a result of a call that was written to an app of version 1', () => {
  const written = (): TestSession =>
    new TestSession()
      .attach('old', APP)
      .attach('app', APP)
      .user('go')
      .says({ calls: ['spawn'] })
  const APPS: readonly [string, (session: TestSession) => TestSession, 'counts' | 'foreign'][] = [
    ['the same connection', (session) => session.clientReturns(CALL, 'own', 'app'), 'counts'],
    [
      'its next connection',
      (session) => session.detach('app').attach('next', APP).clientReturns(CALL, 'own', 'next'),
      'counts',
    ],
    [
      'its next connection, after a restart',
      (session) => session.restart().attach('next', APP).clientReturns(CALL, 'own', 'next'),
      'counts',
    ],
    [
      'its next connection, before the old one was seen to be dead',
      (session) => session.attach('next', APP).clientReturns(CALL, 'own', 'next'),
      'counts',
    ],
    [
      'an older connection that was not asked, while it is there',
      (session) => session.clientReturns(CALL, 'own', 'old'),
      'foreign',
    ],
    [
      'a client that claims, once the app is gone',
      (session) => session.detach('app').attach('device').clientReturns(CALL, 'forged', 'device'),
      'foreign',
    ],
    [
      'a client that claims, after a restart',
      (session) => session.restart().attach('device').clientReturns(CALL, 'forged', 'device'),
      'foreign',
    ],
    [
      'an app of another principal, after a restart',
      (session) =>
        session
          .restart()
          .attach('eve', { ...APP, principal: 'eve' })
          .clientReturns(CALL, 'forged', 'eve'),
      'foreign',
    ],
  ]
  test.each(APPS)('brought over %s', (_, bring, expected) => {
    const session = bring(written())
    expect(outcome(session)).toBe(expected === 'counts' ? 'ok' : expected)
  })
})
