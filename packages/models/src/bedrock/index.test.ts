// Bedrock-specific parts: credentials, frames and their errors, stop reasons. The provider contract covers the rest.
import type { HttpHead, ModelEvent } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { HELLO, answerWith } from '../memory-transport.test-kit.ts'
import { encodeFrame } from './frames.ts'
import type { BedrockModelOptions } from './index.ts'
import { createToolNames } from '../tool-names.ts'
import { createBedrockModel } from './index.ts'
import { createEventStreamReader } from './event-stream.ts'
import { decodeBedrockMessage } from './decode-stream.ts'

function frame(type: string, payload: object, messageType = 'event'): Uint8Array {
  const headers = { ':message-type': messageType, [`:${messageType}-type`]: type }
  return encodeFrame({ headers, body: new TextEncoder().encode(JSON.stringify(payload)) })
}
const text = (words: string) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: words } })
const exception = (type: string, message: string) => frame(type, { message }, 'exception')
const stop = (stopReason: string) => frame('messageStop', { stopReason })

async function run(
  frames: readonly Uint8Array[],
  more: Partial<BedrockModelOptions> = {},
  head: Partial<HttpHead> = {},
) {
  const provider = answerWith({ headers: {}, ...head }, ...frames)
  const events: ModelEvent[] = []
  const model = createBedrockModel({
    ...provider,
    model: 'us.amazon.nova-lite-v1:0',
    region: 'us-east-1',
    apiKey: 'key-of-a-test',
    clock: { nowMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) },
    ...more,
  })
  const outcome = await model
    .run(HELLO, (event) => events.push(event), new AbortController().signal)
    .catch((error: unknown) => (isBatonError(error) ? error : Promise.reject(error as Error)))
  return { outcome, sent: provider.sent, events }
}

test('a key goes as a bearer token; the model’s colon is encoded', async () => {
  const { sent } = await run([stop('end_turn')])
  expect(sent[0]?.url).toBe(
    'https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-lite-v1%3A0/converse-stream',
  )
  expect(sent[0]?.headers['authorization']).toBe('Bearer key-of-a-test')
})

test('credentials are asked before each request, and sign for the clock’s time', async () => {
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 's', sessionToken: 't' }
  const { sent } = await run([stop('end_turn')], { apiKey: '', credentials: () => Promise.resolve(credentials) })
  expect(sent[0]?.headers).toMatchObject({
    'x-amz-date': '20260102T030405Z',
    'x-amz-security-token': 't',
    authorization: expect.stringContaining('Credential=AKID/20260102/us-east-1/bedrock/aws4_request'),
  })
})

test('credentials that cannot be had are an error with a remedy', async () => {
  const { outcome, sent } = await run([], {
    apiKey: '',
    credentials: () => Promise.reject(new Error('no profile "x"')),
  })
  expect([isBatonError(outcome) && outcome.code, sent]).toEqual(['model_auth_failed', []])
  expect(isBatonError(outcome) && outcome.message).toBe(
    'AWS credentials are unavailable: no profile "x"; set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or check the AWS profile',
  )
})

test.each<[string, Partial<BedrockModelOptions>]>([
  ['no model', { model: ' ' }],
  ['no key', { apiKey: '' }],
  ['a region that would send the key elsewhere', { region: 'x.evil.example/' }],
])('%s is refused at once', async (_situation, more) => {
  await expect(run([], more)).rejects.toMatchObject({ code: 'model_not_configured' })
})

test('Nova’s thoughts are told apart from its text while they arrive', async () => {
  const { outcome, events } = await run([text('<think'), text('ing> Hm. </thin'), text('king>\nHi'), stop('end_turn')])
  expect(events).toEqual([
    { type: 'reasoning-delta', text: ' Hm. ' },
    { type: 'text-delta', text: 'Hi' },
  ])
  expect(outcome).toMatchObject({
    finish: 'end',
    parts: [
      { type: 'reasoning', text: ' Hm. ' },
      { type: 'text', text: 'Hi' },
    ],
  })
})

test('usage counts what came from the cache, as recorded', async () => {
  const usage = { inputTokens: 10, outputTokens: 4, totalTokens: 7365, cacheReadInputTokens: 7351 }
  const { outcome } = await run([stop('end_turn'), frame('metadata', { usage })])
  expect(outcome).toMatchObject({ usage: { inputTokens: 7361, cacheReadTokens: 7351, outputTokens: 4 } })
})

test.each([
  ['malformed_tool_use', 'malformed-call'],
  ['model_context_window_exceeded', 'context-full'],
  ['guardrail_intervened', 'refusal'],
  ['brand_new', 'other'],
])('%s is %s', async (reason, finish) => {
  expect((await run([stop(reason)])).outcome).toMatchObject({ finish })
})

test('an answer that its limit cut in mid-call is a cut', async () => {
  const input = frame('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input: '{"a":"x' } } })
  const { outcome } = await run([call, input, stop('max_tokens')])
  expect(outcome).toMatchObject({ finish: 'max-tokens', parts: [{ type: 'call', arguments: '{"a":"x' }] })
})

const callOf = (toolUseId: string) =>
  frame('contentBlockStart', { contentBlockIndex: 0, start: { toolUse: { name: 'a', toolUseId } } })
const call = callOf('b')
const otherCall = callOf('c')
const flipped = (bytes: Uint8Array) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte))

test.each<[string, readonly Uint8Array[], string]>([
  ['a call that was never closed', [call, stop('tool_use')], 'model_malformed_answer'],
  [
    'arguments for no call',
    [frame('contentBlockDelta', { contentBlockIndex: 3, delta: { toolUse: { input: '{' } } })],
    'model_malformed_answer',
  ],
  ['a block that begins where another is open', [call, otherCall], 'model_malformed_answer'],
  ['a wrong checksum', [flipped(text('x')), stop('end_turn')], 'model_malformed_answer'],
  ['a body that ends inside of a frame', [stop('end_turn').subarray(0, 20)], 'model_cut_off'],
  ['a throttled stream', [exception('throttlingException', 'x')], 'model_rate_limited'],
  ['a broken model', [exception('modelStreamErrorException', 'x')], 'model_provider_failed'],
  ['a request that is wrong', [exception('validationException', 'The text is wrong.')], 'model_invalid_request'],
  ['a history that is too long', [exception('validationException', 'Input Tokens Exceeded: 9')], 'context_overflow'],
  ['an exception without a name', [exception('', 'x')], 'model_provider_failed'],
])('%s is an error', async (_situation, frames, code) => {
  const { outcome } = await run(frames)
  expect(isBatonError(outcome) && outcome.code).toBe(code)
})

test('events and deltas of a later version are passed over', async () => {
  const unknown = frame('contentBlockDelta', { contentBlockIndex: 0, delta: { hologram: {} } })
  const { outcome } = await run([frame('brandNew', {}), unknown, text('Hi'), stop('end_turn')])
  expect(outcome).toMatchObject({ parts: [{ type: 'text', text: 'Hi' }] })
})

test('a frame that says it is larger than the bound is not waited for', () => {
  const reader = createEventStreamReader(() => undefined, 64)
  expect(() => reader.push(text('x'.repeat(200)).subarray(0, 12))).toThrow(/only frames of 16 to 64 bytes/)
})

test('an expired token is said, without the key', async () => {
  const body = new TextEncoder().encode('{"message":"The token key-of-a-test is expired"}')
  const head = { status: 403, headers: { 'x-amzn-errortype': 'ExpiredTokenException:http://x/' } }
  const { outcome } = await run([body], {}, head)
  expect(isBatonError(outcome) && outcome.code).toBe('model_auth_failed')
  expect(isBatonError(outcome) && outcome.message).not.toContain('key-of-a-test')
})

test('the text of a whole answer may lie in citationsContent', () => {
  const citations = [{ title: 'Guide', location: { documentChar: { documentIndex: 0, start: 1, end: 9 } } }]
  const content = [
    { text: 'It says: ' },
    { citationsContent: { content: [{ text: 'two ' }, { text: 'words' }], citations } },
  ]
  const message = { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: {} }
  const names = createToolNames([])
  expect(decodeBedrockMessage(message, { model: 'anthropic.claude-haiku-4-5', names })).toMatchObject({
    finish: 'end',
    parts: [
      { type: 'text', text: 'It says: ' },
      { type: 'text', text: 'two words', state: { data: { citations } } },
      { type: 'source', title: 'Guide' },
    ],
  })
})

const start = (index: number, name: string) =>
  frame('contentBlockStart', { contentBlockIndex: index, start: { toolUse: { name, toolUseId: `id_${index}` } } })
const input = (index: number, json: string) =>
  frame('contentBlockDelta', { contentBlockIndex: index, delta: { toolUse: { input: json } } })
const close = (index: number) => frame('contentBlockStop', { contentBlockIndex: index })

test('text and calls behind an early reason are kept, and the last reason counts', async () => {
  const frames = [
    stop('end_turn'),
    text('Well.'),
    close(0),
    start(1, 'f'),
    input(1, '{"a":1}'),
    close(1),
    stop('tool_use'),
  ]
  const { outcome } = await run(frames)
  expect(outcome).toMatchObject({
    finish: 'tool-calls',
    parts: [
      { type: 'text', text: 'Well.' },
      { type: 'call', name: 'f', arguments: '{"a":1}' },
    ],
  })
})

test.each([
  ['an empty object first', ['{}', '{"a":1}'], '{"a":1}'],
  ['the whole twice', ['{"a"', ':1}', '{"a":1}'], '{"a":1}'],
  ['all so far in each piece', ['{"a"', '{"a":1', '{"a":1}'], '{"a":1}'],
])('arguments of a gateway, %s, are repaired', async (_name, pieces, whole) => {
  const { outcome } = await run([start(0, 'f'), ...pieces.map((piece) => input(0, piece)), close(0), stop('tool_use')])
  expect(outcome).toMatchObject({ parts: [{ arguments: whole, repairs: ['repeated-arguments'] }] })
})

test.each([
  ['tool_use', '{}'],
  ['end_turn', ''],
])('arguments that never came before the reason %s are %j', async (reason, given) => {
  const { outcome } = await run([start(0, 'f'), close(0), stop(reason)])
  expect(outcome).toMatchObject({ parts: [{ type: 'call', arguments: given }] })
})

test.each([
  ['beside the input', { inputTokens: 10, outputTokens: 30, totalTokens: 7391, cacheReadInputTokens: 7351 }],
  ['in the input', { inputTokens: 7361, outputTokens: 30, totalTokens: 7391, cacheReadInputTokens: 7351 }],
])('the cache counts once where it is %s', async (_name, usage) => {
  const { outcome } = await run([text('Hi'), stop('end_turn'), frame('metadata', { usage })])
  expect(outcome).toMatchObject({ usage: { inputTokens: 7361, outputTokens: 30, cacheReadTokens: 7351 } })
})
