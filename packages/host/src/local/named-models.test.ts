// Model names in a program without a resolver: the process's variables decide, before the first turn.
import type { HttpRequest } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createNodeEnvironment } from '../environment.ts'
import type { HostOptions } from './host-options.ts'
import { createHost } from './create-host.ts'

const KEY = 'sk-of-a-test-0123456789'
const MODEL = 'anthropic/claude-sonnet-4-5'

/** A host whose network answers each request with these Anthropic events. */
function setUp(options: HostOptions, events: readonly object[] = []) {
  const asked: HttpRequest[] = []
  const environment = createNodeEnvironment({
    post: async (request, _signal, onBytes) => {
      asked.push(request)
      const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
      const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
      onBytes(new TextEncoder().encode(text), head)
      return head
    },
  })
  return { asked, create: () => createHost({ environment, variables: {}, ...options }) }
}

test('an agent that names a model needs no modelOf: the key is read from the variables', async () => {
  const message = { id: 'm', type: 'message', role: 'assistant', content: [], model: 'claude', usage: {} }
  const { asked, create } = setUp(
    { agent: defineAgent({ name: 'shop', model: MODEL }), variables: { ANTHROPIC_API_KEY: KEY } },
    [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'At nine.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      { type: 'message_stop' },
    ],
  )
  await using host = create()
  const session = await host.session()
  expect((await session.send('When do you open?').answer).text).toBe('At nine.')
  expect(asked.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
    ['https://api.anthropic.com/v1/messages', KEY],
  ])
})

const helper = defineAgent({ name: 'helper', model: [MODEL, 'openai/gpt-5-mini'] })

test.each<[string, HostOptions, object]>([
  [
    'a key that is not set',
    { agent: defineAgent({ name: 'shop', model: MODEL }) },
    { code: 'model_not_configured', message: expect.stringContaining('set ANTHROPIC_API_KEY') },
  ],
  [
    'the key of a fallback',
    { agents: [helper], variables: { ANTHROPIC_API_KEY: KEY } },
    { code: 'model_not_configured', message: expect.stringContaining('set OPENAI_API_KEY') },
  ],
  ['the key of the default model', { defaultModel: MODEL }, { code: 'model_not_configured' }],
  [
    'a provider that does not exist',
    { agent: defineAgent({ name: 'shop', model: 'antropic/claude-sonnet-4-5' }) },
    { code: 'unknown_model', message: expect.stringContaining('"antropic/claude-sonnet-4-5"') },
  ],
  [
    'a variable that cannot be what it says',
    { agent: helper, variables: { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, ANTHROPIC_MAX_TOKENS: 'many' } },
    { code: 'invalid_option' },
  ],
])('%s is told when the host is made', (_, options, error) => {
  const { create } = setUp(options)
  expect(create).toThrow(expect.objectContaining(error))
})

test('a program that names no model is not told about variables that it does not use', async () => {
  const { create } = setUp({ variables: { ANTHROPIC_MAX_TOKENS: 'many' } })
  await create().stop()
})

test('the agent of a session is checked when the session is opened', async () => {
  await using host = setUp({}).create()
  await expect(host.session('s', { agent: helper })).rejects.toMatchObject({ code: 'model_not_configured' })
})

test('a key of the variables is never told', async () => {
  const { create } = setUp({
    agent: defineAgent({ name: 'shop', model: MODEL, retry: { attempts: 1 } }),
    variables: { ANTHROPIC_API_KEY: KEY },
    environment: createNodeEnvironment({ post: () => Promise.reject(new Error(`refused ${KEY}`)) }),
  })
  await using host = create()
  const session = await host.session()
  const failure = await session.send('Hi').answer.catch(String)
  expect(failure).not.toContain(KEY)
})
