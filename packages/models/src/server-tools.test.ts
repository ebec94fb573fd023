// Tools that a provider runs in the midst of an answer are told when they begin and when they end.
import type { ModelEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { decodeAnthropicMessage } from './anthropic/decode-stream.ts'
import { createGeminiDecoder } from './gemini/decode-stream.ts'
import { decodeOpenAiResponse } from './openai-responses/decode-stream.ts'
import { createToolNames } from './tool-names.ts'

function listen() {
  const told: string[] = []
  const sink = (event: ModelEvent): void => {
    if (event.type === 'server-tool') told.push(`${event.name} ${event.status}`)
  }
  return { told, options: { model: 'm', names: createToolNames([]), maxTokens: 512, sink } }
}

test('Anthropic: its own tools and those of MCP servers, by the names of their calls', () => {
  const { told, options } = listen()
  const content = [
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'sky' } },
    { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
    { type: 'mcp_tool_use', id: 'mcp_1', name: 'look', server_name: 's', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'mcp_1', content: [] },
    { type: 'text', text: 'blue' },
  ]
  decodeAnthropicMessage({ type: 'message', content, stop_reason: 'end_turn', usage: {} }, options)
  expect(told).toEqual(['web_search started', 'web_search finished', 'look started', 'look finished'])
})

test('OpenAI Responses: items that are calls of its own, and not those that wait for a client', () => {
  const { told, options } = listen()
  const output = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'custom_tool_call', id: 'ct_1', name: 'mine', input: 'x', status: 'completed' },
    { type: 'message', content: [{ type: 'output_text', text: 'blue' }] },
  ]
  decodeOpenAiResponse({ status: 'completed', output }, options)
  expect(told).toEqual(['web_search_call started', 'web_search_call finished'])
})

test('Gemini: its code, and its other tools', () => {
  const { told, options } = listen()
  const decoder = createGeminiDecoder(options)
  const parts = [
    { executableCode: { language: 'PYTHON', code: '1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { toolCall: { toolType: 'GOOGLE_SEARCH', id: 'a' } },
    { toolResponse: { toolType: 'GOOGLE_SEARCH', id: 'a' } },
    { text: 'blue' },
  ]
  decoder.push({ data: JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }) })
  expect(told).toEqual([
    'code_execution started',
    'code_execution finished',
    'GOOGLE_SEARCH started',
    'GOOGLE_SEARCH finished',
  ])
})
