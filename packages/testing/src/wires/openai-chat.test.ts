// The validator of OpenAI Chat requests, on accepted recorded requests and rejected handwritten ones.
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { validateOpenAiChatRequest } from './openai-chat.ts'

const recordings = openRecordings('OpenAI Chat’s recorded requests', (message) => console.warn(message))
const accepted = ['openai-chat', 'openai-compatible']
  .flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
  .filter(({ status, request }) => status === 200 && request)
afterAll(() => {
  if (recordings) console.info(countLine('recorded requests openai-chat', { accepted: accepted.length }))
})

describe.skipIf(!recordings)('requests that were accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(20))
  test.each(accepted.map((exchange) => [`${exchange.file} #${exchange.index}`, exchange] as const))(
    '%s',
    (_name, { request }) => {
      expect(validateOpenAiChatRequest(request?.body)).toEqual([])
    },
  )
})

const user = { role: 'user', content: 'hi' }
const call = (id: string, name = 'get_weather') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const assistant = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })
const tool = (name: string, parameters: object = { type: 'object' }, more: object = {}) => ({
  type: 'function',
  function: { name, parameters, ...more },
})
const request = (messages: readonly object[], more: object = {}) => ({ model: 'm', messages, ...more })
const strict = (parameters: object) => request([user], { tools: [tool('a', parameters, { strict: true })] })
const closed = { type: 'object', additionalProperties: false, required: ['x'] }

test('a good request', () => {
  const messages = [
    { role: 'developer', content: 'x' },
    user,
    assistant(call('a'), call('b')),
    result('b'),
    result('a'),
    user,
  ]
  const more = {
    tools: [tool('get_weather')],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
    parallel_tool_calls: false,
  }
  expect(validateOpenAiChatRequest(request(messages, more))).toEqual([])
  expect(
    validateOpenAiChatRequest(strict({ ...closed, properties: { x: { type: 'array', items: { type: 'string' } } } })),
  ).toEqual([])
})

// Handwritten, each from the verbatim error or type quoted by the rule.
describe('requests that are refused (hand-written)', () => {
  test.each<[string, unknown]>([
    ['body', null],
    ['body', request([])],
    ['role', request([{ role: 'model', content: 'x' }])],
    ['content', request([{ role: 'user', content: null }])],
    ['content', request([{ role: 'user', content: [] }])],
    ['content', request([user, { role: 'assistant', content: null }])],
    ['content', request([{ role: 'system', content: [{ type: 'image_url' }] }])],
    ['tool', request([user], { tools: [{ type: 'function', name: 'flat' }] })],
    ['tool_name', request([user], { tools: [tool('agent.spawn')] })],
    ['tool_name', request([user], { tools: [tool('x'.repeat(65))] })],
    ['tool_name', request([user, assistant(call('a', 'a.b')), result('a')])],
    ['tool_name_repeated', request([user], { tools: [tool('a'), tool('a')] })],
    ['tools_empty', request([user], { tools: [] })],
    ['tool_choice', request([user], { tool_choice: 'auto' })],
    ['tool_choice', request([user], { tools: [tool('a')], tool_choice: 'any' })],
    [
      'tool_choice',
      request([user], { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'b' } } }),
    ],
    ['parallel', request([user], { parallel_tool_calls: false })],
    ['call', request([user, assistant({ ...call('a'), function: { name: 'a', arguments: {} } }), result('a')])],
    ['calls_empty', request([user, { role: 'assistant', content: 'x', tool_calls: [] }])],
    ['call_id', request([user, assistant(call('x'.repeat(41))), result('x'.repeat(41))])],
    ['call_id', request([user, assistant(call('')), result('')])],
    ['call_id_repeated', request([user, assistant(call('a'), call('a')), result('a')])],
    ['call_without_result', request([user, assistant(call('a'), call('b')), result('a')])],
    ['call_without_result', request([user, assistant(call('a')), user, result('a')])],
    ['result_without_call', request([user, result('a')])],
    ['result_without_call', request([user, assistant(call('a')), result('a'), result('a')])],
    ['result_content', request([user, assistant(call('a')), { ...result('a'), content: [{ type: 'image_url' }] }])],
    ['schema_root', request([user], { tools: [tool('a', { type: 'string' })] })],
    [
      'schema_array_items',
      request([user], { tools: [tool('a', { type: 'object', properties: { x: { type: 'array' } } })] }),
    ],
    ['response_format', request([user], { response_format: { type: 'json_schema', json_schema: { name: 'a.b' } } })],
    [
      'schema_strict',
      request([user], {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'a', strict: true, schema: { type: 'object', properties: { x: {} } } },
        },
      }),
    ],
    ['schema_strict', strict({ type: 'object', properties: { x: {} }, required: ['x'] })],
    ['schema_strict', strict({ ...closed, properties: { x: {}, y: {} } })],
    ['schema_strict', strict({ ...closed, properties: { x: { type: 'string', minLength: 1 } } })],
    ['schema_strict', strict({ ...closed, properties: { x: {} }, anyOf: [] })],
  ])('%s', (code, body) => {
    const issues = validateOpenAiChatRequest(body)
    expect(issues.map((issue) => issue.code)).toContain(code)
    expect(issues.every((issue) => issue.source !== '' && issue.message !== '')).toBe(true)
  })
})
