// For any valid history and any Gemini model, the strict Gemini wire accepts the encoded request.
import type { AssistantPart, ContentPart, JsonObject, Message, ModelRequest, ProviderState } from '@baton/core/internal'
import { validateGeminiRequest } from '@baton/testing/wires'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRequestMemory } from '../request-memory.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import type { WireContent } from './wire.ts'

const words = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', ' ', '\n\t', 'Hello ', ' x'))
const toolName = fc.oneof(fc.constantFrom('agent.spawn', 'a/b', '9', '_-'), fc.string({ minLength: 1, maxLength: 80 }))
const source = fc.oneof(
  fc.record({ type: fc.constant('base64' as const), data: fc.base64String({ minLength: 4 }) }),
  fc.record({ type: fc.constant('url' as const), url: fc.constant('https://a.example/x') }),
)
const mediaType = fc.constantFrom('image/png', 'image/bmp', 'application/pdf', 'text/plain', 'audio/wav', 'font/woff')
const contentPart: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), text: words }),
  fc.record({ type: fc.constant('image' as const), mediaType, source }),
  fc.record({ type: fc.constant('file' as const), mediaType, name: words, source }),
)

/**
 * State of this provider and model, of related models, and of other providers, including state that no decoder would
 * write.
 */
const state: fc.Arbitrary<ProviderState | undefined> = fc.option(
  fc.record({
    provider: fc.constantFrom('gemini', 'gemini', 'anthropic'),
    model: fc.constantFrom('gemini-3-pro-preview', 'gemini-2.5-flash', 'gemini-2.5-flash-001'),
    data: fc.oneof(
      fc.constantFrom(null, 'x', 3),
      fc.record(
        {
          id: fc.constantFrom('', 'call-1', 'call-2'),
          thoughtSignature: fc.constantFrom<(string | number)[]>('sig', '', 3),
          isText: fc.boolean(),
          part: fc.constantFrom<JsonObject[]>(
            { executableCode: { code: 'x', language: 'PYTHON' } },
            { brandNew: {} },
            { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 's' },
          ),
        },
        { requiredKeys: [] },
      ),
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
  { type: 'object', properties: { a: { type: 'array' }, 'b-c': { const: 3 } }, additionalProperties: false },
  { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } } },
  { oneOf: [{ properties: { b: { type: ['array', 'null'], items: { exclusiveMinimum: 3 } } } }] },
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
    output: fc.option(inputSchema, { nil: undefined }),
    settings: fc.record(
      {
        maxOutputTokens: fc.integer({ min: 1, max: 9000 }),
        temperature: fc.double({ min: 0, max: 3, noNaN: true }),
        reasoningTokens: fc.constantFrom(0, 1, 1500, 5000, 20_000),
        parallelCalls: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ steps, choice, output, ...rest }) => {
    const [first] = rest.tools
    const named = first ? { type: 'tool' as const, name: first.name } : { type: 'auto' as const }
    const toolChoice = choice === 'tool' ? named : { type: choice }
    const schema = output && { output: { name: 'answer', schema: output } }
    return { ...rest, session: 's', messages: buildHistory(steps), toolChoice, ...schema }
  })

test.each(['gemini-2.0-flash', 'gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview', 'gemini-3.5-flash'])(
  'arbitrary legal histories are accepted: %s',
  (model) => {
    fc.assert(
      fc.property(request, (neutral) => {
        const encode = () => JSON.stringify(encodeGeminiRequest(neutral, { model }))
        const text = encode()
        expect(validateGeminiRequest(JSON.parse(text), { model })).toEqual([])
        expect(encode()).toBe(text)
      }),
      { numRuns: chooseCount({ quick: 80, landing: 250, deep: 250 }) },
    )
  },
)

test('a request that goes on from the one before says the same as one that is encoded anew', () => {
  fc.assert(
    fc.property(request, fc.constantFrom('gemini-2.5-flash', 'gemini-3-pro-preview'), (neutral, how) => {
      const memory = createRequestMemory<WireContent>()
      for (const index of neutral.messages.keys()) {
        const grown = { ...neutral, messages: neutral.messages.slice(0, index + 1) }
        const text = memory.write(encodeGeminiRequest(grown, { model: how }, memory), 'contents')
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(encodeGeminiRequest(grown, { model: how }))))
      }
    }),
    { numRuns: chooseCount({ quick: 60, landing: 200, deep: 200 }) },
  )
})
