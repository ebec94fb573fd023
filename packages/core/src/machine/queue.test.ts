// Inputs of people and programs: one queue, one order, nothing lost, nothing twice.
import { describe, expect, test } from 'vitest'
import type { Input } from './input.ts'
import { canonicalLog } from './record.ts'
import { toOutcome, serverTool, TestSession } from '../testing/test-session.ts'

function transcript(inputId: string, text: string, speaker = 'ann'): Input {
  return { type: 'transcript', inputId, speaker, text }
}

describe('a user', () => {
  test('says something, and the model is asked with it', () => {
    const session = new TestSession().user('hello')
    expect(session.told()).toEqual(['user: hello'])
    expect(session.owes()).toEqual(['call-model:1', 'set-timer:turn:1'])
    session.says('hi')
    expect(session.fact('turn-finished')).toEqual({ type: 'turn-finished', turn: 1, outcome: 'answered', text: 'hi' })
    expect(session.owes()).toEqual([])
  })

  test('who speaks during a turn is answered in the next one, all that waited at once', () => {
    const session = new TestSession().user('one').user('two').user('three').says('first')
    expect(session.told()).toEqual(['user: one', 'assistant: first', 'user: two', 'user: three'])
    expect(session.logged('turn-started')).toHaveLength(2)
    expect(session.fact('turn-started')).toMatchObject({ turn: 2, exchange: 2 })
    expect(session.state.queue).toEqual([])
  })

  test('who steers is heard after the running step, and so is what waited before', () => {
    const session = new TestSession().user('go').says({ calls: ['read'] })
    session.user('waits').user('steers', { delivery: 'steer' }).user('comes later')
    session.returns('call_1_0', 'found')
    expect(session.told()).toEqual(['user: go', 'call_1_0 read {}', 'call_1_0 = found', 'user: waits', 'user: steers'])
    session.says('done')
    expect(session.told().slice(-2)).toEqual(['assistant: done', 'user: comes later'])
  })

  test('who steers may bring a model and settings, which the running turn then has', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go', { settings: { temperature: 1 } })
    session
      .says({ calls: ['read'] })
      .user('a', { delivery: 'steer', model: 'two' })
      .returns('call_1_0')
    expect(session.fact('turn-settings-set')).toEqual({
      type: 'turn-settings-set',
      models: ['two', 'one'],
      settings: { temperature: 1 },
    })
    expect(session.fact('model-started').model).toBe('two')
    session
      .says({ calls: ['read'] })
      .user('b', { delivery: 'steer', settings: { temperature: 0 } })
      .returns('call_2_0')
    expect(session.fact('turn-settings-set')).toMatchObject({ models: ['two', 'one'], settings: { temperature: 0 } })
    session
      .says({ calls: ['read'] })
      .user('c', { delivery: 'steer' })
      .returns('call_3_0')
    expect(session.factTypes()).not.toContain('turn-settings-set')
    expect(session.state.turn).toMatchObject({ models: ['two', 'one'], settings: { temperature: 0 } })
  })

  test('settings that steer are over those of the session, not over those that began the turn', () => {
    const session = new TestSession().send({ type: 'set-settings', settings: { maxOutputTokens: 9 } })
    session
      .user('go', { settings: { temperature: 1 } })
      .says({ calls: ['read'] })
      .user('a', { delivery: 'steer', settings: { topP: 0.5 } })
      .returns('call_1_0')
    expect(session.state.turn?.settings).toEqual({ maxOutputTokens: 9, topP: 0.5 })
  })

  test('who only queues does not steer', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .user('waits')
      .returns('call_1_0', 'found')
    expect(session.told()).toEqual(['user: go', 'call_1_0 read {}', 'call_1_0 = found'])
  })

  test('interrupts by what is said: the running answer is stopped, then the input is answered', () => {
    const session = new TestSession().user('go').progress('I will').user('no, stop', { delivery: 'interrupt' })
    expect(session.state.phase).toBe('interrupting')
    expect(session.fact('interrupt-accepted')).toMatchObject({ reason: 'input', heard: { type: 'all' } })
    expect(session.effects).toContainEqual({ type: 'abort-model', attempt: 1 })
    session.send({ type: 'model-stopped', attempt: 1, text: 'I will do it' })
    expect(session.told()).toEqual(['user: go', 'assistant: I will do it', 'user: no, stop'])
  })

  test('who interrupts the voice of an ended turn says how much was heard', () => {
    const session = new TestSession().user('go').says('a long answer')
    session.user('stop', { delivery: 'interrupt', heard: { type: 'chars', chars: 6 } })
    expect(session.told()).toEqual(['user: go', 'assistant: a long', 'user: stop'])
  })

  test('who interrupts an ended turn without saying what was heard cuts nothing', () => {
    const session = new TestSession().user('go').says('a long answer').user('stop', { delivery: 'interrupt' })
    expect(session.told()).toEqual(['user: go', 'assistant: a long answer', 'user: stop'])
    expect(session.factTypes()).not.toContain('interrupt-accepted')
  })

  test('names a model and settings for the turn, and the last who does wins', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session
      .user('a', { model: 'three', settings: { temperature: 1 } })
      .user('b', { model: 'two', settings: { temperature: 0 } })
    session.user('c').says('x')
    expect(session.fact('turn-started')).toMatchObject({ models: ['two', 'one'], settings: { temperature: 0 } })
    expect(session.state.turn?.settings).toEqual({ temperature: 0 })
    expect(session.fact('model-started').model).toBe('two')
  })

  test('without a model of its own the turn has the agent’s', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    expect(session.fact('turn-started')).toEqual({
      type: 'turn-started',
      turn: 1,
      exchange: 1,
      models: ['one', 'two'],
      deadlineMs: session.nowMs + 600_000,
    })
  })
})

describe('an input', () => {
  test('sent again with its id changes nothing and is told where it was accepted', () => {
    const session = new TestSession().user('hello', { inputId: 'same' })
    const again = { type: 'user-input', inputId: 'same', parts: [{ type: 'text', text: 'hello' }] } as const
    expect(session.decide(again)).toEqual({ type: 'decided', facts: [], effects: [], state: session.state, seenAt: 1 })
    session.says('hi').send({ type: 'stop' })
    expect(session.refusal(again)).toBeUndefined()
    expect(session.refusal({ ...again, inputId: 'new' })).toBe('session_stopped')
  })

  test.each<[string, Input]>([
    ['no parts', { type: 'user-input', inputId: 'x', parts: [] }],
    ['only blanks', { type: 'user-input', inputId: 'x', parts: [{ type: 'text', text: ' \n' }] }],
    ['no name', { type: 'urgent-event', inputId: 'x', name: '' }],
  ])('with %s is refused', (_, input) => {
    expect(new TestSession().refusal(input)).toBe('invalid_event')
  })

  test('a transcript without text is refused by its own code', () => {
    expect(new TestSession().refusal(transcript('x', ' \n '))).toBe('invalid_transcript')
  })

  test('with an image alone is no empty input', () => {
    const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } } as const
    const session = new TestSession().send({ type: 'user-input', inputId: 'x', parts: [image] })
    expect(session.fact('input-accepted')).toMatchObject({ chars: 6000, heldChars: 0 })
    expect(session.told()).toEqual(['user: [image]'])
    expect(session.state.index).toMatchObject([{ chars: 6000 }])
  })

  test('over its size is refused, at its size it is taken', () => {
    const session = new TestSession({ limits: { inputChars: 10 } })
    const input = (text: string): Input => ({ type: 'user-input', inputId: text, parts: [{ type: 'text', text }] })
    expect(session.refusal(input('x'.repeat(10)))).toBeUndefined()
    expect(session.refusal(input('x'.repeat(11)))).toBe('input_too_large')
    expect(session.refusal(transcript('y', 'x'.repeat(7)))).toBeUndefined()
    expect(session.refusal(transcript('y', 'x'.repeat(8)))).toBe('input_too_large')
    const event = { type: 'urgent-event', inputId: 'z', name: 'abc', message: 'de' } as const
    expect(session.refusal({ ...event, detail: 'x' })).toBeUndefined()
    expect(session.refusal({ ...event, detail: 'wxyz' })).toBe('input_too_large')
    expect(session.refusal({ ...event, message: 'defg' })).toBe('input_too_large')
  })

  test('is refused before acceptance when too many wait', () => {
    const session = new TestSession({ limits: { queueInputs: 2 } }).user('go').user('one')
    session.send(transcript('t', 'two'))
    expect(session.refusal({ type: 'user-input', inputId: 'x', parts: [{ type: 'text', text: 'y' }] })).toBe(
      'queue_full',
    )
    expect(session.refusal(transcript('x', 'y'))).toBe('queue_full')
    session.says('answer')
    expect(session.refusal({ type: 'user-input', inputId: 'x', parts: [{ type: 'text', text: 'y' }] })).toBe(undefined)
  })

  test('is refused before acceptance when too much waits', () => {
    const session = new TestSession({ limits: { queueChars: 10 } }).user('go').user('1234').user('56')
    const input = (text: string): Input => ({ type: 'user-input', inputId: 'x', parts: [{ type: 'text', text }] })
    expect(session.refusal(input('7890'))).toBeUndefined()
    expect(session.refusal(input('78901'))).toBe('queue_full')
  })

  test('of one who remembers is remembered for 256 inputs', () => {
    const session = new TestSession({ limits: { queueInputs: 300 } }).user('first').user('second')
    for (let count = 0; count < 255; count++) session.user('more')
    expect(session.state.recentInputs).toHaveLength(256)
    expect(session.state.recentInputs[0]).toEqual({ inputId: 'u2', pos: 2 })
    session.says('a').says('b').send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(session.state.recentInputs).toHaveLength(256)
  })
})

describe('an input behind which another one follows', () => {
  const held = (inputId: string) =>
    ({ type: 'user-input', inputId, parts: [{ type: 'text', text: inputId }], more: true }) as const

  test('is answered together with it', () => {
    const session = new TestSession().send(held('a')).send(held('b'))
    expect(session.state.phase).toBe('idle')
    session.user('c')
    expect(session.told()).toEqual(['user: a', 'user: b', 'user: c'])
    expect(session.timers()).not.toContain('batch')
  })

  test('is answered alone after 2 s without one', () => {
    const session = new TestSession().send(held('a')).fire('batch')
    expect(session.told()).toEqual(['user: a'])
  })
})

describe('transcript entries', () => {
  test('wait for 2 s of silence and then are one message, a line each', () => {
    const session = new TestSession()
      .send(transcript('a', 'hello'))
      .after(1999)
      .send(transcript('b', 'is it on?', 'bob'))
    expect(session.state.phase).toBe('idle')
    expect(session.timers()).toEqual(['batch'])
    const before = session.nowMs
    session.fire('batch')
    expect(session.nowMs - before).toBe(2000)
    expect(session.told()).toEqual(['user: [Transcript] ann: hello\n[Transcript] bob: is it on?'])
    expect(session.state.index).toMatchObject([{ inputs: ['a', 'b'], chars: 'annhellobobis it on?'.length }])
  })

  test('wait at most 15 s while people talk on', () => {
    const session = new TestSession()
    const from = session.nowMs
    for (let count = 0; count < 14; count++) session.send(transcript(`t${count}`, 'x')).after(1050)
    session.send(transcript('last', 'x'))
    expect(session.timer('batch').atMs - from).toBe(15_000)
    session.fire('batch')
    expect(session.state.phase).toBe('modelling')
    session.says('yes').send(transcript('next', 'x'))
    expect(session.timer('batch').atMs - session.nowMs).toBe(2000)
  })

  test('an entry after the flush begins a batch of its own age', () => {
    const session = new TestSession().send(transcript('a', 'x')).after(1900).send(transcript('b', 'x')).fire('batch')
    session.after(60_000).send(transcript('c', 'x'))
    expect(session.timer('batch').atMs - session.nowMs).toBe(2000)
  })

  test('are flushed at 50', () => {
    const session = new TestSession()
    for (let count = 1; count < 50; count++) session.send(transcript(`t${count}`, 'x'))
    expect(session.state.phase).toBe('idle')
    session.send(transcript('t50', 'x'))
    expect(session.state.phase).toBe('modelling')
    expect(session.timers()).toEqual(['turn'])
  })

  test('are flushed at 8 KiB', () => {
    const session = new TestSession().send(transcript('a', 'x'.repeat(8185)))
    expect(session.state.phase).toBe('idle')
    session.send(transcript('b', 'x', ''))
    expect(session.state.phase).toBe('idle')
    session.send(transcript('c', 'xxx', ''))
    expect(session.state.phase).toBe('modelling')
  })

  test('that come during a turn are answered after it, also when their batch is flushed in it', () => {
    const session = new TestSession().user('go').send(transcript('a', 'hello')).fire('batch')
    expect(session.factTypes()).toEqual(['batch-flushed'])
    session.says('done')
    expect(session.told().at(-1)).toBe('user: [Transcript] ann: hello')
  })

  test('do not steer', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .send(transcript('a', 'hello'))
      .fire('batch')
    expect(session.fact('batch-flushed')).toEqual({ type: 'batch-flushed' })
    expect(session.returns('call_1_0').told().at(-1)).toBe('call_1_0 = done')
  })

  test('are counted without what else waits', () => {
    const session = new TestSession().user('go')
    for (let count = 0; count < 50; count++) session.user('x'.repeat(200))
    expect(session.send(transcript('a', 'hello')).factTypes()).toEqual(['input-accepted'])
  })

  test('that still wait when a turn ends wait on', () => {
    const session = new TestSession().user('go').send(transcript('a', 'hello')).says('done')
    expect(session.state.phase).toBe('idle')
    expect(session.fire('batch').state.phase).toBe('modelling')
  })

  test('go before what a user types after them', () => {
    const session = new TestSession().send(transcript('a', 'said first')).user('typed then')
    expect(session.factTypes().slice(0, 2)).toEqual(['batch-flushed', 'input-accepted'])
    expect(session.told()).toEqual(['user: [Transcript] ann: said first', 'user: typed then'])
    expect(session.state.index.map((entry) => entry.inputs)).toEqual([['a'], ['u1']])
    expect(session.timers()).toEqual(['turn'])
  })

  test('that follow something typed are a message of their own', () => {
    const session = new TestSession().user('go').user('typed').send(transcript('a', 'one')).fire('batch').says('ok')
    expect(session.state.index.slice(2).map((entry) => entry.inputs)).toEqual([['u2'], ['a']])
  })

  test('split by something typed are two messages', () => {
    const session = new TestSession().user('go').send(transcript('a', 'one')).user('typed').send(transcript('b', 'two'))
    session.fire('batch').says('ok')
    expect(session.told().slice(2)).toEqual([
      'user: [Transcript] ann: one',
      'user: typed',
      'user: [Transcript] ann: two',
    ])
  })
})

describe('an urgent event', () => {
  test('reaches the model at once, after what was said before it', () => {
    const session = new TestSession().send(transcript('a', 'wait'))
    session.send({ type: 'urgent-event', inputId: 'e', name: 'Offer', detail: { price: 1 }, message: 'Answer it.' })
    expect(session.told()).toEqual([
      'user: [Transcript] ann: wait',
      'user: [Event] Offer\n{\n  "price": 1\n}\nAnswer it.',
    ])
  })

  test('during a step is heard at its end, not between a call and its result', () => {
    const session = new TestSession().user('go').says({ calls: ['read'] })
    session.send({ type: 'urgent-event', inputId: 'e', name: 'Offer' })
    expect(session.factTypes()).toEqual(['input-accepted'])
    expect(session.fact('input-accepted').delivery).toBe('steer')
    session.returns('call_1_0', 'found')
    expect(session.told().slice(-2)).toEqual(['call_1_0 = found', 'user: [Event] Offer'])
  })

  test('may wait for the end of the turn, or interrupt it', () => {
    const session = new TestSession().user('go')
    session.send({ type: 'urgent-event', inputId: 'e', name: 'Offer', delivery: 'queue' })
    expect(session.state.queue).toMatchObject([{ delivery: 'queue', type: 'urgent' }])
    session.send({ type: 'urgent-event', inputId: 'f', name: 'Fire', delivery: 'interrupt' })
    expect(session.state.phase).toBe('interrupting')
  })
})

describe('a rewind', () => {
  const spoken = (): TestSession =>
    new TestSession().user('one').says('1').user('two').says('2').user('three').says('3')

  test('takes an exchange and all after it back', () => {
    const session = spoken().send({ type: 'rewind', inputId: 'r', exchange: 2, again: false })
    expect(session.lines()).toEqual(['user: one', 'assistant: 1'])
    expect(session.state).toMatchObject({ phase: 'idle', lastTurn: null })
    session.user('new')
    expect(session.told()).toEqual(['user: one', 'assistant: 1', 'user: new'])
    expect(session.state.turn?.exchange).toBe(4)
  })

  test('asks the exchange again', () => {
    const session = spoken().send({ type: 'rewind', inputId: 'r', exchange: 2, again: true })
    expect(session.told()).toEqual(['user: one', 'assistant: 1', 'user: two'])
    expect(session.fact('turn-started')).toMatchObject({ turn: 4, exchange: 4 })
    session.says('two again')
    expect(session.lines()).toEqual(['user: one', 'assistant: 1', 'user: two', 'assistant: two again'])
  })

  test('of a running turn ends it first, whatever it does', () => {
    const rewind = { type: 'rewind', inputId: 'r', exchange: 1, again: true } as const
    const session = new TestSession().user('one').says({ calls: ['read', 'look'] })
    expect(session.refusal(rewind)).toBe('turn_in_progress')
    session.send({ ...rewind, interrupt: true })
    expect(session.told()).toEqual(['user: one'])
    expect(session.state.turn?.turn).toBe(2)
    const writing = new TestSession().user('one').send({ ...rewind, again: false, interrupt: true })
    expect(writing.state).toMatchObject({ phase: 'idle', attempt: null, index: [] })
  })

  test('says something else in place of what leaves, in the same record', () => {
    const session = spoken()
    const replace = { parts: [{ type: 'text', text: 'other' }], settings: { temperature: 1 } } as const
    session.send({ type: 'rewind', inputId: 'r', exchange: 2, again: false, replace })
    expect(session.told()).toEqual(['user: one', 'assistant: 1', 'user: other'])
    expect(session.factTypes()).toEqual([
      'history-rewound',
      'input-accepted',
      'turn-started',
      'inputs-entered',
      'model-started',
    ])
    expect(session.state.turn?.settings).toEqual({ temperature: 1 })
    const blank = { parts: [{ type: 'text', text: ' ' }] } as const
    expect(spoken().refusal({ type: 'rewind', inputId: 'r', exchange: 2, again: false, replace: blank })).toBe(
      'invalid_event',
    )
    expect(spoken().refusal({ type: 'rewind', inputId: 'r', exchange: 2, again: true, replace })).toBe('invalid_event')
  })

  test('may leave the first inputs of an exchange where they are', () => {
    const session = new TestSession().user('one')
    session.send({ type: 'user-input', inputId: 'b', parts: [{ type: 'text', text: 'and this' }], delivery: 'steer' })
    session
      .says({ calls: ['read'] })
      .returns('call_1_0')
      .says('both')
    const later = session.state.index.find((entry) => entry.inputs?.includes('b'))?.entry ?? 0
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, fromEntry: later, again: false })
    expect(session.state.index.map(({ role }) => role)).toEqual(['user', 'step'])
    session.user('more')
    expect(session.told().at(-1)).toBe('user: more')
  })

  test('asks a batch again as the one message that it was', () => {
    const session = new TestSession().send(transcript('a', 'x')).send(transcript('b', 'y')).fire('batch').says('1')
    const before = session.state.index[0]
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: true })
    expect(session.told()).toEqual(['user: [Transcript] ann: x\n[Transcript] ann: y'])
    expect(session.state.index).toEqual([{ ...before, entry: 3, exchange: 2 }])
  })

  test('asks what a steering user added to the exchange too, with the notes that it was told', () => {
    const session = new TestSession({ tools: [serverTool('pay', { effect: 'once' })] })
    session
      .user('go')
      .says({ calls: ['pay'] })
      .interrupt()
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: toOutcome('paid') })
    session.user('and?')
    const told = ['user: The tool "pay" (call_1_0) finished after all: "paid"', 'user: and?']
    expect(session.told().slice(-2)).toEqual(told)
    session.says('fine').send({ type: 'rewind', inputId: 'r', exchange: 2, again: true })
    expect(session.told().slice(-2)).toEqual(told)
  })

  test('asks all messages of the exchange again, in their order', () => {
    const session = new TestSession().user('one').user('two').user('three').says('1').says('2')
    session.send({ type: 'rewind', inputId: 'r', exchange: 2, again: true })
    expect(session.told()).toEqual(['user: one', 'assistant: 1', 'user: two', 'user: three'])
    expect(session.state.index.map(({ entry, chars }) => [entry, chars])).toEqual([
      [1, 3],
      [2, 1],
      [6, 3],
      [7, 5],
    ])
  })

  test('with an id that was seen does nothing', () => {
    const session = spoken().send({ type: 'rewind', inputId: 'r', exchange: 2, again: false })
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(session.facts).toEqual([])
  })

  test('to an exchange that is not there is refused', () => {
    const rewind = { type: 'rewind', inputId: 'r', exchange: 9, again: false } as const
    expect(spoken().refusal(rewind)).toBe('unknown_exchange')
  })

  test('asks nothing again while the session is paused, but takes back', () => {
    const session = spoken().send({ type: 'pause' })
    expect(session.refusal({ type: 'rewind', inputId: 'r', exchange: 1, again: true })).toBe('illegal_input')
    expect(session.refusal({ type: 'rewind', inputId: 'r', exchange: 1, again: false })).toBeUndefined()
  })

  test('is refused while a paused session has a turn', () => {
    const session = spoken().user('four').send({ type: 'pause' })
    expect(session.refusal({ type: 'rewind', inputId: 'r', exchange: 1, again: false })).toBe('turn_in_progress')
  })

  test('reaches behind the window, where the host brings the old index', () => {
    const session = new TestSession({ window: { exchanges: 1 } }).user('one').says('1')
    const index = session.state.index
    session.user('two').says('2').user('three').says('3')
    expect(session.refusal({ type: 'rewind', inputId: 'r', exchange: 1, again: true })).toBe('unknown_exchange')
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: true, index })
    expect(session.told()).toEqual(['user: one'])
    session.says('again')
    expect(session.lines()).toEqual(['user: one', 'assistant: again'])
  })

  test('brings back what a summary had replaced', () => {
    const session = new TestSession({ window: { exchanges: 3, summarise: true } })
    session.user('one').says('1').user('two').says('2').user('three').says('3')
    const { index } = session.state
    session.user('four').send({ type: 'summary-finished', attempt: 4, text: 'they met', usage: {} }).says('4')
    expect(session.lines().slice(0, 2)).toEqual(['user: [Summary of the conversation so far] they met', 'user: three'])
    session.send({ type: 'rewind', inputId: 'r', exchange: 3, again: false, index })
    expect(session.lines()).toEqual(['user: one', 'assistant: 1', 'user: two', 'assistant: 2'])
  })

  test('settles the calls that an interrupted turn left behind: they leave with it', () => {
    const session = new TestSession()
      .attach()
      .user('one')
      .says({ calls: ['spawn'] })
      .claim('call_1_0')
      .interrupt()
    session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(session.factTypes()).toEqual(['call-settled', 'step-closed', 'history-rewound'])
    expect(session.lines()).toEqual([])
    expect(session.owes()).toEqual([])
  })

  test('answers what had waited for the calls of the interrupted turn', () => {
    const session = new TestSession()
      .attach()
      .user('one')
      .says({ calls: ['spawn'] })
      .claim('call_1_0')
      .interrupt()
    session.user('next').send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
    expect(session.told()).toEqual(['user: next'])
  })
})

describe('a withdrawal', () => {
  test('takes back what waits, and nothing else', () => {
    const session = new TestSession().user('one')
    session.send({ type: 'user-input', inputId: 'b', parts: [{ type: 'text', text: 'wait' }] })
    session.send({ type: 'withdraw', target: 'b' })
    expect(session.state.queue).toEqual([])
    expect(session.refusal({ type: 'withdraw', target: 'b' })).toBe('unknown_input')
    session.says('1')
    expect(session.lines()).toEqual(['user: one', 'assistant: 1'])
  })
})

describe('settings of the session', () => {
  test('stand below those of an input, from the next turn on', () => {
    const session = new TestSession().send({ type: 'set-settings', settings: { temperature: 0, maxOutputTokens: 9 } })
    session.user('one')
    expect(session.state.turn?.settings).toEqual({ temperature: 0, maxOutputTokens: 9 })
    session.send({ type: 'set-settings', settings: null })
    expect(session.state.turn?.settings).toEqual({ temperature: 0, maxOutputTokens: 9 })
    session.says('1').send({ type: 'set-settings', settings: { temperature: 0 } })
    const parts = [{ type: 'text', text: 'two' }] as const
    session.send({ type: 'user-input', inputId: 'b', parts, settings: { maxOutputTokens: 5 } })
    expect(session.state.turn?.settings).toEqual({ temperature: 0, maxOutputTokens: 5 })
  })
})

test('a trace context stands in the log with its input, and is no part of the canonical log', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const parts = [{ type: 'text', text: 'hi' }] as const
  const traced = new TestSession().send({ type: 'user-input', inputId: 'i', parts, traceparent })
  const plain = new TestSession().send({ type: 'user-input', inputId: 'i', parts })
  const facts = traced.records.flatMap((record) => record.facts)
  expect(facts.find((fact) => fact.type === 'input-accepted')).toMatchObject({ traceparent })
  expect(canonicalLog(traced.records)).toEqual(canonicalLog(plain.records))
})
