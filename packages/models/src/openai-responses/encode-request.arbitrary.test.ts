// For any valid history, the strict wire accepts the encoded request, and nothing that other providers or models left
// in the history is sent.
import type { AssistantPart, ContentPart, JsonObject, Message, ModelRequest, ProviderState } from '@baton/core/internal'
import { validateOpenAiResponsesRequest } from '@baton/testing/wires'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRequestMemory } from '../request-memory.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'
import type { WireItem } from './wire.ts'

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

const FOREIGN = 'of-somebody-else'
const buildData = (thought: string): fc.Arbitrary<JsonObject> =>
  fc.record(
    {
      id: fc.oneof(fc.constantFrom('call_1', 'call_1', 'fc_1', ''), fc.string({ maxLength: 90 })),
      extra: fc.constantFrom<JsonObject[]>({ caller: { type: 'direct' } }, { type: 'x', name: 7 }),
      phase: fc.constantFrom<(string | number)[]>('commentary', 'final_answer', 3),
      refusal: fc.boolean(),
      summary: fc.constantFrom<(JsonObject[] | string)[]>([], [{ type: 'summary_text', text: 's' }], 'x'),
      encrypted_content: fc.constantFrom<(string | null)[]>(thought, '', null),
      item: fc.constantFrom<(JsonObject | string)[]>(
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'custom_tool_call', call_id: 'c', name: 'n', input: 'x' },
        { type: 3 },
        'x',
      ),
    },
    { requiredKeys: [] },
  )
const state: fc.Arbitrary<ProviderState | undefined> = fc.option(
  fc.oneof(
    fc.record({
      provider: fc.constant('openai'),
      model: fc.constantFrom('gpt-5', 'gpt-5-2025-08-07'),
      data: buildData('mine'),
    }),
    fc.record({ provider: fc.constant('openai'), model: fc.constant('o3'), data: buildData(FOREIGN) }),
    fc.record({
      provider: fc.constantFrom('anthropic', 'openai-chat'),
      model: fc.constant('gpt-5'),
      data: buildData(FOREIGN),
    }),
  ),
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
  after: fc.array(spoken, { maxLength: 2 }),
  rebased: fc.boolean(),
  calls: fc.array(fc.tuple(draftCall, outcome), { maxLength: 3 }),
  users: fc.array(fc.array(contentPart, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
})
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** Every call is directly followed by its result, and Baton's ids are distinct. */
function buildHistory(steps: readonly Step[]): readonly Message[] {
  return steps.flatMap(({ said, after, rebased, calls, users }, number): readonly Message[] => {
    const made = calls.map(([{ state: owned, ...call }], index) => {
      return { type: 'call' as const, ...call, callId: `call_${number}_${index}`, ...(owned && { state: owned }) }
    })
    const results = calls.map(([{ name }, done], index) => {
      return { type: 'result' as const, callId: `call_${number}_${index}`, name, ...done }
    })
    const parts = [...said, ...made, ...after]
    return [
      ...(parts.length > 0 ? [{ role: 'assistant' as const, parts, ...(rebased && { rebased }) }] : []),
      ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : []),
      ...users.map((user) => ({ role: 'user' as const, parts: user })),
    ]
  })
}

const schema = fc.constantFrom<JsonObject[]>(
  { type: 'object' },
  { type: 'object', properties: { a: { type: 'array' } }, anyOf: [{ required: ['a'] }] },
  { oneOf: [{ properties: { b: { type: 'array', items: { type: 'array' } } } }] },
  { type: 'object', properties: { a: { type: 'string', minLength: 2 }, b: { oneOf: [{ type: 'object' }] } } },
  { type: 'object', additionalProperties: { type: 'number' } },
)
const request: fc.Arbitrary<ModelRequest> = fc
  .record({
    instructions: words,
    steps: fc.array(step, { maxLength: 6 }),
    tools: fc.uniqueArray(fc.record({ name: toolName, description: words, inputSchema: schema }), {
      maxLength: 4,
      selector: ({ name }) => name,
    }),
    choice: fc.constantFrom('auto' as const, 'any' as const, 'none' as const, 'tool' as const),
    session: words,
    output: fc.option(fc.record({ name: toolName, schema }), { nil: undefined }),
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
  .map(({ steps, choice, output, ...rest }): ModelRequest => {
    const [tool] = rest.tools
    const named = tool ? ({ type: 'tool', name: tool.name } as const) : ({ type: 'auto' } as const)
    const toolChoice = choice === 'tool' ? named : { type: choice }
    return { ...rest, messages: buildHistory(steps), toolChoice, ...(output && { output }) }
  })

test('arbitrary legal histories are accepted, and nothing of others goes along', () => {
  fc.assert(
    fc.property(request, fc.constantFrom('gpt-5', 'gpt-5.6', 'gpt-4.1', 'my-model'), (neutral, model) => {
      const encode = () => JSON.stringify(encodeOpenAiResponsesRequest(neutral, { model }))
      const text = encode()
      expect(validateOpenAiResponsesRequest(JSON.parse(text))).toEqual([])
      expect(text).not.toContain(FOREIGN)
      expect(encode()).toBe(text)
    }),
    { numRuns: chooseCount({ quick: 200, landing: 600, deep: 600 }) },
  )
})

test('a request that goes on from the one before says the same as one that is encoded anew', () => {
  fc.assert(
    fc.property(request, fc.constantFrom('gpt-5', 'my-model'), (neutral, how) => {
      const memory = createRequestMemory<WireItem>()
      for (const index of neutral.messages.keys()) {
        const grown = { ...neutral, messages: neutral.messages.slice(0, index + 1) }
        const text = memory.write(encodeOpenAiResponsesRequest(grown, { model: how }, memory), 'input')
        expect(JSON.parse(text)).toEqual(
          JSON.parse(JSON.stringify(encodeOpenAiResponsesRequest(grown, { model: how }))),
        )
      }
    }),
    { numRuns: chooseCount({ quick: 60, landing: 200, deep: 200 }) },
  )
})
