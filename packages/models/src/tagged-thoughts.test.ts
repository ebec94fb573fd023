// Thoughts between tags in the text of gateways to Anthropic's Messages and to the Responses API; none from the
// providers themselves.
import type { Model, ModelEvent } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createAnthropicModel } from './anthropic/index.ts'
import type { Provider } from './memory-transport.test-kit.ts'
import { HELLO, answerWith } from './memory-transport.test-kit.ts'
import { createOpenAiResponsesModel } from './openai-responses/index.ts'

interface Gateway {
  readonly model: (provider: Provider, baseUrl?: string) => Model
  /** The events of an answer in pieces of text. */
  readonly say: (pieces: readonly string[]) => readonly object[]
}

const GATEWAYS: Readonly<Record<string, Gateway>> = {
  Messages: {
    model: (provider, baseUrl = 'https://api.anthropic.com') =>
      createAnthropicModel({ ...provider, model: 'm', apiKey: 'k', baseUrl }),
    say: (pieces) => [
      { type: 'message_start', message: { content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
      { type: 'message_stop' },
    ],
  },
  Responses: {
    model: (provider, baseUrl = 'https://me.openai.azure.com/openai/v1') =>
      createOpenAiResponsesModel({ ...provider, model: 'm', apiKey: 'k', baseUrl }),
    say: (pieces) => [
      ...pieces.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, delta })),
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ],
  },
}

async function run(name: string, pieces: readonly string[], baseUrl?: string) {
  const { model, say } = GATEWAYS[name] ?? { model: undefined, say: undefined }
  if (!model) throw new Error(name)
  const provider = answerWith({}, ...say(pieces).map((event) => `data: ${JSON.stringify(event)}\n\n`))
  const told: ModelEvent[] = []
  const { parts } = await model(provider, baseUrl).run(HELLO, (event) => told.push(event), new AbortController().signal)
  const join = (type: ModelEvent['type']) =>
    told.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('')
  return { parts, told: [join('reasoning-delta'), join('text-delta')] }
}

describe.each(Object.keys(GATEWAYS))('%s', (name) => {
  const both = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Sunny.' },
  ]

  test.each<[string, readonly string[]]>([
    ['whole', ['<think>hm</think>\n\nSunny.']],
    ['a character at a time', Array.from('<think>hm</think>\n\nSunny.')],
    ['under another tag', ['<thinking>hm</thi', 'nking>Sunny.']],
  ])('%s', async (_situation, pieces) => {
    const { parts, told } = await run(name, pieces, 'http://localhost:4000')
    expect(parts).toEqual(both)
    expect(told).toEqual(['hm', 'Sunny.'])
  })

  test('never opened', async () => {
    expect((await run(name, ['hm\n</think>\n', 'Sunny.'], 'http://localhost:4000')).parts).toEqual(both)
  })

  test('half a tag at the end is text', async () => {
    const { parts, told } = await run(name, ['<thi'], 'http://localhost:4000')
    expect([parts, told]).toEqual([[{ type: 'text', text: '<thi' }], ['', '<thi']])
  })

  test('the provider itself writes no tags', async () => {
    expect((await run(name, ['<think>hm</think>Sunny.'])).parts).toEqual([
      { type: 'text', text: '<think>hm</think>Sunny.' },
    ])
  })
})
