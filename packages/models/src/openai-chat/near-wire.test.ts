// Streams of gateways that deviate slightly from the wire, not seen from OpenAI or in a recording: calls outside a
// list, foreign names for reasons and counts, ends of streams, thoughts between tags.
import type { JsonObject } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createOpenAiChatDecoder } from './decode-stream.ts'
import { CALLED, STOPPED, calls, decode, delta, made, names, readAnswer } from './decode.test-kit.ts'

describe('ways of gateways that nearly speak the wire', () => {
  const told = { usage: { prompt_tokens: 10, completion_tokens: 5 } }
  const call = { type: 'call', name: 'a', arguments: '{"x":1}' }

  test.each<[string, readonly JsonObject[]]>([
    ['one call in place of the list', [delta({ tool_calls: { index: 0, id: '1', ...made('a', '{"x":1}') } })]],
    ['name and arguments beside the id', [calls({ index: 0, id: '1', name: 'a', arguments: '{"x":1}' })]],
    ['the same in pieces', [calls({ index: 0, id: '1', name: 'a' }), calls({ index: 0, arguments: '{"x":1}' })]],
  ])('a call: %s', (_situation, chunks) => {
    const { parts, finish } = readAnswer([...chunks, CALLED])
    expect([parts, finish]).toMatchObject([[call], 'tool-calls'])
  })

  test.each([
    ['TOOL_CALLS', 'tool-calls'],
    ['tool_call', 'tool-calls'],
    ['toolUse', 'tool-calls'],
    ['function-calls', 'tool-calls'],
    ['STOP', 'tool-calls'],
    ['LENGTH', 'max-tokens'],
  ])('a call that ends for %s', (reason, finish) => {
    const answer = readAnswer([calls({ index: 0, id: '1', ...made('a', '{"x":1}') }), delta({}, reason)])
    expect([answer.parts, answer.finish]).toMatchObject([[call], finish])
  })

  test.each([
    ['STOP', 'end'],
    ['eos_token', 'end'],
    ['COMPLETE', 'end'],
    ['MAX_TOKENS', 'max-tokens'],
    ['max_output_tokens', 'max-tokens'],
    ['SAFETY', 'refusal'],
    ['sensitive', 'refusal'],
    ['CONTENT_FILTER', 'refusal'],
    ['model_context_window_exceeded', 'context-full'],
    ['something_new', 'other'],
  ])('a text that ends for %s', (reason, finish) => {
    expect(readAnswer([delta({ content: 'x' }), delta({}, reason)]).finish).toBe(finish)
  })

  test.each(['ERROR', 'network_error'])('%s is no end', (reason) => {
    const { outcome } = decode([delta({ content: 'x' }), delta({}, reason)])
    expect(outcome).toMatchObject({ code: 'model_provider_failed' })
  })

  test.each<[string, JsonObject]>([
    ['in the choice (Moonshot)', { choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...told }] }],
    ['in the words of Responses', { usage: { input_tokens: 10, output_tokens: 5 } }],
    ['as texts', { usage: { prompt_tokens: '10', completion_tokens: '5' } }],
  ])('usage %s', (_where, chunk) => {
    const { usage } = readAnswer([delta({ content: 'x' }), STOPPED, chunk])
    expect(usage).toEqual({ inputTokens: 10, outputTokens: 5 })
  })

  test('usage in the words of Anthropic counts the cache beside the input', () => {
    const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 2 }
    expect(readAnswer([delta({ content: 'x' }), STOPPED, { choices: [], usage }]).usage).toEqual({
      inputTokens: 16,
      outputTokens: 5,
      cacheReadTokens: 4,
      cacheWriteTokens: 2,
    })
  })

  test('usage in the words of Responses has the cache in the input', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens_details: { reasoning_tokens: 3 },
    }
    expect(readAnswer([delta({ content: 'x' }), STOPPED, { choices: [], usage }]).usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 4,
      reasoningTokens: 3,
    })
  })

  test('a part of content that stands alone', () => {
    const { parts } = readAnswer([delta({ content: { type: 'text', text: 'Sunny.' } }), STOPPED])
    expect(parts).toEqual([{ type: 'text', text: 'Sunny.' }])
  })

  test.each(['[done]', '"[DONE]"', 'DONE', ' [DONE] '])('%s ends the stream', (data) => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names })
    for (const chunk of [delta({ content: 'x' }), STOPPED, told]) decoder.push({ data: JSON.stringify(chunk) })
    decoder.push({ data })
    expect(decoder.end()).toMatchObject({ finish: 'end' })
    expect(decoder.progress).toBe('whole')
  })

  test('events that no blank line parts are read line by line', () => {
    const decoder = createOpenAiChatDecoder({ model: 'm', names })
    const lines = [delta({ content: 'Sun' }), delta({ content: 'ny.' }), STOPPED].map((one) => JSON.stringify(one))
    decoder.push({ data: [...lines, '[DONE]'].join('\n') })
    expect(decoder.end()).toMatchObject({ parts: [{ type: 'text', text: 'Sunny.' }], finish: 'end' })
  })

  test.each([
    ['each piece', ['<think>hm', ' ok</th', 'ink>\n', 'Sunny.']],
    ['each piece, in halves of tags', ['\n<th', 'ink>hm ok', '</think', '>Sunny.']],
  ])('thoughts in tags, and a reason in %s', (_where, pieces) => {
    const { outcome, events } = decode(
      pieces.map((content) => delta({ content }, 'stop')),
      { thinkTags: true },
    )
    const parts = [
      { type: 'reasoning', text: 'hm ok' },
      { type: 'text', text: 'Sunny.' },
    ]
    expect(outcome).toMatchObject({ parts })
    const textOf = (type: string) =>
      events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
    expect([textOf('reasoning-delta'), textOf('text-delta')]).toEqual(['hm ok', 'Sunny.'])
  })

  test('half a tag at the end is text', () => {
    expect(readAnswer([delta({ content: '<thi' }, 'stop')], { thinkTags: true }).parts).toEqual([
      { type: 'text', text: '<thi' },
    ])
  })
})
