// Client tools with a fallback: the server takes over a call only if no client began it in time.
import { expect, test } from 'vitest'
import type { SpecChange } from '../testing/test-session.ts'
import { clientTool, testSpec, TestSession } from '../testing/test-session.ts'

const CALL = 'call_1_0'
const SPEC: SpecChange = { tools: [clientTool('spawn', { effect: 'once', awayMs: 3000, fallback: true })] }

function called(): TestSession {
  return new TestSession(SPEC).user('go').says({ calls: ['spawn'] })
}

test('a call that no client took starts on the server, and the turn’s clock runs again', () => {
  const session = called()
  expect(session.timer(`call:${CALL}`).atMs).toBe(session.nowMs + 3000)
  session.fire(`call:${CALL}`)
  expect(session.factTypes()).toEqual(['call-taken-over', 'call-started', 'call-clock-set', 'turn-clock-set'])
  expect(session.call(CALL)).toMatchObject({ runs: 'server', state: 'started', clock: { mode: 'held' } })
  session.attach('phone')
  expect(session.call(CALL).offer).toBeNull()
})

test('a client that comes before the time is over runs it', () => {
  const session = called().after(2999).attach('phone')
  expect(session.call(CALL)).toMatchObject({ runs: 'client', state: 'offered' })
})

/** A client claimed the call and left. */
function claimedAndLeft(effect: 'once' | 'idempotent' | 'pure'): TestSession {
  const session = new TestSession({ tools: [clientTool('spawn', { effect, awayMs: 3000, fallback: true })] })
  session
    .attach('phone', { leaseMs: 5000 })
    .user('go')
    .says({ calls: ['spawn'] })
  return session.claim(CALL).detach('phone')
}

// A repeat by the app and one by the fallback are two acts, even if each may be repeated.
test.each(['once', 'idempotent', 'pure'] as const)(
  'a call of a tool that is %s is not taken over once a client claimed it',
  (effect) => {
    const session = claimedAndLeft(effect).fire(`call:${CALL}`)
    expect(session.factTypes()).not.toContain('call-taken-over')
    expect(session.factTypes()).toContain('call-settled')
  },
)

test('nor where the host restarted, or another client did not take it, in between', () => {
  const restarted = claimedAndLeft('idempotent').attach('phone').claim(CALL)
  restarted.send({ type: 'host-restarted', downMs: 0 })
  expect(restarted.fire(`call:${CALL}`).factTypes()).toContain('call-settled')
  const other = claimedAndLeft('idempotent').attach('desk').detach('desk')
  expect(other.fire(`call:${CALL}`).factTypes()).toContain('call-settled')
})

test('nor is a call of an interrupted turn, or of a tool that lost its fallback', () => {
  const interrupted = called().interrupt()
  expect(interrupted.timers()).not.toContain(`call:${CALL}`)
  const changed = called()
  changed.spec = testSpec({ hash: 'v2', tools: [clientTool('spawn', { effect: 'once' })] })
  changed.send({ type: 'agent-changed' })
  expect(changed.fire(`call:${CALL}`).factTypes()).toContain('call-settled')
})

test('a call whose offer could not be written was seen by nobody, and is taken over', () => {
  const session = new TestSession(SPEC)
    .attach('kiosk', { claims: false })
    .user('go')
    .says({ calls: ['spawn'] })
  expect(session.call(CALL)).toMatchObject({ state: 'claimed', offer: { number: 1 } })
  session.send({ type: 'offer-failed', callId: CALL, offer: 1 })
  expect(session.fire(`call:${CALL}`).factTypes()).toContain('call-taken-over')
})

test('while the session is paused it only changes sides, and starts when the session continues', () => {
  const session = called().send({ type: 'pause' })
  session.fire(`call:${CALL}`)
  expect(session.call(CALL)).toMatchObject({ runs: 'server', state: 'ready' })
  session.send({ type: 'continue' })
  expect(session.call(CALL).state).toBe('started')
})
