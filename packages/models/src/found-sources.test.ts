// Sources in each provider's answers become visible parts, and each page appears once.
import type { JsonValue, ModelAnswer } from '@baton/core'
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { decodeAnthropicMessage } from './anthropic/decode-stream.ts'
import { decodeBedrockMessage } from './bedrock/decode-stream.ts'
import { createGeminiDecoder } from './gemini/decode-stream.ts'
import { decodeOpenAiChatCompletion } from './openai-chat/decode-stream.ts'
import { decodeOpenAiResponse } from './openai-responses/decode-stream.ts'
import { createToolNames } from './tool-names.ts'

const names = createToolNames([])
const options = { model: 'm', names, maxTokens: 512 }
const page = { url: 'https://example.org/a', title: 'A page' }

function sourcesOf(answer: ModelAnswer | Error): readonly unknown[] {
  if (isBatonError(answer) || answer instanceof Error) throw answer
  return answer.parts.filter(({ type }) => type === 'source')
}

test('Anthropic: pages of its web search and places in documents', () => {
  const citations = [
    { type: 'web_search_result_location', ...page, cited_text: 'its words', encrypted_index: 'x' },
    { type: 'web_search_result_location', ...page, cited_text: 'its words', encrypted_index: 'y' },
    { type: 'char_location', document_title: 'Guide', cited_text: 'two', document_index: 0 },
    { type: 'char_location', document_title: null, cited_text: 'nothing to show' },
  ]
  const content: JsonValue = [
    { type: 'text', text: 'It is ' },
    { type: 'text', text: 'blue', citations },
  ]
  const message = { type: 'message', content, stop_reason: 'end_turn', usage: {} }
  expect(sourcesOf(decodeAnthropicMessage(message, options))).toEqual([
    { type: 'source', id: 'source-1', ...page, quote: 'its words' },
    { type: 'source', id: 'source-2', title: 'Guide', quote: 'two' },
  ])
})

test('OpenAI Responses: annotations of a text, with the words that they are about', () => {
  const annotations = [
    { type: 'url_citation', ...page, start_index: 6, end_index: 10 },
    { type: 'file_citation', filename: 'guide.pdf', file_id: 'f', index: 3 },
  ]
  const item = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'It is blue', annotations }],
  }
  expect(sourcesOf(decodeOpenAiResponse({ status: 'completed', output: [item] }, options))).toEqual([
    { type: 'source', id: 'source-1', ...page, quote: 'blue' },
    { type: 'source', id: 'source-2', title: 'guide.pdf' },
  ])
})

test('Chat Completions: annotations of a message, and the results of a search', () => {
  const annotations = [{ type: 'url_citation', url_citation: { ...page, start_index: 0, end_index: 2 } }]
  const choices = [{ index: 0, message: { content: 'blue', annotations }, finish_reason: 'stop' }]
  const search_results = [{ url: 'https://example.org/b', title: 'B', date: null }]
  expect(sourcesOf(decodeOpenAiChatCompletion({ choices, search_results }, options))).toEqual([
    { type: 'source', id: 'source-1', url: 'https://example.org/b', title: 'B' },
    { type: 'source', id: 'source-2', ...page },
  ])
})

test('Bedrock: pages, and documents by their title', () => {
  const citations = [
    {
      title: 'A page',
      location: { web: { url: page.url, domain: 'example.org' } },
      sourceContent: [{ text: 'its words' }],
    },
    { title: 'Guide', location: { documentChar: { documentIndex: 0, start: 1, end: 9 } } },
  ]
  const content = [{ citationsContent: { content: [{ text: 'blue' }], citations } }]
  const message = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: {} }
  expect(sourcesOf(decodeBedrockMessage(message, options))).toEqual([
    { type: 'source', id: 'source-1', ...page, quote: 'its words' },
    { type: 'source', id: 'source-2', title: 'Guide' },
  ])
})

test('Gemini: pages of its search and documents of a store, as its last word on them says', () => {
  const decoder = createGeminiDecoder(options)
  const web = { uri: page.url, title: page.title }
  const push = (candidate: object): void => decoder.push({ data: JSON.stringify({ candidates: [candidate] }) })
  push({ content: { parts: [{ text: 'bl' }] }, groundingMetadata: { groundingChunks: [{ web }] } })
  const groundingChunks = [{ web }, { retrievedContext: { uri: 'gs://b/guide', title: 'Guide', text: 'two' } }]
  push({ content: { parts: [{ text: 'ue' }] }, finishReason: 'STOP', groundingMetadata: { groundingChunks } })
  expect(sourcesOf(decoder.end())).toEqual([
    { type: 'source', id: 'source-1', ...page },
    { type: 'source', id: 'source-2', url: 'gs://b/guide', title: 'Guide', quote: 'two' },
  ])
})

test('at most 200 sources of one answer', () => {
  const annotations = Array.from({ length: 300 }, (_, index) => ({
    url_citation: { url: `https://example.org/${index}` },
  }))
  const choices = [{ index: 0, message: { content: 'blue', annotations }, finish_reason: 'stop' }]
  expect(sourcesOf(decodeOpenAiChatCompletion({ choices }, options))).toHaveLength(200)
})
