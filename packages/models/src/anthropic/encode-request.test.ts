// The encoder, case by case; arbitrary histories are in encode-request.arbitrary.test.ts.
import type {
  AssistantPart,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  ToolDeclaration,
} from '@baton/core/internal'
import { validateAnthropicRequest } from '@baton/testing/wires'
import { describe, expect, test } from 'vitest'
import type { AnthropicEncodeOptions } from './encode-request.ts'
import { encodeAnthropicRequest } from './encode-request.ts'

const MODEL = 'claude-haiku-4-5'
const spawn: ToolDeclaration = { name: 'agent.spawn', description: 'Starts an agent.', inputSchema: { type: 'object' } }
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const assistant = (...parts: AssistantPart[]): Message => ({ role: 'assistant', parts })
const call = (callId: string, data?: { id: string }, provider = 'anthropic'): AssistantPart => ({
  type: 'call',
  callId,
  name: 'agent.spawn',
  arguments: '{"a":1}',
  ...(data && { state: { provider, model: MODEL, data } }),
})
const results = (...callIds: string[]): Message => ({
  role: 'tool',
  parts: callIds.map((callId) => ({
    type: 'result',
    callId,
    name: 'agent.spawn',
    isError: false,
    content: [{ type: 'text', text: 'ok' }],
  })),
})
const thought = (model: string, provider = 'anthropic'): AssistantPart => ({
  type: 'reasoning',
  text: 'hm',
  state: { provider, model, data: { signature: 'sig' } },
})

function encode(request: Partial<ModelRequest>, options: Partial<AnthropicEncodeOptions> = {}) {
  const whole: ModelRequest = {
    instructions: '',
    messages: [user('hi')],
    tools: [],
    toolChoice: { type: 'auto' },
    session: 's',
    ...request,
    settings: { maxOutputTokens: 512, ...request.settings },
  }
  return encodeAnthropicRequest(whole, { model: MODEL, cache: 'off', ...options })
}
const listMessages = (...messages: Message[]) => encode({ messages }).messages

test('a whole request, with its marks for the cache', () => {
  const request = {
    instructions: 'Be brief.',
    messages: [user('hi'), assistant(call('call_1_0')), results('call_1_0')],
    tools: [spawn],
  }
  const mark = { type: 'ephemeral' }
  expect(encode(request, { cache: '5m' })).toEqual({
    model: MODEL,
    max_tokens: 512,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', cache_control: mark }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: mark }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1_0', name: 'agent_-dot-spawn', input: { a: 1 } }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_1_0',
            content: [{ type: 'text', text: 'ok' }],
            cache_control: mark,
          },
        ],
      },
    ],
    tools: [
      {
        name: 'agent_-dot-spawn',
        description: 'Starts an agent.',
        input_schema: { type: 'object' },
        cache_control: mark,
      },
    ],
    tool_choice: { type: 'auto' },
  })
  expect(encode(request, { cache: '1h' }).tools?.[0]).toMatchObject({ cache_control: { type: 'ephemeral', ttl: '1h' } })
})

test('marks of the user’s own take the place of the history’s: four are the most', () => {
  const request = {
    instructions: 'Be brief.',
    messages: [user('a'), assistant(call('call_1_0')), results('call_1_0')],
    tools: [spawn],
  }
  const mark = { cache_control: { type: 'ephemeral' } }
  const provider = { anthropic: { metadata: mark } }
  const listMarked = (own: Partial<ModelRequest['settings']>, serverTools: readonly JsonObject[] = []) =>
    encode({ ...request, settings: own }, { cache: '5m', serverTools }).messages.map(
      ({ content }) => content.filter(({ cache_control: marked }) => marked !== undefined).length,
    )
  expect(listMarked({})).toEqual([1, 0, 1])
  expect(listMarked({ provider })).toEqual([0, 0, 1])
  expect(listMarked({ provider }, [{ type: 'x', ...mark }])).toEqual([0, 0, 0])
})

describe('tool_choice', () => {
  test.each<[string, Partial<ModelRequest>, unknown]>([
    ['auto', { toolChoice: { type: 'auto' } }, { type: 'auto' }],
    ['any', { toolChoice: { type: 'any' } }, { type: 'any' }],
    ['none', { toolChoice: { type: 'none' } }, { type: 'none' }],
    ['one tool', { toolChoice: { type: 'tool', name: 'agent.spawn' } }, { type: 'tool', name: 'agent_-dot-spawn' }],
    ['one call at most', { settings: { parallelCalls: false } }, { type: 'auto', disable_parallel_tool_use: true }],
    ['thinking forbids force', { toolChoice: { type: 'any' }, settings: { reasoningTokens: 2000 } }, { type: 'auto' }],
    ['thinking allows none', { toolChoice: { type: 'none' }, settings: { reasoningTokens: 2000 } }, { type: 'none' }],
  ])('%s', (_name, request, expected) => {
    expect(encode({ tools: [spawn], ...request }).tool_choice).toEqual(expected)
  })

  test('without tools there is none', () => {
    expect(encode({ toolChoice: { type: 'any' } })).not.toHaveProperty('tool_choice')
  })

  test('a tool that is not there', () => {
    expect(() => encode({ tools: [spawn], toolChoice: { type: 'tool', name: 'x' } })).toThrow('"x"')
  })
})

describe('thinking', () => {
  const settings = { reasoningTokens: 2000, maxOutputTokens: 700, temperature: 0.5 }

  test('the budget comes on top of the answer, and the temperature goes', () => {
    const body = encode({ settings })
    expect([body.max_tokens, body.thinking, body.temperature]).toEqual([
      2700,
      { type: 'enabled', budget_tokens: 2000 },
      undefined,
    ])
  })

  test('the least budget, and models that set their own', () => {
    expect(encode({ settings: { reasoningTokens: 1 } }).thinking).toEqual({ type: 'enabled', budget_tokens: 1024 })
    const model = 'claude-opus-4-8'
    expect(encode({ settings }, { model }).thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(encode({ settings }, { model, thinkingMismatch: 'drop' }).thinking).toEqual({
      type: 'adaptive',
      display: 'summarized',
      block_binding: { prefix_mismatch_behavior: 'drop_block' },
    })
  })

  test('signed thinking goes back unchanged to its model family, and to no other', () => {
    const messages = (part: AssistantPart) => [user('a'), assistant(part, { type: 'text', text: 'x' }), user('b')]
    const replayed = (part: AssistantPart) => encode({ settings, messages: messages(part) }).messages[1]?.content[0]
    expect(replayed(thought('claude-haiku-4-5-20251001'))).toEqual({
      type: 'thinking',
      thinking: 'hm',
      signature: 'sig',
    })
    expect(replayed(thought('claude-sonnet-4-5'))).toEqual({ type: 'text', text: 'x' })
    expect(replayed(thought(MODEL, 'bedrock'))).toEqual({ type: 'text', text: 'x' })
    expect(replayed({ type: 'reasoning', text: 'unsigned' })).toEqual({ type: 'text', text: 'x' })
  })

  test('without thinking, signed thinking stays behind', () => {
    const messages = [user('a'), assistant(thought(MODEL), call('c')), results('c')]
    const types = (request: Partial<ModelRequest>) =>
      encode({ ...request, messages }).messages[1]?.content.map((block) => block.type)
    expect([types({ settings }), types({})]).toEqual([['thinking', 'tool_use'], ['tool_use']])
  })

  test('an open turn that did not begin with thinking goes on without', () => {
    const open = (...parts: AssistantPart[]) =>
      encode({ settings, tools: [spawn], messages: [user('a'), assistant(...parts), results('c')] })
    expect(open(call('c')).thinking).toBeUndefined()
    expect(open(thought(MODEL), call('c')).thinking).toBeDefined()
    expect(open(thought(MODEL, 'google'), call('c')).thinking).toBeUndefined()
  })

  test('an answer that was stopped while thinking is left out', () => {
    expect(listMessages(user('a'), assistant(thought(MODEL)), user('b'))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })
})

describe('messages', () => {
  test('neighbours are joined, results first', () => {
    const messages = listMessages(
      user('a'),
      assistant(call('c')),
      assistant(call('d')),
      results('c', 'd'),
      user('b'),
      user('e'),
    )
    expect(messages.map(({ role, content }) => [role, content.map((block) => block.type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool_use', 'tool_use']],
      ['user', ['tool_result', 'tool_result', 'text', 'text']],
    ])
  })

  test('results come first also where something was said before they came', () => {
    const [, , last] = listMessages(user('a'), assistant(call('c')), user('b'), results('c'))
    expect(last?.content.map((block) => block.type)).toEqual(['tool_result', 'text'])
  })

  test('ids: Anthropic’s own, Baton’s for others, legal and different always', () => {
    const ids = listMessages(
      user('a'),
      assistant(
        call('c', { id: 'toolu_1' }),
        call('d', { id: 'x_1' }, 'google'),
        call('e.1'),
        call('e_1'),
        call('call_e_1'),
      ),
      results('c', 'd', 'e.1', 'e_1', 'call_e_1'),
    ).flatMap(({ content }) =>
      content.map((block) => block['id'] ?? block['tool_use_id']).filter((id) => id !== undefined),
    )
    expect(ids.slice(0, 3)).toEqual(['toolu_1', 'd', 'call_e_1'])
    expect(new Set(ids).size).toBe(5)
    expect(ids.slice(5)).toEqual(ids.slice(0, 5))
  })

  test('arguments that are no object become an empty one', () => {
    for (const args of ['', '[1]', '"x"', '{"a":', 'null']) {
      const [, message] = listMessages(
        user('a'),
        assistant({ type: 'call', callId: 'c', name: 'x', arguments: args }),
        results('c'),
      )
      expect(message?.content[0]?.['input']).toEqual({})
    }
  })

  test('images and files', () => {
    const [message] = listMessages({
      role: 'user',
      parts: [
        { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AA==' } },
        { type: 'image', mediaType: 'image/png', source: { type: 'url', url: 'https://a.example/x.png' } },
        { type: 'image', mediaType: 'image/bmp', source: { type: 'base64', data: 'AA==' } },
        { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', source: { type: 'base64', data: 'AA==' } },
        { type: 'file', mediaType: 'text/csv', source: { type: 'base64', data: 'w6Q=' } },
        { type: 'file', mediaType: 'video/mp4', name: 'v', source: { type: 'url', url: 'https://a.example/v' } },
      ],
    })
    expect(message?.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
      { type: 'image', source: { type: 'url', url: 'https://a.example/x.png' } },
      { type: 'text', text: '[Not shown, because this model cannot read it: image of type image/bmp]' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä' } },
      { type: 'text', text: '[Not shown, because this model cannot read it: file v of type video/mp4]' },
    ])
  })

  test('results: empty, and failed without words', () => {
    const failed = (isError: boolean): Message => ({
      role: 'tool',
      parts: [{ type: 'result', callId: 'c', name: 'x', isError, content: [] }],
    })
    const encoded = (isError: boolean) => listMessages(user('a'), assistant(call('c')), failed(isError))[2]?.content[0]
    expect(encoded(false)).toEqual({ type: 'tool_result', tool_use_id: 'c' })
    expect(encoded(true)).toEqual({
      type: 'tool_result',
      tool_use_id: 'c',
      content: [{ type: 'text', text: 'error' }],
      is_error: true,
    })
  })

  test('an image in a failed result is named, for it may not be sent', () => {
    const image: ContentPart = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AA==' } }
    const failed: Message = {
      role: 'tool',
      parts: [{ type: 'result', callId: 'c', name: 'x', isError: true, content: [image] }],
    }
    expect(listMessages(user('a'), assistant(call('c')), failed)[2]?.content[0]).toMatchObject({
      content: [{ type: 'text', text: '[Not shown, because this model cannot read it: image in a failed call]' }],
    })
  })

  test('provider blocks: known ones of this provider go back, others do not', () => {
    const block = (provider: string, type: string): AssistantPart => ({
      type: 'provider',
      state: { provider, model: MODEL, data: { block: { type, id: 'srvtoolu_1' } } },
    })
    const content = listMessages(
      user('a'),
      assistant(
        block('anthropic', 'server_tool_use'),
        block('anthropic', 'fallback'),
        block('google', 'server_tool_use'),
      ),
    )[1]?.content
    expect(content).toEqual([{ type: 'server_tool_use', id: 'srvtoolu_1' }])
  })

  test('a history that begins with the assistant, and one that ends with it', () => {
    const messages = listMessages(assistant({ type: 'text', text: 'Hello! ' }))
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'Hello!' }])
  })

  test('calls in the history of an agent without tools', () => {
    const body = encode({ messages: [user('a'), assistant(call('c')), results('c')] })
    expect(body.tools).toMatchObject([{ name: 'agent_-dot-spawn' }])
    expect(body.tool_choice).toEqual({ type: 'none' })
  })
})

describe('calls of Anthropic’s own tools', () => {
  const own = (block: JsonObject, more: JsonObject = {}): AssistantPart => ({
    type: 'provider',
    state: { provider: 'anthropic', model: MODEL, data: { block, ...more } },
  })
  const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }
  const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [] }
  const ran = { type: 'code_execution_tool_result', tool_use_id: 's1', content: {} }
  const code = { ...search, name: 'code_execution' }
  const container: AssistantPart = {
    type: 'provider',
    state: { provider: 'anthropic', model: MODEL, data: { container: { id: 'container_1', expires_at: 'x' } } },
  }
  const fromCode: AssistantPart = {
    type: 'call',
    callId: 'c',
    name: 'agent.spawn',
    arguments: '{}',
    state: {
      provider: 'anthropic',
      model: MODEL,
      data: { id: 'c', caller: { type: 'code_execution_20250825', tool_id: 's1' } },
    },
  }
  const said: AssistantPart = { type: 'text', text: 'well' }
  const send = (...messages: Message[]) => {
    const body = encode({ messages: [user('a'), ...messages] })
    expect(validateAnthropicRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
    return {
      types: body.messages.map(({ content }) => content.map(({ type }) => type)),
      container: body.container,
      caller: body.messages.flatMap(({ content }) => content).find(({ type }) => type === 'tool_use')?.['caller'],
    }
  }

  test.each<[string, Message[], string[][]]>([
    ['that was paused', [assistant(said, own(search))], [['text'], ['text', 'server_tool_use']]],
    ['that a limit cut off', [assistant(said, own(search, { cut: true })), user('b')], [['text'], ['text'], ['text']]],
    ['that never got its result', [assistant(own(search)), user('b')], [['text', 'text']]],
    ['in the middle', [assistant(own(search), said)], [['text'], ['text']]],
    [
      'that had its result',
      [assistant(own(search), own(found), said), user('b')],
      [['text'], ['server_tool_use', 'web_search_tool_result', 'text'], ['text']],
    ],
    [
      'that went on after a pause',
      [assistant(own(search)), assistant(own(found), said), user('b')],
      [['text'], ['server_tool_use', 'web_search_tool_result', 'text'], ['text']],
    ],
    ['whose call has left the window', [assistant(own(found), said), user('b')], [['text'], ['text'], ['text']]],
    [
      'that waits for a tool of ours',
      [assistant(own(search), call('c')), results('c')],
      [['text'], ['server_tool_use', 'tool_use'], ['tool_result']],
    ],
    [
      'that a user did not wait for',
      [assistant(own(search), call('c')), results('c'), user('b'), assistant(own(found), said), user('d')],
      [['text'], ['tool_use'], ['tool_result', 'text'], ['text'], ['text']],
    ],
  ])('%s', (_name, messages, types) => expect(send(...messages).types).toEqual(types))

  test('code that called a tool of ours goes on in its container, and its result comes later', () => {
    const pending = [assistant(own(code), fromCode, container), results('c')]
    const asked = {
      types: [['text'], ['server_tool_use', 'tool_use'], ['tool_result']],
      container: 'container_1',
      caller: { type: 'code_execution_20250825', tool_id: 's1' },
    }
    expect(send(...pending)).toEqual(asked)
    const later = send(...pending, assistant(own(ran), said), user('b'))
    expect([later.container, later.caller]).toEqual([asked.container, asked.caller])
  })

  test('code whose container was never told is given up, and its call is the model’s own', () => {
    expect(send(assistant(own(code), fromCode), results('c'))).toEqual({
      types: [['text'], ['tool_use'], ['tool_result']],
      container: undefined,
      caller: undefined,
    })
  })

  test('the newest container, joined with what the user asks of it, while such tools are used', () => {
    const messages = [user('a'), assistant(said, container), user('b')]
    expect(encode({ messages })).not.toHaveProperty('container')
    const serverTools = [{ type: 'code_execution_20250825', name: 'code_execution' }]
    expect(encode({ messages }, { serverTools }).container).toBe('container_1')
    const settings = { provider: { anthropic: { container: { skills: [] } } } }
    expect(encode({ messages, settings }, { serverTools }).container).toEqual({ id: 'container_1', skills: [] })
  })
})

test('Anthropic’s own tools stand before ours', () => {
  const body = encode({ tools: [spawn] }, { serverTools: [{ type: 'web_search_20250305', name: 'web_search' }] })
  expect(body.tools).toMatchObject([{ name: 'web_search' }, { name: 'agent_-dot-spawn' }])
})

test('thoughts of an answer whose past has changed stay at home', () => {
  const answered: AssistantPart[] = [thought(MODEL), { type: 'text', text: 'A' }]
  const settings = { reasoningTokens: 2000 }
  const kinds = (rebased: boolean) => {
    const answer = rebased
      ? { role: 'assistant' as const, parts: answered, rebased: true as const }
      : assistant(...answered)
    return encode({ settings, messages: [user('a'), answer, user('b')] }).messages[1]?.content.map(({ type }) => type)
  }
  expect(kinds(false)).toEqual(['thinking', 'text'])
  expect(kinds(true)).toEqual(['text'])
})

test('an answer kept to a schema, with limits in words; what may be left out is left out', () => {
  const properties = { valid: { type: 'boolean' }, note: { type: 'string', minLength: 1 } }
  const schema = { type: 'object', properties, required: ['valid'] }
  const body = encode({ output: { name: 'my.judge', schema } })
  expect(body.output_config?.format).toEqual({
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: {
        valid: { type: 'boolean' },
        note: { type: 'string', description: '(minLength: 1)' },
      },
      required: ['valid'],
      additionalProperties: false,
    },
  })
  expect(validateAnthropicRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
})

test('a schema that Anthropic would refuse at its root is folded into one object', () => {
  const inputSchema = { oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'number' } } }] }
  const body = encode({ tools: [{ ...spawn, inputSchema }] })
  expect(body.tools).toMatchObject([{ input_schema: { type: 'object', properties: { a: {}, b: {} } } }])
  expect(validateAnthropicRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
})

test('a typed answer with a map of any keys is asked for in words, because the strict dialect would forbid them', () => {
  const map = { type: 'object', additionalProperties: { type: 'number' } }
  const asked = (schema: JsonObject) =>
    encodeAnthropicRequest(
      {
        instructions: 'Be brief.',
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'count' }] }],
        tools: [],
        toolChoice: { type: 'auto' },
        settings: {},
        session: 's',
        output: { name: 'counts', schema },
      },
      { model: 'claude-haiku-4-5' },
    )
  const inWords = asked({ type: 'object', properties: { counts: map }, required: ['counts'] })
  expect(inWords.output_config).toBeUndefined()
  expect(JSON.stringify(inWords.system)).toMatch(/Be brief\..*JSON Schema.*additionalProperties/)
  expect(asked({ type: 'object', properties: { n: { type: 'number' } } }).output_config).toBeDefined()
  // A property whose name the dialect does not support cannot be sent either.
  expect(asked({ type: 'object', properties: { 'first name': { type: 'string' } } }).output_config).toBeUndefined()
})

describe('current models', () => {
  test('an answer to go on with is asked for in words where it cannot be begun', () => {
    const messages = [user('a'), assistant({ type: 'text', text: 'Well, ' })]
    const last = (model: string) => encode({ messages }, { model }).messages.at(-1)
    expect(last('claude-haiku-4-5')?.role).toBe('assistant')
    expect(last('claude-opus-5')).toEqual({ role: 'user', content: [{ type: 'text', text: '(Go on.)' }] })
  })

  test('a model that refuses to be forced is asked in words, and none is where it may choose', () => {
    const forced = encode({ tools: [spawn], toolChoice: { type: 'any' } }, { model: 'claude-opus-5-5' })
    expect([forced.tool_choice, forced.system]).toEqual([
      { type: 'auto' },
      [{ type: 'text', text: 'Answer this with a call of one of your tools.' }],
    ])
    expect(encode({ tools: [spawn] }, { model: 'claude-opus-5-5' })).not.toHaveProperty('system')
  })

  test('thoughts that came unasked go back with their calls', () => {
    const model = 'claude-opus-5-5'
    const messages = [user('a'), assistant(thought(model), call('c1')), results('c1')]
    expect(encode({ messages, tools: [spawn] }, { model }).messages[1]?.content[0]).toEqual({
      type: 'thinking',
      thinking: 'hm',
      signature: 'sig',
    })
  })

  test('a turn that began without thoughts goes on, for adaptive thinking asks for none', () => {
    const messages = [user('a'), assistant(call('c1')), results('c1')]
    const body = encode({ messages, tools: [spawn], settings: { effort: 'high' } }, { model: 'claude-opus-5' })
    expect([body.thinking, body.output_config]).toEqual([
      { type: 'adaptive', display: 'summarized' },
      { effort: 'high' },
    ])
  })

  test('strict tools, as far as the dialect can say them', () => {
    const inputSchema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const
    const map = { type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'string' } } } }
    const tools = [
      { name: 'fine', description: '', inputSchema },
      { name: 'map', description: '', inputSchema: map },
    ]
    const strict = (model: string) =>
      encode({ tools, settings: { strictTools: true } }, { model }).tools?.map((tool) => 'strict' in tool)
    expect([strict('claude-opus-5'), strict('claude-sonnet-4-0')]).toEqual([
      [true, false],
      [false, false],
    ])
  })

  test('settings, and fields of the provider’s own', () => {
    const provider = { anthropic: { metadata: { user_id: 'u' } }, openai: { user: 'u' } }
    const settings = { topP: 0.5, stop: ['END'], serviceTier: 'standard_only', provider }
    expect(encode({ settings })).toMatchObject({
      top_p: 0.5,
      stop_sequences: ['END'],
      service_tier: 'standard_only',
      metadata: { user_id: 'u' },
    })
    const marked = encode({ instructions: 'x', settings: { cache: 'off' } }, { cache: '1h' })
    expect(JSON.stringify(marked)).not.toContain('cache_control')
  })
})
