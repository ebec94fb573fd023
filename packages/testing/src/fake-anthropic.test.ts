// The fake Anthropic server under the real adapter: what it streams is understood, and what is wrong is refused.
import { createModelOf } from '@baton/models/choose-model'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { ModelRequest } from '@baton/core'
import { afterEach, expect, test } from 'vitest'
import { startFakeAnthropic } from './fake-anthropic.ts'
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'

let server: FakeServer | undefined
afterEach(() => server?.close())

const request: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Go' }] }],
  tools: [{ name: 'agent.spawn', description: 'Starts', inputSchema: { type: 'object' } }],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}

async function ask(script: (request: FakeRequest) => FakeAnswer, asked: ModelRequest = request) {
  server = await startFakeAnthropic(script)
  const transport = createUndiciTransport({ variables: {} })
  const variables = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url }
  const modelOf = createModelOf({ variables, transport, clock: { nowMs: () => 0 } })
  const deltas: string[] = []
  const answer = await modelOf('anthropic/claude-test').run(
    asked,
    (event) => {
      if (event.type === 'text-delta') deltas.push(event.text)
    },
    new AbortController().signal,
  )
  return { answer, deltas }
}

test('text and a call of a tool of the request come back whole, in pieces', async () => {
  const { answer, deltas } = await ask(({ toolLike }) => ({
    text: 'Ich frage nach 🦀.',
    calls: [{ name: toolLike(/spawn/), input: { prompt: 'größe "x"' } }],
  }))
  expect(answer.finish).toBe('tool-calls')
  expect(answer.parts).toMatchObject([
    { type: 'text', text: 'Ich frage nach 🦀.' },
    { type: 'call', name: 'agent.spawn', arguments: '{"prompt":"größe \\"x\\""}' },
  ])
  expect(deltas).toEqual(['Ich fra', 'ge nach', ' 🦀.'])
  expect(server?.refusals).toEqual([])
})

test('an error of the script comes in Anthropic’s shape', async () => {
  const failing = ask(() => ({ status: 529, type: 'overloaded_error', message: 'Overloaded' }))
  await expect(failing).rejects.toMatchObject({ code: 'model_overloaded' })
})

test('a call of a tool that the request does not offer is a fault of the script', async () => {
  await expect(ask(() => ({ calls: [{ name: 'other', input: {} }] }))).rejects.toMatchObject({
    code: 'model_provider_failed',
  })
  expect(server?.refusals).toMatchObject([{ status: 500 }])
})

test('a request that Anthropic would refuse is refused with its words', async () => {
  server = await startFakeAnthropic(() => ({ text: 'never said' }))
  const body = JSON.stringify({ model: 'm', max_tokens: 1, stream: true, messages: [{ role: 'robot', content: '' }] })
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': 'k' }
  const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { type: 'error', error: { type: 'invalid_request_error' } },
  ])
  expect(server.refusals).toHaveLength(1)
  expect(server.requests).toEqual([])
})
