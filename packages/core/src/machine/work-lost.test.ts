// One piece of work dies with its process while everything else continues: its outcome, and what is not affected.
import { describe, expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'

function loseTool(session: TestSession, callId: string, attempt = session.call(callId).attempt): TestSession {
  return session.send({ type: 'work-lost', work: { type: 'tool', callId, attempt } })
}

function loseModel(session: TestSession, attempt = session.state.attempt?.attempt ?? 0): TestSession {
  return session.send({ type: 'work-lost', work: { type: 'model', attempt } })
}

describe('a model attempt that is lost', () => {
  test('is superseded and asked again, and nobody has to abort it', () => {
    const session = loseModel(new TestSession().attach().user('go').progress('half'))
    expect(session.facts).toEqual([
      { type: 'attempt-superseded', attempt: 1, reason: 'restart' },
      expect.objectContaining({ type: 'model-started', attempt: 2 }),
    ])
    expect(session.effects.map((effect) => effect.type)).toEqual(['call-model'])
    expect(session.state.clients).toHaveLength(1)
  })

  test('three times in one step fails it, also when a restart was among them', () => {
    const session = loseModel(loseModel(new TestSession().user('go')).restart())
    expect(session.fact('turn-finished').error).toEqual({
      code: 'recovery_exhausted',
      message: 'the model call was started 3 times, and the process died each time',
    })
  })

  test('while an interrupt waits for it leaves what the log has of its text', () => {
    const session = loseModel(new TestSession().user('go').progress('half').interrupt())
    expect(session.fact('turn-finished').outcome).toBe('interrupted')
    expect(session.lines()).toEqual(['user: go', 'assistant: half'])
  })

  test('that wrote a summary is begun again, and after three the window slides', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')
    expect(loseModel(session).effects.map((effect) => effect.type)).toEqual(['summarise'])
    loseModel(loseModel(session))
    expect(session.factTypes()).toEqual(['summary-failed', 'window-moved', 'model-started'])
  })

  test('of an older attempt is logged as stale and changes nothing', () => {
    const session = loseModel(new TestSession().user('go'))
    loseModel(session, 1)
    expect(session.facts).toEqual([{ type: 'answer-ignored', attempt: 1, input: 'work-lost', reason: 'stale' }])
    expect(session.state.attempt?.attempt).toBe(2)
    loseModel(session.says('hi'), 2)
    expect(session.state.phase).toBe('idle')
  })
})

describe('a tool run that is lost', () => {
  test('of a once tool is unknown, and the other tools and clients are left alone', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['read', 'pay', 'look'] })
    loseTool(session, 'call_1_1')
    expect(session.facts).toEqual([
      {
        type: 'call-settled',
        callId: 'call_1_1',
        settlement: { type: 'unknown', reason: 'restart' },
        tellLate: true,
      },
    ])
    expect(session.effects.some((effect) => effect.type === 'abort-tool')).toBe(false)
    expect(session.call('call_1_0')).toMatchObject({ state: 'started', attempt: 1 })
    expect(session.call('call_1_2')).toMatchObject({ state: 'offered', offer: { connection: 'phone' } })
  })

  test('of a pure or idempotent tool starts it again', () => {
    const session = new TestSession().user('go').says({ calls: ['read', 'put'] })
    loseTool(loseTool(session, 'call_1_0'), 'call_1_1')
    expect(session.call('call_1_0')).toMatchObject({ state: 'started', attempt: 2 })
    expect(session.effects).toContainEqual({ type: 'run-tool', callId: 'call_1_1', attempt: 2 })
  })

  test('three times: a pure tool gives an error, an idempotent one may have had its effect', () => {
    const session = new TestSession().user('go').says({ calls: ['read', 'put'] })
    for (let times = 0; times < 3; times++) loseTool(loseTool(session, 'call_1_0'), 'call_1_1')
    expect(session.told().slice(-2)).toEqual([
      'call_1_0 = Error: the tool was started 3 times, and the process died each time',
      'call_1_1 = Error: tool_result_unknown (it may have run)',
    ])
    expect(session.logged('call-settled').map((fact) => [fact.settlement, fact.tellLate])).toEqual([
      [expect.objectContaining({ type: 'error', code: 'recovery_exhausted' }), true],
      [{ type: 'unknown', reason: 'recovery_exhausted' }, true],
    ])
  })

  test('three times by restarts of the host: an idempotent tool may have had its effect too', () => {
    const session = new TestSession().user('go').says({ calls: ['put'] })
    session.restart().restart().restart()
    expect(session.fact('call-settled').settlement).toEqual({ type: 'unknown', reason: 'recovery_exhausted' })
  })

  test('of an older attempt, of a settled call or of none says nothing', () => {
    const session = new TestSession().user('go').says({ calls: ['read', 'put'] })
    loseTool(session, 'call_1_0')
    for (const [callId, attempt] of [
      ['call_1_0', 1],
      ['call_9_9', 1],
    ] as const)
      expect(loseTool(session, callId, attempt).facts).toEqual([])
    expect(loseTool(session.returns('call_1_0'), 'call_1_0', 2).facts).toEqual([])
  })

  test('while paused, or behind an interrupt, is dealt with there and then', () => {
    const paused = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .send({ type: 'pause' })
    expect(loseTool(paused, 'call_1_0').state).toMatchObject({ phase: 'paused' })
    expect(paused.call('call_1_0').attempt).toBe(2)
  })

  test('is named in the envelope of its record', () => {
    const session = new TestSession().user('go').says({ calls: ['read'] })
    loseTool(session, 'call_1_0')
    expect(session.records.at(-1)?.input).toEqual({ type: 'work-lost', callId: 'call_1_0', attempt: 1 })
  })
})
