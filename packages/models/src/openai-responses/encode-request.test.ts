// Encoded requests, rule by rule. Validity as a whole is tested in encode-request.arbitrary.test.ts.
import type { AssistantPart, Message, ModelRequest } from '@baton/core/internal'
import { validateOpenAiResponsesRequest } from '@baton/testing/wires'
import { describe, expect, test } from 'vitest'
import type { OpenAiResponsesEncodeOptions } from './encode-request.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'

const MODEL = 'gpt-5-mini'
const user: Message = { role: 'user', parts: [{ type: 'text', text: 'hi' }] }
const tools = [
  { name: 'agent.spawn', description: 'Starts an agent.', inputSchema: { type: 'object' } },
  { name: 'stop', description: '', inputSchema: { type: 'object', properties: { all: { type: 'array' } } } },
] as const
const base: ModelRequest = {
  instructions: '',
  messages: [user],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: '',
}

function encode(request: Partial<ModelRequest>, options: Partial<OpenAiResponsesEncodeOptions> = {}) {
  const body = encodeOpenAiResponsesRequest(
    { ...base, ...request, settings: { maxOutputTokens: 512, ...request.settings } },
    { model: MODEL, ...options },
  )
  expect(validateOpenAiResponsesRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
  return body
}

const state = (data: object, model = MODEL, provider = 'openai') => ({
  state: { provider, model, data: data as { readonly [key: string]: string } },
})
const assistant = (...parts: readonly AssistantPart[]): Message => ({ role: 'assistant', parts })
const callPart = (callId: string, more: object = {}): AssistantPart => {
  return { type: 'call', callId, name: 'agent.spawn', arguments: '{"a":1}', ...more }
}
const results = (...callIds: readonly string[]): Message => ({
  role: 'tool',
  parts: callIds.map((callId) => ({
    type: 'result',
    callId,
    name: 'agent.spawn',
    isError: false,
    content: [{ type: 'text', text: 'ok' }],
  })),
})
const thought = (encrypted: string, ...more: readonly string[]): AssistantPart => {
  return { type: 'reasoning', text: '', ...state({ summary: [], encrypted_content: encrypted }, ...more) }
}

test('a whole request', () => {
  const session = 's'.repeat(70)
  expect(encode({ instructions: 'Be brief.', tools, session, settings: { parallelCalls: false } })).toEqual({
    model: MODEL,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    instructions: 'Be brief.',
    input: [{ role: 'user', content: 'hi' }],
    max_output_tokens: 2560,
    prompt_cache_key: session.slice(0, 64),
    tools: [
      {
        type: 'function',
        name: 'agent_-dot-spawn',
        description: 'Starts an agent.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
      {
        type: 'function',
        name: 'stop',
        parameters: { type: 'object', properties: { all: { type: 'array', items: {} } } },
        strict: false,
      },
    ],
    parallel_tool_calls: false,
    reasoning: { effort: 'minimal' },
  })
})

test.each<[ModelRequest['toolChoice'], unknown]>([
  [{ type: 'auto' }, undefined],
  [{ type: 'any' }, 'required'],
  [{ type: 'none' }, 'none'],
  [
    { type: 'tool', name: 'agent.spawn' },
    { type: 'function', name: 'agent_-dot-spawn' },
  ],
])('tool choice %j', (toolChoice, wire) => {
  expect(encode({ tools, toolChoice }).tool_choice).toEqual(wire)
  if (toolChoice.type !== 'tool') return
  expect(() => encode({ tools: [], toolChoice })).toThrow('not among the request’s tools')
})

test.each<[string, number, object, number, number | undefined]>([
  ['gpt-4.1', 5000, {}, 512, 0.5],
  ['gpt-5', 0, { reasoning: { effort: 'minimal' } }, 2560, undefined],
  ['gpt-5', 2000, { reasoning: { effort: 'low', summary: 'auto' } }, 8704, undefined],
  ['gpt-5.6', 5000, { reasoning: { effort: 'medium', summary: 'auto' } }, 16_896, undefined],
  ['gpt-5.2', 0, { reasoning: { effort: 'none' } }, 512, 0.5],
  ['o3', 0, { reasoning: { effort: 'low', summary: 'auto' } }, 8704, undefined],
])('%s, asked to think %d tokens', (...[model, reasoningTokens, fields, tokens, temperature]) => {
  const settings = { reasoningTokens, temperature: 0.5, maxOutputTokens: 512 }
  const body = encode({ settings }, { model, reasoningSummary: 'auto' })
  expect({ reasoning: body.reasoning }).toEqual({ reasoning: undefined, ...fields })
  expect([body.max_output_tokens, body.temperature]).toEqual([tokens, temperature])
  expect(body.include).toEqual(model === 'gpt-4.1' ? undefined : ['reasoning.encrypted_content'])
})

test('fewer tokens than the API takes', () => {
  expect(encode({ settings: { maxOutputTokens: 3 } }, { model: 'gpt-4.1' }).max_output_tokens).toBe(16)
})

describe('history', () => {
  const input = (messages: readonly Message[], model = MODEL) => encode({ messages }, { model }).input

  test('thoughts, words and calls go back in their order, without ids of items', () => {
    const call = callPart('call_0_0', state({ id: 'call_AB', extra: { namespace: 'n' } }))
    const words: AssistantPart = { type: 'text', text: 'Wait.', ...state({ phase: 'commentary' }) }
    expect(input([user, assistant(thought('E1'), words, thought('E2'), call), results('call_0_0')])).toEqual([
      { role: 'user', content: 'hi' },
      { type: 'reasoning', summary: [], encrypted_content: 'E1' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Wait.' }], phase: 'commentary' },
      { type: 'reasoning', summary: [], encrypted_content: 'E2' },
      {
        type: 'function_call',
        call_id: 'call_AB',
        name: 'agent_-dot-spawn',
        arguments: '{"a":1}',
        namespace: 'n',
      },
      { type: 'function_call_output', call_id: 'call_AB', output: 'ok' },
    ])
  })

  test.each([
    ['a dated name of the model', 'gpt-5-mini-2025-08-07', 'openai', true],
    ['another model', 'gpt-5', 'openai', false],
    ['another provider', MODEL, 'openai-chat', false],
  ])('a thought of %s', (_whose, model, provider, isBack) => {
    const items = input([user, assistant(thought('E1', model, provider), callPart('c')), results('c')])
    expect(JSON.stringify(items).includes('E1')).toBe(isBack)
    expect(items).toHaveLength(isBack ? 4 : 3)
  })

  test('a thought that was cut off before what it was for stays at home', () => {
    const items = input([user, assistant({ type: 'text', text: 'So' }, thought('E1')), user])
    expect(items).toHaveLength(3)
  })

  test('a thought of a message whose past has changed goes back: it is not bound to its place', () => {
    const message: Message = { role: 'assistant', parts: [thought('E1'), callPart('c')], rebased: true }
    expect(JSON.stringify(input([user, message, results('c')]))).toContain('E1')
  })

  test('ids: OpenAI’s own, Baton’s for others, made legal, each once', () => {
    const long = 'x'.repeat(70)
    const parts = [callPart('a', state({ id: 'same' })), callPart('b', state({ id: 'same' })), callPart(long)]
    const items = input([user, assistant(...parts), results('a', 'b', long)])
    const ids = items.flatMap((item) => ('call_id' in item && typeof item.call_id === 'string' ? [item.call_id] : []))
    expect(ids.slice(0, 3)).toEqual(ids.slice(3))
    expect(new Set(ids).size).toBe(3)
    expect(ids[0]).toBe('same')
    expect(ids.every((id) => id.length <= 64)).toBe(true)
  })

  test('a refusal goes back as one, to other models as text', () => {
    const part: AssistantPart = { type: 'text', text: 'No.', ...state({ refusal: true }) }
    const content = (model: string) => input([user, assistant(part), user], model)[1]
    expect(content(MODEL)).toEqual({ role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] })
    expect(content('gpt-4.1')).toEqual({ role: 'assistant', content: [{ type: 'output_text', text: 'No.' }] })
  })

  test('items of OpenAI’s own tools go back, a call that waits for a client’s output does not', () => {
    const own = (item: object): AssistantPart => ({ type: 'provider', ...state({ item }) })
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
    const items = input([user, assistant(own(search), own({ type: 'custom_tool_call', call_id: 'c' })), user])
    expect(items.slice(1, -1)).toEqual([search])
  })

  test('arguments that are no object go back empty', () => {
    const items = input([user, assistant(callPart('c', { arguments: '{"a":' })), results('c')])
    expect(items[1]).toMatchObject({ arguments: '{}' })
  })

  test('nothing was said yet', () => {
    expect(input([])).toEqual([{ role: 'user', content: '(The conversation begins.)' }])
  })

  test('results: empty, failed, with an image, failed with one', () => {
    const image = {
      type: 'image',
      mediaType: 'image/png',
      source: { type: 'base64', data: 'iVBORw0KGgo=' },
    } as const
    const shown = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' }
    const text = { type: 'text', text: 'no' } as const
    const given = [
      { isError: false, content: [] },
      { isError: true, content: [] },
      { isError: true, content: [text] },
      { isError: false, content: [text, image] },
      { isError: true, content: [image] },
    ]
    const parts = given.map((each, index) => ({ type: 'result' as const, callId: `c${index}`, name: 'stop', ...each }))
    const calls = assistant(...parts.map(({ callId }) => callPart(callId)))
    const items = input([user, calls, { role: 'tool', parts }])
    expect(items.flatMap((item) => ('output' in item ? [item.output] : []))).toEqual([
      '(no output)',
      'Error',
      'Error: no',
      [{ type: 'input_text', text: 'no' }, shown],
      [{ type: 'input_text', text: 'Error:' }, shown],
    ])
  })

  test('files: PDF as bytes and as an address, text as text, others in words', () => {
    const file = (mediaType: string, data: string) =>
      ({ type: 'file', mediaType, name: 'a', source: { type: 'base64', data } }) as const
    const parts = [
      file('application/pdf', 'JVBERi0='),
      { type: 'file', mediaType: 'application/pdf', source: { type: 'url', url: 'https://a.example/b.pdf' } } as const,
      file('text/plain', 'aGk='),
      file('video/mp4', 'aGk='),
    ]
    expect(input([{ role: 'user', parts }])[0]).toEqual({
      role: 'user',
      content: [
        { type: 'input_file', filename: 'a', file_data: 'data:application/pdf;base64,JVBERi0=' },
        { type: 'input_file', file_url: 'https://a.example/b.pdf' },
        { type: 'input_text', text: 'a:\nhi' },
        { type: 'input_text', text: '[Not shown, because this model cannot read it: file a of type video/mp4]' },
      ],
    })
  })
})

test.each([
  ['a schema that strict mode can say', { type: 'object', properties: { a: { type: 'string' } } }, true],
  ['a map of any keys', { type: 'object', additionalProperties: { type: 'number' } }, false],
])('an answer kept to %s', (_which, schema, strict) => {
  const { text } = encode({ output: { name: 'my.judge', schema } })
  expect(text?.format).toMatchObject({ type: 'json_schema', name: 'my_-dot-judge', strict })
  expect(text?.format.schema['required']).toEqual(strict ? ['a'] : undefined)
})
