// Answers of servers that only resemble the wire: counts after the end, other choice indexes, texts of the older API,
// invalid numbers, thoughts between other tags, and the whole text so far in each piece.
import type { JsonObject, ModelAnswer, ModelEvent } from '@baton/core'
import { BatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import type { OpenAiChatDecoderOptions } from './decode-stream.ts'
import { createOpenAiChatDecoder } from './decode-stream.ts'

function decode(events: readonly (JsonObject | string)[], more: Partial<OpenAiChatDecoderOptions> = {}) {
  const told: ModelEvent[] = []
  const sink = (event: ModelEvent) => told.push(event)
  const decoder = createOpenAiChatDecoder({ model: 'm', names: createToolNames(['a']), sink, thinkTags: true, ...more })
  for (const event of events) decoder.push({ data: typeof event === 'string' ? event : JSON.stringify(event) })
  decoder.finish()
  const outcome = decoder.end()
  const texts = told.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
  return { outcome, texts }
}

function read(events: readonly (JsonObject | string)[]): ModelAnswer {
  const { outcome } = decode(events)
  if (outcome instanceof BatonError) throw outcome
  return outcome
}

const delta = (given: JsonObject, finish: string | null = null, index = 0): JsonObject => ({
  choices: [{ index, delta: given, finish_reason: finish }],
})
const say = (...texts: readonly string[]) => texts.map((content) => delta({ content }))
const STOPPED = delta({}, 'stop')
const text = (said: string) => [{ type: 'text', text: said }]

describe('counts', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  test('behind [DONE]', () => {
    const answer = read([...say('Sunny.'), STOPPED, '[DONE]', { choices: [], usage }])
    expect([answer.parts, answer.usage]).toEqual([text('Sunny.'), { inputTokens: 10, outputTokens: 5 }])
  })

  test('nothing but counts is read behind [DONE]', () => {
    expect(read([...say('Sunny.'), STOPPED, '[DONE]', ...say('No.')]).parts).toEqual(text('Sunny.'))
  })

  test('after [DONE] without counts, the stream may still say them; with counts it is whole', () => {
    const feed = (...events: readonly (JsonObject | string)[]) => {
      const decoder = createOpenAiChatDecoder({ model: 'm', names: createToolNames([]) })
      for (const event of events) decoder.push({ data: typeof event === 'string' ? event : JSON.stringify(event) })
      return decoder.progress
    }
    expect(feed(...say('x'), STOPPED, '[DONE]')).toBe('ended')
    expect(feed(...say('x'), STOPPED, '[DONE]', { choices: [], usage })).toBe('whole')
    expect(feed(...say('x'), STOPPED, { choices: [], usage }, '[DONE]')).toBe('whole')
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['a total alone counts as input', { total_tokens: 15 }, { inputTokens: 15 }],
    ['a total beside the prompt', { prompt_tokens: 10, total_tokens: 15 }, { inputTokens: 10, outputTokens: 5 }],
    ['a total beside the answer', { completion_tokens: 5, total_tokens: 15 }, { inputTokens: 10, outputTokens: 5 }],
    ['a prompt that is all of the total', { prompt_tokens: 10, total_tokens: 10 }, { inputTokens: 10 }],
  ])('%s', (_, given, expected) => {
    expect(read([...say('x'), STOPPED, { choices: [], usage: given }]).usage).toEqual(expected)
  })
})

describe('choices', () => {
  test('the only one has the number 1', () => {
    const answer = read([delta({ content: 'Sun' }, null, 1), delta({ content: 'ny.' }, null, 1), delta({}, 'stop', 1)])
    expect([answer.parts, answer.finish]).toEqual([text('Sunny.'), 'end'])
  })

  test('of several, the one that came first counts, and the lowest of one piece', () => {
    const two = { choices: [1, 0].map((index) => ({ index, delta: { content: `${index}` }, finish_reason: 'stop' })) }
    expect(read([two, delta({ content: '!' }, 'stop', 1)]).parts).toEqual(text('0'))
  })

  test('a number as a text', () => {
    const choice = { index: '0', delta: { content: 'Sunny.' }, finish_reason: 'stop' }
    expect(read([{ choices: [choice] }]).parts).toEqual(text('Sunny.'))
  })

  test.each<[string, JsonObject]>([
    ['alone', {}],
    ['beside an empty delta', { delta: {} }],
    ['beside a delta of null', { delta: null }],
  ])('a text of the older API, %s', (_, more) => {
    const piece = (said: string) => ({ choices: [{ index: 0, text: said, finish_reason: null, ...more }] })
    const end = { choices: [{ index: 0, text: '', finish_reason: 'stop', ...more }] }
    expect(read([piece('Sun'), piece('ny.'), end]).parts).toEqual(text('Sunny.'))
  })

  test('a text beside a delta that says the same is said once', () => {
    const choice = { index: 0, text: 'Sunny.', delta: { content: 'Sunny.' }, finish_reason: 'stop' }
    expect(read([{ choices: [choice] }]).parts).toEqual(text('Sunny.'))
  })
})

describe('numbers that are none', () => {
  test.each(['NaN', 'Infinity', '-Infinity'])('%s is null', (number) => {
    const event = `{"choices":[{"index":0,"delta":{"content":"It is NaN: \\"NaN\\"."},"logprob":${number},"finish_reason":"stop"}]}`
    expect(read([event]).parts).toEqual(text('It is NaN: "NaN".'))
  })

  test('in arguments they stay what they are: no JSON', () => {
    const call = '{"id":"1","index":0,"function":{"name":"a","arguments":{"x":NaN}}}'
    const { outcome } = decode([
      `{"choices":[{"index":0,"delta":{"tool_calls":[${call}]},"finish_reason":"tool_calls"}]}`,
    ])
    expect(outcome).toMatchObject({ code: 'model_malformed_answer' })
  })
})

describe('thoughts', () => {
  const both = [
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'Yes.' },
  ]

  test.each(['Think', 'THINK', 'thinking', 'Thinking', 'reasoning', 'thought'])('between <%s>', (tag) => {
    const whole = `\n<${tag}>hm</${tag}>\nYes.`
    expect(read([...say(whole), STOPPED]).parts).toEqual(both)
    expect(read([...say(...Array.from(whole)), STOPPED]).parts).toEqual(both)
  })

  test('the end of another tag is a thought', () => {
    expect(read([...say('<thinking>a </think> b</thinking>Yes.'), STOPPED]).parts).toEqual([
      { type: 'reasoning', text: 'a </think> b' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  test.each(['Think', 'thinking', 'reasoning'])('whose <%s> was never opened', (tag) => {
    expect(read([...say(`hm\n</${tag}>\n\nYes.`), STOPPED]).parts).toEqual(both)
  })

  test.each([
    ['at once', 'hm</think></think>Yes.'],
    ['behind an opened one', '<think>hm</think>\n</think>\nYes.'],
    ['a character at a time', ...Array.from('<think>hm</think>\n</think>\nYes.')],
  ])('a second end without a beginning: %s', (_, ...pieces) => {
    expect(read([...say(...pieces), STOPPED]).parts).toEqual(both)
  })

  test('a second end on a line of its own ends more thoughts', () => {
    expect(read([...say('hm\n</think>\nok\n</think>\nYes.'), STOPPED]).parts).toEqual([
      { type: 'reasoning', text: 'hm\n\nok' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  test('in two fields by turns', () => {
    const pieces = [
      { reasoning: 'The ' },
      { reasoning_content: 'user ' },
      { reasoning: 'wants ' },
      { reasoning_content: 'it.' },
    ]
    expect(read([...pieces.map((one) => delta(one)), ...say('Yes.'), STOPPED]).parts).toMatchObject([
      { type: 'reasoning', text: 'The user wants it.' },
      { type: 'text', text: 'Yes.' },
    ])
  })

  test('the same in two fields, each in a piece of its own, is thought once', () => {
    const pieces = ['The ', 'user ', 'wants '].flatMap((said) => [{ reasoning: said }, { reasoning_content: said }])
    expect(read([...pieces.map((one) => delta(one)), ...say('Yes.'), STOPPED]).parts).toMatchObject([
      { type: 'reasoning', text: 'The user wants ' },
      { type: 'text', text: 'Yes.' },
    ])
  })
})

describe('all of the text so far in each piece', () => {
  const WHOLE = 'It is sunny in Oslo today, with little wind.'
  const grown = (step: number) =>
    Array.from({ length: Math.ceil(WHOLE.length / step) }, (_, index) => WHOLE.slice(0, (index + 1) * step))

  test.each([1, 4, 11])('%d more characters in each', (step) => {
    const { outcome, texts } = decode([...say(...grown(step)), STOPPED])
    expect(outcome).toMatchObject({ parts: text(WHOLE), finish: 'end' })
    expect(texts).toBe(WHOLE)
  })

  test('the last piece twice', () => {
    expect(read([...say(...grown(5), WHOLE), STOPPED]).parts).toEqual(text(WHOLE))
  })

  test.each<[string, readonly string[]]>([
    ['a laugh', ['ha', 'haha', 'hahaha']],
    ['letters', ['a', 'aa', 'aaa', 'aaaa']],
    ['a line that is said twice', ['I must not talk in class. ', 'I must not talk in class. I must not talk.']],
    ['a beginning that comes again', ['1', '10', '100', ' and more']],
  ])('doubtful: %s is what was said', (_, pieces) => {
    const { outcome, texts } = decode([...say(...pieces), STOPPED])
    expect(outcome).toMatchObject({ parts: text(pieces.join('')) })
    expect(texts).toBe(pieces.join(''))
  })
})
