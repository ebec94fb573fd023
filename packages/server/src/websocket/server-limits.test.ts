// Frames that are sent too often and idle connections, at a server whose clock belongs to the test.
import type { Agent } from '@baton/core'
import { tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import type { ConnectionLimits } from './limits.ts'
import { createAgent, connectApp, startServer } from './test-server.test-kit.ts'

let stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
})

/** The front's clock only moves by hand; the host has its own clock. */
async function start(
  limits: Partial<ConnectionLimits>,
  more: { readonly agent?: Agent; readonly trustedProxies?: number } = {},
) {
  let nowMs = 1_000_000
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  const server = await startServer({
    ...more,
    limits: { heartbeatMs: 10_000_000, ...limits },
    clock: { nowMs: () => nowMs },
    timers: {
      start: (delayMs, callback) => {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.push(timer)
        return () => {
          timers = timers.filter((other) => other !== timer)
        }
      },
    },
  })
  const moveTime = (byMs: number): void => {
    nowMs += byMs
    const due = timers.filter((timer) => timer.atMs <= nowMs)
    timers = timers.filter((timer) => timer.atMs > nowMs)
    for (const timer of due) timer.callback()
  }
  stops.push(server.stop)
  return { ...server, moveTime }
}

const listErrors = (app: Awaited<ReturnType<typeof connectApp>>): readonly string[] =>
  app.frames.filter(({ type }) => type === 'error').map(({ payload }) => `${payload['code']}: ${payload['message']}`)

const started = (app: Awaited<ReturnType<typeof connectApp>>): number =>
  app.frames.filter(({ type }) => type === 'session.started').length

async function untilFrames(app: Awaited<ReturnType<typeof connectApp>>, count: number): Promise<void> {
  await app.until(() => app.frames.length >= count)
}

test('a session that sends too many frames is told when to go on, and its connection stays', async () => {
  const { url, moveTime } = await start({ sessionFramesPerMinute: 2 })
  const app = await connectApp(url)
  // The first frame of a connection does not belong to a session yet.
  for (let count = 0; count < 3; count++) app.send('session.start', { sessionId: 's' })
  await untilFrames(app, 4)
  expect([started(app), listErrors(app)]).toEqual([
    3,
    [
      'rate_limited: at most 2 frames a minute are accepted from a session; send this one again later (retryAfterMs 30000)',
    ],
  ])
  moveTime(30_000)
  app.send('session.start', { sessionId: 's' })
  await untilFrames(app, 5)
  expect(started(app)).toBe(4)
  app.socket.terminate()
})

test('the connections of a session share its limit, those of another session have their own', async () => {
  const { url } = await start({ sessionFramesPerMinute: 1 })
  const [one, two, other] = [await connectApp(url), await connectApp(url), await connectApp(url, { session: 't' })]
  one.send('session.start', { sessionId: 's' })
  await untilFrames(one, 2)
  two.send('session.start', { sessionId: 's' })
  other.send('session.start', { sessionId: 't' })
  await untilFrames(two, 2)
  await untilFrames(other, 2)
  expect([started(one), started(two), started(other)]).toEqual([2, 1, 2])
  expect(listErrors(two)[0]).toContain('rate_limited: at most 1 frames a minute are accepted from a session')
  for (const app of [one, two, other]) app.socket.terminate()
})

test('an address that sends too many frames is refused, whatever sessions it names; another address is not', async () => {
  const { url } = await start({ addressFramesPerMinute: 2 }, { trustedProxies: 1 })
  const from = (session: string, address: string) =>
    connectApp(url, { session, headers: { 'x-forwarded-for': address } })
  const apps = [await from('s', '203.0.113.9'), await from('t', '203.0.113.9')]
  const [refused, other] = [await from('u', '203.0.113.9'), await from('u', '203.0.113.10')]
  expect(listErrors(refused)).toEqual([
    'rate_limited: at most 2 frames a minute are accepted from an address; send this one again later (retryAfterMs 30000)',
  ])
  expect(started(other)).toBe(1)
  for (const app of [...apps, refused, other]) app.socket.terminate()
})

test('transcripts have a limit of their own, and what is malformed or no text counts as a frame', async () => {
  const { url } = await start({ sessionTranscriptsPerMinute: 1, sessionFramesPerMinute: 5 })
  const app = await connectApp(url)
  for (let count = 0; count < 2; count++) app.send('user.audio.transcript.final', { text: 'Hello' })
  await app.until(({ type }) => type === 'error')
  expect(listErrors(app)[0]).toContain('rate_limited: at most 1 transcripts a minute are accepted from a session')
  app.socket.send('{')
  app.socket.send(Buffer.from('bytes'))
  app.socket.send('{')
  app.socket.send(Buffer.from('bytes'))
  await app.until(() => listErrors(app).length === 5)
  expect(
    listErrors(app)
      .slice(1)
      .map((line) => line.slice(0, 12)),
  ).toEqual(['invalid_even', 'invalid_even', 'invalid_even', 'rate_limited'])
  app.socket.terminate()
})

test('the results of calls are taken from a session that may send nothing else', async () => {
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }] })
  const { url } = await start({ sessionFramesPerMinute: 1 }, { agent: createAgent(model, { tools: [look] }) })
  const app = await connectApp(url)
  app.send('user.audio.transcript.final', { text: 'Look' })
  const shown = await app.until(({ payload }) => payload['name'] === 'convo.setState')
  const call = await app.until(({ payload }) => payload['name'] === 'look')
  app.send('tool.result', { callId: shown.payload['callId'], result: 'ok' })
  app.send('tool.result', { callId: call.payload['callId'], result: 'a cat' })
  await app.until(({ type }) => type === 'assistant.speech.final')
  expect(listErrors(app)).toEqual([])
  // After it was submitted, the same result is a frame like any other.
  app.send('tool.result', { callId: call.payload['callId'], result: 'a cat' })
  await app.until(({ type }) => type === 'error')
  expect(listErrors(app)[0]).toContain('rate_limited')
  app.socket.terminate()
})

test('a connection over which nothing comes is told so and closed', async () => {
  const { url, moveTime } = await start({ idleMs: 600_000 })
  const app = await connectApp(url)
  moveTime(599_999)
  app.send('session.start', { sessionId: 's' })
  await untilFrames(app, 2)
  moveTime(599_999)
  expect(app.socket.readyState).toBe(app.socket.OPEN)
  moveTime(1)
  expect((await app.ended).map(String)).toEqual(['1008', 'the connection was idle for too long'])
  expect(listErrors(app)).toEqual([
    'idle_timeout: nothing was received over this connection for 600000 ms; connect again',
  ])
})

test('a connection whose turn waits for a result is not idle', async () => {
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Seen.' }] })
  const { url, moveTime } = await start({ idleMs: 600_000 }, { agent: createAgent(model, { tools: [look] }) })
  const app = await connectApp(url)
  app.send('user.audio.transcript.final', { text: 'Look' })
  const call = await app.until(({ payload }) => payload['name'] === 'look')
  moveTime(600_000)
  moveTime(600_000)
  app.send('tool.result', { callId: call.payload['callId'], result: 'a cat' })
  await app.until(({ payload }) => payload['arguments'] === '{"state":"idle"}')
  expect(listErrors(app)).toEqual([])
  moveTime(600_000)
  await app.ended
  expect(listErrors(app)).toHaveLength(1)
})
