// The validator of OpenAI Responses requests, on accepted recorded requests and rejected handwritten ones.
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { validateOpenAiResponsesRequest } from './openai-responses.ts'

const recordings = openRecordings('OpenAI Responses’ recorded requests', (message) => console.warn(message))
const accepted = ['openai-responses']
  .flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
  .filter(({ status, request }) => status === 200 && request)
afterAll(() => {
  if (recordings) console.info(countLine('recorded requests openai-responses', { accepted: accepted.length }))
})

describe.skipIf(!recordings)('requests that were accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(10))
  test.each(accepted.map((exchange) => [`${exchange.file} #${exchange.index}`, exchange] as const))(
    '%s',
    (_name, { request }) => {
      expect(validateOpenAiResponsesRequest(request?.body)).toEqual([])
    },
  )
})

const user = { role: 'user', content: 'hi' }
const call = (id: string, more: object = {}) => ({
  type: 'function_call',
  call_id: id,
  name: 'get_weather',
  arguments: '{}',
  ...more,
})
const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'ok' })
const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }
const tool = (name: string, parameters: object = { type: 'object' }) => ({ type: 'function', name, parameters })
const request = (input: unknown, more: object = {}) => ({ model: 'm', input, ...more })

test('good requests', () => {
  const input = [
    user,
    reasoning,
    call('a', { id: 'fc_1' }),
    call('b'),
    result('b'),
    result('a'),
    { role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
  ]
  const more = { tools: [tool('get_weather')], tool_choice: { type: 'function', name: 'get_weather' }, store: false }
  expect(validateOpenAiResponsesRequest(request(input, more))).toEqual([])
  expect(validateOpenAiResponsesRequest(request('hi'))).toEqual([])
  expect(validateOpenAiResponsesRequest(request([result('stored')], { previous_response_id: 'resp_1' }))).toEqual([])
})

// Handwritten, each from the verbatim error or type quoted by the rule.
describe('requests that are refused (hand-written)', () => {
  test.each<[string, unknown]>([
    ['body', 'x'],
    ['body', request([])],
    ['output_tokens', request('hi', { max_output_tokens: 10 })],
    ['item', request([{ role: 'tool', content: 'x' }])],
    ['item', request([{ type: 7 }])],
    ['content', request([{ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }])],
    ['content', request([{ role: 'user', content: [{ type: 'text', text: 'x' }] }])],
    ['tool_name', request('hi', { tools: [tool('agent.spawn')] })],
    ['tool_name', request([user, call('a', { name: 'a.b' }), result('a')])],
    ['tool_name_repeated', request('hi', { tools: [tool('a'), tool('a')] })],
    ['tool', request('hi', { tools: [{ type: 'function', function: { name: 'nested' } }] })],
    ['tool_choice', request('hi', { tools: [tool('a')], tool_choice: { type: 'function', name: 'b' } })],
    ['tool_choice', request('hi', { tools: [tool('a')], tool_choice: 'any' })],
    ['call', request([user, call('a', { arguments: {} }), result('a')])],
    ['call_id', request([user, call('x'.repeat(65)), result('x'.repeat(65))])],
    ['call_id_repeated', request([user, call('a'), call('a'), result('a')])],
    ['call_id_repeated', request([user, call('a'), result('a'), result('a')])],
    ['item_id', request([user, call('a', { id: 'call_a' }), result('a')])],
    ['call_without_result', request([user, call('a'), user])],
    ['result_without_call', request([user, result('a')])],
    ['result_without_call', request([user, result('a'), call('a')])],
    ['result_content', request([user, call('a'), { ...result('a'), output: { ok: true } }])],
    ['reasoning_alone', request([user, reasoning])],
    ['reasoning_alone', request([user, reasoning, user])],
    [
      'reasoning_not_stored',
      request([user, { type: 'reasoning', id: 'rs_1', summary: [] }, call('a'), result('a')], { store: false }),
    ],
    ['text_format', request('hi', { text: { format: { type: 'json_schema', schema: { type: 'object' } } } })],
    ['text_format', request('hi', { text: { format: { type: 'json_schema', name: 'a' } } })],
    [
      'schema_strict',
      request('hi', { text: { format: { type: 'json_schema', name: 'a', schema: { type: 'object' }, strict: true } } }),
    ],
    ['temperature', request('hi', { model: 'gpt-5-mini', temperature: 0.2 })],
    ['include', request('hi', { model: 'gpt-4o', include: ['reasoning.encrypted_content'] })],
    ['cache_key', request('hi', { prompt_cache_key: 'x'.repeat(65) })],
    ['schema_root', request('hi', { tools: [tool('a', { type: 'array' })] })],
  ])('%s', (code, body) => {
    const issues = validateOpenAiResponsesRequest(body)
    expect(issues.map((issue) => issue.code)).toContain(code)
    expect(issues.every((issue) => issue.source !== '' && issue.message !== '')).toBe(true)
  })
})
