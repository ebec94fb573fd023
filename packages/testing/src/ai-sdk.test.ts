// Models of the AI SDK under the real host: a provider package of theirs talks to the strict fake server over real HTTP.
import type { Turn } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost } from '@baton/host'
import { fromAiSdkModel } from '@baton/models/ai-sdk'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterEach, expect, test } from 'vitest'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'

const open: { server?: FakeServer; host?: LocalHost } = {}
afterEach(async () => {
  await open.host?.stop()
  await open.server?.close()
})

const weather = tool({
  name: 'weather.now',
  description: 'The weather of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: (input) => `15 °C in ${(input as { city: string }).city}`,
})

async function setUp(script: (request: FakeRequest) => FakeAnswer) {
  const server = await startFakeOpenAiChat({ script })
  const theirs = createOpenAICompatible({
    name: 'theirs',
    baseURL: server.url,
    apiKey: 'key-of-a-test',
    includeUsage: true,
  })
  const agent = defineAgent({ name: 'a', model: fromAiSdkModel(theirs('gpt-test')), tools: [weather] })
  const host = createHost({ agent })
  Object.assign(open, { server, host })
  return { server, host, session: await host.session(undefined) }
}

async function findCode(turn: Turn): Promise<string> {
  return turn.answer.then(
    ({ outcome }) => outcome,
    (error: unknown) => (isBatonError(error) ? error.code : String(error)),
  )
}

test('two parallel calls, their results, and a second turn on the same history', async () => {
  const { server, session } = await setUp(({ index, toolLike, results }) => {
    if (index > 0) return { text: `Say: ${results.join(' and ')}.` }
    const name = toolLike(/weather/)
    return {
      text: 'One moment.',
      calls: [
        { name, input: { city: 'Berlin' } },
        { name, input: { city: 'Oslo' } },
      ],
    }
  })
  const turn = session.send('How is the weather?')
  const deltas: string[] = []
  for await (const event of turn.events) if (event.type === 'text-delta') deltas.push(event.text)
  const answer = await turn.answer
  expect(answer.text).toBe('One moment.\n\nSay: 15 °C in Berlin and 15 °C in Oslo.')
  expect(deltas.join('')).toBe('One moment.Say: 15 °C in Berlin and 15 °C in Oslo.')
  expect(answer.usage.inputTokens).toBeGreaterThan(0)
  expect(await findCode(session.send('And now?'))).toBe('answered')
  expect(server.refusals).toEqual([])
})

test.each([
  [401, 'invalid_api_key', 'model_auth_failed'],
  [404, 'model_not_found', 'model_not_found'],
  [400, 'context_length_exceeded', 'context_overflow'],
])('a refusal with %i %s is the error %s', async (status, code, expected) => {
  const message = code === 'context_length_exceeded' ? "This model's maximum context length is 8 tokens." : 'no'
  const { session } = await setUp(() => ({ status, message, code }))
  expect(await findCode(session.send('hello'))).toBe(expected)
})

test('an overloaded server is asked again by Baton, each try an attempt of its own', async () => {
  let asked = 0
  const { session } = await setUp(() => ((asked += 1) < 2 ? { status: 503, message: 'busy' } : { text: 'here' }))
  expect((await session.send('hello').answer).text).toBe('here')
  expect(asked).toBe(2)
})

test('an interrupt closes their connection', async () => {
  const { server, session } = await setUp(() => ({ text: 'word '.repeat(2000), stallAfter: 9 }))
  const turn = session.send('talk')
  for await (const event of turn.events) if (event.type === 'text-delta') break
  await session.interrupt()
  expect((await turn.answer).outcome).toBe('interrupted')
  for (let waitedMs = 0; server.aborted() === 0 && waitedMs < 5000; waitedMs += 20)
    await new Promise((resolve) => setTimeout(resolve, 20))
  expect(server.aborted()).toBe(1)
})
