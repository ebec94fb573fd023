// Records and snapshots: versions, order, and the canonical log.
import { describe, expect, test } from 'vitest'
import { shortHash } from '../agent/create-spec.ts'
import { isBatonError } from '../errors.ts'
import { openSession } from './decide.ts'
import { HOST_FACTS } from './fact.ts'
import { createHistory } from './history.ts'
import { canonicalLog, FORMAT_VERSION, followRecord, SNAPSHOT_VERSION, takeSnapshot } from './record.ts'
import { clientTool, testSpec, TestSession } from '../testing/test-session.ts'

function findCode(run: () => void): string {
  try {
    run()
    return 'nothing'
  } catch (error) {
    return isBatonError(error) ? `${error.code}: ${error.message}` : String(error)
  }
}

const opening = openSession({ session: 's', spec: testSpec(), nowMs: 5, epoch: 2 })

test('a session opens with what it is', () => {
  expect(opening).toEqual({
    version: 1,
    pos: 0,
    nowMs: 5,
    epoch: 2,
    input: { type: 'session-opened' },
    facts: [{ type: 'session-opened', session: 's', birth: '', principal: '', agent: 'tested', specHash: 'v1' }],
  })
})

test('a stored record says what its input was, without its content', () => {
  const session = new TestSession()
    .attach()
    .user('secret')
    .says({ calls: ['look'] })
    .clientReturns('call_1_0', 'secret')
  expect(session.records.map((record) => record.input)).toEqual([
    { type: 'session-opened' },
    { type: 'client-attached', connection: 'phone' },
    { type: 'user-input', inputId: 'u1' },
    { type: 'model-finished', attempt: 1 },
    { type: 'tool-result', callId: 'call_1_0', connection: 'phone' },
  ])
  expect(session.records.map((record) => [record.version, record.pos, record.epoch])).toEqual(
    [0, 1, 2, 3, 4].map((pos) => [1, pos, 1]),
  )
})

describe('a record', () => {
  const at = (pos: number, epoch: number) => ({ ...opening, pos, epoch })

  test('follows the one before it, of the same epoch or a newer one', () => {
    expect(findCode(() => followRecord({ pos: 3, epoch: 2 }, at(4, 2)))).toBe('nothing')
    expect(findCode(() => followRecord({ pos: 3, epoch: 2 }, at(4, 5)))).toBe('nothing')
  })

  test('that leaves one out, comes twice, or is of an older epoch shows a damaged log', () => {
    expect(findCode(() => followRecord({ pos: 3, epoch: 2 }, at(5, 2)))).toBe(
      'log_damaged: record 5 follows position 3',
    )
    expect(findCode(() => followRecord({ pos: 3, epoch: 2 }, at(3, 2)))).toBe(
      'log_damaged: record 3 follows position 3',
    )
    expect(findCode(() => followRecord({ pos: 3, epoch: 2 }, at(4, 1)))).toBe(
      'log_damaged: record 4 has epoch 1, but an earlier record has epoch 2',
    )
  })

  test('of another format version is refused', () => {
    expect(findCode(() => followRecord({ pos: -1, epoch: 0 }, { ...opening, version: 2 }))).toBe(
      'log_version_unknown: a record has format version 2; this Baton reads version 1',
    )
    expect(FORMAT_VERSION).toBe(1)
  })
})

test('a change of what a snapshot holds comes with a new version of it', () => {
  const { state, history } = new TestSession().user('go').says({ calls: ['read'] })
  const names = (value: object): readonly string[] =>
    Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
      const isPlain = typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      return [key, ...(isPlain ? names(inner).map((name) => `${key}.${name}`) : [])]
    })
  const shape = shortHash(JSON.stringify([...names(state), ...names(history.takeSnapshot())].toSorted()))
  // When this fails, raise SNAPSHOT_VERSION and update the shape here.
  expect([SNAPSHOT_VERSION, shape]).toEqual([22, 'ab85ec423d28817f'])
})

test('a snapshot is state and history with their version, and survives JSON', () => {
  const { state, history } = new TestSession()
    .user('go')
    .says({ calls: ['read', 'put'] })
    .returns('call_1_0')
  const snapshot = JSON.parse(JSON.stringify(takeSnapshot(state, history)))
  expect(snapshot).toEqual({ version: SNAPSHOT_VERSION, state, history: history.takeSnapshot() })
  const restored = createHistory({ snapshot: snapshot.history })
  expect(restored.entries()).toEqual(history.entries())
  expect(restored.openCall('call_1_0')).toMatchObject({ name: 'read', settled: true })
  expect(restored.openCall('call_1_1')).toMatchObject({ name: 'put', settled: false })
})

describe('the canonical log', () => {
  /** One conversation; `restart` kills the process at every point where that loses nothing. */
  function converse(restart: (session: TestSession) => void): TestSession {
    const session = new TestSession({ window: { exchanges: 2, keepExchanges: 1, summarise: true } })
    session.attach().user('one')
    restart(session)
    session.says({ text: 'I look', calls: ['read', { name: 'put', approval: true }, 'look'] })
    restart(session)
    session.send(session.approval('call_1_1', 'approve'))
    restart(session)
    session.returns('call_1_0').returns('call_1_1')
    restart(session)
    if (session.state.clients.length === 0) session.attach('new')
    session.clientReturns('call_1_2', 'seen', session.state.clients[0]?.connection)
    restart(session)
    session.says('Found').user('two').says('2').user('three')
    restart(session)
    session.send({ type: 'summary-finished', attempt: session.state.attempt?.attempt ?? 0, text: 'so far', usage: {} })
    session.says('3').send({ type: 'transcript', inputId: 't', speaker: 'ann', text: 'bye' })
    restart(session)
    return session.fire('batch').says('bye')
  }

  test('is the same with and without restarts', () => {
    const plain = converse(() => {})
    const restarted = converse((session) => session.restart(1000))
    expect(restarted.logged('host-restarted')).toHaveLength(7)
    expect(restarted.logged('summary-started')).toHaveLength(2)
    expect(canonicalLog(restarted.records)).toEqual(canonicalLog(plain.records))
  })

  test('has no times, attempts, tokens and no facts of hosts and fronts', () => {
    const log = canonicalLog(converse(() => {}).records)
    expect(log.slice(0, 4)).toEqual([
      { type: 'session-opened', principal: '', agent: 'tested', specHash: 'v1' },
      {
        type: 'input-accepted',
        inputId: 'u1',
        body: { type: 'user', parts: [{ type: 'text', text: 'one' }] },
        chars: 3,
        heldChars: 3,
        delivery: 'queue',
        ready: true,
      },
      { type: 'turn-started', turn: 1, exchange: 1, models: ['one'] },
      { type: 'inputs-entered', exchange: 1, entries: [{ entry: 1, inputs: ['u1'], notes: [], chars: 3 }] },
    ])
    expect(log[4]).toMatchObject({ type: 'step-finished', calls: [{ timeoutMs: 30_000 }, {}, {}] })
    expect(JSON.stringify(log)).not.toMatch(/"attempt"|"tokenHash"|"approvalId"|deadlineMs|untilMs|expiresAtMs/)
    expect([...new Set(log.map((fact) => fact.type))].sort()).toEqual([
      'approval-decided',
      'approval-requested',
      'batch-flushed',
      'call-settled',
      'input-accepted',
      'inputs-entered',
      'session-opened',
      'step-closed',
      'step-finished',
      'summary-finished',
      'turn-finished',
      'turn-started',
    ])
  })

  test('keeps what was said, whatever its keys are called', () => {
    const detail = { attempt: 3, session: 'x', delayMs: 5 }
    const session = new TestSession().send({ type: 'urgent-event', inputId: 'e', name: 'offer', detail }).attach()
    expect(canonicalLog(session.records)[1]).toMatchObject({ body: { detail } })
    const state = { provider: 'p', model: 'm', data: { attempt: 1 } }
    const brought = { ...clientTool('camera'), description: '', inputSchema: { properties: { delayMs: {} } } }
    session.says({ text: 'hm', more: [{ type: 'reasoning', text: '', state }], calls: ['read'] })
    session.send({ type: 'client-tools', connection: 'phone', tools: [brought] })
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'u' }, state } as const
    session.returns('call_1_0', { type: 'ok', content: [image] })
    const log = canonicalLog(session.records)
    expect(log.find((fact) => fact.type === 'step-finished')?.parts[0]).toMatchObject({ state })
    expect(log.find((fact) => fact.type === 'client-tools-set')?.tools).toEqual([brought])
    expect(log.find((fact) => fact.type === 'call-settled')?.settlement).toEqual({ type: 'ok', content: [image] })
  })
})

test('a log that began anew has other call ids and the same canonical log', () => {
  const talk = (birth: string): TestSession => new TestSession({ birth }).user('a').says({ calls: ['read'] })
  const [first, second] = [talk(''), talk('b2')]
  expect(second.state.step?.calls.map((call) => call.callId)).toEqual(['call_b2_1_0'])
  expect(canonicalLog(second.records)).toEqual(canonicalLog(first.records))
})

test('facts of hosts and fronts are these', () => {
  expect([...HOST_FACTS].sort()).toEqual([
    'answer-ignored',
    'attempt-failed',
    'attempt-progressed',
    'attempt-superseded',
    'call-claimed',
    'call-clock-set',
    'call-offered',
    'call-returned',
    'call-started',
    'call-taken-over',
    'child-reported',
    'client-attached',
    'client-detached',
    'client-renewed',
    'client-tools-dropped',
    'display-written',
    'grace-started',
    'host-restarted',
    'model-started',
    'parent-told',
    'result-ignored',
    'summary-started',
    'turn-clock-set',
  ])
})

test('state holds none of the words of its session', () => {
  const word = 'heliotrope'
  const session = new TestSession()
    .user(`${word} 1`)
    .says({ text: `${word} 2`, calls: [{ name: 'read', arguments: `{"a":"${word} 3"}` }] })
  session.returns('call_1_0', `${word} 4`).says(`${word} 5`).user(`${word} 6`)
  expect(session.told().join('\n')).toContain(`${word} 6`)
  expect(JSON.stringify(session.state)).not.toContain(word)
})
