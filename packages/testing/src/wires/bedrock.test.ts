// The validator of Bedrock requests, on accepted recorded requests and rejected handwritten ones.
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { validateBedrockRequest } from './bedrock.ts'

const recordings = openRecordings('Bedrock’s recorded requests', (message) => console.warn(message))
const accepted = ['bedrock']
  .flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
  .filter(({ status, request }) => status === 200 && request)
afterAll(() => {
  if (recordings) console.info(countLine('recorded requests bedrock', { accepted: accepted.length }))
})

describe.skipIf(!recordings)('requests that were accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(12))
  test.each(accepted.map((exchange) => [`${exchange.file} #${exchange.index}`, exchange] as const))(
    '%s',
    (_name, { request }) => {
      expect(validateBedrockRequest(request?.body)).toEqual([])
    },
  )
})

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const text = { text: 'hi' }
const call = (toolUseId: string, more: object = {}) => ({
  toolUse: { toolUseId, name: 'get_weather', input: {}, ...more },
})
const result = (toolUseId: string, more: object = {}) => ({
  toolResult: { toolUseId, content: [{ text: 'ok' }], ...more },
})
const file = (name: string) => ({ document: { format: 'pdf', name, source: { bytes: 'AAAA' } } })
const tool = (name: string, json: object = { type: 'object' }) => ({ toolSpec: { name, inputSchema: { json } } })
const toolConfig = { tools: [tool('get_weather')] }
const request = (messages: readonly object[], more: object = {}) => ({ messages, toolConfig, ...more })

test('a good request', () => {
  const messages = [
    user(text),
    assistant(text, call('a'), call('b.c:d')),
    user(result('b.c:d'), result('a', { status: 'error' }), text),
  ]
  expect(
    validateBedrockRequest(
      request(messages, { toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'get_weather' } } } }),
    ),
  ).toEqual([])
})

// Handwritten, each from the verbatim error or type quoted by the rule.
describe('requests that are refused (hand-written)', () => {
  test.each<[string, unknown]>([
    ['body', 1],
    ['body', request([])],
    ['role', request([user(text), { role: 'tool', content: [text] }])],
    ['first_role', request([assistant(text), user(text)])],
    ['empty_content', request([user(text), assistant(), user(text)])],
    ['empty_text', request([user({ text: ' ' })])],
    ['empty_text', request([user(text)], { system: [{ text: '' }] })],
    ['tool_config', { messages: [user(text), assistant(call('a')), user(result('a'))] }],
    ['tools_empty', request([user(text)], { toolConfig: { tools: [] } })],
    ['tool_name', request([user(text)], { toolConfig: { tools: [tool('agent.spawn')] } })],
    ['tool_name', request([user(text)], { toolConfig: { tools: [tool('x'.repeat(65))] } })],
    ['tool_name_repeated', request([user(text)], { toolConfig: { tools: [tool('a'), tool('a')] } })],
    [
      'tool_description',
      request([user(text)], { toolConfig: { tools: [{ toolSpec: { ...tool('a').toolSpec, description: '' } }] } }),
    ],
    ['tool_schema', request([user(text)], { toolConfig: { tools: [tool('a', { type: 'string' })] } })],
    ['tool_choice', request([user(text)], { toolConfig: { ...toolConfig, toolChoice: { none: {} } } })],
    ['tool_choice', request([user(text)], { toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'x' } } } })],
    ['call_id', request([user(text), assistant(call('a/b')), user(result('a/b'))])],
    ['call_id_repeated', request([user(text), assistant(call('a'), call('a')), user(result('a'))])],
    ['call_input', request([user(text), assistant(call('a', { input: '{}' })), user(result('a'))])],
    ['call_without_result', request([user(text), assistant(call('a'), call('b')), user(result('a'))])],
    ['call_without_result', request([user(text), assistant(call('a')), user(text), user(result('a'))])],
    ['result_without_call', request([user(result('a'))])],
    ['result_without_call', request([user(text), assistant(call('a')), user(result('a'), result('a'))])],
    ['result_status', request([user(text), assistant(call('a')), user(result('a', { status: 'ok' }))])],
    ['result_content', request([user(text), assistant(call('a')), user(result('a', { content: 'ok' }))])],
    ['image', request([user({ image: { format: 'bmp', source: { bytes: 'AAAA' } } })])],
    ['image', request([user({ image: { format: 'png', source: {} } })])],
    [
      'image',
      request([user(text), assistant(call('a')), user(result('a', { content: [{ image: { format: 'x' } }] }))]),
    ],
    ['document', request([user(text, file('a.pdf'))])],
    ['document', request([user(text, file('two  blanks'))])],
    ['document_name_repeated', request([user(text, file('a'), file('a'))])],
    ['documents_max', request([user(text, ...['a', 'b', 'c', 'd', 'e', 'f'].map(file))])],
    ['document_alone', request([user(file('a'))])],
    ['reasoning', request([user(text), assistant({ reasoningContent: { reasoningText: {} } }, text), user(text)])],
    ['reasoning', request([user({ reasoningContent: { reasoningText: { text: 'x' } } })])],
    ['output', request([user(text)], { outputConfig: { textFormat: { type: 'json_schema', structure: {} } } })],
    ['inference', request([user(text)], { inferenceConfig: { maxTokens: 0 } })],
    ['inference', request([user(text)], { inferenceConfig: { temperature: 2 } })],
  ])('%s', (code, body) => {
    const issues = validateBedrockRequest(body)
    expect(issues.map((issue) => issue.code)).toContain(code)
    expect(issues.every((issue) => issue.source !== '' && issue.message !== '')).toBe(true)
  })
})
