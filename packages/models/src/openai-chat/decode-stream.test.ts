// Streams of servers that differ from OpenAI's: each situation was seen in recordings or in the issues named here.
import type { JsonObject } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createSseReader } from '../transport/sse.ts'
import { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
import type { Chunk } from './decode.test-kit.ts'
import { CALLED, STOPPED, calls, decode, delta, made, names, readAnswer } from './decode.test-kit.ts'

/** Name and arguments of each call. */
function listCalls(chunks: readonly Chunk[]): readonly (readonly string[])[] {
  return readAnswer(chunks).parts.flatMap((part) => (part.type === 'call' ? [[part.name, part.arguments]] : []))
}

describe('which call a piece belongs to', () => {
  const two = [
    ['a', '{"x":1}'],
    ['b', '{"y":2}'],
  ]
  test.each<[string, readonly Chunk[]]>([
    [
      'numbered, in turns',
      [
        calls({ index: 0, id: '1', ...made('a', '') }, { index: 1, id: '2', ...made('b', '') }),
        calls({ index: 1, ...made(null, '{"y"') }, { index: 0, ...made(null, '{"x"') }),
        calls({ index: 0, ...made(null, ':1}') }, { index: 1, ...made(null, ':2}') }),
      ],
    ],
    [
      'numbered from 1 (litellm, Claude behind a gateway)',
      [calls({ index: 1, id: '1', ...made('a', '{"x":1}') }), calls({ index: 2, id: '2', ...made('b', '{"y":2}') })],
    ],
    [
      'whole, without numbers (Mistral)',
      [calls({ id: '1', ...made('a', '{"x":1}') }, { id: '2', ...made('b', '{"y":2}') })],
    ],
    [
      'in pieces, with the id in each and no number',
      [
        calls({ id: '1', ...made('a', '{"x"') }),
        calls({ id: '1', ...made(null, ':1}') }),
        calls({ id: '2', ...made('b', '{"y"') }),
        calls({ id: '2', ...made('', ':2}') }),
      ],
    ],
    [
      'all numbered 0, each with an id of its own (lmdeploy, InternLM/lmdeploy#3412)',
      [
        calls({ index: 0, id: '1', ...made('a', '') }),
        calls({ index: 0, id: '', ...made(null, '{"x":1}') }),
        calls({ index: 0, id: '2', ...made('b', '') }),
        calls({ index: 0, id: '', ...made(null, '{"y":2}') }),
      ],
    ],
    [
      'whole, all numbered 0, ids empty (Gemini)',
      [calls({ index: 0, id: '', ...made('a', '{"x":1}') }), calls({ index: 0, id: '', ...made('b', '{"y":2}') })],
    ],
    [
      'neither number nor id, the name in each piece',
      [
        calls(made('a', '{"x"')),
        calls(made('a', ':1}')),
        calls(made('a', '')),
        calls(made('b', '{"y"')),
        calls(made('b', ':2}')),
      ],
    ],
    [
      'arguments as an object',
      [calls({ index: 0, id: '1', ...made('a', { x: 1 }) }, { index: 1, id: '2', ...made('b', { y: 2 }) })],
    ],
    [
      'ids, types and names null in all pieces but the first',
      [
        calls({ index: 0, id: '1', type: 'function', ...made('a', '{"x"') }),
        calls({ index: 0, id: null, type: null, ...made(null, ':1}') }),
        calls({ index: 1, id: '2', type: 'function', ...made('b', '{"y":2}') }),
        calls({ index: 1, id: null, type: null, ...made(null, null) }),
      ],
    ],
    [
      'the name behind its arguments',
      [
        calls({ index: 0, id: '1', ...made(null, '{"x"') }),
        calls({ index: 0, ...made('a', ':1}') }),
        calls({ index: 1, id: '2', ...made('b', '{"y":2}') }),
      ],
    ],
    [
      'the same id for two calls',
      [calls({ index: 0, id: '1', ...made('a', '{"x":1}') }, { index: 1, id: '1', ...made('b', '{"y":2}') })],
    ],
  ])('%s', (_situation, chunks) => {
    expect(listCalls([...chunks, CALLED])).toEqual(two)
    expect(listCalls([delta({ tool_calls: [] }), ...chunks, delta({ tool_calls: [] }), STOPPED])).toEqual(two)
  })

  test('two calls of one tool, whole, without numbers and ids', () => {
    const piece = calls(made('a', '{"x":"}"}'))
    expect(listCalls([piece, piece, CALLED])).toEqual([
      ['a', '{"x":"}"}'],
      ['a', '{"x":"}"}'],
    ])
  })

  test('an empty text and a reason for calls say that there are no arguments', () => {
    const call = calls({ index: 0, id: '1', ...made('a', '') })
    expect(listCalls([call, CALLED])).toEqual([['a', '{}']])
    expect(listCalls([call, CALLED, '[DONE]'])).toEqual([['a', '{}']])
    expect(
      listCalls([delta({ tool_calls: [{ index: 0, id: '1', ...made('a', '') }] }, 'tool_calls'), '[DONE]']),
    ).toEqual([['a', '{}']])
  })

  test.each<[string, readonly Chunk[]]>([
    ['the server says nothing of them', [calls({ index: 0, id: '1', function: { name: 'a' } }), CALLED, '[DONE]']],
    ['the answer did not end for calls', [calls({ index: 0, id: '1', ...made('a', '') }), STOPPED, '[DONE]']],
    [
      'it ended with the piece that began the call',
      [delta({ tool_calls: [{ index: 0, ...made('a', '') }] }, 'tool_calls')],
    ],
    [
      'arguments arrived that belong to no call',
      [
        calls({ index: 0, id: '1', ...made('a', '') }, { index: 1, id: '2', ...made('a', '') }),
        calls({ index: 7, ...made(null, '{"x":1}') }),
        CALLED,
        '[DONE]',
      ],
    ],
  ])('arguments that never came are not none: %s', (_situation, chunks) => {
    const named = listCalls(chunks).filter(([name]) => name !== '')
    expect([...new Set(named.map(([, text]) => text))]).toEqual([''])
  })

  test('a call in the words of before 2024', () => {
    const chunks = [
      delta({ function_call: { name: 'a', arguments: '{"x"' } }),
      delta({ function_call: { arguments: ':1}' } }),
    ]
    expect(listCalls([...chunks, delta({}, 'function_call')])).toEqual([['a', '{"x":1}']])
  })

  test('a place for a call with nothing in it is no call', () => {
    for (const nothing of [{ function_call: {} }, { function_call: { name: '', arguments: '' } }, { tool_calls: [{}] }])
      expect(readAnswer([delta({ content: 'x', ...nothing }), STOPPED])).toMatchObject({
        finish: 'end',
        parts: [{ type: 'text', text: 'x' }],
      })
  })

  test('what is told while it arrives', () => {
    const { events } = decode([
      calls({ index: 0, id: '1', ...made(null, '{') }),
      calls({ index: 0, ...made('agent_-dot-spawn', '') }),
      calls({ index: 0, ...made(null, '}') }),
      CALLED,
      '[DONE]',
    ])
    expect(events).toEqual([
      { type: 'call-start', index: 0, name: 'agent.spawn' },
      { type: 'call-delta', index: 0, text: '{' },
      { type: 'call-delta', index: 0, text: '}' },
      { type: 'call-end', index: 0 },
    ])
  })
})

describe('how an answer ends', () => {
  const call = calls({ index: 0, id: '1', ...made('a', '{}') })
  const half = calls({ index: 0, id: '1', ...made('a', '{"x":') })
  test.each<[string, readonly Chunk[], string]>([
    ['stop', [delta({ content: 'x' }), STOPPED], 'end'],
    ['stop with calls', [call, STOPPED], 'tool-calls'],
    ['tool_calls without any', [delta({ content: 'x' }), CALLED], 'end'],
    ['length with calls', [call, delta({}, 'length')], 'max-tokens'],
    ['the filter with calls', [call, delta({}, 'content_filter')], 'refusal'],
    ['a word that is not known', [call, delta({}, 'brand_new')], 'other'],
    ['the end without a reason', [delta({ content: 'x' }), '[DONE]'], 'end'],
    ['the end without a reason, with whole calls', [call, '[DONE]'], 'tool-calls'],
    ['a reason that is empty until the end', [delta({ content: 'x' }, ''), call, CALLED], 'tool-calls'],
    ['no [DONE]', [call, CALLED], 'tool-calls'],
  ])('%s', (_situation, chunks, finish) => {
    expect(readAnswer(chunks).finish).toBe(finish)
  })

  test('an open call that used up all tokens was cut, whatever the reason says (vllm#53269)', () => {
    const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 50 } }
    const open = calls({ index: 0, id: '1', ...made('a', '{"x":') })
    expect(readAnswer([open, CALLED, usage], { maxTokens: 50 }).finish).toBe('max-tokens')
    expect(readAnswer([open, CALLED, usage], { maxTokens: 51 }).finish).toBe('tool-calls')
    expect(readAnswer([call, STOPPED, usage], { maxTokens: 50 }).finish).toBe('max-tokens')
  })

  test('a closed call that ended for calls runs, though its server did not keep to the limit', () => {
    const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 60 } }
    expect(readAnswer([call, CALLED, usage], { maxTokens: 50 }).finish).toBe('tool-calls')
  })

  test.each<[string, readonly Chunk[]]>([
    ['nothing', []],
    ['only the end', ['[DONE]']],
    ['text without an end', [delta({ content: 'x' })]],
    ['calls without an end', [call]],
    ['half a call, then the end without a reason', [half, '[DONE]']],
    ['a call without arguments, then the end without a reason', [calls({ id: '1', ...made('a', '') }), '[DONE]']],
  ])('%s is cut off', (_situation, chunks) => {
    const { outcome } = decode(chunks)
    expect(isBatonError(outcome) && outcome.code).toBe('model_cut_off')
  })

  test('half a call under a proper end stays half: its text says so', () => {
    expect(listCalls([half, CALLED])).toEqual([['a', '{"x":']])
  })

  test('a refusal in a field of its own', () => {
    const { parts, finish } = readAnswer([delta({ content: null, refusal: 'I can’t.' }), STOPPED])
    expect([parts, finish]).toEqual([[{ type: 'text', text: 'I can’t.' }], 'refusal'])
  })

  test('end may be asked at any time and changes nothing', () => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names })
    const codes: unknown[] = []
    for (const chunk of [delta({ content: 'x' }), STOPPED, '[DONE]']) {
      decoder.push({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
      const [one, two] = [decoder.end(), decoder.end()]
      expect(one).toEqual(two)
      codes.push(isBatonError(one) ? one.code : one.finish)
    }
    expect(codes).toEqual(['model_cut_off', 'end', 'end'])
  })
})

describe('text and reasoning', () => {
  const listTexts = (chunks: readonly Chunk[]) =>
    readAnswer([...chunks, STOPPED]).parts.map((part) => [part.type, 'text' in part ? part.text : ''])

  test.each<[string, readonly Chunk[]]>([
    [
      'reasoning_content (DeepSeek)',
      [delta({ content: null, reasoning_content: 'hm' }), delta({ content: 'yes', reasoning_content: null })],
    ],
    ['reasoning (Ollama, Groq)', [delta({ content: '', reasoning: 'hm' }), delta({ content: 'yes' })]],
    [
      'both fields with the same text',
      [delta({ reasoning: 'hm', reasoning_content: 'hm' }), delta({ content: 'yes' })],
    ],
    [
      'parts (Mistral)',
      [
        delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
        delta({
          content: [
            { type: 'text', text: 'yes' },
            { type: 'reference', reference_ids: [1] },
          ],
        }),
      ],
    ],
    [
      'details alone',
      [delta({ reasoning_details: [{ type: 'reasoning.text', text: 'hm', index: 0 }] }), delta({ content: 'yes' })],
    ],
    [
      'a message in place of a delta',
      [{ choices: [{ message: { role: 'assistant', reasoning: 'hm', content: 'yes' } }] }],
    ],
  ])('%s', (_situation, chunks) => {
    expect(listTexts(chunks)).toEqual([
      ['reasoning', 'hm'],
      ['text', 'yes'],
    ])
  })

  test('the details of OpenRouter are kept whole, with their signature', () => {
    const detail = (more: JsonObject) =>
      delta({ reasoning: 'hm', reasoning_details: [{ index: 0, format: 'f', ...more }] })
    const [reasoning] = readAnswer([
      detail({ type: 'reasoning.text', text: 'h' }),
      detail({ type: 'reasoning.text', text: 'm', signature: null }),
      detail({ type: 'reasoning.text', text: '', signature: 'sig' }),
      detail({ type: 'reasoning.encrypted', data: 'x' }),
      STOPPED,
    ]).parts
    expect(reasoning?.type === 'reasoning' && reasoning.state?.data).toEqual({
      field: 'reasoning',
      reasoning_details: [
        { type: 'reasoning.text', text: 'hm', signature: 'sig', index: 0, format: 'f' },
        { type: 'reasoning.encrypted', data: 'x', index: 0, format: 'f' },
      ],
    })
  })

  test('the signature that LiteLLM’s proxy puts beside a call of Gemini is kept with it', () => {
    const signature = { provider_specific_fields: { thought_signature: 'sig' } }
    const [call] = readAnswer([
      delta({
        tool_calls: [{ index: 0, id: 'c__thought__sig', function: { name: 'f', arguments: '{}' }, ...signature }],
      }),
      STOPPED,
    ]).parts
    expect(call?.type === 'call' && call.state?.data).toEqual({ id: 'c__thought__sig', ...signature })
  })

  test('the thinking blocks of Claude behind LiteLLM’s proxy are kept whole, each with its signature', () => {
    const block = (more: JsonObject, text = '') => delta({ reasoning_content: text, thinking_blocks: [more] })
    const [reasoning] = readAnswer([
      block({ type: 'thinking', thinking: 'h' }, 'h'),
      block({ type: 'thinking', thinking: 'm' }, 'm'),
      block({ type: 'thinking', thinking: '', signature: 'sig-1' }),
      block({ type: 'redacted_thinking', data: 'x' }),
      block({ type: 'thinking', thinking: 'ah' }, 'ah'),
      block({ type: 'thinking', thinking: '', signature: 'sig-2' }),
      STOPPED,
    ]).parts
    expect(reasoning).toMatchObject({ type: 'reasoning', text: 'hmah' })
    expect(reasoning?.type === 'reasoning' && reasoning.state?.data).toEqual({
      field: 'reasoning_content',
      thinking_blocks: [
        { type: 'thinking', thinking: 'hm', signature: 'sig-1' },
        { type: 'redacted_thinking', data: 'x' },
        { type: 'thinking', thinking: 'ah', signature: 'sig-2' },
      ],
    })
  })

  test('chunks without choices, other choices, and fields of others say nothing', () => {
    const { parts } = readAnswer([
      { choices: [], prompt_filter_results: [] },
      { id: 'x', object: 'ping' },
      { choices: null, usage: null, error: null },
      { choices: [{ index: 0, delta: null, finish_reason: null }] },
      { choices: [{ index: 1, delta: { content: 'other' } }], obfuscation: 'x', p: 'abc' },
      delta({ role: null, content: null, tool_calls: null, reasoning: null, function_call: null }),
      delta({ content: 'x' }),
      STOPPED,
      '[DONE]',
      delta({ content: 'after the end' }),
    ])
    expect(parts).toEqual([{ type: 'text', text: 'x' }])
  })
})

describe('what an answer cost', () => {
  const spent = (usage: JsonObject) => readAnswer([delta({ content: 'x' }), STOPPED, { choices: [], usage }]).usage

  test('of OpenAI: the cache is part of the input, reasoning of the output', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 30,
      total_tokens: 130,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 5, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 20 },
    }
    expect(spent(usage)).toEqual({
      inputTokens: 100,
      cacheReadTokens: 60,
      cacheWriteTokens: 5,
      outputTokens: 30,
      reasoningTokens: 20,
    })
  })

  test('of DeepSeek, of Gemini, and none', () => {
    expect(spent({ prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 4 })).toMatchObject({
      cacheReadTokens: 4,
    })
    expect(spent({ prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 })).toMatchObject({
      outputTokens: 74,
      reasoningTokens: 62,
    })
    expect(readAnswer([delta({ content: 'x' }), STOPPED, '[DONE]']).usage).toEqual({})
  })

  test('told in every chunk: the last counts', () => {
    const grow = (tokens: number) => ({
      ...delta({ content: 'x' }),
      usage: { prompt_tokens: 7, completion_tokens: tokens },
    })
    expect(readAnswer([grow(1), grow(2), { ...STOPPED, usage: { completion_tokens: 3 } }]).usage).toEqual({
      inputTokens: 7,
      outputTokens: 3,
    })
  })
})

describe('errors inside of a stream', () => {
  test.each<[string, JsonObject, string]>([
    [
      'a status (OpenRouter)',
      { error: { code: 502, message: 'x' }, choices: [{ delta: {}, finish_reason: 'error' }] },
      'model_provider_failed',
    ],
    ['beside a choice', { choices: [{ error: { code: 429, message: 'x' }, delta: {} }] }, 'model_rate_limited'],
    ['a text (Ollama)', { error: 'model runner has stopped' }, 'model_provider_failed'],
    ['an object that is one (vLLM)', { object: 'error', message: 'x', code: 400 }, 'model_invalid_request'],
    [
      'a rate limit in tokens (Bedrock behind a gateway)',
      { error: { code: 429, message: 'Too many tokens, please wait before trying again.' } },
      'model_rate_limited',
    ],
    [
      'a rate limit in tokens, by word',
      { error: { type: 'rate_limit_error', message: 'Too many tokens, please wait before trying again.' } },
      'model_rate_limited',
    ],
    ['too long a prompt', { error: { code: 'context_length_exceeded', message: 'x' } }, 'context_overflow'],
    [
      'a call that Groq refused',
      { error: { code: 'tool_use_failed', type: 'invalid_request_error', status_code: 400 } },
      'model_malformed_answer',
    ],
    ['no resources (DeepSeek)', delta({}, 'insufficient_system_resource'), 'model_overloaded'],
    ['a reason that is one', delta({}, 'error'), 'model_provider_failed'],
  ])('%s', (_situation, chunk, code) => {
    const { outcome } = decode([delta({ content: 'x' }), chunk, delta({}, 'length'), '[DONE]'])
    expect(isBatonError(outcome) && outcome.code).toBe(code)
  })

  test('`event: error` of Groq', () => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names, label: 'Groq' })
    decoder.push({ event: 'error', data: '{"error":{"message":"no","type":"server_error"}}' })
    expect(decoder.failure?.message).toBe('Groq ended the stream with server_error: no')
  })

  test('a line that begins with `error:` (llama-box)', () => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names, label: 'llama-box' })
    const reader = createSseReader((event) => decoder.push(event))
    reader.push(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"x"}}]}\n\n'))
    reader.push(new TextEncoder().encode('error: {"code":500,"message":"slot failed","type":"server_error"}\n\n'))
    expect(decoder.failure?.message).toBe('llama-box ended the stream with server_error: slot failed')
  })

  test('an event that is no JSON', () => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names })
    decoder.push({ data: '<html>' })
    expect(decoder.failure?.code).toBe('model_malformed_answer')
  })

  test.each<[string, (count: number) => JsonObject]>([
    ['text', () => delta({ content: 'x'.repeat(10) })],
    ['arguments', () => calls({ index: 0, ...made('a', 'x'.repeat(10)) })],
    ['calls without any text', (count) => calls({ index: count, id: `${count}` })],
    ['reasoning', () => delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] })],
    ['signed thoughts', () => delta({ thinking_blocks: [{ type: 'redacted_thinking', data: 'x' }] })],
  ])('an answer that never ends is given up: %s', (_what, chunk) => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names, answerLengthMax: 1000 })
    for (let count = 0; count < 200; count++) decoder.push({ data: JSON.stringify(chunk(count)) })
    expect([decoder.failure?.code, decoder.failure?.retryable]).toEqual(['model_malformed_answer', false])
  })
})

describe('an answer in one piece', () => {
  test.each<[string, JsonObject, string]>([
    ['an error with status 200', { error: { message: 'x', code: 429 } }, 'model_rate_limited'],
    ['something else', { hello: 1 }, 'model_malformed_answer'],
    ['no choice', { choices: [] }, 'model_malformed_answer'],
  ])('%s', (_situation, body, code) => {
    const outcome = decodeOpenAiChatCompletion(body, { model: 'm', names })
    expect(isBatonError(outcome) && outcome.code).toBe(code)
  })

  test('an empty delta beside the message hides nothing, and a message behind deltas repeats nothing', () => {
    const choice = (more: JsonObject) => ({ choices: [{ index: 0, finish_reason: 'stop', ...more }] })
    const message = { role: 'assistant', content: 'yes' }
    for (const empty of [{}, { role: 'assistant', content: '' }, { content: null, tool_calls: [] }])
      expect(decodeOpenAiChatCompletion(choice({ delta: empty, message }), { model: 'm', names })).toMatchObject({
        parts: [{ type: 'text', text: 'yes' }],
      })
    expect(readAnswer([delta({ content: 'yes' }), choice({ delta: {}, message })]).parts).toEqual([
      { type: 'text', text: 'yes' },
    ])
  })
})

describe('an answer that is said twice', () => {
  const whole = (message: JsonObject, more: JsonObject = {}): JsonObject => ({
    choices: [{ index: 0, message, finish_reason: 'stop', ...more }],
  })

  test('a message in the last chunk repeats the text of the pieces, and may go on', () => {
    const text = (message: JsonObject) =>
      readAnswer([delta({ content: 'Hel' }), delta({ content: 'lo' }), whole(message)]).parts
    expect(text({ content: 'Hello' })).toEqual([{ type: 'text', text: 'Hello' }])
    expect(text({ content: 'Hello you' })).toEqual([{ type: 'text', text: 'Hello you' }])
    expect(text({ content: 'Else' })).toEqual([{ type: 'text', text: 'Hello' }])
  })

  test.each([{}, { index: 0 }, { id: 'c1' }])(
    'a message in the last chunk repeats the calls of the pieces: %j',
    (more) => {
      const call = { ...made('a', '{"x":1}'), ...more }
      const last = whole({ tool_calls: [call] }, { delta: {} })
      expect(listCalls([calls({ index: 0, ...call }), last])).toEqual([['a', '{"x":1}']])
      expect(listCalls([delta({ content: 'So:' }), last])).toEqual([['a', '{"x":1}']])
    },
  )

  test('text and calls behind a reason are kept', () => {
    const chunks = [
      delta({ content: 'Hello', tool_calls: [{ index: 0, id: 'c1', ...made('a', '{"x":1}') }] }, 'tool_calls'),
      delta({ content: ' again', tool_calls: [{ index: 0, ...made(null, '{"x":2}') }] }),
      calls({ index: 1, id: 'c2', ...made('b', '{}') }),
    ]
    expect(listCalls(chunks)).toEqual([
      ['a', '{"x":1}{"x":2}'],
      ['b', '{}'],
    ])
    expect(readAnswer(chunks).parts[0]).toEqual({ type: 'text', text: 'Hello again' })
  })
})

describe('servers that nearly speak this wire', () => {
  const WHOLE = '{"path":"/srv"}'
  const begin = (more: JsonObject) => calls({ index: 0, id: '1', ...more })

  test.each<[string, readonly Chunk[]]>([
    [
      'the number of the tool, then that of the call',
      [calls({ index: 3, id: '1', ...made('ls', '') }), begin(made(null, WHOLE))],
    ],
    [
      'numbers that count the pieces, with the id',
      [
        begin(made('ls', '')),
        calls({ index: 1, id: '1', ...made(null, '{"path":') }),
        calls({ index: 2, id: '1', ...made(null, '"/srv"}') }),
      ],
    ],
    [
      'numbers that count the pieces, without the id',
      [
        begin(made('ls', '')),
        calls({ index: 1, ...made(null, '{"path":') }),
        calls({ index: 2, ...made(null, '"/srv"}') }),
      ],
    ],
    [
      'a reason in each piece',
      [
        delta({ tool_calls: [{ index: 0, id: '1', ...made('ls', '') }] }, 'tool_calls'),
        delta({ tool_calls: [{ index: 0, id: '1', ...made(null, '{"path":') }] }, 'tool_calls'),
        delta({ tool_calls: [{ index: 0, id: '1', ...made(null, '"/srv"}') }] }, 'tool_calls'),
      ],
    ],
    ['a call behind the reason', [CALLED, begin(made('ls', WHOLE))]],
    ['an empty object, then the whole', [begin(made('ls', '{}')), calls({ index: 0, ...made(null, WHOLE) })]],
    [
      'an empty object, then the whole, with the name',
      [calls({ index: 0, ...made('ls', '{}') }), calls({ index: 0, ...made('ls', WHOLE) })],
    ],
    ['the whole twice', [begin(made('ls', WHOLE)), begin(made(null, WHOLE))]],
    [
      'the whole twice, without ids',
      [calls({ index: 0, ...made('ls', WHOLE) }), calls({ index: 0, ...made('ls', WHOLE) })],
    ],
    [
      'in pieces, then the whole',
      [begin(made('ls', '{"path":')), begin(made(null, '"/srv"}')), begin(made(null, WHOLE))],
    ],
    [
      'all so far in each piece',
      [begin(made('ls', '{"path":')), begin(made('ls', '{"path":"/s')), begin(made('ls', WHOLE))],
    ],
    ['a name in two pieces', [begin(made('l', '')), begin(made('s', '')), begin(made(null, WHOLE))]],
    ['all so far of a name in each piece', [begin(made('l', '')), begin(made('ls', '')), begin(made(null, WHOLE))]],
  ])('one call of %s', (_situation, chunks) => {
    expect(listCalls([...chunks, CALLED, '[DONE]'])).toEqual([['ls', WHOLE]])
  })

  test('a value that begins like its parent is no repetition', () => {
    const chunks = [begin(made('ls', '{"a":')), begin(made(null, '{"a":1}}')), CALLED]
    expect(listCalls(chunks)).toEqual([['ls', '{"a":{"a":1}}']])
  })

  test('two different wholes of one call stay as they are: nobody can say which was meant', () => {
    const chunks = [begin(made('ls', '{"path":"/a"}')), begin(made(null, '{"path":"/b"}')), CALLED]
    expect(listCalls(chunks)).toEqual([['ls', '{"path":"/a"}{"path":"/b"}']])
  })

  test('what was repaired is told', () => {
    const { parts } = readAnswer([begin(made('ls', WHOLE)), begin(made(null, WHOLE)), CALLED])
    expect(parts).toMatchObject([{ type: 'call', repairs: ['repeated-arguments'] }])
  })

  test.each<[string, JsonObject, JsonObject]>([
    [
      'a total that counts the cache beside the prompt',
      { prompt_tokens: 10, completion_tokens: 30, total_tokens: 7391, prompt_tokens_details: { cached_tokens: 7351 } },
      { inputTokens: 7361, cacheReadTokens: 7351, outputTokens: 30 },
    ],
    [
      'the same of a long prompt',
      {
        prompt_tokens: 8000,
        completion_tokens: 30,
        total_tokens: 15_381,
        prompt_tokens_details: { cached_tokens: 7351 },
      },
      { inputTokens: 8000, cacheReadTokens: 7351, outputTokens: 30 },
    ],
    [
      'reasoning beside the answer',
      { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
      { inputTokens: 35, outputTokens: 74, reasoningTokens: 62 },
    ],
    [
      'reasoning within the answer',
      {
        prompt_tokens: 10,
        completion_tokens: 30,
        total_tokens: 40,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      { inputTokens: 10, outputTokens: 30, reasoningTokens: 20 },
    ],
  ])('counts: %s', (_situation, usage, read) => {
    const answer = readAnswer([begin(made('ls', WHOLE)), CALLED, { choices: [], usage }], { maxTokens: 500 })
    expect([answer.usage, answer.finish]).toEqual([read, 'tool-calls'])
  })
})

test('a reason is doubtful once the answer went on behind one', () => {
  const decoder = createOpenAiChatDecoder({ model: 'm', names })
  const say = (content: string) => decoder.push({ data: JSON.stringify(delta({ content }, 'stop')) })
  say('First half, ')
  expect(decoder.progress).toBe('ended')
  say('still first, ')
  expect(decoder.progress).toBe('doubtful')
  decoder.push({ data: JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }) })
  decoder.push({ data: '[DONE]' })
  expect(decoder.progress).toBe('whole')
})
