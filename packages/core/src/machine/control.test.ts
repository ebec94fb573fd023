// Control of a session as a whole: models, pause, stop, clients, timers, restarts, a changed agent.
import { describe, expect, test } from 'vitest'
import type { Input } from './input.ts'
import { canonicalLog } from './record.ts'
import { clientTool, serverTool, testSpec, TestSession, TOOLS } from '../testing/test-session.ts'

describe('another model', () => {
  test('set with a call pending is asked at the next step, the old one stays as a fallback', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go').says({ calls: ['read'] })
    session.send({ type: 'set-model', model: 'three' }).returns('call_1_0')
    expect(session.fact('model-started').model).toBe('three')
    expect(session.told().at(-1)).toBe('call_1_0 = done')
    expect(session.state.turn?.models).toEqual(['three', 'one', 'two'])
    session.modelFails('model_auth_failed', { retryable: false })
    expect(session.fact('model-started').model).toBe('one')
  })

  test('set while the model speaks lets it finish', () => {
    const session = new TestSession().user('go').send({ type: 'set-model', model: 'two' })
    expect(session.effects).toEqual([])
    expect(session.state.attempt?.model).toBe('one')
    expect(session.says('hi').user('more').fact('model-started').model).toBe('two')
  })

  test('set after a fallback is the first again', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session.modelFails('model_auth_failed', { retryable: false }).send({ type: 'set-model', model: 'two' })
    expect(session.state.turn).toMatchObject({ models: ['two', 'one'], candidate: 0, failures: 0 })
  })
})

describe('a description', () => {
  test('gives the session a title and notes, each on its own', () => {
    const session = new TestSession().send({ type: 'describe', title: 'A trip', meta: { folder: '/a' } })
    expect(session.facts).toEqual([{ type: 'session-described', title: 'A trip', meta: { folder: '/a' } }])
    session.send({ type: 'describe', meta: { delayMs: 1 } })
    expect(session.state).toMatchObject({ title: 'A trip', meta: { delayMs: 1 } })
    session.send({ type: 'describe', title: null })
    expect(session.state).toMatchObject({ title: null, meta: { delayMs: 1 } })
    expect(session.send({ type: 'describe' }).facts).toEqual([])
    expect(canonicalLog(session.records).at(-2)).toEqual({ type: 'session-described', meta: { delayMs: 1 } })
  })

  test('is bounded', () => {
    const session = new TestSession()
    expect(session.refusal({ type: 'describe', title: 'x'.repeat(200) })).toBeUndefined()
    expect(session.refusal({ type: 'describe', title: 'x'.repeat(201) })).toBe('invalid_event')
    const meta = { a: 'x'.repeat(8192 - '{"a":""}'.length) }
    expect(session.refusal({ type: 'describe', meta })).toBeUndefined()
    expect(session.refusal({ type: 'describe', meta: { a: `${meta.a}x` } })).toBe('invalid_event')
    const list = { type: 'describe', meta: [] as unknown as {} } as const // as a careless host submits it
    expect(session.refusal(list)).toBe('invalid_event')
  })
})

describe('pause', () => {
  test('gives the running attempt up, and continue asks it again', () => {
    const session = new TestSession().user('go').progress('half').send({ type: 'pause' })
    expect(session.fact('attempt-superseded')).toEqual({ type: 'attempt-superseded', attempt: 1, reason: 'paused' })
    expect(session.effects).toEqual([
      { type: 'abort-model', attempt: 1 },
      { type: 'clear-timer', timer: 'turn', generation: 1 },
    ])
    expect(session.owes()).toEqual([])
    session.user('waits').send({ type: 'continue' })
    expect(session.told()).toEqual(['user: go'])
    expect(session.state).toMatchObject({ phase: 'modelling', attempt: { attempt: 2, progressChars: 0 } })
  })

  test('lets tools run on and keeps their results', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .send({ type: 'pause' })
      .returns('call_1_0')
    expect(session.factTypes()).toEqual(['call-settled', 'step-closed'])
    expect(session.send({ type: 'continue' }).told().at(-1)).toBe('call_1_0 = done')
  })

  test('of an idle session keeps what is said in it', () => {
    const session = new TestSession().send({ type: 'pause' }).user('waits')
    expect(session.state.phase).toBe('paused')
    expect(session.send({ type: 'continue' }).told()).toEqual(['user: waits'])
    expect(new TestSession().send({ type: 'pause' }).send({ type: 'continue' }).state.phase).toBe('idle')
  })

  test('while a retry waits asks again on continue', () => {
    const session = new TestSession().user('go').modelFails('model_timeout').send({ type: 'pause' })
    expect(session.owes()).toEqual([])
    expect(session.send({ type: 'continue' }).state.attempt?.attempt).toBe(2)
  })

  test('while the history is summarised begins the summary again', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')
    session.send({ type: 'pause' })
    expect(session.effects).toContainEqual({ type: 'abort-summary', attempt: 2 })
    session.send({ type: 'continue' })
    expect(session.state).toMatchObject({ phase: 'summarising', attempt: { attempt: 3 }, summaryRecoveries: 0 })
  })

  test('while an interrupt waits for the model ends that turn', () => {
    const session = new TestSession().user('go').progress('half').interrupt().send({ type: 'pause' })
    expect(session.lines()).toEqual(['user: go', 'assistant: half'])
    expect(session.state).toMatchObject({ phase: 'paused', turn: null })
  })
})

describe('stop', () => {
  test('calls nothing, settles every call and keeps what was said', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ text: 'I look', calls: ['read', 'pay', 'look'] })
    session.user('waits').send({ type: 'stop' })
    expect(session.fact('turn-finished').outcome).toBe('stopped')
    expect(session.owes()).toEqual([])
    expect(session.lines().slice(-3)).toEqual([
      'call_1_0 = Error: cancelled (it has no effect)',
      'call_1_1 = Error: tool_result_unknown (it may have run)',
      'call_1_2 = Error: cancelled (it has no effect)',
    ])
    expect(session.state.queue).toHaveLength(1)
    expect(session.send({ type: 'start' }).told().at(-1)).toBe('user: waits')
  })

  test('keeps of a running answer what the log has', () => {
    const session = new TestSession().user('go').progress('half').send({ type: 'stop' })
    expect(session.factTypes()).toEqual(['step-salvaged', 'step-closed', 'turn-finished', 'session-stopped'])
    expect(session.fact('step-salvaged')).toEqual({ type: 'step-salvaged', step: 1, attempt: 1, textChars: 4 })
    expect(session.lines()).toEqual(['user: go', 'assistant: half'])
    expect(session.effects).toContainEqual({ type: 'abort-model', attempt: 1 })
  })

  test('of an answer that was being interrupted keeps what was heard', () => {
    const session = new TestSession().user('go').progress('half').interrupt({ type: 'chars', chars: 2 })
    expect(session.send({ type: 'stop' }).lines()).toEqual(['user: go', 'assistant: ha'])
    expect(session.fact('turn-finished').outcome).toBe('interrupted')
  })

  test('of a summary keeps nothing of it', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')
    expect(session.send({ type: 'stop' }).factTypes()).toEqual(['turn-finished', 'session-stopped'])
  })

  test('keeps the batch that waits, without its timer, for the next start', () => {
    const entry: Input = { type: 'transcript', inputId: 't', speaker: 'ann', text: 'hello' }
    const session = new TestSession().send(entry).send({ type: 'stop' })
    expect(session.timers()).toEqual([])
    expect(session.effects).toEqual([{ type: 'clear-timer', timer: 'batch', generation: 1 }])
    session.send({ type: 'start' })
    expect(session.told()).toEqual(['user: [Transcript] ann: hello'])
  })

  test('starts nothing for what waits, whatever happens', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay'] })
      .user('waits')
      .send({ type: 'stop' })
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: { type: 'ok', content: [] } })
    expect(session.attach().state).toMatchObject({ phase: 'stopped', turn: null })
  })

  test('a late result of a stopped tool is logged, and told after the start', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay'] })
      .send({ type: 'stop' })
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: { type: 'ok', content: [] } })
    expect(session.factTypes()).toEqual(['result-ignored', 'note-queued'])
    expect(session.state.phase).toBe('stopped')
    session.send({ type: 'start' }).user('and?')
    expect(session.told().slice(-2)).toEqual(['user: The tool "pay" (call_1_0) finished after all: ""', 'user: and?'])
  })
})

describe('a client', () => {
  test('attached twice is one client', () => {
    expect(new TestSession().attach().attach().facts).toEqual([])
  })

  test('over the 64th is refused, one that is there already is not', () => {
    const session = new TestSession()
    for (let count = 0; count < 64; count++) session.attach(`client${count}`)
    const can = { sequential: false, claims: true, reportsPlayback: true, asks: true }
    const client = { type: 'client-attached', principal: 'ann', ...can } as const
    expect(session.refusal({ ...client, connection: 'one more' })).toBe('rate_limited')
    expect(session.refusal({ ...client, connection: 'client7' })).toBeUndefined()
  })

  test('that was never there leaves without a trace', () => {
    expect(new TestSession().detach('nobody').facts).toEqual([])
  })

  test('that leaves lets its unclaimed calls go to another', () => {
    const session = new TestSession()
      .attach()
      .attach('desk')
      .user('go')
      .says({ calls: ['look', 'spawn'] })
    session.claim('call_1_1').detach('desk')
    expect(session.fact('call-returned')).toEqual({ type: 'call-returned', callId: 'call_1_0', reason: 'detach' })
    expect(session.effects).toContainEqual({ type: 'offer-call', callId: 'call_1_0', connection: 'phone', offer: 3 })
    expect(session.call('call_1_1')).toMatchObject({ state: 'claimed', offer: { connection: 'desk' } })
  })

  test('that leaves does not touch the calls of others', () => {
    const session = new TestSession()
      .attach('desk')
      .attach()
      .user('go')
      .says({ calls: ['look'] })
      .detach('desk')
    expect(session.factTypes()).toEqual(['client-detached'])
  })

  test('brings tools: the model may call them, the agent’s own of the same name win', () => {
    const brought = (name: string) => ({ ...clientTool(name), description: '', inputSchema: {} })
    const session = new TestSession().attach()
    session.send({ type: 'client-tools', connection: 'phone', tools: [brought('camera'), brought('read')] })
    session.user('go').says({ calls: ['camera', 'read', 'fly'] })
    expect(session.state.step?.calls.map((call) => [call.runs, call.state])).toEqual([
      ['client', 'offered'],
      ['server', 'started'],
      ['server', 'settled'],
    ])
  })

  test('that takes its tools away again: their open calls settle, claimed ones stay', () => {
    const tool = { ...clientTool('camera'), description: '', inputSchema: {} }
    const session = new TestSession().attach().send({ type: 'client-tools', connection: 'phone', tools: [tool] })
    session
      .user('go')
      .says({ calls: ['camera', 'camera'] })
      .claim('call_1_1')
      .send({ type: 'client-tools', connection: 'phone', tools: [] })
    expect(session.fact('call-settled')).toEqual({
      type: 'call-settled',
      callId: 'call_1_0',
      settlement: {
        type: 'error',
        code: 'tool_gone',
        message: 'the tool "camera" was removed while its call was open',
      },
      tellLate: false,
    })
    expect(session.clientReturns('call_1_1').told().at(-1)).toBe('call_1_1 = done')
  })

  test('brings at most 128 tools', () => {
    const tools = Array.from({ length: 129 }, (_, at) => ({
      ...clientTool(`t${at}`),
      description: '',
      inputSchema: {},
    }))
    const session = new TestSession().attach()
    expect(session.refusal({ type: 'client-tools', connection: 'phone', tools })).toBe('invalid_event')
    expect(session.refusal({ type: 'client-tools', connection: 'phone', tools: tools.slice(1) })).toBeUndefined()
  })
})

describe('an agent that changed', () => {
  test('settles calls whose tool is gone, and they are told so', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'pay', approval: true }, 'read'] })
    session.spec = testSpec({ hash: 'v2', tools: TOOLS.filter((tool) => tool.name !== 'pay' && tool.name !== 'read') })
    session.send({ type: 'agent-changed' })
    expect(session.factTypes()).toEqual(['agent-changed', 'call-settled'])
    expect(session.state.specHash).toBe('v2')
    expect(session.returns('call_1_1').told().slice(-2)).toEqual([
      'call_1_0 = Error: the tool "pay" was removed while its call was open',
      'call_1_1 = done',
    ])
  })

  test('settles the last open call of a step, and the model is asked', () => {
    const session = new TestSession().user('go').says({ calls: [{ name: 'pay', approval: true }] })
    session.spec = testSpec({ hash: 'v2', tools: [] })
    expect(session.send({ type: 'agent-changed' }).state.phase).toBe('modelling')
  })

  test('to what it was is no change', () => {
    expect(new TestSession().send({ type: 'agent-changed' }).facts).toEqual([])
  })

  test('leaves the calls that are open as they were proposed', () => {
    const session = new TestSession().user('go').says({ calls: ['pay'] })
    session.spec = testSpec({ hash: 'v2', tools: [serverTool('pay')] })
    session.send({ type: 'agent-changed' }).restart()
    expect(session.told().at(-1)).toBe('call_1_0 = Error: tool_result_unknown (it may have run)')
  })
})

describe('a restart', () => {
  test('asks the model again under a new attempt, and the old one is superseded', () => {
    const session = new TestSession().user('go').progress('half').restart(500)
    expect(session.facts).toEqual([
      { type: 'host-restarted', downMs: 500 },
      { type: 'turn-clock-set', deadlineMs: session.nowMs + 600_000, remainingMs: 600_000 },
      { type: 'attempt-superseded', attempt: 1, reason: 'restart' },
      expect.objectContaining({ type: 'model-started', attempt: 2 }),
    ])
  })

  test('that comes three times in one step fails it', () => {
    const session = new TestSession().user('go').restart().restart()
    expect(session.state.phase).toBe('modelling')
    session.restart()
    const message = 'the model call was started 3 times, and the process died each time'
    expect(session.fact('attempt-failed').error).toEqual({ code: 'recovery_exhausted', message, retryable: false })
    expect(session.fact('turn-finished').error).toEqual({ code: 'recovery_exhausted', message })
    expect(session.state.phase).toBe('idle')
  })

  test('counts anew for each step', () => {
    const session = new TestSession()
      .user('go')
      .restart()
      .restart()
      .says({ calls: ['read'] })
      .returns('call_1_0')
    expect(session.restart().restart().state.phase).toBe('modelling')
  })

  test('starts pure and idempotent tools again and never a once tool', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read', 'put', 'pay'] })
      .restart()
    expect(session.factTypes()).toEqual(['host-restarted', 'call-started', 'call-started', 'call-settled'])
    expect(session.fact('call-settled')).toEqual({
      type: 'call-settled',
      callId: 'call_1_2',
      settlement: { type: 'unknown', reason: 'restart' },
      tellLate: true,
    })
    session.returns('call_1_0').returns('call_1_1')
    expect(session.told().at(-1)).toBe('call_1_2 = Error: tool_result_unknown (it may have run)')
  })

  test('in a summary begins it again, and after three lets the window slide', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')
    session.restart().restart()
    expect(session.state).toMatchObject({ phase: 'summarising', summaryRecoveries: 2 })
    session.restart()
    expect(session.factTypes()).toEqual(['host-restarted', 'summary-failed', 'window-moved', 'model-started'])
    expect(session.fact('summary-failed').error.code).toBe('recovery_exhausted')
    expect(session.told()).toEqual(['user: two'])
  })

  test('leaves a waiting retry waiting', () => {
    const session = new TestSession().user('go').modelFails('model_timeout').restart()
    expect(session.factTypes()).toEqual(['host-restarted'])
    expect(session.fire('retry').state.attempt?.attempt).toBe(2)
  })

  test('forgets the clients: they attach anew', () => {
    expect(new TestSession().attach().restart().state.clients).toEqual([])
  })

  test('keeps a waiting approval, which is asked again', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: [{ name: 'pay', approval: true }] })
      .restart()
    expect(session.owes()).toContain('ask-approval:approval_call_1_0_1')
    session.send(session.approval('call_1_0', 'approve'))
    expect(session.call('call_1_0').state).toBe('started')
  })
})

describe('a timer', () => {
  test('of an older generation, or of nothing, says nothing', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look', { name: 'pay', approval: true }] })
    const { generation } = session.timer('turn')
    for (const timer of ['turn', 'retry', 'interrupt', 'grace', 'batch', 'call:call_1_0', 'approval:call_1_1'])
      expect(session.send({ type: 'timer-fired', timer, generation: generation - 1 }).facts).toEqual([])
    for (const timer of ['call:call_9_9', 'call_1_0', 'nothing:call_1_0', 'approval:call_1_0'])
      expect(session.send({ type: 'timer-fired', timer, generation: 3 }).facts).toEqual([])
  })

  test('of an older generation says nothing, whatever runs', () => {
    const entry = (inputId: string): Input => ({ type: 'transcript', inputId, speaker: 'ann', text: 'x' })
    const batch = new TestSession().send(entry('a')).send(entry('b'))
    expect(batch.send({ type: 'timer-fired', timer: 'batch', generation: 1 }).facts).toEqual([])
    const stopping = new TestSession().user('go').interrupt()
    expect(stopping.send({ type: 'timer-fired', timer: 'interrupt', generation: 1 }).facts).toEqual([])
    const waiting = new TestSession().user('go').says({ calls: [{ name: 'pay', approval: true }] })
    const { generation } = waiting.timer('approval:call_1_0')
    for (const timer of ['call:call_1_0', 'other:call_1_0'])
      expect(waiting.send({ type: 'timer-fired', timer, generation }).facts).toEqual([])
    const idle = new TestSession()
    for (const timer of ['turn', 'retry', 'interrupt', 'grace', 'batch', 'call:x', 'approval:x'])
      expect(idle.send({ type: 'timer-fired', timer, generation: 0 }).facts).toEqual([])
  })

  test('of an interrupt takes the inputs behind it on', () => {
    const session = new TestSession().user('go').interrupt().user('next').fire('interrupt')
    expect(session.told()).toEqual(['user: go', 'user: next'])
  })

  test('of a retry that cannot be made any more takes the inputs behind it on', () => {
    const session = new TestSession().user('x'.repeat(200)).user('next').modelFails('model_timeout')
    session.spec = testSpec({ hash: 'v2', window: { contextTokens: 40, reserveTokens: 0 } })
    session.send({ type: 'agent-changed' }).fire('retry')
    expect(session.logged('turn-finished')[0]?.error?.code).toBe('context_overflow')
    expect(session.told()).toEqual(['user: next'])
  })

  test('that says nothing leaves the state as it is, to the position', () => {
    const session = new TestSession().user('go')
    const { state } = session
    const nothing = { type: 'decided', facts: [], effects: [] }
    for (const input of [
      { type: 'timer-fired', timer: 'retry', generation: 9 },
      { type: 'call-reached', callId: 'call_9_9', offer: 1 },
    ] as const) {
      const decision = session.after(5).decide(input)
      expect(decision).toEqual({ ...nothing, state })
      expect('state' in decision && decision.state).toBe(state)
    }
  })

  test('of the turn takes the inputs behind it on', () => {
    const session = new TestSession().user('go').user('next').fire('turn')
    expect(session.logged('turn-finished')[0]?.error?.code).toBe('turn_time_exceeded')
    expect(session.told()).toEqual(['user: go', 'user: next'])
  })
})

describe('what an app’s voice got', () => {
  test('is noted once, for turns that there were', () => {
    const session = new TestSession().user('go').says('hi')
    expect(session.send({ type: 'display-written', turn: 2 }).facts).toEqual([])
    expect(session.send({ type: 'display-written', turn: 1 }).facts).toEqual([{ type: 'display-written', turn: 1 }])
    expect(session.send({ type: 'display-written', turn: 1 }).facts).toEqual([])
    expect(session.state.displayedTurn).toBe(1)
  })

  test('is noted as far as it goes beyond what was known', () => {
    const session = new TestSession().user('go').says('hi')
    const report = (chars?: number) =>
      session.send({ type: 'display-written', turn: 1, ...(chars !== undefined && { chars }) }).facts.length
    expect([report(0), report(4), report(4), report(2), report(), report(9), report()]).toEqual([1, 1, 0, 0, 1, 0, 0])
    expect(session.state.displayedChars).toBeNull()
  })
})
