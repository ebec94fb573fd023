// Version 1 as its apps see it: whole conversations over the real host, with every frame as a literal.
import type { Agent, Model, Store, Timers } from '@baton/core/internal'
import { BatonError, defineAgent, frontOf, tool } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import type { Socket } from '../shared/socket.ts'
import type { MemorySocket } from './memory-socket.ts'
import { createMemorySocket } from './memory-socket.ts'
import type { ConnectionLimits } from './limits.ts'
import { openV1Connection } from './v1-session.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const NOW = '2026-01-01T00:00:00.000Z'

const spawn = tool({ name: 'agent.spawn', description: 'Starts', input: objectSchema(), effect: 'once' })
const list = tool({ name: 'agent.list', description: 'Lists', input: objectSchema(), effect: 'pure' })

function objectSchema() {
  return { type: 'object' } as const
}

/** A complete server in memory, with a clock that only moves by hand. */
function setUp(agent: Agent | ((timers: Timers) => Agent), limits: Partial<ConnectionLimits> = {}) {
  let nowMs = NOW_MS
  let ids = 0
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  const environment = {
    clock: { nowMs: () => nowMs },
    timers: {
      start: (delayMs: number, callback: () => void) => {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.push(timer)
        return () => {
          timers = timers.filter((other) => other !== timer)
        }
      },
    },
    newId: () => `new-${++ids}`,
    transport: { post: () => Promise.reject(new Error('no network in this test')) },
  }
  const logged: string[] = []
  const log = {
    info: (message: string, data: object = {}) => void logged.push(`${message} ${JSON.stringify(data)}`),
    warn: (message: string, data: object = {}) => void logged.push(`${message} ${JSON.stringify(data)}`),
  }
  const store = createMemoryStore()
  const host = createHost({
    environment,
    store,
    agent: typeof agent === 'function' ? agent(environment.timers) : agent,
  })
  const connect = (connection: string, change: (memory: MemorySocket) => Partial<Socket> = () => ({})) => {
    const memory = createMemorySocket()
    openV1Connection({
      ...environment,
      socket: { ...memory.socket, ...change(memory) },
      connection,
      host,
      principal: { id: 'anonymous' },
      log,
      limits: { ...DEFAULT_CONNECTION_LIMITS, ...limits },
      isDraining: () => false,
    })
    return createApp(memory)
  }
  const moveTime = async (byMs: number): Promise<void> => {
    nowMs += byMs
    const due = timers.filter((timer) => timer.atMs <= nowMs)
    timers = timers.filter((timer) => timer.atMs > nowMs)
    for (const timer of due) timer.callback()
    await quiet()
  }
  return { host, store, connect, logged, moveTime }
}

/** Long enough for everything that only waits for promises. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}

type Frame = { readonly id: string; readonly type: string; readonly payload: Readonly<Record<string, string>> }

function createApp(memory: ReturnType<typeof createMemorySocket>) {
  let frames = 0
  const sendText = async (text: string): Promise<void> => {
    memory.deliver(text)
    await quiet()
  }
  return {
    ...memory,
    sendText,
    send: (type: string, payload: object, sessionId = 's'): Promise<void> =>
      sendText(JSON.stringify({ id: `app-${++frames}`, type, sessionId, timestamp: NOW, payload })),
    frames: () => memory.sent.map((text): Frame => JSON.parse(text) as Frame),
    /** Each frame in short form, for checks of their order. */
    story: () => memory.sent.map((text) => tell(JSON.parse(text) as Frame)),
    callIds: (name: string) =>
      memory.sent.flatMap((text) => {
        const { payload } = JSON.parse(text) as Frame
        return payload['name'] === name ? [payload['callId'] ?? ''] : []
      }),
  }
}

function tell({ type, payload }: Frame): string {
  if (type === 'tool.call') return `${payload['name']} ${payload['arguments']}`
  if (type === 'error') return `error ${payload['code']}`
  return `${type} ${payload['text'] ?? payload['sessionId']}`
}

function scripted(steps: readonly ScriptedStep[], init: Partial<Parameters<typeof defineAgent>[0]> = {}) {
  // Each text is one piece: pieces waiting for their reader are joined, so their number would depend on timing.
  const whole = steps.map((step) => ({ ...(step.text !== undefined && { pieces: [step.text] }), ...step }))
  const model = createScriptedModel({ steps: whole })
  return { model, agent: createAgent(model, init) }
}

function createAgent(model: Model, init: Partial<Parameters<typeof defineAgent>[0]> = {}): Agent {
  return defineAgent({ name: 'conductor', model, tools: [spawn, list], ...init })
}

test('a whole turn, frame by frame as on the wire', async () => {
  const { connect } = setUp(scripted([{ text: 'It is **5**.' }]).agent)
  const app = connect('one')
  await app.sendText(
    '{"id":"a1","type":"session.start","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","payload":{"sessionId":"s"}}',
  )
  await app.sendText(
    '{"id":"a2","type":"user.audio.transcript.final","sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","payload":{"text":"What is 2 + 3?","language":"en"}}',
  )
  const frame = (id: string, type: string, payload: string): string =>
    `{"id":"${id}","type":"${type}","sessionId":"s","timestamp":"${NOW}","payload":${payload}}`
  const call = (id: string, name: string, given: string): string =>
    frame(id, 'tool.call', `{"callId":"${name}:${id}","name":"${name}","arguments":${JSON.stringify(given)}}`)
  expect(app.sent).toEqual([
    frame('new-3', 'session.started', '{"sessionId":"s"}'),
    call(`${S}-2-1-${T}-0`, 'convo.setState', '{"state":"thinking"}'),
    call(`${S}-2-2-${T}-0`, 'convo.appendMessage', '{"role":"user","text":"What is 2 + 3?","isPartial":false}'),
    frame(`${S}-2-3-${T}-p12`, 'assistant.speech.partial', '{"text":"It is **5**."}'),
    frame(`${S}-3-2-${T}-0`, 'assistant.speech.final', '{"text":"It is **5**."}'),
    call(`${S}-3-2-${T}-1`, 'convo.appendMessage', '{"role":"assistant","text":"It is **5**.","isPartial":false}'),
    call(`${S}-3-2-${T}-2`, 'convo.setState', '{"state":"speaking"}'),
    call(`${S}-3-2-${T}-3`, 'tts.speak', '{"text":"It is 5."}'),
    call(`${S}-3-2-${T}-4`, 'convo.setState', '{"state":"idle"}'),
  ])
})

/** The session's short hash, and the time of its records in base 36. */
const S = 'f60c458208f3b8eb'
const T = NOW_MS.toString(36)

test('the app’s voice begins only when the log says so', async () => {
  const { connect, host } = setUp(scripted([{ text: 'Yes.' }]).agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('transcript.final', { text: 'Hello?' })
  expect(app.story()).toContain('tts.speak {"text":"Yes."}')
  const types: string[] = []
  for await (const event of (await host.session('s')).events({ from: 'start', delivery: true })) {
    types.push(event.type)
    if (event.type === 'answer-spoken') break
  }
  expect(types.filter((type) => ['turn-finished', 'answer-spoken'].includes(type))).toEqual([
    'turn-finished',
    'answer-spoken',
  ])
})

test('two calls of one answer go out together, and their results go back together in the calls’ order', async () => {
  const { model, agent } = scripted([
    {
      text: 'One moment.',
      calls: [
        { name: 'agent.spawn', arguments: { prompt: 'fix it' } },
        { name: 'agent.list', arguments: {} },
      ],
    },
    { text: 'Done.' },
  ])
  const { connect, logged } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Fix it' })
  expect(app.story().slice(-3)).toEqual([
    'assistant.speech.partial One moment.',
    'agent.spawn {"prompt":"fix it"}',
    'agent.list {}',
  ])
  await app.send('tool.result', { callId: app.callIds('agent.list')[0], result: '' })
  expect(model.requests).toHaveLength(1)
  await app.send('tool.result', { callId: app.callIds('agent.spawn')[0], result: null, error: 'no such repository' })
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    parts: [
      { name: 'agent.spawn', isError: true, content: [{ text: 'Error: no such repository' }] },
      { name: 'agent.list', isError: false, content: [{ text: '' }] },
    ],
  })
  expect(app.story().slice(-5)).toEqual([
    'assistant.speech.final One moment.\n\nDone.',
    'convo.appendMessage {"role":"assistant","text":"One moment.\\n\\nDone.","isPartial":false}',
    'convo.setState {"state":"speaking"}',
    'tts.speak {"text":"One moment.\\nDone."}',
    'convo.setState {"state":"idle"}',
  ])
  expect(logged).toContain(
    'turn 1: convo.setState -> convo.appendMessage -> assistant.speech.partial -> agent.spawn -> agent.list -> ' +
      'assistant.speech.partial -> assistant.speech.final -> convo.appendMessage -> convo.setState -> tts.speak -> ' +
      'convo.setState {"turn":1,"session":"s","outcome":"answered","causes":["app-2"]}',
  )
})

test('an answer only waits for the calls of the model, and a late, repeated or unknown result changes nothing', async () => {
  const { model, agent } = scripted([{ calls: [{ name: 'agent.list', arguments: {} }] }, { text: 'None.' }])
  const { connect, logged } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'List' })
  const [callId] = app.callIds('agent.list')
  await app.send('tool.result', { callId: 'call_new2_9_9', result: 'x' })
  await app.send('tool.result', { callId, result: 'first' })
  await app.send('tool.result', { callId, result: 'second' })
  await app.send('tool.result', { callId: app.callIds('convo.setState')[0], result: 'shown' })
  expect(model.requests).toHaveLength(2)
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ parts: [{ content: [{ text: 'first' }] }] })
  expect(app.story().filter((line) => line.startsWith('error'))).toEqual([])
  expect(logged.filter((line) => line.startsWith('a result'))).toEqual([
    'a result was received {"session":"s","callId":"call_new2_9_9","tool":null,"error":null}',
    'a result was ignored {"session":"s","callId":"call_new2_9_9","reason":"unknown"}',
    'a result was received {"session":"s","callId":"call_new2_1_0","tool":"agent.list","error":null}',
    'a result was received {"session":"s","callId":"call_new2_1_0","tool":"agent.list","error":null}',
    'a result was ignored {"session":"s","callId":"call_new2_1_0","reason":"duplicate"}',
    `a result was received {"session":"s","callId":"${app.callIds('convo.setState')[0]}","tool":"convo.setState","error":null}`,
  ])
})

test('the clock of a call runs when the app has come to it: thirty seconds after the calls before it were answered', async () => {
  const { model, agent } = scripted([
    {
      calls: [
        { name: 'agent.list', arguments: {} },
        { name: 'agent.list', arguments: {} },
      ],
    },
    { text: 'So be it.' },
  ])
  const { connect, moveTime } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'List' })
  for (const name of ['convo.setState', 'convo.appendMessage'])
    await app.send('tool.result', { callId: app.callIds(name)[0], result: '' })
  await moveTime(29_000)
  await app.send('tool.result', { callId: app.callIds('agent.list')[0], result: 'one' })
  await moveTime(29_000)
  expect(model.requests).toHaveLength(1)
  await moveTime(1000)
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    parts: [{ content: [{ text: 'one' }] }, { content: [{ text: 'Error: tool_result_timeout' }] }],
  })
})

test('transcripts that come during a turn become one turn when it ends', async () => {
  const { model, agent } = scripted([
    { calls: [{ name: 'agent.list', arguments: {} }] },
    { text: 'One.' },
    { text: 'Two.' },
  ])
  const { connect } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  for (const text of ['first', 'second', 'third']) await app.send('user.audio.transcript.final', { text })
  await app.send('tool.result', { callId: app.callIds('agent.list')[0], result: 'x' })
  expect(model.requests).toHaveLength(3)
  expect(app.story().slice(-11)).toEqual([
    'tts.speak {"text":"One."}',
    'convo.setState {"state":"idle"}',
    'convo.setState {"state":"thinking"}',
    'convo.appendMessage {"role":"user","text":"second","isPartial":false}',
    'convo.appendMessage {"role":"user","text":"third","isPartial":false}',
    'assistant.speech.partial Two.',
    'assistant.speech.final Two.',
    'convo.appendMessage {"role":"assistant","text":"Two.","isPartial":false}',
    'convo.setState {"state":"speaking"}',
    'tts.speak {"text":"Two."}',
    'convo.setState {"state":"idle"}',
  ])
})

test.each<[string, readonly ScriptedStep[], string]>([
  ['a provider that fails', [{ error: failure('model_auth_failed') }], 'model_provider_failed'],
  [
    'a provider that fails in the middle',
    [{ text: 'Well', error: failure('model_invalid_request') }],
    'model_provider_failed',
  ],
  ['an answer that says nothing, twice', [{ text: '' }, { text: ' ' }], 'empty_answer'],
  ['a refusal', [{ text: '', finish: 'refusal' }], 'model_refused'],
])('%s is an error, and leaves the app idle', async (_situation, steps, code) => {
  const { connect } = setUp(scripted(steps).agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Hello' })
  expect(app.story().slice(-2)).toEqual([`error ${code}`, 'convo.setState {"state":"idle"}'])
  expect(app.story().join()).not.toContain('speech.final')
})

function failure(code: 'model_auth_failed' | 'model_invalid_request'): BatonError {
  return new BatonError({ code, message: 'no' })
}

test('a model that only calls tools ends at the round limit', async () => {
  const model = createScriptedModel({ steps: () => ({ calls: [{ name: 'agent.list', arguments: {} }] }) })
  const { connect } = setUp(createAgent(model, { limits: { toolRounds: 2 } }))
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Hello' })
  for (let round = 0; round < 2; round++)
    await app.send('tool.result', { callId: app.callIds('agent.list')[round], result: 'again' })
  expect(app.callIds('agent.list')).toHaveLength(2)
  expect(app.story().slice(-2)).toEqual(['error tool_round_limit_exceeded', 'convo.setState {"state":"idle"}'])
})

test('a legal silence leaves the app idle, without an answer', async () => {
  const { connect } = setUp(scripted([{ text: '' }], { emptyAnswer: 'silence' }).agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Hello' })
  expect(app.story().slice(1)).toEqual([
    'convo.setState {"state":"thinking"}',
    'convo.appendMessage {"role":"user","text":"Hello","isPartial":false}',
    'convo.setState {"state":"idle"}',
  ])
})

test('speaking over the voice ends the running answer', async () => {
  const { model, agent } = scripted([{ text: 'A long story', hangs: 'until-aborted' }, { text: 'Yes?' }])
  const { connect } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Tell me' })
  await app.send('audio.output.interrupted', { reason: 'barge_in' })
  expect(app.story().at(-1)).toBe('convo.setState {"state":"idle"}')
  expect(app.story().join()).not.toContain('speech.final')
  await app.send('user.audio.transcript.final', { text: 'Stop' })
  // Nothing of the first answer was spoken, so the model must not believe that it was.
  expect(JSON.stringify(model.requests[1]?.messages)).not.toContain('long story')
  expect(app.story()).toContain('tts.speak {"text":"Yes?"}')
})

test('partials come at most every fifty milliseconds, and the last one always', async () => {
  const script: ScriptedStep = { pieces: ['a', 'b', 'c'], pieceMs: 20, hangs: 'until-aborted' }
  const { connect, moveTime } = setUp((timers) => createAgent(createScriptedModel({ steps: [script], timers })))
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'Hello' })
  const partials = (): readonly string[] => app.story().filter((line) => line.includes('partial '))
  for (let piece = 0; piece < 3; piece++) await moveTime(20)
  expect(partials()).toEqual(['assistant.speech.partial a'])
  await moveTime(9)
  expect(partials()).toHaveLength(1)
  await moveTime(1)
  expect(partials()).toEqual(['assistant.speech.partial a', 'assistant.speech.partial abc'])
  await moveTime(1000)
  expect(partials()).toHaveLength(2)
})

test('every app of a session sees the turn, but only one of them gets the model’s call', async () => {
  const { agent } = scripted([{ calls: [{ name: 'agent.spawn', arguments: {} }] }, { text: 'Done.' }])
  const { connect } = setUp(agent)
  const [first, second] = [connect('one'), connect('two')]
  await first.send('session.start', { sessionId: 's' })
  await second.send('session.start', { sessionId: 's' })
  await first.send('user.audio.transcript.final', { text: 'Go' })
  expect([first.callIds('agent.spawn'), second.callIds('agent.spawn')]).toEqual([[], ['call_new2_1_0']])
  await first.send('tool.result', { callId: 'call_new2_1_0', result: 'forged' })
  await second.send('tool.result', { callId: 'call_new2_1_0', result: 'true' })
  const shared = (app: typeof first) =>
    app
      .frames()
      .filter((frame) => frame.payload['name'] !== 'agent.spawn')
      .slice(1)
  expect(shared(first)).toEqual(shared(second))
  expect(first.story().at(-1)).toBe('convo.setState {"state":"idle"}')
})

test('a frame that cannot be taken is answered, and the connection stays', async () => {
  const { connect } = setUp(scripted([{ text: 'Yes.' }]).agent)
  const app = connect('one')
  await app.send('user.audio.transcript.final', { text: 'too early' })
  await app.send('session.start', { sessionId: 's' })
  await app.send('session.start', { sessionId: 's' })
  await app.sendText('{')
  await app.send('tool.result', { callId: 7 })
  app.deliver(undefined)
  await app.send('user.audio.transcript.final', { text: ' \n' })
  await app.send('user.audio.transcript.final', { text: 'x'.repeat(65_536) })
  await app.send('something.new', {})
  await app.send('user.audio.transcript.final', { text: 'foreign' }, 'other')
  expect(app.frames().map(({ type, payload }) => [type, payload['code'], payload['message']])).toEqual([
    ['error', 'invalid_event', 'the first frame must be session.start, not user.audio.transcript.final'],
    ['session.started', undefined, undefined],
    ['session.started', undefined, undefined],
    ['error', 'invalid_event', 'a frame must be the JSON text of an object'],
    ['error', 'invalid_event', 'payload.callId must be a string of 1 to 256 characters, not 7'],
    ['error', 'invalid_event', 'a message must be text, not bytes'],
    ['error', 'invalid_transcript', 'payload.text has no words'],
    ['error', 'invalid_transcript', 'the frame has 65664 bytes; at most 65536 are accepted'],
    ['error', 'session_mismatch', 'this connection belongs to session "s"; open another one'],
  ])
  expect(app.closed()).toBeUndefined()
})

test('a transcript that is sent again does nothing', async () => {
  const { model, agent } = scripted([{ text: 'Yes.' }, { text: 'Again.' }])
  const { connect } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  const frame = `{"id":"same","type":"transcript.final","sessionId":"s","timestamp":"${NOW}","payload":{"text":"Hi"}}`
  await app.sendText(frame)
  await app.sendText(frame)
  expect(model.requests).toHaveLength(1)
})

test('more inputs than the queue takes are refused with queue_full', async () => {
  const { agent } = scripted([{ hangs: 'until-aborted' }], { limits: { queueInputs: 1 } })
  const { connect } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  for (const text of ['runs', 'waits', 'too much']) await app.send('user.audio.transcript.final', { text })
  expect(app.story().at(-1)).toBe('error queue_full')
})

test('a result that is too large settles its call as an error, and the connection stays', async () => {
  const { model, agent } = scripted([{ calls: [{ name: 'agent.list', arguments: {} }] }, { text: 'Too much.' }])
  const { connect } = setUp(agent, { resultBytes: 10 })
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'List' })
  await app.send('tool.result', { callId: 'call_new2_1_0', result: 'elf bytes ä' })
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    parts: [{ content: [{ text: 'Error: the result has 12 bytes; at most 10 are accepted' }] }],
  })
  expect(app.closed()).toBeUndefined()
})

test('a call that could not be written goes to the app that connects next', async () => {
  const { agent } = scripted([{ calls: [{ name: 'agent.spawn', arguments: {} }] }, { text: 'Done.' }])
  const { connect } = setUp(agent)
  const broken = connect('one')
  await broken.send('session.start', { sessionId: 's' })
  broken.jam()
  await broken.send('user.audio.transcript.final', { text: 'Go' })
  const app = connect('two')
  await app.send('session.start', { sessionId: 's' })
  expect(app.story()).toEqual([
    'session.started s',
    'convo.setState {"state":"thinking"}',
    'convo.appendMessage {"role":"user","text":"Go","isPartial":false}',
    'agent.spawn {}',
  ])
  await app.send('tool.result', { callId: 'call_new2_1_0', result: 'ok' })
  expect(app.story().at(-1)).toBe('convo.setState {"state":"idle"}')
})

test('an app still runs the calls when its session is reopened after a store failure', async () => {
  const { agent } = scripted([{ calls: [{ name: 'agent.list', arguments: {} }] }, { text: 'Done.' }])
  const { connect, store, moveTime } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  const { append } = store
  Object.assign(store, { append: () => Promise.reject(new Error('disk full')) })
  await app.send('user.audio.transcript.final', { text: 'lost' })
  for (let wait = 0; wait < 20; wait++) await moveTime(1000)
  expect(app.story().at(-1)).toBe('error store_failed')
  Object.assign(store, { append })
  for (let wait = 0; wait < 20; wait++) await moveTime(1000)
  await app.send('user.audio.transcript.final', { text: 'again' })
  await app.send('tool.result', { callId: app.callIds('agent.list')[0] ?? '', result: 'none' })
  expect(app.story().at(-1)).toBe('convo.setState {"state":"idle"}')
  expect(app.story()).toContain('tts.speak {"text":"Done."}')
})

test('a connection that does not read, floods or never starts is closed', async () => {
  const { agent } = scripted([{ text: 'Yes.' }])
  const { connect, moveTime } = setUp(agent, { incomingFrames: 2 })
  const [slow, flood, mute] = [connect('slow'), connect('flood'), connect('mute')]
  await slow.send('session.start', { sessionId: 's' })
  slow.jam(DEFAULT_CONNECTION_LIMITS.outgoingBytes)
  await slow.send('transcript.final', { text: 'Hello' })
  for (let frame = 0; frame < 4; frame++) flood.deliver('{}')
  await moveTime(30_000)
  expect([slow.closed()?.code, flood.closed()?.code, mute.closed()?.code]).toEqual([1013, 1008, 1008])
})

test('the version of the protocol is echoed to an app that sends it', async () => {
  const { connect } = setUp(scripted([]).agent)
  const app = connect('one')
  await app.sendText(
    `{"id":"1","type":"session.start","sessionId":"s","timestamp":"${NOW}","payload":{"sessionId":"s"},"protocolVersion":1}`,
  )
  expect(app.frames()[0]).toMatchObject({ type: 'session.started', protocolVersion: 1 })
})

test('the conversation of docs/protocol.md is what really happens', async () => {
  const page = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8')
  const lines = /```text\n(app {4}[^]*?)```/.exec(page)?.[1]?.trimEnd().split('\n') ?? []
  const { agent } = scripted([
    {
      text: 'One moment.',
      calls: [
        { name: 'agent.spawn', arguments: { prompt: 'Fix the tests', repository: 'me/app' } },
        { name: 'agent.list', arguments: { limit: 5 } },
      ],
    },
    { text: 'Agent **7** works on it.' },
  ])
  const { connect } = setUp(agent)
  const app = connect('one')
  const told: string[] = []
  for (const line of lines.filter((each) => each.startsWith('app    '))) {
    told.push(line)
    const from = app.sent.length
    await app.sendText(line.slice('app    '.length))
    told.push(...app.sent.slice(from).map((text) => `server ${text}`))
  }
  expect(lines).toEqual(told)
  expect(lines.at(-1)).toContain('idle')
})

test('an app that was away when its turn ended is shown the end, and hears it while it is new', async () => {
  const { agent } = scripted([{ text: 'Done.' }])
  const { connect } = setUp(agent)
  const first = connect('one')
  await first.send('session.start', { sessionId: 's' })
  first.jam()
  await first.send('user.audio.transcript.final', { text: 'Go' })
  const back = connect('two')
  await back.send('session.start', { sessionId: 's' })
  expect(back.story()).toEqual([
    'session.started s',
    'convo.setState {"state":"thinking"}',
    'convo.appendMessage {"role":"user","text":"Go","isPartial":false}',
    'assistant.speech.partial Done.',
    'assistant.speech.final Done.',
    'convo.appendMessage {"role":"assistant","text":"Done.","isPartial":false}',
    'convo.setState {"state":"speaking"}',
    'convo.setState {"state":"idle"}',
  ])
})

test('an app that a full session refuses leaves nothing that keeps the session open', async () => {
  const { host, store, connect } = setUp(scripted([]).agent)
  const session = await host.session('s')
  let isFull = false
  while (!isFull)
    isFull = await session.attach().then(
      () => false,
      () => true,
    )
  const app = connect('one too many')
  await app.send('session.start', { sessionId: 's' })
  expect(app.story()).toEqual(['error rate_limited'])
  app.drop()
  await session.close()
  await quiet()
  expect(await listOwned(store)).toEqual([false])
})

async function listOwned(store: Pick<Store, 'list'>): Promise<readonly boolean[]> {
  const owned: boolean[] = []
  for await (const { isOwned } of store.list()) owned.push(isOwned)
  return owned
}

test('an app that is gone when one of its frames fails leaves nothing that keeps the session open', async () => {
  const { host, store, connect, logged } = setUp(scripted([]).agent)
  const app = connect('one', (memory) => ({
    bufferedBytes: () => {
      if (memory.closed()) throw new Error('the socket is gone')
      return 0
    },
  }))
  await app.send('session.start', { sessionId: 's' })
  const session = await host.session('s')
  await frontOf(session).control('stop')
  const said = app.send('user.audio.transcript.final', { text: 'Hello?' })
  app.drop() // before the session has refused it
  await said
  await session.close()
  await quiet()
  expect(logged).toContain('a connection failed {"connection":"one","cause":"the socket is gone"}')
  expect(await listOwned(store)).toEqual([false])
})

test.each([
  [29_000, true],
  [31_000, false],
])('an answer that ended %d ms before its app is back is shown; spoken: %s', async (awayMs, isSpoken) => {
  const { connect, moveTime } = setUp(scripted([{ text: 'Done.' }]).agent)
  const first = connect('one')
  await first.send('session.start', { sessionId: 's' })
  first.jam()
  await first.send('user.audio.transcript.final', { text: 'Go' })
  await moveTime(awayMs)
  const back = connect('two')
  await back.send('session.start', { sessionId: 's' })
  expect(back.story()).toContain('convo.appendMessage {"role":"assistant","text":"Done.","isPartial":false}')
  expect(back.story().includes('convo.setState {"state":"speaking"}')).toBe(isSpoken)
})

test.each([
  ['what the tool returned', { result: 'red' }, 'red', false],
  ['an empty result', { result: '', error: null }, '', false],
  ['a result beside an error', { result: 'red', error: 'no card' }, 'red', false],
  ['an error', { error: 'no card' }, 'Error: no card', true],
  ['neither', {}, 'Error: unknown', true],
])('the model reads %s', async (_, given, text, isError) => {
  const { model, agent } = scripted([{ calls: [{ name: 'agent.list', arguments: {} }] }, { text: 'Well.' }])
  const { connect } = setUp(agent)
  const app = connect('one')
  await app.send('session.start', { sessionId: 's' })
  await app.send('user.audio.transcript.final', { text: 'List' })
  await app.send('tool.result', { callId: app.callIds('agent.list')[0], ...given })
  const [part] = model.requests[1]?.messages.at(-1)?.parts ?? []
  if (part?.type !== 'result') throw new Error('the model read no result')
  const read = part.content.map((one) => (one.type === 'text' ? one.text : one.type)).join('')
  expect([read, part.isError]).toEqual([text, isError])
})
