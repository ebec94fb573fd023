// Reasoning that a server leaves in the text, through the decoder: the streamed events and the answer.
import type { ModelEvent } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createOpenAiChatDecoder } from './decode-stream.ts'

function decode(texts: readonly string[], thinkTags: boolean) {
  const events: ModelEvent[] = []
  const sink = (event: ModelEvent) => events.push(event)
  const decoder = createOpenAiChatDecoder({ model: 'm', names: createToolNames([]), thinkTags, sink })
  const push = (choice: object) => decoder.push({ data: JSON.stringify({ choices: [choice] }) })
  for (const content of texts) push({ delta: { content } })
  push({ delta: {}, finish_reason: 'stop' })
  decoder.finish()
  return { outcome: decoder.end(), events }
}

describe('reasoning in the text, between tags', () => {
  const listTexts = (texts: readonly string[], thinkTags = true) => {
    const { outcome, events } = decode(texts, thinkTags)
    const told = { reasoning: '', text: '' }
    for (const event of events) {
      if (event.type === 'text-delta') told.text += event.text
      if (event.type === 'reasoning-delta') told.reasoning += event.text
    }
    const parts = outcome instanceof Error ? [] : outcome.parts
    const said = parts.map((part) => ('text' in part ? [part.type, part.text] : []))
    expect(Object.fromEntries(said)).toEqual(Object.fromEntries(Object.entries(told).filter(([, text]) => text !== '')))
    return said
  }
  const both = [
    ['reasoning', 'hm < 3 </thin'],
    ['text', 'Yes. <think>'],
  ]
  test('whole, a character at a time, and behind blanks', () => {
    const text = '\n<think>hm < 3 </thin</think>\n\nYes. <think>'
    expect(listTexts([text])).toEqual(both)
    expect(listTexts(Array.from(text))).toEqual(both)
  })

  test.each<[string, readonly string[], readonly (readonly string[])[]]>([
    ['no tag', ['Hello ', '<think>'], [['text', 'Hello <think>']]],
    ['what only begins like one', ['<thi', 's>'], [['text', '<this>']]],
    ['an end inside of the first tag', [' <th'], [['text', ' <th']]],
    ['blanks without an end', [' '.repeat(70), '<think>'], [['text', `${' '.repeat(70)}<think>`]]],
    ['an end before the last tag', ['<think>hm</th'], [['reasoning', 'hm</th']]],
    [
      'nothing thought',
      ['<think>\n\n</think>', '\n\n', 'Yes.'],
      [
        ['reasoning', '\n\n'],
        ['text', 'Yes.'],
      ],
    ],
    [
      'thoughts twice',
      ['<think>one</think>\n<think>two</think>\nYes. <think>'],
      [
        ['reasoning', 'one\n\ntwo'],
        ['text', 'Yes. <think>'],
      ],
    ],
    [
      'half a tag behind thoughts',
      ['<think>one</think>\n<thi', 's>'],
      [
        ['reasoning', 'one'],
        ['text', '<this>'],
      ],
    ],
    [
      'an end inside of a tag behind thoughts',
      ['<think>one</think> <th'],
      [
        ['reasoning', 'one'],
        ['text', '<th'],
      ],
    ],
  ])('%s', (_situation, texts, expected) => {
    expect(listTexts(texts)).toEqual(expected)
    expect(listTexts(Array.from(texts.join('')))).toEqual(expected)
  })

  test('of OpenAI a tag is text', () => {
    expect(listTexts(['<think>x</think>'], false)).toEqual([['text', '<think>x</think>']])
  })
})

test.each([
  ['in the next piece', ['The user wants the weather.', '\n</think>\n\nIt is sunny.']],
  ['cut in the tag', ['The user wants the weather.</th', 'ink>It is sunny.']],
])('a tag that was never opened ends thoughts, which are no text of the answer: %s', (_situation, pieces) => {
  const decoder = createOpenAiChatDecoder({ model: 'm', names: createToolNames([]), thinkTags: true })
  for (const content of pieces) decoder.push({ data: JSON.stringify({ choices: [{ index: 0, delta: { content } }] }) })
  decoder.push({ data: JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) })
  expect(decoder.end()).toMatchObject({
    parts: [
      { type: 'reasoning', text: 'The user wants the weather.' },
      { type: 'text', text: 'It is sunny.' },
    ],
  })
})

test('a tag in the words of an answer whose thoughts were found is text', () => {
  const decoder = createOpenAiChatDecoder({ model: 'm', names: createToolNames([]), thinkTags: true })
  const content = '<think>hm</think>To close it write </think> at the end.'
  decoder.push({ data: JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }) })
  expect(decoder.end()).toMatchObject({
    parts: [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'To close it write </think> at the end.' },
    ],
  })
})
