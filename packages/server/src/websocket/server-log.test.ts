// Log lines about results that change nothing, line by line, over real connections.
import { tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createAgent, connectApp, startServer } from './test-server.test-kit.ts'

let stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops) await stop()
  stops = []
})

type App = Awaited<ReturnType<typeof connectApp>>

async function start(timeoutMs: number) {
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure', timeoutMs })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Done.' }] })
  const server = await startServer({ agent: createAgent(model, { tools: [look] }) })
  stops.push(server.stop)
  const untilLogged = async (line: string): Promise<void> => {
    while (!server.logged.includes(line)) await new Promise((resolve) => setImmediate(resolve))
  }
  return { ...server, untilLogged, results: () => server.logged.filter((line) => line.startsWith('a result')) }
}

const readName = ({ payload }: App['frames'][number]): string => payload['name'] ?? ''
const isIdle = ({ payload }: App['frames'][number]): boolean => payload['arguments'] === '{"state":"idle"}'

/** Sends a question, and returns the id of the call sent to the app. */
async function findCall(app: App): Promise<string> {
  app.send('user.audio.transcript.final', { text: 'Look' })
  const { payload } = await app.until((frame) => readName(frame) === 'look')
  return payload['callId'] ?? ''
}

const came = (callId: string, more = '"tool":"look","error":null') =>
  `a result was received {"session":"s","callId":"${callId}",${more}}`
const ignored = (callId: string, reason: string) =>
  `a result was ignored {"session":"s","callId":"${callId}","reason":"${reason}"}`

test('a repeated and an unknown result', async () => {
  const { url, untilLogged, results } = await start(20_000)
  const app = await connectApp(url)
  const callId = await findCall(app)
  app.send('tool.result', { callId, error: 'too dark' })
  app.send('tool.result', { callId, result: 'a cat' })
  await untilLogged(ignored(callId, 'duplicate'))
  app.send('tool.result', { callId: 'never-asked', result: 'a cat' })
  await untilLogged(ignored('never-asked', 'unknown'))
  expect(results()).toEqual([
    came(callId, '"tool":"look","error":"too dark"'),
    came(callId),
    ignored(callId, 'duplicate'),
    came('never-asked', '"tool":null,"error":null'),
    ignored('never-asked', 'unknown'),
  ])
  app.socket.terminate()
})

test('a late result', async () => {
  const { url, untilLogged, results } = await start(1)
  const app = await connectApp(url)
  const callId = await findCall(app)
  // The clock of a call starts when the app has reached it.
  for (const frame of app.frames.filter((one) => readName(one).startsWith('convo.')))
    app.send('tool.result', { callId: frame.payload['callId'], result: 'ok' })
  await app.until(isIdle)
  app.send('tool.result', { callId, result: 'a cat' })
  await untilLogged(ignored(callId, 'late'))
  expect(results().slice(-2)).toEqual([came(callId), ignored(callId, 'late')])
  app.socket.terminate()
})

test('a result from a connection that was not asked', async () => {
  const { url, untilLogged } = await start(20_000)
  const [older, newer] = [await connectApp(url), await connectApp(url)]
  const callId = await findCall(newer)
  older.send('tool.result', { callId, result: 'a forged cat' })
  await untilLogged(ignored(callId, 'foreign'))
  newer.send('tool.result', { callId, result: 'a cat' })
  await newer.until(isIdle)
  for (const app of [older, newer]) app.socket.terminate()
})
