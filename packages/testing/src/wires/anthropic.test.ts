// The validator of Anthropic requests, on accepted recorded requests and rejected handwritten ones.
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { validateAnthropicRequest } from './anthropic.ts'

const recordings = openRecordings('Anthropic’s recorded requests', (message) => console.warn(message))
const accepted = (recordings?.exchangesOf('anthropic') ?? []).filter(({ status, request }) => status === 200 && request)
afterAll(() => {
  if (recordings) console.info(countLine('recorded requests anthropic', { accepted: accepted.length }))
})

describe.skipIf(!recordings)('requests that were accepted', () => {
  test('there are some', () => expect(accepted.length).toBeGreaterThan(20))
  test.each(accepted.map((exchange) => [`${exchange.file} #${exchange.index}`, exchange] as const))(
    '%s',
    (_name, { request }) => {
      expect(validateAnthropicRequest(request?.body)).toEqual([])
    },
  )
})

const user = (...content: object[]) => ({ role: 'user', content })
const assistant = (...content: object[]) => ({ role: 'assistant', content })
const text = (words: string) => ({ type: 'text', text: words })
const call = (id: string) => ({ type: 'tool_use', id, name: 'get_weather', input: {} })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })
const thinking = { type: 'thinking', thinking: 'hm', signature: 'sig' }
const tool = (name: string, schema: object = { type: 'object' }) => ({ name, description: '', input_schema: schema })
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: {} })
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] })
const fromCode = { ...call('a'), caller: { type: 'code_execution_20250825', tool_id: 's' } }
const hello = [user(text('hi'))]
const think = { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 }
const request = (messages: readonly object[], more: object = {}) => ({ model: 'm', max_tokens: 10, messages, ...more })

test('a good request', () => {
  const messages = [
    ...hello,
    assistant(thinking, text('x'), call('a'), call('b')),
    user(result('a'), result('b'), text('and?')),
  ]
  const body = request(messages, { tools: [tool('get_weather')], tool_choice: { type: 'auto' }, ...think })
  expect(validateAnthropicRequest(body)).toEqual([])
})

test('tools of Anthropic’s own: paused, gone on with, and waiting for a tool of the client', () => {
  const bodies = [
    request([...hello, assistant(search('s'))]),
    request([...hello, assistant(search('s'), found('s'), text('x')), ...hello]),
    request([...hello, assistant(search('s'), fromCode), user(result('a'))], { container: 'c' }),
    request([...hello, assistant(search('s'), fromCode), user(result('a')), assistant(found('s'))], { container: 'c' }),
  ]
  expect(bodies.flatMap((body) => validateAnthropicRequest(body))).toEqual([])
})

// Handwritten, each from the verbatim error quoted by the rule.
describe('requests that are refused (hand-written)', () => {
  test.each<[string, unknown]>([
    ['body', []],
    ['body', request([])],
    ['body', request(hello, { max_tokens: 0 })],
    ['first_role', request([assistant(text('hi')), ...hello])],
    ['role', request([{ role: 'tool', content: 'x' }, ...hello])],
    ['empty_content', request([...hello, assistant(), ...hello])],
    ['empty_content', request([{ role: 'user', content: [] }])],
    ['empty_text', request([user(text(''))])],
    ['empty_text', request([{ role: 'user', content: '' }])],
    ['empty_text', request([user(text(' \n'))])],
    ['empty_text', request(hello, { system: [text('')] })],
    ['trailing_whitespace', request([...hello, assistant(text('so '))])],
    ['block', request([user(call('a'))])],
    ['block', request([...hello, assistant(result('a'))])],
    ['tool_name', request(hello, { tools: [tool('agent.spawn')] })],
    ['tool_name', request(hello, { tools: [tool('x'.repeat(129))] })],
    ['tool_name', request([...hello, assistant({ ...call('a'), name: 'a/b' }), user(result('a'))])],
    ['tool_name_repeated', request(hello, { tools: [tool('a'), tool('a')] })],
    ['output_format', request(hello, { output_config: { format: { type: 'json_schema' } } })],
    [
      'output_format',
      request(hello, { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }),
    ],
    [
      'output_format',
      request(hello, {
        output_config: { format: { type: 'json_schema', schema: { type: 'string', minLength: 1 } } },
      }),
    ],
    ['tool_schema', request(hello, { tools: [tool('a', { type: 'string' })] })],
    ['tool_schema', request(hello, { tools: [tool('a', { type: 'object', anyOf: [] })] })],
    ['tool_property', request(hello, { tools: [tool('a', { type: 'object', properties: { 'a b': {} } })] })],
    ['tool_choice', request(hello, { tools: [tool('a')], tool_choice: 'auto' })],
    ['tool_choice', request(hello, { tools: [tool('a')], tool_choice: { type: 'tool', name: 'b' } })],
    ['tool_choice', request(hello, { tool_choice: { type: 'any' } })],
    ['thinking_forced_tool', request(hello, { tools: [tool('a')], tool_choice: { type: 'any' }, ...think })],
    ['thinking_budget', request(hello, { ...think, max_tokens: 1024 })],
    ['thinking_budget', request(hello, { ...think, thinking: { type: 'enabled', budget_tokens: 512 } })],
    ['thinking_temperature', request(hello, { ...think, temperature: 0.5 })],
    ['temperature', request(hello, { temperature: 1.5 })],
    ['thinking_first', request([...hello, assistant(call('a')), user(result('a'))], think)],
    ['thinking_first', request([...hello, assistant(text('x'), thinking, call('a')), user(result('a'))], think)],
    ['thinking_disabled', request([...hello, assistant(thinking, call('a')), user(result('a'))])],
    ['thinking_last', request([...hello, assistant(text('x'), thinking), ...hello])],
    ['thinking_signature', request([...hello, assistant({ ...thinking, signature: '' }, text('x')), ...hello])],
    ['call_id', request([...hello, assistant(call('a.b')), user(result('a.b'))])],
    ['call_id', request([...hello, assistant(call('x'.repeat(65))), user(result('x'.repeat(65)))])],
    ['call_id_repeated', request([...hello, assistant(call('a'), call('a')), user(result('a'))])],
    ['call_input', request([...hello, assistant({ ...call('a'), input: '{}' }), user(result('a'))])],
    ['call_without_result', request([...hello, assistant(call('a'), call('b')), user(result('a'))])],
    ['call_without_result', request([...hello, assistant(call('a')), ...hello])],
    ['call_without_result', request([...hello, assistant(call('a'))])],
    ['result_without_call', request([user(result('a'))])],
    [
      'result_without_call',
      request([...hello, assistant(call('a')), user(result('a')), assistant(text('x')), user(result('a'))]),
    ],
    ['result_repeated', request([...hello, assistant(call('a')), user(result('a'), result('a'))])],
    ['result_order', request([...hello, assistant(call('a')), user(text('x'), result('a'))])],
    [
      'result_empty_error',
      request([...hello, assistant(call('a')), user({ ...result('a'), content: [], is_error: true })]),
    ],
    ['media', request([user({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'x' } })])],
    [
      'result_error_media',
      request([...hello, assistant(call('a')), user({ ...result('a'), content: [{ type: 'image' }], is_error: true })]),
    ],
    ['media', request([user({ type: 'image' })])],
    ['server_call_without_result', request([...hello, assistant(text('x'), search('s')), ...hello])],
    ['server_call_without_result', request([...hello, assistant(search('s'), text('x'))])],
    ['server_call_without_result', request([...hello, assistant({ ...search('s'), type: 'mcp_tool_use' }), ...hello])],
    [
      'server_call_without_result',
      request([...hello, assistant(search('s'), call('a')), user(result('a'), text('x')), assistant(found('s'))]),
    ],
    ['server_result_without_call', request([...hello, assistant(found('s'), text('x')), ...hello])],
    ['container', request([...hello, assistant(search('s'), fromCode), user(result('a'))])],
    [
      'cache_control',
      request([...hello, assistant({ ...thinking, cache_control: { type: 'ephemeral' } }, text('x')), ...hello]),
    ],
    [
      'cache_control',
      request([user(...[1, 2, 3, 4, 5].map(() => ({ ...text('x'), cache_control: { type: 'ephemeral' } })))]),
    ],
  ])('%s', (code, body) => {
    const issues = validateAnthropicRequest(body)
    expect(issues.map((issue) => issue.code)).toContain(code)
    expect(issues.every((issue) => issue.source !== '' && issue.message !== '')).toBe(true)
  })
})
