// Settings and provider-run tools through the AI SDK's own packages: the bodies they send.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { JsonObject, ModelEvent, ModelRequest, ModelSettings } from '@baton/core'
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import type { AiSdkLanguageModel } from './index.ts'
import { fromAiSdkModel } from './index.ts'

const LOOK = {
  name: 'look',
  description: 'Looks.',
  inputSchema: {
    type: 'object',
    properties: { at: { type: 'string' } },
    required: ['at'],
    additionalProperties: false,
  },
} as const

const ANTHROPIC_SEARCH = { id: 'anthropic.web_search_20250305', name: 'web_search', args: { maxUses: 3 } }

type Fetch = typeof globalThis.fetch
type Create = (fetch: Fetch) => AiSdkLanguageModel

const anthropic: Create = (fetch) => createAnthropic({ apiKey: 'k', fetch })('claude-sonnet-4-5')
const openai: Create = (fetch) => createOpenAI({ apiKey: 'k', fetch })('gpt-4.1')
const chat: Create = (fetch) => createOpenAI({ apiKey: 'k', fetch }).chat('gpt-4.1')
const google: Create = (fetch) => createGoogle({ apiKey: 'k', fetch })('gemini-3-pro-preview')
const compatible: Create = (fetch) => createOpenAICompatible({ name: 'mine', baseURL: 'http://mine.test', fetch })('m')

function createRequest(settings: ModelSettings, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [LOOK],
    toolChoice: { type: 'auto' },
    settings,
    session: 'ses_1',
    ...more,
  }
}

/** Returns the body that was sent, the outcome, and the reported events. */
async function ask(create: Create, request: ModelRequest, stream = '') {
  const bodies: JsonObject[] = []
  const events: ModelEvent[] = []
  const fetch: Fetch = (_, init) => {
    bodies.push(JSON.parse(init?.body as string) as JsonObject) // a string holding an object, as their packages send it
    return Promise.resolve(new Response(stream, { headers: { 'content-type': 'text/event-stream' } }))
  }
  const sink = (event: ModelEvent): void => void events.push(event)
  const asked = fromAiSdkModel(create(fetch)).run(request, sink, new AbortController().signal)
  const outcome = await asked.catch((error: unknown) => error)
  return { bodies, events, outcome, refusal: isBatonError(outcome) ? `${outcome.code}: ${outcome.message}` : '' }
}

test.each<[string, Create, ModelSettings, object]>([
  ['a tier of Anthropic', anthropic, { serviceTier: 'standard_only' }, { service_tier: 'standard_only' }],
  ['a tier of OpenAI', openai, { serviceTier: 'priority' }, { service_tier: 'priority' }],
  ['a tier in Chat Completions', chat, { serviceTier: 'priority' }, { service_tier: 'priority' }],
  ['a tier of Gemini', google, { serviceTier: 'flex' }, { serviceTier: 'flex' }],
  ['one call of Claude', anthropic, { parallelCalls: false }, { tool_choice: { disable_parallel_tool_use: true } }],
  ['one call of OpenAI', openai, { parallelCalls: false }, { parallel_tool_calls: false }],
  ['one call in Chat Completions', chat, { parallelCalls: false }, { parallel_tool_calls: false }],
  ['a cache of an hour', anthropic, { cache: '1h' }, { cache_control: { type: 'ephemeral', ttl: '1h' } }],
  ['a cache key', openai, { cache: '5m' }, { prompt_cache_key: 'ses_1' }],
  ['strict tools of Claude', anthropic, { strictTools: true }, { tools: [{ name: 'look', strict: true }] }],
  ['strict tools of OpenAI', openai, { strictTools: true }, { tools: [{ name: 'look', strict: true }] }],
  ['strict tools of a server', compatible, { strictTools: true }, { tools: [{ function: { strict: true } }] }],
  [
    'options of one’s own, over those of settings',
    openai,
    { serviceTier: 'flex', provider: { openai: { serviceTier: 'priority', user: 'u' } } },
    { service_tier: 'priority', user: 'u' },
  ],
  [
    'options under the name of the bridge',
    anthropic,
    {
      provider: { anthropic: { metadata: { user_id: 'raw' } }, 'ai-sdk': { anthropic: { metadata: { userId: 'u' } } } },
    },
    { metadata: { user_id: 'u' } },
  ],
  [
    'web search of Anthropic',
    anthropic,
    { serverTools: { anthropic: [ANTHROPIC_SEARCH] } },
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }, { name: 'look' }] },
  ],
  [
    'web search of OpenAI',
    openai,
    { serverTools: { openai: [{ id: 'openai.web_search', name: 'web_search', args: {} }] } },
    { tools: [{ type: 'web_search' }, { type: 'function', name: 'look' }] },
  ],
  [
    'Google Search beside functions',
    google,
    { serverTools: { google: [{ id: 'google.google_search', name: 'google_search', args: {} }] } },
    { tools: expect.arrayContaining([{ googleSearch: {} }]) as unknown },
  ],
])('%s', async (_, create, settings, expected) => {
  const { bodies } = await ask(create, createRequest(settings))
  expect(bodies).toHaveLength(1)
  expect(bodies[0]).toMatchObject(expected)
})

test('a forced tool of the provider goes out by its own name', async () => {
  const settings = { serverTools: { anthropic: [ANTHROPIC_SEARCH] } }
  const { bodies } = await ask(anthropic, createRequest(settings, { toolChoice: { type: 'tool', name: 'web_search' } }))
  expect(bodies[0]).toMatchObject({ tool_choice: { type: 'tool', name: 'web_search' } })
})

test.each<[string, Create, ModelSettings, string]>([
  [
    'a tier for a server',
    compatible,
    { serviceTier: 'flex' },
    'settings.serviceTier is not supported by ai-sdk:mine.chat',
  ],
  ['one call of Gemini', google, { parallelCalls: false }, 'settings.parallelCalls is not supported by ai-sdk:google'],
  ['a cache of Gemini', google, { cache: '1h' }, 'settings.cache is not supported by ai-sdk:google'],
  [
    'a tool in the words of the API',
    anthropic,
    { serverTools: { anthropic: [{ type: 'web_search_20250305', name: 'web_search' }] } },
    'settings.serverTools.anthropic[0] is not a tool of the AI SDK',
  ],
  [
    'two tools of one name',
    anthropic,
    { serverTools: { anthropic: [ANTHROPIC_SEARCH, ANTHROPIC_SEARCH] } },
    'settings.serverTools.anthropic has the name "web_search"',
  ],
  [
    'a field of Baton',
    compatible,
    { provider: { mine: { stream: false } } },
    'settings.provider.mine has the field "stream"',
  ],
  [
    'options without the name of a provider',
    anthropic,
    { provider: { 'ai-sdk': { effort: 'low' } } },
    'settings.provider.ai-sdk.effort must be an object of options',
  ],
])('%s is refused before anything is sent', async (_, create, settings, message) => {
  const { bodies, refusal } = await ask(create, createRequest(settings))
  expect(refusal).toContain(`model_invalid_request: ${message}`)
  expect(bodies).toEqual([])
})

test('settings that say nothing are no reason to refuse', async () => {
  const { bodies } = await ask(compatible, createRequest({ cache: 'off', parallelCalls: true, strictTools: false }))
  expect(bodies).toHaveLength(1)
})

test('a tool that the provider’s package leaves out is told, and its answer not taken', async () => {
  const { refusal } = await ask(
    compatible,
    createRequest({ serverTools: { mine: [ANTHROPIC_SEARCH] } }),
    'data: [DONE]\n\n',
  )
  expect(refusal).toContain(
    'does not support what the settings ask for: provider-defined tool anthropic.web_search_20250305',
  )
})

function writeStream(...events: readonly JsonObject[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

const SEARCHED = writeStream(
  {
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude-sonnet-4-5', role: 'assistant', usage: { input_tokens: 5 } },
  },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: {} },
  },
  { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"query":"sky"}' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: {
      type: 'web_search_tool_result',
      tool_use_id: 'srv_1',
      content: [
        {
          type: 'web_search_result',
          url: 'https://sky.test',
          title: 'Sky',
          encrypted_content: 'sealed',
          page_age: null,
        },
      ],
    },
  },
  { type: 'content_block_stop', index: 1 },
  { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'Blue.' } },
  { type: 'content_block_stop', index: 2 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
)

test('a search that the provider ran is told, cited, and goes back to it with the history', async () => {
  const settings = { serverTools: { anthropic: [ANTHROPIC_SEARCH] } }
  const { events, outcome } = await ask(anthropic, createRequest(settings), SEARCHED)
  expect(outcome).toMatchObject({ finish: 'end' })
  const { parts } = outcome as { readonly parts: ModelRequest['messages'][number]['parts'] } // not a failure, see above
  expect(events.filter(({ type }) => type === 'server-tool')).toEqual([
    { type: 'server-tool', name: 'web_search', status: 'started' },
    { type: 'server-tool', name: 'web_search', status: 'finished' },
  ])
  expect(parts.find(({ type }) => type === 'source')).toMatchObject({ url: 'https://sky.test', title: 'Sky' })
  const next = createRequest(settings, {
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
      { role: 'assistant', parts: parts as never }, // parts of an assistant's answer
      { role: 'user', parts: [{ type: 'text', text: 'and at night?' }] },
    ],
  })
  const { bodies } = await ask(anthropic, next)
  expect(bodies[0]?.['messages']).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'sky' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: [{ url: 'https://sky.test', encrypted_content: 'sealed' }],
        },
        { type: 'text', text: 'Blue.' },
      ],
    },
    { role: 'user' },
  ])
})
