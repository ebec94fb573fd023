// A model's answers: what a step stores, what follows it, and how a turn ends when answers fail.
import { describe, expect, test } from 'vitest'
import { testSpec, TestSession } from '../testing/test-session.ts'

describe('an answer', () => {
  test('in words ends the turn', () => {
    const session = new TestSession().user('hello').says('hi')
    expect(session.fact('step-finished')).toEqual({
      type: 'step-finished',
      step: 1,
      attempt: 1,
      model: 'one-2026',
      parts: [{ type: 'text', text: 'hi' }],
      calls: [],
      finish: 'end',
      usage: {},
      textChars: 2,
      chars: 2,
      interrupted: false,
    })
    expect(session.effects).toEqual([{ type: 'clear-timer', timer: 'turn', generation: 1 }])
  })

  test('with calls starts them, and their results go back together in the order of the calls', () => {
    const session = new TestSession().user('go').says({ text: 'I look', calls: ['read', 'put', 'pay'] })
    expect(session.owes()).toEqual([
      'run-tool:call_1_0:1',
      'set-timer:call:call_1_0:2',
      'run-tool:call_1_1:1',
      'set-timer:call:call_1_1:2',
      'run-tool:call_1_2:1',
      'set-timer:call:call_1_2:2',
      'set-timer:turn:1',
    ])
    session.returns('call_1_2', 'c').returns('call_1_0', 'a')
    expect(session.state.phase).toBe('calling')
    session.returns('call_1_1', 'b')
    expect(session.told()).toEqual([
      'user: go',
      'assistant: I look',
      'call_1_0 read {}',
      'call_1_1 put {}',
      'call_1_2 pay {}',
      'call_1_0 = a',
      'call_1_1 = b',
      'call_1_2 = c',
    ])
    expect(session.fact('step-closed')).toEqual({ type: 'step-closed', step: 1, entry: 2 })
    expect(session.state.index[1]).toEqual({ entry: 2, exchange: 1, role: 'step', step: 1, chars: 25 })
  })

  test('the whole text joins the steps’ texts by a blank line', () => {
    const session = new TestSession()
      .user('go')
      .says({ text: 'I look.', calls: ['read'] })
      .returns('call_1_0')
    session
      .says({ calls: ['read'] })
      .returns('call_2_0')
      .says('Found.')
    expect(session.fact('turn-finished').text).toBe('I look.\n\nFound.')
  })

  test('keeps thoughts and blocks of its provider, and loses empty texts', () => {
    const state = { provider: 'p', model: 'm', data: 'signed' }
    const session = new TestSession().user('go').says({
      text: 'hi',
      more: [
        { type: 'reasoning', text: 'hm', state },
        { type: 'text', text: '' },
        { type: 'provider', state },
      ],
    })
    expect(session.fact('step-finished')).toMatchObject({
      parts: [
        { type: 'reasoning', text: 'hm', state },
        { type: 'provider', state },
        { type: 'text', text: 'hi' },
      ],
      chars: 2 + '"signed"'.length + 2,
      textChars: 2,
    })
  })

  test('of an attempt that is not current is stale, and changes nothing', () => {
    const session = new TestSession().user('go')
    const stale = session.answer('old', 7)
    const { state } = session
    session.send(stale)
    expect(session.facts).toEqual([{ type: 'answer-ignored', attempt: 7, input: 'model-finished', reason: 'stale' }])
    expect({ ...session.state, pos: state.pos }).toEqual(state)
    session.send({ type: 'model-failed', attempt: 7, error: { code: 'internal', message: '', retryable: false } })
    expect(session.fact('answer-ignored').input).toBe('model-failed')
    session.interrupt().send({ type: 'model-stopped', attempt: 7, text: 'old' })
    expect(session.factTypes()).toEqual(['answer-ignored'])
  })

  test('that was cut off by the output limit stays an answer', () => {
    const session = new TestSession().user('go').says({ text: 'half', finish: 'max-tokens' })
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'half' })
  })

  test('with half of a surrogate pair is stored whole, or no provider takes it again', () => {
    const session = new TestSession().user('go').says('a\ud83d')
    expect(session.lines()).toEqual(['user: go', 'assistant: a\ufffd'])
  })
})

describe('tool rounds', () => {
  test('when they are used up the model is asked once more, without tools, and answers', () => {
    const session = new TestSession({ limits: { toolRounds: 2 } }).user('go')
    for (const step of [1, 2]) session.says({ calls: ['read'] }).returns(`call_${step}_0`)
    expect(session.fact('model-started').choice).toBe('none')
    expect(session.effects).toContainEqual(
      expect.objectContaining({ type: 'call-model', choice: 'none', again: false }),
    )
    session.says('what I have')
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'what I have' })
  })

  test('calls made all the same settle as denied, and the words beside them are the answer', () => {
    const session = new TestSession({ limits: { toolRounds: 0 } }).user('go').says({ text: 'hm', calls: ['read'] })
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'denied',
      code: 'call_denied',
      message: 'the tool rounds of this turn are used up',
    })
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'hm' })
    expect(session.lines().at(-1)).toBe('call_1_0 = Error: the tool rounds of this turn are used up')
  })

  test.each([undefined, ' '])('calls and no word (%j) are tool_round_limit_exceeded', (text) => {
    const said = { ...(text !== undefined && { text }), calls: ['read'] }
    const session = new TestSession({ limits: { toolRounds: 0 } }).user('go').says(said)
    expect(session.fact('turn-finished')).toEqual({
      type: 'turn-finished',
      turn: 1,
      outcome: 'failed',
      text: '',
      error: { code: 'tool_round_limit_exceeded', message: 'the model said nothing after its 0 tool rounds' },
    })
  })

  test('nothing at all is asked for once more, then is tool_round_limit_exceeded, also where silence is legal', () => {
    const session = new TestSession({ limits: { toolRounds: 0 }, emptyAnswer: 'silence' }).user('go').says('')
    expect(session.fact('attempt-superseded').reason).toBe('empty')
    expect(session.effects).toContainEqual(expect.objectContaining({ type: 'call-model', attempt: 2, again: true }))
    session.says('')
    expect(session.fact('turn-finished').error?.code).toBe('tool_round_limit_exceeded')
  })

  test('a turn over its calls has the rest denied', () => {
    const session = new TestSession({ limits: { callsPerTurn: 2 } })
      .user('go')
      .says({ calls: ['read', 'read', 'read'] })
    expect(session.fact('call-settled')).toMatchObject({
      callId: 'call_1_2',
      settlement: { type: 'denied', code: 'call_limit_exceeded', message: 'a turn may have 2 calls' },
      tellLate: false,
    })
    session
      .returns('call_1_0')
      .returns('call_1_1')
      .says({ calls: ['read'] })
    expect(session.fact('call-settled').settlement).toMatchObject({ code: 'call_limit_exceeded' })
    session
      .says('ok')
      .user('next')
      .says({ calls: ['read'] })
    expect(session.call('call_4_0').state).toBe('started')
  })

  test('a turn over its cost ends as such; calls whose cost is not known do not count', () => {
    const session = new TestSession({ limits: { turnCostMicros: 2_000_000 } }).user('go')
    session.says({ calls: ['read'], usage: { costMicros: 2_000_000 } }).returns('call_1_0')
    session.says({ calls: ['read'], usage: { inputTokens: 9 } }).returns('call_2_0')
    expect(session.state.phase).toBe('modelling')
    session.says({ calls: ['read'], usage: { costMicros: 1 } }).returns('call_3_0')
    expect(session.fact('turn-finished').error).toEqual({
      code: 'turn_cost_exceeded',
      message: 'the turn cost $2.000001; the limit is $2',
    })
  })

  test('a turn over its tokens ends as such, with its calls settled', () => {
    const session = new TestSession({ limits: { turnTokens: 100 } }).user('go')
    session.says({ calls: ['read'], usage: { inputTokens: 90, outputTokens: 10 } }).returns('call_1_0')
    expect(session.state.phase).toBe('modelling')
    session.says({ calls: ['read'], usage: { outputTokens: 1 } }).returns('call_2_0')
    expect(session.fact('turn-finished').error).toEqual({
      code: 'turn_tokens_exceeded',
      message: 'the turn used 101 tokens; the limit is 100',
    })
    session
      .user('go')
      .user('next')
      .says({ calls: ['read'], usage: { inputTokens: 101 } })
      .returns('call_3_0')
    expect(session.factTypes()).toContain('turn-finished')
    expect(session.told().at(-1)).toBe('user: next')
  })
})

describe('an empty answer', () => {
  test('is asked for once more, then is an error', () => {
    const session = new TestSession().user('go').says(' \n')
    expect(session.factTypes()).toEqual(['attempt-superseded', 'model-started'])
    session.says('')
    expect(session.fact('turn-finished').error).toEqual({
      code: 'empty_answer',
      message: 'the model gave an empty answer twice',
    })
    expect(session.lines()).toEqual(['user: go'])
  })

  test('of thoughts alone is empty', () => {
    const session = new TestSession().user('go').says({ more: [{ type: 'reasoning', text: 'hm' }] })
    expect(session.fact('attempt-superseded').reason).toBe('empty')
  })

  test('is a legal silence where the agent says so, and nothing is stored for it', () => {
    const session = new TestSession({ emptyAnswer: 'silence' }).user('go').says('')
    expect(session.fact('turn-finished')).toEqual({ type: 'turn-finished', turn: 1, outcome: 'silent', text: '' })
    expect(session.lines()).toEqual(['user: go'])
  })

  test('the second try may be the answer', () => {
    const session = new TestSession().user('go').says('').says('now')
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'now' })
  })
})

describe('a refusal', () => {
  test('in words is kept and ends the turn as refused', () => {
    const session = new TestSession().user('go').says({ text: 'I cannot', calls: ['read'], finish: 'refusal' })
    expect(session.fact('turn-finished')).toEqual({
      type: 'turn-finished',
      turn: 1,
      outcome: 'refused',
      text: 'I cannot',
      error: { code: 'model_refused', message: 'the model refused to answer' },
    })
    expect(session.lines()).toEqual(['user: go', 'assistant: I cannot'])
  })

  test('without a word ends the turn too, and is not asked again', () => {
    const session = new TestSession().user('go').says({ finish: 'refusal' })
    expect(session.factTypes()).toEqual(['attempt-failed', 'turn-finished'])
    expect(session.fact('attempt-failed').error).toEqual({
      code: 'model_refused',
      message: 'the model refused to answer',
      retryable: false,
    })
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'refused', text: '' })
  })
})

describe('a provider that pauses its answer', () => {
  const block = { type: 'provider', state: { provider: 'p', model: 'm', data: 1 } } as const

  test('gets it back as it is and goes on; nothing enters between, and it is no round', () => {
    const session = new TestSession({ limits: { toolRounds: 1 } }).user('go').user('hurry', { delivery: 'steer' })
    session.says({ text: 'let me', more: [block], finish: 'pause' })
    expect(session.told()).toEqual(['user: go', 'assistant: [provider]', 'assistant: let me'])
    expect(session.fact('model-started').choice).toBe('auto')
    session.says('see')
    expect(session.logged('turn-finished')[0]).toMatchObject({ outcome: 'answered', text: 'let me\n\nsee' })
    expect(session.told().at(-1)).toBe('user: hurry')
  })

  test('without a word of it too', () => {
    const session = new TestSession().user('go').says({ more: [block], finish: 'pause' })
    expect(session.told()).toEqual(['user: go', 'assistant: [provider]'])
  })

  test('may do so 8 times', () => {
    const session = new TestSession({ limits: { pauses: 2 } }).user('go')
    session.says({ text: 'a', more: [block], finish: 'pause' }).says({ text: 'b', more: [block], finish: 'pause' })
    expect(session.state.phase).toBe('modelling')
    session.says({ text: 'c', more: [block], finish: 'pause' })
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'a\n\nb\n\nc' })
  })

  test('is not held its rounds against it', () => {
    const session = new TestSession({ limits: { pauses: 1 } }).user('go')
    for (const step of [1, 2]) session.says({ calls: ['read'] }).returns(`call_${step}_0`)
    expect(session.says({ text: 'a', more: [block], finish: 'pause' }).state.phase).toBe('modelling')
  })

  test('after the tool rounds with calls beside it has ended', () => {
    const session = new TestSession({ limits: { toolRounds: 0 } }).user('go')
    session.says({ text: 'hm', calls: ['read'], finish: 'pause' })
    expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'hm' })
  })

  test('and never says anything but blanks has failed', () => {
    const session = new TestSession({ limits: { pauses: 0 } })
      .user('go')
      .says({ text: ' ', more: [block], finish: 'pause' })
    expect(session.fact('turn-finished').error?.code).toBe('empty_answer')
  })

  test('and never says anything has failed', () => {
    const session = new TestSession({ limits: { pauses: 1 } }).user('go')
    session.says({ more: [block], finish: 'pause' }).says({ more: [block], finish: 'pause' })
    expect(session.fact('turn-finished').error).toEqual({
      code: 'empty_answer',
      message: 'the provider paused its answer 1 times and said nothing',
    })
  })

  test('with calls beside it has them run', () => {
    const session = new TestSession().user('go').says({ calls: ['read'], finish: 'pause' })
    expect(session.call('call_1_0').state).toBe('started')
  })
})

describe('calls that may not run', () => {
  const stopped = (finish: string): string =>
    `the answer was stopped (${finish}) while its calls were written; nothing was executed`

  test.each([
    {
      because: 'their arguments end early',
      asked: { text: '{"a":"cu', finish: 'tool-calls' },
      error: { code: 'arguments_cut_off', message: 'the arguments end early; nothing was executed' },
    },
    {
      because: 'their answer was cut off',
      asked: { text: '{}', finish: 'max-tokens' },
      error: { code: 'arguments_cut_off', message: stopped('max-tokens') },
    },
    {
      because: 'their answer stopped for an unknown reason',
      asked: { text: '{}', finish: 'other' },
      error: { code: 'arguments_cut_off', message: stopped('other') },
    },
    {
      because: 'their arguments are no object',
      asked: { text: '[1]', finish: 'end' },
      error: { code: 'invalid_arguments', message: 'the arguments are not a JSON object' },
    },
    {
      because: 'their arguments are no JSON',
      asked: { text: 'nonsense', finish: 'tool-calls' },
      error: { code: 'invalid_arguments', message: 'the arguments are not a JSON object' },
    },
  ] as const)('because $because', ({ asked, error }) => {
    const { text, finish } = asked
    const session = new TestSession().user('go').says({ calls: [{ name: 'read', arguments: text }], finish })
    expect(session.fact('call-settled')).toMatchObject({ settlement: { type: 'error', ...error }, tellLate: false })
    expect(session.lines()[1]).toBe('call_1_0 read {}')
    expect(session.state.phase).toBe('modelling')
  })

  test('because their tool is unknown', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'fly', approval: true }] })
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'error',
      code: 'tool_not_found',
      message: 'there is no tool "fly"',
    })
    expect(session.fact('step-finished').calls).toEqual([
      {
        callId: 'call_1_0',
        name: 'fly',
        runs: 'server',
        effect: 'pure',
        timeoutMs: 0,
        parallel: true,
        onInterrupt: 'cancel',
        argumentsHash: 'hash of {}',
      },
    ])
  })

  test('because the host found their arguments wrong', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'read', invalid: 'path is missing' }] })
    expect(session.told().at(-1)).toBe('call_1_0 = Error: path is missing')
    expect(session.fact('call-settled').settlement).toMatchObject({ type: 'error', code: 'invalid_arguments' })
  })

  test('because the host did not check them', () => {
    const session = new TestSession().user('go')
    session.send({ ...session.answer({ calls: ['pay'] }), checks: [] })
    expect(session.fact('call-settled').settlement).toEqual({
      type: 'error',
      code: 'invalid_arguments',
      message: 'the arguments were not checked',
    })
  })

  test('beside one that may: it runs, and all results go back', () => {
    const session = new TestSession().user('go').says({ calls: ['fly', 'read'] })
    expect(session.state.phase).toBe('calling')
    session.returns('call_1_1', 'found')
    expect(session.told().slice(-2)).toEqual(['call_1_0 = Error: there is no tool "fly"', 'call_1_1 = found'])
  })

  test('that may run keep the text of their arguments as the model wrote it', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'read', arguments: '{ "a" : 1 }' }] })
    expect(session.lines()).toEqual(['user: go'])
    expect(session.history.openCall('call_1_0')).toEqual({
      callId: 'call_1_0',
      name: 'read',
      arguments: '{ "a" : 1 }',
      settled: false,
    })
  })
})

describe('a failed model call', () => {
  test('is tried again after a pause, three times, then the turn fails with its code', () => {
    const session = new TestSession().user('go').modelFails('model_overloaded')
    expect(session.fact('attempt-superseded')).toMatchObject({ attempt: 1, reason: 'failed' })
    expect(session.timers()).toEqual(['turn', 'retry'])
    const pauseMs = session.timer('retry').atMs - session.nowMs
    expect(pauseMs).toBeGreaterThanOrEqual(250)
    expect(pauseMs).toBeLessThan(500)
    session.fire('retry')
    expect(session.factTypes()).toEqual(['model-started'])
    expect(session.timers()).toEqual(['turn'])
    session.modelFails('model_overloaded')
    const longerMs = session.timer('retry').atMs - session.nowMs
    expect(longerMs).toBeGreaterThanOrEqual(500)
    expect(longerMs).toBeLessThan(1000)
    session.fire('retry').modelFails('model_overloaded')
    expect(session.factTypes()).toEqual(['attempt-failed', 'turn-finished'])
    expect(session.fact('turn-finished')).toMatchObject({
      outcome: 'failed',
      error: { code: 'model_overloaded', message: 'it failed: model_overloaded' },
    })
  })

  test('leaves the input in the history: the next one tries again with both', () => {
    const session = new TestSession().user('go').modelFails('model_auth_failed', { retryable: false })
    expect(session.fact('turn-finished').error?.code).toBe('model_auth_failed')
    expect(session.user('again').told()).toEqual(['user: go', 'user: again'])
  })

  test('that cannot be retried goes to the next model at once', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session.modelFails('model_auth_failed', { retryable: false })
    expect(session.factTypes()).toEqual(['attempt-superseded', 'model-started'])
    expect(session.fact('attempt-superseded').reason).toBe('fallback')
    expect(session.fact('model-started')).toMatchObject({ model: 'two', attempt: 2 })
    session.modelFails('model_overloaded').fire('retry').modelFails('model_overloaded').fire('retry')
    expect(session.state.attempt?.model).toBe('two')
    session.modelFails('model_overloaded')
    expect(session.fact('turn-finished').outcome).toBe('failed')
  })

  test('after three tries goes to the next model', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session
      .modelFails('model_timeout')
      .fire('retry')
      .modelFails('model_timeout')
      .fire('retry')
      .modelFails('model_timeout')
    expect(session.fact('model-started').model).toBe('two')
  })

  test('whose provider asks for a longer pause gets it, and too long a one goes to the next model', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session.modelFails('model_rate_limited', { retryAfterMs: 30_000 })
    expect(session.timer('retry').atMs - session.nowMs).toBe(30_000)
    session.fire('retry').modelFails('model_rate_limited', { retryAfterMs: 30_001 })
    expect(session.fact('model-started').model).toBe('two')
  })

  test('the counts begin anew with each step, the model that worked stays', () => {
    const session = new TestSession({ models: ['one', 'two'], retry: { attempts: 2 } }).user('go')
    session.modelFails('model_timeout').fire('retry').modelFails('model_timeout')
    session
      .modelFails('model_timeout')
      .fire('retry')
      .says({ calls: ['read'] })
      .returns('call_1_0')
    expect(session.fact('model-started').model).toBe('two')
    session.modelFails('model_timeout')
    expect(session.fact('attempt-superseded').reason).toBe('failed')
  })

  test('because of a call that its provider could not read is tried again', () => {
    const session = new TestSession().user('go').says({ calls: ['read'], finish: 'malformed-call' })
    expect(session.fact('attempt-superseded')).toMatchObject({
      reason: 'failed',
      error: {
        code: 'model_malformed_answer',
        message: 'the model wrote a call that its provider could not read',
        retryable: true,
      },
    })
  })

  test('whose answer comes after all while the retry waits is stale', () => {
    const session = new TestSession().user('go').modelFails('model_timeout')
    expect(session.send(session.answer('late', 1)).factTypes()).toEqual(['answer-ignored'])
    const error = { code: 'model_timeout', message: '', retryable: true } as const
    expect(session.send({ type: 'model-failed', attempt: 1, error }).factTypes()).toEqual(['answer-ignored'])
    expect(session.send({ type: 'attempt-progress', attempt: 1, offset: 0, text: 'late' }).facts).toEqual([])
  })

  test('that ends the turn lets the next one begin', () => {
    const session = new TestSession().user('go').user('next').modelFails('model_auth_failed', { retryable: false })
    expect(session.told()).toEqual(['user: go', 'user: next'])
  })

  test('lets in who steers before another model is asked', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go').user('hurry', { delivery: 'steer' })
    session.modelFails('model_auth_failed', { retryable: false })
    expect(session.told()).toEqual(['user: go', 'user: hurry'])
  })

  test('a retry timer of an older attempt says nothing', () => {
    const session = new TestSession().user('go').modelFails('model_timeout')
    const { generation } = session.timer('retry')
    session.fire('retry').modelFails('model_timeout')
    session.send({ type: 'timer-fired', timer: 'retry', generation })
    expect(session.facts).toEqual([])
  })

  test('a window that got smaller while a retry waited is summarised, and the model is asked after it', () => {
    const session = new TestSession().user('one').says('1').user('two').modelFails('model_timeout')
    session.spec = testSpec({ hash: 'v2', window: { exchanges: 1, summarise: true } })
    session.send({ type: 'agent-changed' }).fire('retry')
    expect(session.state.phase).toBe('summarising')
    expect(session.timers()).toEqual(['turn'])
    session.send({ type: 'summary-finished', attempt: 3, text: 'so far', usage: {} })
    expect(session.state).toMatchObject({ phase: 'modelling', attempt: { attempt: 4 } })
  })

  test('a summary that says nothing was paid for all the same', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')
    expect(session.state.phase).toBe('summarising')
    const attempt = session.state.attempt?.attempt ?? 0
    session.send({ type: 'summary-finished', attempt, text: ' ', usage: { inputTokens: 700 } })
    expect(session.fact('model-used').usage).toEqual({ inputTokens: 700 })
  })
})

describe('progress', () => {
  test('is logged where it follows what was logged, and nothing else is', () => {
    const session = new TestSession().user('go').progress('abc').progress('de')
    expect(session.fact('attempt-progressed')).toEqual({
      type: 'attempt-progressed',
      attempt: 1,
      offset: 3,
      text: 'de',
    })
    for (const wrong of [
      { attempt: 1, offset: 4, text: 'x' },
      { attempt: 1, offset: 5, text: '' },
      { attempt: 2, offset: 5, text: 'x' },
    ]) {
      session.send({ type: 'attempt-progress', ...wrong })
      expect(session.facts).toEqual([])
    }
    expect(session.state.attempt?.progressChars).toBe(5)
  })
})

test('a turn over its time ends as such: running calls are told as timed out', () => {
  const session = new TestSession({ limits: { turnMs: 10_000 } }).user('go').says({ calls: ['read', 'pay'] })
  expect(session.timer('turn').atMs).toBe(session.nowMs + 10_000)
  session.fire('turn')
  expect(session.fact('turn-finished').error).toEqual({
    code: 'turn_time_exceeded',
    message: 'the turn took longer than 10000 ms',
  })
  expect(session.lines().slice(-2)).toEqual([
    'call_1_0 = Error: tool_result_timeout',
    'call_1_1 = Error: tool_result_timeout (it may have run)',
  ])
})
