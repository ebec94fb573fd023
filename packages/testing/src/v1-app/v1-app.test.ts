// An app that handles its frames one after another, against the real front and host, with controlled time.
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import { createMemorySocket, DEFAULT_CONNECTION_LIMITS, openV1Connection } from '@baton/server/internal'
import { expect, test } from 'vitest'
import { createVirtualTime } from '../simulator/virtual-time.ts'
import type { V1App } from './v1-app.ts'
import { connectV1App } from './v1-app.ts'

const STATUS = [{ name: 'agent.status', arguments: { id: '7' } }]
const WORDY: readonly ScriptedStep[] = [{ text: 'A long story.' }, { calls: STATUS }, { text: 'It runs.' }]

/** A server, and the connections to it. */
function setUp(steps: readonly ScriptedStep[]) {
  const time = createVirtualTime(Date.UTC(2026, 0, 1))
  let ids = 0
  const environment = {
    clock: time.clock,
    timers: time.timers,
    newId: () => `new-${++ids}`,
    transport: { post: () => Promise.reject(new Error('no network in this test')) },
  }
  const model = createScriptedModel({ steps })
  const status = tool({ name: 'agent.status', description: 'asks', input: { type: 'object' }, effect: 'pure' })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [status] }) })
  const openSocket: Parameters<typeof connectV1App>[0]['openSocket'] = () => {
    const memory = createMemorySocket()
    let tell = (_text: string): void => {}
    const send = (text: string): boolean => {
      if (!memory.socket.send(text)) return false
      tell(text)
      return true
    }
    openV1Connection({
      ...environment,
      socket: { ...memory.socket, send },
      connection: environment.newId(),
      host,
      principal: { id: 'anonymous' },
      log: { info: () => {}, warn: () => {} },
      limits: DEFAULT_CONNECTION_LIMITS,
      isDraining: () => false,
    })
    return {
      opened: Promise.resolve(),
      send: memory.deliver,
      onText: (listener) => {
        tell = listener
      },
      onClose: () => {},
      close: memory.drop,
    }
  }
  /** Lets `ms` pass, event by event, and everything that only waits for promises. */
  const pass = async (ms: number): Promise<void> => {
    const untilMs = time.clock.nowMs() + ms
    do for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    while (await time.runNext(untilMs))
    await time.runUntil(untilMs)
  }
  return { time, model, openSocket, pass }
}

function calls({ frames }: V1App, name: string): number {
  return frames.filter((frame) => frame.payload['name'] === name).length
}

async function speakThenAsk(speechMs: number, statusMs: number) {
  const { time, model, openSocket, pass } = setUp(WORDY)
  const app = await connectV1App({
    url: 'memory',
    session: 's',
    openSocket,
    speak: () => time.wait(speechMs),
    runCall: () => time.wait(statusMs).then(() => 'running'),
  })
  const said = app.say('Tell me')
  await pass(0)
  const asked = app.say('How is 7?')
  await pass(0)
  return { model, pass, app, done: () => Promise.all([said, asked]) }
}

test('a call behind a voice of forty seconds does not time out: its own time is its own', async () => {
  const { model, pass, app, done } = await speakThenAsk(40_000, 29_000)
  expect(calls(app, 'agent.status')).toBe(0)
  await pass(40_000)
  expect(calls(app, 'agent.status')).toBe(1)
  await pass(29_000)
  expect(model.requests[2]?.messages.at(-1)).toMatchObject({
    parts: [{ isError: false, content: [{ text: 'running' }] }],
  })
  await pass(40_000)
  await done()
})

test('a voice that never ends holds a call up for sixty seconds, then its time runs', async () => {
  const { model, pass, app } = await speakThenAsk(1_000_000, 0)
  await pass(89_999)
  expect(model.requests).toHaveLength(2)
  await pass(1)
  expect(model.requests[2]?.messages.at(-1)).toMatchObject({
    parts: [{ isError: true, content: [{ text: 'Error: tool_result_timeout' }] }],
  })
  expect(calls(app, 'agent.status')).toBe(0)
})

test('what came before is not done again after a reconnect, and what was not done is', async () => {
  const { openSocket, pass } = setUp([{ text: 'Hello.' }, { calls: STATUS }, { text: 'It runs.' }])
  const spoken: string[] = []
  const ran: string[] = []
  const runCall = (name: string): string => {
    ran.push(name)
    return 'running'
  }
  const app = await connectV1App({
    url: 'memory',
    session: 's',
    openSocket,
    speak: (text) => spoken.push(text),
    runCall,
  })
  const said = app.say('Hi')
  await pass(0)
  await said
  const seen = app.frames.length
  const again = app.reconnect()
  await pass(0)
  await again
  expect(app.frames.slice(seen).map(({ type }) => type)).toEqual(['session.started'])
  const asked = app.say('How is 7?')
  await pass(0)
  await asked
  expect(spoken).toEqual(['Hello.', 'It runs.'])
  expect(ran).toEqual(['agent.status'])
})

test('a call that runs while the connection breaks is answered over the next one', async () => {
  const { time, model, openSocket, pass } = setUp([{ calls: STATUS }, { text: 'It runs.' }])
  let runs = 0
  const runCall = async (): Promise<string> => {
    runs += 1
    await time.wait(1000)
    return `run ${runs}`
  }
  const app = await connectV1App({ url: 'memory', session: 's', openSocket, runCall })
  const asked = app.say('How is 7?')
  await pass(500)
  const again = app.reconnect()
  await pass(499)
  expect(model.requests).toHaveLength(1)
  await pass(1)
  await again
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    parts: [{ isError: false, content: [{ text: 'run 1' }] }],
  })
  await pass(1000)
  await asked
  expect(calls(app, 'tts.speak')).toBe(1)
})
