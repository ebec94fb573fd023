// Providers and tools that repeat keys in their errors, through the whole stack: the app receives a code and a plain
// sentence, the log has the details, and nobody sees a key.
import type { Model } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createLogger, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import { findVariables } from '@baton/models/internal'
import { createFetchTransport } from '@baton/models/internal'
import { createMemorySocket, DEFAULT_CONNECTION_LIMITS, openV1Connection } from '@baton/server/internal'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'

const KEY = 'sk-live/0123+456=789'
const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Answers every request with an error that repeats everything it received. */
async function startEcho(status: number): Promise<string> {
  const server = createServer((request, response) => {
    const told = `account 7 of ann@corp.example: key ${KEY}, ${encodeURIComponent(KEY)}, ${JSON.stringify(request.headers)}`
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { type: 'authentication_error', message: `${told} at ${request.url}` } }))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  ends.push(() => new Promise((resolve) => void server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A turn of a version 1 app. */
async function talk(model: Model, tools: Parameters<typeof defineAgent>[0]['tools'] = []) {
  const store = createMemoryStore()
  const logged: string[] = []
  const log = createLogger({ secrets: [KEY], write: (line) => void logged.push(line) })
  const agent = defineAgent({ name: 'a', model, tools, retry: { attempts: 1 } })
  const host = createHost({ environment, store, agent, log, secrets: [KEY] })
  ends.push(() => host.stop())
  const app = createMemorySocket()
  const limits = DEFAULT_CONNECTION_LIMITS
  const init = { ...environment, host, log, limits, connection: 'c', principal: { id: 'p' }, isDraining: () => false }
  openV1Connection({ ...init, socket: app.socket })
  const send = (id: string, type: string, payload: object): void =>
    app.deliver(JSON.stringify({ id, type, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', payload }))
  send('1', 'session.start', { sessionId: 's' })
  send('2', 'user.audio.transcript.final', { text: 'Hi' })
  await expect.poll(() => app.sent.some((frame) => frame.includes('idle'))).toBe(true)
  const records: unknown[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  const errors = app.sent.map((text) => JSON.parse(text) as { type: string; payload: object })
  return {
    errors: errors.filter(({ type }) => type === 'error').map(({ payload }) => payload),
    seen: [...app.sent, ...logged, JSON.stringify(records)].join('\n'),
    logged: logged.join('\n'),
  }
}

const PROVIDERS = ['anthropic/a', 'openai/a', 'openai-chat/a', 'openai-compatible/a', 'gemini/a', 'mistral/a']

test.each(PROVIDERS.flatMap((model) => [401, 500].map((status) => [model, status] as const)))(
  '%s answers %i and repeats the key: nobody sees it, and the app no detail',
  async (id, status) => {
    const url = await startEcho(status)
    const [provider = ''] = id.split('/')
    const known = findVariables(provider)
    if (!known) throw new Error(`there is no ${provider}`)
    const variables = { [known.keyVariable]: KEY, [known.baseUrlVariable]: url }
    const transport = createFetchTransport()
    const told = await talk(createModelOf({ variables, transport, clock: environment.clock })(id))
    expect(told.errors).toMatchObject([{ code: 'model_provider_failed' }])
    expect(JSON.stringify(told.errors)).not.toMatch(/127\.0\.0\.1|ann@|account|api-key|answered/)
    expect(told.seen).not.toContain(KEY)
    expect(told.seen).not.toContain(encodeURIComponent(KEY))
    expect(told.logged).toContain('account 7')
  },
)

test('a tool whose error has a key in it, as it is or in an address', async () => {
  const call = tool({
    name: 'call',
    description: 'Calls',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => Promise.reject(new Error(`GET https://a.example/?key=${encodeURIComponent(KEY)} with ${KEY}: 403`)),
  })
  const model = createScriptedModel({
    steps: (request, step) =>
      step === 0 ? { calls: [{ name: 'call', arguments: {} }] } : { text: JSON.stringify(request.messages) },
  })
  const { seen } = await talk(model, [call])
  expect(seen).toContain('GET https://a.example/?key=[redacted] with [redacted]: 403')
  expect(seen).not.toContain(KEY)
  expect(seen).not.toContain(encodeURIComponent(KEY))
})
