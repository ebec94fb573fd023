// For any valid history and any preset, the strict wire accepts the encoded request; requests to Mistral also meet its
// extra rules.
import type {
  AssistantPart,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  ProviderState,
  ToolChoice,
} from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { validateOpenAiChatRequest } from '@baton/testing/wires'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PRESETS } from '../presets.ts'
import { createRequestMemory } from '../request-memory.ts'
import { encodeOpenAiChatRequest } from './encode-request.ts'
import type { WireMessage } from './wire.ts'

const words = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' ', '\n\t', 'Hello ', 'error: x'),
)
const toolName = fc.oneof(fc.constantFrom('agent.spawn', 'a/b', '9', '_-'), fc.string({ minLength: 1, maxLength: 80 }))
const source = fc.oneof(
  fc.record({ type: fc.constant('base64' as const), data: fc.base64String({ minLength: 4 }) }),
  fc.record({ type: fc.constant('url' as const), url: fc.constant('https://a.example/x') }),
)
const mediaType = fc.constantFrom('image/png', 'image/bmp', 'application/pdf', 'text/plain', 'video/mp4')
const contentPart: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({ type: fc.constant('image' as const), mediaType, source }),
  fc.record({ type: fc.constant('file' as const), mediaType, name: words, source }),
)

/** State of this server and model, of another model, and of other providers. */
const state: fc.Arbitrary<ProviderState | undefined> = fc.option(
  fc.record({
    provider: fc.constantFrom('mine', 'anthropic', 'openrouter'),
    model: fc.constantFrom('m', 'other'),
    data: fc.record(
      {
        id: fc.oneof(fc.constantFrom('call_1', 'call_1', 'g6fVbXS8K', ''), fc.string({ maxLength: 90 })),
        field: fc.constantFrom('reasoning', 'reasoning_content', 'x'),
        reasoning_details: fc.constant([{ type: 'reasoning.text', text: 'x' }, null, 3]),
        extra_content: fc.constantFrom<(JsonObject | string)[]>({ google: { thought_signature: 's' } }, 'x'),
      },
      { requiredKeys: [] },
    ),
  }),
  { nil: undefined },
)

const spoken: fc.Arbitrary<AssistantPart> = fc
  .tuple(fc.constantFrom('text', 'reasoning', 'provider'), words, state)
  .map(([type, text, owned]): AssistantPart => {
    if (type === 'provider') return { type, state: owned ?? { provider: 'x', model: 'x', data: null } }
    return { type: type === 'text' ? 'text' : 'reasoning', text, ...(owned && { state: owned }) }
  })
const draftCall = fc.record({
  name: toolName,
  arguments: fc.oneof(fc.json(), fc.constantFrom('', '{}', '{"a":', '[]', '{"a":1}')),
  state,
})
const outcome = fc.record({ isError: fc.boolean(), content: fc.array(contentPart, { maxLength: 3 }) })
const step = fc.record({
  said: fc.array(spoken, { maxLength: 4 }),
  rebased: fc.boolean(),
  calls: fc.array(fc.tuple(draftCall, outcome), { maxLength: 3 }),
  users: fc.array(fc.array(contentPart, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Every call is directly followed by its result, and Baton's ids are distinct. */
function buildHistory(steps: readonly Step[]): readonly Message[] {
  return steps.flatMap(({ said, rebased, calls, users }, number): readonly Message[] => {
    const made = calls.map(([{ state: owned, ...call }], index) => {
      return { type: 'call' as const, ...call, callId: `call_${number}_${index}`, ...(owned && { state: owned }) }
    })
    const results = calls.map(([{ name }, done], index) => {
      return { type: 'result' as const, callId: `call_${number}_${index}`, name, ...done }
    })
    const parts = [...said, ...made]
    return [
      ...(parts.length > 0 ? [{ role: 'assistant' as const, parts, ...(rebased && { rebased }) }] : []),
      ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : []),
      ...users.map((user) => ({ role: 'user' as const, parts: user })),
    ]
  })
}

const inputSchema = fc.constantFrom<JsonObject[]>(
  { type: 'object' },
  { type: 'object', properties: { a: { type: 'array' } }, anyOf: [{ required: ['a'] }] },
  { oneOf: [{ properties: { b: { type: 'array', items: { type: 'array' } } } }] },
)
const request: fc.Arbitrary<ModelRequest> = fc
  .record({
    instructions: words,
    steps: fc.array(step, { maxLength: 6 }),
    tools: fc.uniqueArray(fc.record({ name: toolName, description: words, inputSchema }), {
      maxLength: 4,
      selector: ({ name }) => name,
    }),
    choice: fc.constantFrom('auto', 'any', 'none', 'tool'),
    session: words,
    settings: fc.record(
      {
        maxOutputTokens: fc.integer({ min: 1, max: 9000 }),
        temperature: fc.double({ min: 0, max: 3, noNaN: true }),
        reasoningTokens: fc.constantFrom(0, 1, 1500, 20_000),
        parallelCalls: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ steps, choice, ...rest }) => {
    const [first] = rest.tools
    const named: ToolChoice = first ? { type: 'tool', name: first.name } : { type: 'auto' }
    return { ...rest, messages: buildHistory(steps), toolChoice: choice === 'tool' ? named : { type: choice } }
  })

test.each(Object.entries(PRESETS))('arbitrary legal histories are accepted: %s', (name, { quirks }) => {
  fc.assert(
    fc.property(request, fc.constantFrom('m', 'gpt-5.6', 'o3'), (neutral, model) => {
      const encode = () => JSON.stringify(encodeOpenAiChatRequest(neutral, { model, provider: 'mine', quirks }))
      const text = encode()
      const body: unknown = JSON.parse(text)
      expect(validateOpenAiChatRequest(body)).toEqual([])
      expect(name === 'mistral' ? mistralIssues(body) : []).toEqual([])
      expect(encode()).toBe(text)
    }),
    { numRuns: chooseCount({ quick: 50, landing: 150, deep: 150 }) },
  )
})

const objectsIn = (value: unknown) => (Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [])
const MISTRAL_FIELDS: readonly string[] = ['role', 'content', 'tool_calls', 'tool_call_id', 'prefix']

function mistralIssues(body: unknown): readonly unknown[] {
  const messages = objectsIn(isJsonObject(body) ? body['messages'] : [])
  return messages.flatMap((message, index) => [
    ...Object.keys(message).filter((field) => !MISTRAL_FIELDS.includes(field)),
    ...(message['role'] === 'user' && ['user', 'tool'].some((role) => messages[index - 1]?.['role'] === role)
      ? [`user behind ${index - 1}`]
      : []),
    ...(index === messages.length - 1 && message['role'] === 'assistant' && message['prefix'] !== true ? ['last'] : []),
    ...objectsIn(message['tool_calls'])
      .map(({ id }) => id)
      .filter((id) => typeof id !== 'string' || !/^[a-zA-Z0-9]{9}$/.test(id)),
  ])
}

test('a request that goes on from the one before says the same as one that is encoded anew', () => {
  fc.assert(
    fc.property(request, fc.constantFrom(...Object.values(PRESETS)), (neutral, how) => {
      const memory = createRequestMemory<WireMessage>()
      for (const index of neutral.messages.keys()) {
        const grown = { ...neutral, messages: neutral.messages.slice(0, index + 1) }
        const text = memory.write(
          encodeOpenAiChatRequest(grown, { model: 'm', provider: 'mine', quirks: how.quirks }, memory),
          'messages',
        )
        expect(JSON.parse(text)).toEqual(
          JSON.parse(
            JSON.stringify(encodeOpenAiChatRequest(grown, { model: 'm', provider: 'mine', quirks: how.quirks })),
          ),
        )
      }
    }),
    { numRuns: chooseCount({ quick: 60, landing: 200, deep: 200 }) },
  )
})
