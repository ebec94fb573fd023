// Requests: each server rule, shown by a request that would be rejected without it.
import type {
  AssistantPart,
  JsonObject,
  Message,
  ModelRequest,
  ProviderState,
  ToolDeclaration,
} from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { validateOpenAiChatRequest } from '@baton/testing/wires'
import { describe, expect, test } from 'vitest'
import { PRESETS } from '../presets.ts'
import { encodeOpenAiChatRequest } from './encode-request.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { COMPATIBLE_QUIRKS, OPENAI_QUIRKS } from './quirks.ts'

const spawn: ToolDeclaration = { name: 'agent.spawn', description: 'Starts', inputSchema: { type: 'object' } }
const list: ToolDeclaration = { name: 'list', description: '', inputSchema: { type: 'object' } }
const base: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's1',
}
const findQuirks = (preset: string): OpenAiChatQuirks => PRESETS[preset]?.quirks ?? OPENAI_QUIRKS
const encode = (more: Partial<ModelRequest>, quirks = OPENAI_QUIRKS, model = 'gpt-4.1') =>
  encodeOpenAiChatRequest(
    { ...base, ...more, settings: { maxOutputTokens: 512, ...more.settings } },
    { model, provider: 'p', quirks },
  )
const state = (data: JsonObject, model = 'gpt-4.1', provider = 'p'): ProviderState => ({ provider, model, data })
const call = (callId: string, more: Partial<AssistantPart> = {}) =>
  ({ type: 'call', callId, name: 'agent.spawn', arguments: '{"x":1}', ...more }) as AssistantPart
const result = (callId: string, text = 'ok', isError = false) =>
  ({ type: 'result', callId, name: 'agent.spawn', isError, content: [{ type: 'text', text }] }) as const

/** A user message, calls, their results, and what follows. */
function history(parts: readonly AssistantPart[], ...behind: readonly Message[]): readonly Message[] {
  const ids = parts.flatMap((part) => (part.type === 'call' ? [part.callId] : []))
  return [
    ...base.messages,
    { role: 'assistant', parts },
    ...(ids.length > 0 ? [{ role: 'tool' as const, parts: ids.map((id) => result(id)) }] : []),
    ...behind,
  ]
}

test('a whole request', () => {
  const messages = history([
    { type: 'text', text: 'One moment.' },
    call('call_1_0', { state: state({ id: 'call_own' }) }),
    call('call_1_1', { arguments: '{"cut' }),
  ])
  expect(encode({ messages, tools: [spawn], settings: { temperature: 0.5, parallelCalls: false } })).toEqual({
    model: 'gpt-4.1',
    stream: true,
    stream_options: { include_usage: true },
    prompt_cache_key: 's1',
    max_completion_tokens: 512,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: 'One moment.',
        tool_calls: [
          { id: 'call_own', type: 'function', function: { name: 'agent_-dot-spawn', arguments: '{"x":1}' } },
          { id: 'call_1_1', type: 'function', function: { name: 'agent_-dot-spawn', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_own', content: 'ok' },
      { role: 'tool', tool_call_id: 'call_1_1', content: 'ok' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'agent_-dot-spawn', description: 'Starts', parameters: { type: 'object', properties: {} } },
      },
    ],
    parallel_tool_calls: false,
    temperature: 0.5,
  })
})

describe('which tools may be called', () => {
  const choose = (toolChoice: ModelRequest['toolChoice'], preset: string) => {
    const { tools = [], tool_choice } = encode({ tools: [spawn, list], toolChoice }, findQuirks(preset))
    return [tools.map((tool) => tool.function.name), tool_choice]
  }
  const both = ['agent_-dot-spawn', 'list']
  const named = { type: 'function', function: { name: 'list' } }
  test.each<[ModelRequest['toolChoice'], string, unknown]>([
    [{ type: 'auto' }, 'openai', [both, undefined]],
    [{ type: 'any' }, 'openai', [both, 'required']],
    [{ type: 'none' }, 'openai', [both, 'none']],
    [{ type: 'tool', name: 'list' }, 'openai', [both, named]],
    [{ type: 'tool', name: 'list' }, 'lmstudio', [['list'], 'required']],
    [{ type: 'none' }, 'lmstudio', [both, 'none']],
    [{ type: 'none' }, 'ollama', [[], undefined]],
    [{ type: 'any' }, 'ollama', [both, undefined]],
    [{ type: 'tool', name: 'list' }, 'ollama', [['list'], undefined]],
  ])('%j for %s', (choice, preset, expected) => {
    expect(choose(choice, preset)).toEqual(expected)
  })

  test('DeepSeek takes no choice while it thinks', () => {
    const choose = (toolChoice: ModelRequest['toolChoice'], model: string) => {
      const settings = { reasoningTokens: 1000 }
      const body = encode({ tools: [spawn, list], toolChoice, settings }, findQuirks('deepseek'), model)
      return [body.tools?.length ?? 0, body.tool_choice, body.thinking?.type]
    }
    expect(choose({ type: 'auto' }, 'deepseek-v4-pro')).toEqual([2, undefined, 'enabled'])
    expect(choose({ type: 'none' }, 'deepseek-v4-pro')).toEqual([0, undefined, 'enabled'])
    expect(choose({ type: 'any' }, 'deepseek-v4-pro')).toEqual([2, 'required', 'disabled'])
    expect(choose({ type: 'tool', name: 'list' }, 'deepseek-reasoner')).toEqual([2, named, 'disabled'])
    expect(choose({ type: 'none' }, 'deepseek-chat')).toEqual([2, 'none', undefined])
  })

  test('without tools there is nothing to choose', () => {
    const body = encode({ toolChoice: { type: 'none' }, settings: { parallelCalls: false } })
    expect([body.tools, body.tool_choice, body.parallel_tool_calls]).toEqual([undefined, undefined, undefined])
  })

  test('a tool that is not there', () => {
    const thrown = (() => {
      try {
        return encode({ tools: [list], toolChoice: { type: 'tool', name: 'other' } })
      } catch (error) {
        return error
      }
    })()
    expect(isBatonError(thrown) && [thrown.code, thrown.message]).toEqual([
      'model_invalid_request',
      'toolChoice names "other", which is not among the request’s tools',
    ])
  })
})

describe('reasoning', () => {
  const asked = (model: string, preset: string, reasoningTokens: number, hasTools = false) => {
    const body = encode(
      { settings: { reasoningTokens, temperature: 0.2 }, tools: hasTools ? [spawn] : [] },
      findQuirks(preset),
      model,
    )
    const { reasoning_effort, reasoning, thinking, temperature, max_tokens, max_completion_tokens } = body
    return [reasoning_effort ?? reasoning ?? thinking, temperature, max_tokens ?? max_completion_tokens]
  }
  test.each<[string, string, number, boolean, unknown]>([
    ['gpt-4.1', 'openai', 5000, false, [undefined, 0.2, 512]],
    ['gpt-5-mini', 'openai', 0, true, ['minimal', undefined, 2560]],
    ['gpt-5-mini', 'openai', 5000, true, ['medium', undefined, 16_896]],
    ['gpt-5.1', 'openai', 0, false, ['none', 0.2, 512]],
    // "Function tools with reasoning_effort are not supported for gpt-5.6-terra … or set reasoning_effort to 'none'."
    ['gpt-5.6-terra', 'openai', 5000, true, ['none', 0.2, 512]],
    ['gpt-5.6-terra', 'openai', 20_000, false, ['high', undefined, 33_280]],
    ['gpt-5.3-codex', 'openai', 0, true, ['low', undefined, 8704]],
    ['gpt-5.2-chat-latest', 'openai', 0, true, [undefined, 0.2, 512]],
    ['o4-mini', 'openai', 0, false, ['low', undefined, 8704]],
    ['qwen3', 'ollama', 0, false, [undefined, 0.2, 8704]],
    ['qwen3', 'ollama', 1000, false, ['low', 0.2, 8704]],
    ['claude-haiku-4-5', 'openai-compatible', 2000, false, ['low', undefined, 2512]],
    ['gemini-2.5-flash', 'openai-compatible', 5000, false, ['medium', 0.2, 5512]],
    ['gemini-2.5-flash', 'openai-compatible', 0, false, [undefined, 0.2, 512]],
    ['deepseek-v4-pro', 'openai-compatible', 1000, false, [undefined, 0.2, 8704]],
    ['openai/gpt-oss-120b', 'groq', 1000, false, ['low', 0.2, 8704]],
    ['llama-3.3', 'groq', 1000, false, [undefined, 0.2, 512]],
    ['qwen/qwen3-32b', 'groq', 0, false, ['none', 0.2, 512]],
    ['qwen/qwen3-32b', 'groq', 1000, false, ['default', 0.2, 8704]],
    ['anthropic/claude-haiku-4.5', 'openrouter', 2000, false, [{ max_tokens: 2000 }, undefined, 2512]],
    ['anthropic/claude-opus-5', 'openrouter', 0, false, [{ enabled: false }, undefined, 512]],
    ['anthropic/claude-sonnet-5.5', 'openrouter', 0, false, [{ effort: 'low' }, undefined, 8704]],
    ['openai/gpt-5.6-sol', 'openrouter', 0, true, [{ effort: 'none' }, 0.2, 512]],
    ['meta-llama/llama-4', 'openrouter', 0, false, [undefined, 0.2, 512]],
    ['deepseek-v4-pro', 'deepseek', 1000, false, [{ type: 'enabled' }, 0.2, 8704]],
    ['deepseek-v4-pro', 'deepseek', 0, false, [{ type: 'disabled' }, 0.2, 512]],
    ['deepseek-chat', 'deepseek', 0, false, [undefined, 0.2, 512]],
    ['mistral-small', 'mistral', 1000, false, [undefined, 0.2, 512]],
  ])('%s of %s with %d tokens, tools: %s', (...[model, preset, tokens, hasTools, expected]) => {
    expect(asked(model, preset, tokens, hasTools)).toEqual(expected)
  })

  const thought = (data: JsonObject, model = 'gpt-4.1', provider = 'p'): AssistantPart => ({
    type: 'reasoning',
    text: 'hm',
    state: state(data, model, provider),
  })
  const findBack = (part: AssistantPart, preset: string, rebased = false) => {
    const messages = history([part, call('c')]).map((message) =>
      message.role === 'assistant' && rebased ? { ...message, rebased: true as const } : message,
    )
    const sent = encode({ messages }, findQuirks(preset)).messages.find((message) => message.role === 'assistant')
    const { role: _role, content: _content, tool_calls: _calls, ...back } = sent ?? { role: 'assistant', content: '' }
    return back
  }
  const details = [{ type: 'reasoning.text', text: 'hm', signature: 'sig' }]
  const blocks = [{ type: 'thinking', thinking: 'hm', signature: 'sig' }]
  test.each<[string, AssistantPart, string, JsonObject]>([
    ['as it came', thought({ field: 'reasoning' }), 'ollama', { reasoning: 'hm' }],
    ['as it came, under the other name', thought({ field: 'reasoning_content' }), 'vllm', { reasoning_content: 'hm' }],
    ['of another model', thought({ field: 'reasoning' }, 'other'), 'ollama', {}],
    ['of another provider', thought({ field: 'reasoning' }, 'gpt-4.1', 'groq'), 'ollama', {}],
    ['where it is refused', thought({ field: 'reasoning' }), 'groq', {}],
    ['where the field must be there', { type: 'text', text: 'x' }, 'deepseek', { reasoning_content: '' }],
    [
      'with signatures',
      thought({ field: 'reasoning', reasoning_details: details }),
      'openrouter',
      { reasoning_details: details },
    ],
    [
      'with Claude’s signatures',
      thought({ field: 'reasoning_content', thinking_blocks: blocks }),
      'openai-compatible',
      { reasoning_content: 'hm', thinking_blocks: blocks },
    ],
    ['redacted', thought({ thinking_blocks: blocks }), 'openai-compatible', { thinking_blocks: blocks }],
  ])('goes back: %s', (_situation, part, preset, expected) => {
    expect(findBack(part, preset)).toEqual(expected)
  })

  test('signatures of a message whose past has changed stay at home', () => {
    expect(findBack(thought({ reasoning_details: details }), 'openrouter', true)).toEqual({})
    expect(findBack(thought({ thinking_blocks: blocks }), 'openai-compatible', true)).toEqual({})
  })

  test('what Gemini’s endpoint, or LiteLLM’s proxy before it, puts beside a call goes back with it', () => {
    const extra = { google: { thought_signature: 'sig' } }
    const signed = { extra_content: extra, provider_specific_fields: { thought_signature: 'sig' } }
    const messages = history([call('c', { state: state({ ...signed, id: 'c', other: {} }) })])
    const sent = encode({ messages }, COMPATIBLE_QUIRKS).messages[2]
    expect(sent).toMatchObject({ tool_calls: [signed] })
    expect(JSON.stringify(sent)).not.toContain('other')
    expect(JSON.stringify(encode({ messages }, OPENAI_QUIRKS))).not.toContain('thought_signature')
  })
})

describe('ids of calls', () => {
  const listIds = (parts: readonly AssistantPart[], quirks: OpenAiChatQuirks) => {
    const { messages } = encode({ messages: history(parts) }, quirks)
    const asked = messages.flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : []))
    const answered = messages.flatMap((message) => (message.role === 'tool' ? [message.tool_call_id] : []))
    expect(answered).toEqual(asked.map(({ id }) => id))
    return answered
  }
  test('of another server, of Baton, too long, and twice: each legal and used once', () => {
    const parts = [
      call('call_1', { state: state({ id: 'x'.repeat(391) }) }),
      call('call_2', { state: state({ id: 'same' }) }),
      call('call_3', { state: state({ id: 'same' }) }),
      call('call_4', { state: state({ id: '' }) }),
      call('call_5', { state: state({ id: 'toolu_1' }, 'm', 'anthropic') }),
    ]
    const ids = listIds(parts, OPENAI_QUIRKS)
    expect([ids[1], ids[3], ids[4]]).toEqual(['same', 'call_4', 'call_5'])
    expect(new Set(ids).size).toBe(5)
    expect(ids.every((id) => /^[\w-]{1,40}$/.test(id))).toBe(true)
    const short = listIds(parts, findQuirks('mistral'))
    expect(new Set(short).size).toBe(5)
    expect(short.every((id) => /^[a-zA-Z0-9]{9}$/.test(id))).toBe(true)
    expect(listIds(parts, findQuirks('mistral'))).toEqual(short)
  })

  test('Mistral’s own ids stay', () => {
    expect(listIds([call('call_1', { state: state({ id: 'g6fVbXS8K' }) })], findQuirks('mistral'))).toEqual([
      'g6fVbXS8K',
    ])
  })
})

describe('messages', () => {
  const listRoles = (messages: readonly Message[], quirks: OpenAiChatQuirks = OPENAI_QUIRKS) =>
    encode({ messages, instructions: '' }, quirks).messages.map(({ role }) => role)
  const user: Message = { role: 'user', parts: [{ type: 'text', text: 'and?' }] }

  test('users that follow each other are one', () => {
    const { messages } = encode({ messages: [...base.messages, user], instructions: '' })
    expect(messages).toEqual([{ role: 'user', content: 'hi\n\nand?' }])
  })

  test('a history that begins with an answer, and one that is empty, begin with a user', () => {
    expect(listRoles([{ role: 'assistant', parts: [{ type: 'text', text: 'x' }] }])).toEqual(['user', 'assistant'])
    expect(listRoles([])).toEqual(['user'])
  })

  test('a user behind results: Mistral wants an answer between them', () => {
    const messages = history([call('c')], user)
    expect(listRoles(messages)).toEqual(['user', 'assistant', 'tool', 'user'])
    expect(listRoles(messages, findQuirks('mistral'))).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
  })

  test('an answer at the end: Mistral is told to go on from it', () => {
    const messages = history([{ type: 'text', text: 'x' }])
    expect(encode({ messages }, findQuirks('mistral')).messages.at(-1)).toMatchObject({
      role: 'assistant',
      prefix: true,
    })
    expect(encode({ messages }).messages.at(-1)).toEqual({ role: 'assistant', content: 'x' })
  })

  test('images, files and failures', () => {
    const png = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AA==' } } as const
    const pdf = {
      type: 'file',
      mediaType: 'application/pdf',
      name: 'a.pdf',
      source: { type: 'base64', data: 'AA==' },
    } as const
    const note = {
      type: 'file',
      mediaType: 'text/plain',
      name: 'n.txt',
      source: { type: 'base64', data: 'aGk=' },
    } as const
    const messages: readonly Message[] = [
      { role: 'user', parts: [png, pdf, note] },
      { role: 'assistant', parts: [call('c'), call('d'), call('e')] },
      {
        role: 'tool',
        parts: [
          { ...result('c', 'seen'), content: [{ type: 'text', text: 'seen' }, png] },
          result('d', 'no', true),
          result('e', ''),
        ],
      },
    ]
    const sent = encode({ messages, instructions: '' }).messages
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
    expect(sent[0]?.content).toEqual([
      image,
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'text', text: 'n.txt:\nhi' },
    ])
    expect(sent.slice(2).map(({ content }) => content)).toEqual([
      'seen\n\n[The 1 file(s) of this result are in the next user message.]',
      'Error: no',
      '(no output)',
      [{ type: 'text', text: 'Result of agent_-dot-spawn:' }, image],
    ])
    // DeepSeek accepts only text.
    expect(encode({ messages, instructions: '' }, findQuirks('deepseek')).messages[0]?.content).toBe(
      '[Not shown, because this model cannot read it: image of type image/png]\n\n' +
        '[Not shown, because this model cannot read it: file a.pdf of type application/pdf]\n\nn.txt:\nhi',
    )
  })
})

test('schemas that OpenAI refuses: a union at the root, an array without items', () => {
  const inputSchema = {
    type: 'object',
    properties: { prompt: { type: 'string' }, tags: { type: 'array' }, items: { type: 'object' } },
    required: ['prompt'],
    oneOf: [
      { properties: { repository: { type: 'string' } }, required: ['repository'] },
      { properties: { prompt: { const: 'x' }, pull: { type: 'array' } } },
    ],
  }
  const { tools } = encode({ tools: [{ ...list, inputSchema }] })
  expect(tools?.[0]?.function.parameters).toEqual({
    type: 'object',
    properties: {
      prompt: { type: 'string' },
      tags: { type: 'array', items: {} },
      items: { type: 'object' },
      repository: { type: 'string' },
      pull: { type: 'array', items: {} },
    },
    required: ['prompt'],
  })
})

test('the same history gives the same bytes, and a longer one begins with them', () => {
  const short = JSON.stringify(encode({ messages: history([call('c')]) }).messages)
  const long = JSON.stringify(encode({ messages: history([call('c')], ...base.messages) }).messages)
  expect(long.startsWith(short.slice(0, -1))).toBe(true)
})

test.each([
  ['a schema that strict mode can say', { type: 'object', properties: { a: { type: 'string', minLength: 1 } } }, true],
  ['a map of any keys', { type: 'object', additionalProperties: { type: 'number' } }, false],
])('an answer kept to %s', (_which, schema, strict) => {
  const body = encode({ output: { name: 'my.judge', schema } })
  const kept = body.response_format?.json_schema
  expect(kept).toMatchObject({ name: 'my_-dot-judge', strict })
  expect(kept?.schema['required']).toEqual(strict ? ['a'] : undefined)
  expect(validateOpenAiChatRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
})

describe('settings', () => {
  test('an effort beside tools that Chat Completions refuses is refused here, with where to go', () => {
    const refusal = (model: string, effort: 'high' | 'none') => {
      try {
        return encode({ tools: [spawn], settings: { effort } }, OPENAI_QUIRKS, model).reasoning_effort
      } catch (error) {
        return isBatonError(error) && [error.code, error.hint]
      }
    }
    const hint = (model: string) =>
      `Use the model openai/${model}: the Responses API supports both. Or set the effort to "none".`
    expect(refusal('gpt-5.6-sol', 'high')).toEqual(['model_invalid_request', hint('gpt-5.6-sol')])
    expect(refusal('gpt-6-astra', 'none')).toEqual(['model_invalid_request', hint('gpt-6-astra')])
    expect(refusal('gpt-5.6-sol', 'none')).toBe('none')
    expect(refusal('gpt-5-mini', 'high')).toBe('high')
  })

  test('each goes where the server takes it', () => {
    const settings = { topP: 0.5, stop: ['END'], seed: 7, serviceTier: 'flex', cache: 'off' } as const
    expect(encode({ settings })).toMatchObject({ top_p: 0.5, stop: ['END'], seed: 7, service_tier: 'flex' })
    expect(encode({ settings })).not.toHaveProperty('prompt_cache_key')
    expect(encode({ settings }, findQuirks('mistral'), 'mistral-small')).toMatchObject({ random_seed: 7 })
    expect(encode({ settings }, OPENAI_QUIRKS, 'gpt-5-mini')).not.toHaveProperty('stop')
  })

  test('strict tools, as far as the dialect can say them', () => {
    const fine = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] }
    const map = { type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'string' } } } }
    const tools = [fine, map].map((inputSchema, index) => ({ name: `t${index}`, description: '', inputSchema }))
    const made = encode({ tools, settings: { strictTools: true } }).tools?.map((tool) => tool.function)
    expect(made?.map(({ strict }) => strict)).toEqual([true, undefined])
    expect(made?.[0]?.parameters).toMatchObject({ required: ['a', 'b'], additionalProperties: false })
  })
})
