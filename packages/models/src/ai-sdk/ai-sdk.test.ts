// The bridge on its own: requests, answers, and parts of AI SDK streams that must never run.
import type { ModelEvent, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { expect, test } from 'vitest'
import { describeError } from './errors.ts'
import type { AiSdkLanguageModel } from './index.ts'
import { fromAiSdkModel } from './index.ts'

const REQUEST: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [{ name: 'agent.spawn', description: 'Starts one.', inputSchema: { type: 'object', properties: {} } }],
  toolChoice: { type: 'auto' },
  settings: { reasoningTokens: 8000, maxOutputTokens: 512 },
  session: 's',
}
const USAGE = {
  inputTokens: { total: 10, noCache: 3, cacheRead: 7, cacheWrite: undefined },
  outputTokens: { total: 5, text: 3, reasoning: 2 },
}
const WIRE = 'agent_-dot-spawn'

function finish(unified: 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'interrupted' = 'stop') {
  return { type: 'finish', usage: USAGE, finishReason: { unified, raw: undefined } } as const
}

function modelOf(
  parts: readonly LanguageModelV4StreamPart[],
  onOptions?: (options: LanguageModelV4CallOptions) => void,
) {
  const theirs = {
    specificationVersion: 'v4',
    provider: 'theirs',
    modelId: 'm',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not asked')),
    doStream: async (options: LanguageModelV4CallOptions) => {
      onOptions?.(options)
      return { stream: ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart> }
    },
  } satisfies LanguageModelV4
  return fromAiSdkModel(theirs, { timeoutMs: 1000 })
}

async function run(parts: readonly LanguageModelV4StreamPart[], request = REQUEST) {
  const events: ModelEvent[] = []
  let options: LanguageModelV4CallOptions | undefined
  const model = modelOf(parts, (given) => (options = given))
  const answer = await model.run(request, (event) => events.push(event), new AbortController().signal)
  return { answer, events, options }
}

async function failing(parts: readonly LanguageModelV4StreamPart[]): Promise<string> {
  return await run(parts).then(
    ({ answer }) => answer.finish,
    (error: unknown) => (isBatonError(error) ? error.code : String(error)),
  )
}

const CALL = [
  { type: 'tool-input-start', id: 'c1', toolName: WIRE },
  { type: 'tool-input-delta', id: 'c1', delta: '{"a"' },
  { type: 'tool-input-delta', id: 'c1', delta: ':1}' },
  { type: 'tool-input-end', id: 'c1' },
  { type: 'tool-call', toolCallId: 'c1', toolName: WIRE, input: '{"a":1}', providerMetadata: { theirs: { sig: 'x' } } },
] as const satisfies readonly LanguageModelV4StreamPart[]

test('text, thoughts and a call come out in order, with what their provider put beside them', async () => {
  const { answer, events } = await run([
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r1', modelId: 'm-2026' },
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'hm' },
    { type: 'reasoning-end', id: '0', providerMetadata: { theirs: { signature: 's' } } },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Let ' },
    { type: 'text-delta', id: '1', delta: 'me.' },
    { type: 'text-end', id: '1' },
    ...CALL,
    finish('tool-calls'),
  ])
  const state = (data: object) => ({ provider: 'ai-sdk:theirs', model: 'm', data })
  expect(answer).toEqual({
    parts: [
      { type: 'reasoning', text: 'hm', state: state({ theirs: { signature: 's' } }) },
      { type: 'text', text: 'Let me.' },
      { type: 'call', name: 'agent.spawn', arguments: '{"a":1}', state: state({ theirs: { sig: 'x' } }) },
    ],
    finish: 'tool-calls',
    usage: { inputTokens: 10, cacheReadTokens: 7, outputTokens: 5, reasoningTokens: 2 },
    model: 'm-2026',
    requestId: 'r1',
  })
  expect(events.map((event) => event.type)).toEqual([
    'reasoning-delta',
    'text-delta',
    'text-delta',
    'call-start',
    'call-delta',
    'call-delta',
    'call-end',
  ])
})

test('sources and citations are parts of the answer, and no text', async () => {
  const page = { type: 'source', sourceType: 'url', id: 's1', url: 'https://example.org', title: 'A page' } as const
  const book = {
    type: 'source',
    sourceType: 'document',
    id: 's2',
    mediaType: 'application/pdf',
    title: 'A book',
  } as const
  const { answer, events } = await run([
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'It is ' },
    { ...page, providerMetadata: { theirs: { rank: 1 } } },
    { type: 'text-delta', id: '1', delta: 'blue.' },
    { type: 'text-end', id: '1', citations: [{ source: book, startIndex: 0, endIndex: 5, citedText: 'Blue it is.' }] },
    finish(),
  ])
  expect(answer.parts).toEqual([
    { type: 'text', text: 'It is blue.' },
    { type: 'source', id: 's1', url: 'https://example.org', title: 'A page' },
    { type: 'source', id: 's2#0', mediaType: 'application/pdf', title: 'A book', quote: 'Blue it is.' },
  ])
  expect([answer.finish, events.map((event) => event.type)]).toEqual(['end', ['text-delta', 'text-delta']])
})

test('a request has their words: tools by wire name, results by call, provider marks beside their own parts only', async () => {
  const own = { provider: 'ai-sdk:theirs', model: 'm', data: { theirs: { sig: 'x' } } }
  const { options } = await run([finish()], {
    ...REQUEST,
    messages: [
      ...REQUEST.messages,
      {
        role: 'assistant',
        parts: [
          {
            type: 'reasoning',
            text: 'foreign',
            state: { provider: 'anthropic', model: 'm', data: { signature: 'y' } },
          },
          { type: 'reasoning', text: 'own', state: own },
          { type: 'call', callId: 'call_1', name: 'agent.spawn', arguments: '{"a":1}', state: own },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'result',
            callId: 'call_1',
            name: 'agent.spawn',
            isError: true,
            content: [{ type: 'text', text: 'no' }],
          },
        ],
      },
    ],
    toolChoice: { type: 'any' },
  })
  expect(options).toMatchObject({
    prompt: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'own', providerOptions: own.data },
          { type: 'tool-call', toolCallId: 'call_1', toolName: WIRE, input: { a: 1 }, providerOptions: own.data },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: WIRE, output: { type: 'error-text', value: 'no' } },
        ],
      },
    ],
    tools: [{ type: 'function', name: WIRE }],
    toolChoice: { type: 'required' },
    maxOutputTokens: 16_896,
    reasoning: 'medium',
  })
})

test.each<[string, readonly LanguageModelV4StreamPart[], string]>([
  ['ended without its finish', [{ type: 'text-delta', id: '1', delta: 'Half' }], 'model_cut_off'],
  ['was interrupted', [...CALL, finish('interrupted')], 'model_cut_off'],
  ['stopped because of an error', [finish('error')], 'model_provider_failed'],
  ['has a call that did not end', [...CALL.slice(0, 2), finish('tool-calls')], 'malformed-call'],
  // The machine sees that they end early, and repairs complete ones.
  ['has arguments that are no object', [{ ...CALL[4], input: '{"a":' }, finish('tool-calls')], 'tool-calls'],
  ['was cut at its length, with a call', [...CALL, finish('length')], 'max-tokens'],
  ['was filtered', [finish('content-filter')], 'refusal'],
  ['has calls and says stop', [...CALL, finish('stop')], 'tool-calls'],
  ['has a call that their provider ran', [{ ...CALL[4], providerExecuted: true }, finish()], 'end'],
  ['has an error in its middle', [...CALL, { type: 'error', error: new Error('boom') }], 'model_provider_failed'],
])('a stream that %s', async (_, parts, expected) => {
  expect(await failing(parts)).toBe(expected)
})

test('a model that never says anything is left after its time, also when it ignores its signal', async () => {
  const silent: AiSdkLanguageModel = {
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    doStream: () => new Promise(() => {}),
  }
  const asked = fromAiSdkModel(silent, { timeoutMs: 20 }).run(REQUEST, () => {}, new AbortController().signal)
  await expect(asked).rejects.toMatchObject({ code: 'model_timeout' })
})

test('an abort ends the call at once, also when a provider ignores its signal and goes on speaking', async () => {
  const stop = new AbortController()
  const heard: ModelEvent[] = []
  let isLeft = false
  async function* chatter() {
    try {
      for (;;) {
        yield { type: 'text-delta', id: '1', delta: 'x' }
        await new Promise((resolve) => setImmediate(resolve))
      }
    } finally {
      isLeft = true
    }
  }
  const deaf: AiSdkLanguageModel = {
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    doStream: () => Promise.resolve({ stream: chatter() }),
  }
  const sink = (event: ModelEvent): void => {
    heard.push(event)
    if (heard.length === 3) stop.abort()
  }
  await expect(fromAiSdkModel(deaf).run(REQUEST, sink, stop.signal)).rejects.toMatchObject({ code: 'cancelled' })
  expect(heard).toHaveLength(3)
  await expect.poll(() => isLeft).toBe(true)
})

test('an abort does not wait for a provider that says nothing', async () => {
  const stop = new AbortController()
  const silent: AiSdkLanguageModel = {
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    doStream: () => {
      queueMicrotask(() => stop.abort())
      return new Promise(() => {})
    },
  }
  const asked = fromAiSdkModel(silent, { timeoutMs: 2 ** 30 }).run(REQUEST, () => {}, stop.signal)
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
})

test('an image at an address that is none is told in words', async () => {
  const image = { type: 'image', mediaType: 'image/png', source: { type: 'url', url: '/x.png' } } as const
  const { options } = await run([finish()], { ...REQUEST, messages: [{ role: 'user', parts: [image] }] })
  expect(options?.prompt.at(-1)).toMatchObject({
    content: [{ type: 'text', text: '[Not shown, because its address is not a URL: image]' }],
  })
})

test('a model of another specification is refused by name', () => {
  const old = { specificationVersion: 'v2', provider: 'p', modelId: 'm', doStream: () => Promise.reject(new Error()) }
  expect(() => fromAiSdkModel(old)).toThrow('needs a language model from AI SDK 7 (specification v4), not v2')
})

test('an answer that never ends is given up at its bound', async () => {
  const flood = Array.from(
    { length: 9 },
    () => ({ type: 'text-delta', id: 't', delta: 'x'.repeat(1024 * 1024) }) as const,
  )
  expect(await failing([...flood, finish()])).toBe('model_malformed_answer')
  expect(await failing([...flood.slice(2), finish()])).toBe('end')
})

test.each([
  [{ 'retry-after': '3' }, 3000],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, 30_000],
  [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT' }, undefined],
])('how long to wait, as the headers %o say it', (responseHeaders, retryAfterMs) => {
  const { data } = describeError('theirs', { statusCode: 429, responseHeaders, message: 'slow down' })
  expect(data).toEqual({ status: 429, ...(retryAfterMs !== undefined && { retryAfterMs }) })
})
