// For any valid history, Anthropic's validator accepts the encoded request.
import type {
  AssistantPart,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  ProviderState,
  ToolChoice,
  ToolDeclaration,
} from '@baton/core/internal'
import { validateAnthropicRequest } from '@baton/testing/wires'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AnthropicEncodeOptions } from './encode-request.ts'
import { createRequestMemory } from '../request-memory.ts'
import { encodeAnthropicRequest } from './encode-request.ts'
import type { WireMessage } from './wire.ts'

const words = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '\n\t', 'Hello ', ' x'))
const toolName = fc.oneof(
  fc.constantFrom('agent.spawn', 'agent_spawn', 'a/b', '9', '_-'),
  fc.string({ minLength: 1, maxLength: 80 }),
)
const source = fc.oneof(
  fc.record({ type: fc.constant('base64' as const), data: fc.base64String({ minLength: 4 }) }),
  fc.record({ type: fc.constant('url' as const), url: fc.constant('https://a.example/x') }),
)
const mediaType = fc.constantFrom(
  'image/png',
  'image/bmp',
  'application/pdf',
  'text/plain',
  'application/json',
  'video/mp4',
)
const contentPart: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({ type: fc.constant('image' as const), mediaType, source }),
  fc.record({ type: fc.constant('file' as const), mediaType, name: words, source }),
)

/** State of this provider and family, of a sister model, and of other providers. */
function buildState(data: fc.Arbitrary<JsonObject>): fc.Arbitrary<ProviderState> {
  const owner = fc.constantFrom(
    { provider: 'anthropic', model: 'claude-haiku-4-5-20251001' },
    { provider: 'anthropic', model: 'claude-opus-4-8' },
    { provider: 'google', model: 'gemini-3-pro' },
    { provider: 'bedrock', model: 'claude-haiku-4-5' },
  )
  return fc.tuple(owner, data).map(([each, value]) => ({ ...each, data: value }))
}
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const signature = fc.record({ signature: fc.constantFrom('', 'sig') })
const serverId = fc.constantFrom('srvtoolu_1', 'srvtoolu_2', 'srvtoolu_3')
/** A few ids shared by many calls: some have results, in the same message or later, some never do. */
const serverBlock = fc
  .record({ type: fc.constantFrom('server_tool_use', 'mcp_tool_use', 'code_execution_tool_result'), id: serverId })
  .map(({ type, id }) => ({ block: { type, [type.endsWith('result') ? 'tool_use_id' : 'id']: id, name: 'code' } }))
const providerBlock: fc.Arbitrary<JsonObject> = fc.oneof(
  fc
    .constantFrom('redacted_thinking', 'server_tool_use', 'web_search_tool_result', 'fallback', 'brand_new')
    .map((type) => ({ block: { type, data: 'opaque' } })),
  { weight: 3, arbitrary: serverBlock },
  serverBlock.map((data) => ({ ...data, cut: true })),
  fc.constant({ container: { id: 'container_1', expires_at: '2026-11-28T00:00:00Z' } }),
)
const idData: fc.Arbitrary<JsonObject> = fc.record(
  {
    id: fc.oneof(fc.constantFrom('toolu_1', 'toolu_2', 'call.x', ''), fc.string({ maxLength: 90 })),
    caller: serverId.map((id) => ({ type: 'code_execution_20250825', tool_id: id })),
  },
  { requiredKeys: ['id'] },
)

type Draft = {
  readonly type: 'call'
  readonly name: string
  readonly arguments: string
  readonly state: ProviderState | undefined
}
const draftCall: fc.Arbitrary<Draft> = fc.record({
  type: fc.constant('call' as const),
  name: toolName,
  arguments: fc.oneof(fc.json(), fc.constantFrom('', '{}', '{"a":', '[]')),
  state: optional(buildState(idData)),
})
const spoken: fc.Arbitrary<AssistantPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc
    .record({ type: fc.constant('reasoning' as const), text: words, state: optional(buildState(signature)) })
    .map(({ state, ...part }) => (state ? { ...part, state } : part)),
  fc.record({ type: fc.constant('provider' as const), state: buildState(providerBlock) }),
)

interface Step {
  readonly said: readonly AssistantPart[]
  readonly calls: readonly Draft[]
  readonly results: readonly { readonly isError: boolean; readonly content: readonly ContentPart[] }[]
  readonly users: readonly (readonly ContentPart[])[]
}
const outcome = fc.record({ isError: fc.boolean(), content: fc.array(contentPart, { maxLength: 3 }) })
const step: fc.Arbitrary<Step> = fc.record({
  said: fc.array(spoken, { maxLength: 4 }),
  calls: fc.array(draftCall, { maxLength: 3 }),
  results: fc.tuple(outcome, outcome, outcome),
  users: fc.array(fc.array(contentPart, { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
})

/** A valid neutral history: every call is directly followed by its result, and Baton's ids are distinct. */
function buildHistory(steps: readonly Step[], first: boolean): readonly Message[] {
  const messages: Message[] = first ? [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }] : []
  for (const [number, { said, calls, results, users }] of steps.entries()) {
    const made = calls.map(({ state, ...call }, index) => ({
      ...call,
      callId: `call_${number}_${index}`,
      ...(state && { state }),
    }))
    if (said.length + made.length > 0) messages.push({ role: 'assistant', parts: [...said, ...made] })
    const parts = made.flatMap(({ callId, name }, index) => {
      const result = results[index]
      return result ? [{ type: 'result' as const, callId, name, ...result }] : []
    })
    if (parts.length > 0) messages.push({ role: 'tool', parts })
    for (const user of users) messages.push({ role: 'user', parts: user })
  }
  return messages
}

const tools: fc.Arbitrary<readonly ToolDeclaration[]> = fc
  .uniqueArray(toolName, { maxLength: 4 })
  .map((names) => names.map((name) => ({ name, description: '', inputSchema: { type: 'object' } })))
const request: fc.Arbitrary<ModelRequest> = fc
  .record({
    instructions: words,
    steps: fc.array(step, { maxLength: 6 }),
    first: fc.boolean(),
    tools,
    choice: fc.constantFrom('auto', 'any', 'none', 'tool'),
    settings: fc.record(
      {
        maxOutputTokens: fc.integer({ min: 1, max: 9000 }),
        temperature: fc.double({ min: 0, max: 2, noNaN: true }),
        reasoningTokens: fc.constantFrom(0, 1, 1500, 20_000),
        effort: fc.constantFrom('none' as const, 'low' as const, 'max' as const),
        parallelCalls: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ steps, first, choice, ...rest }) => ({
    ...rest,
    session: 's',
    messages: buildHistory(steps, first),
    toolChoice: pickChoice(choice, rest.tools),
  }))

function pickChoice(type: 'auto' | 'any' | 'none' | 'tool', declared: readonly ToolDeclaration[]): ToolChoice {
  if (type !== 'tool') return { type }
  const [tool] = declared
  return tool ? { type, name: tool.name } : { type: 'auto' }
}

const options: fc.Arbitrary<AnthropicEncodeOptions> = fc.record({
  model: fc.constantFrom(
    'claude-haiku-4-5',
    'claude-opus-4-8',
    'claude-opus-5',
    'claude-opus-5-5',
    'claude-sonnet-5-5',
  ),
  cache: fc.constantFrom('off', '5m', '1h'),
})

test('arbitrary legal histories are encoded into requests that Anthropic accepts', () => {
  fc.assert(
    fc.property(request, options, (neutral, how) => {
      const body: unknown = JSON.parse(JSON.stringify(encodeAnthropicRequest(neutral, how)))
      expect(validateAnthropicRequest(body)).toEqual([])
    }),
    { numRuns: chooseCount({ quick: 200, landing: 600, deep: 600 }) },
  )
})

test('the same request gives the same bytes', () => {
  fc.assert(
    fc.property(request, options, (neutral, how) => {
      expect(JSON.stringify(encodeAnthropicRequest(neutral, how))).toBe(
        JSON.stringify(encodeAnthropicRequest(neutral, how)),
      )
    }),
    { numRuns: 50 },
  )
})

test('a request that goes on from the one before says the same as one that is encoded anew', () => {
  fc.assert(
    fc.property(request, options, (neutral, how) => {
      const memory = createRequestMemory<WireMessage>()
      for (const index of neutral.messages.keys()) {
        const grown = { ...neutral, messages: neutral.messages.slice(0, index + 1) }
        const text = memory.write(encodeAnthropicRequest(grown, how, memory), 'messages')
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(encodeAnthropicRequest(grown, how))))
      }
    }),
    { numRuns: chooseCount({ quick: 60, landing: 200, deep: 200 }) },
  )
})
