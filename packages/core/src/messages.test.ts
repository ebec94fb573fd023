// Which results of an answer come from outside: those of untrusted tools, and those of provider-run tools.
import { expect, test } from 'vitest'
import type { JsonValue } from './json.ts'
import type { AssistantPart, StoredMessage } from './messages.ts'
import { listUntrusted } from './messages.ts'

const provider = (data: JsonValue): AssistantPart => ({ type: 'provider', state: { provider: 'p', model: 'm', data } })
const said = (...parts: readonly AssistantPart[]): readonly StoredMessage[] => [{ role: 'assistant', parts }]

test.each([
  ['a search of Anthropic', provider({ type: 'web_search_tool_result', content: [] }), ['web_search_tool_result']],
  ['a call of a remote server by OpenAI', provider({ item: { type: 'mcp_call', output: 'x' } }), ['mcp_call']],
  ['code that Gemini ran', provider({ part: { codeExecutionResult: { output: 'x' } } }), ['codeExecutionResult']],
  ['a result in the words of the AI SDK', provider({ type: 'tool-result', toolName: 'search' }), ['tool-result']],
  [
    'a page that is cited',
    { type: 'source', id: 's', url: 'https://example.com' } as const,
    ['search of the provider'],
  ],
  ['a signature', provider({ part: { thoughtSignature: 'x' } }), []],
  ['what nobody knows', provider('x'), []],
] as const)('%s', (_, part, names) => {
  expect(listUntrusted(said({ type: 'text', text: 'So.' }, part))).toEqual(names)
})

test('a result is named once, whoever tells it', () => {
  const result = { type: 'result', callId: 'c', name: 'mail', isError: false, content: [] } as const
  const messages: readonly StoredMessage[] = [
    {
      role: 'tool',
      parts: [
        { ...result, provenance: { trust: 'untrusted' } },
        { ...result, name: 'own' },
      ],
    },
    { role: 'user', parts: [], untrusted: ['mail', 'web'] },
  ]
  expect(listUntrusted(messages)).toEqual(['mail', 'web'])
})
