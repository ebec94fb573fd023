// Parts that providers of other people send to the AI SDK: fields of older specifications, of other types, or left out.
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { HELLO } from '../memory-transport.test-kit.ts'
import type { AiSdkLanguageModel } from './index.ts'
import { fromAiSdkModel } from './index.ts'

const X1 = '{"x":1}'
const X2 = '{"x":2}'
const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } }
const finish = (unified = 'tool-calls', more: object = {}) => ({
  type: 'finish',
  finishReason: { unified },
  usage,
  ...more,
})
const call = (input: unknown, toolCallId: unknown = 'c') => ({ type: 'tool-call', toolCallId, toolName: 'a', input })
const text = (more: object) => ({ type: 'text-delta', id: '0', ...more })

async function run(parts: readonly unknown[]) {
  const model: AiSdkLanguageModel = {
    specificationVersion: 'v4',
    provider: 'theirs',
    modelId: 'm',
    doStream: () => Promise.resolve({ stream: ReadableStream.from(parts) }),
  }
  return await fromAiSdkModel(model).run(HELLO, () => undefined, new AbortController().signal)
}

async function read(parts: readonly unknown[]): Promise<readonly unknown[]> {
  const answer = await run(parts).catch((error: unknown) => error)
  if (isBatonError(answer)) return [answer.code]
  const { parts: made, finish: reason } = answer as Awaited<ReturnType<typeof run>>
  const said = made.map((part) =>
    part.type === 'call' ? [part.name, part.arguments] : 'text' in part ? [part.type, part.text] : part.type,
  )
  return [...said, reason]
}

describe('arguments', () => {
  test.each<[string, unknown, string]>([
    ['an object', { x: 1 }, X1],
    ['null', null, '{}'],
    ['null as a text', 'null', '{}'],
    ['an empty list', [], '{}'],
    ['left out', undefined, '{}'],
    ['an empty object, then the whole', `{}${X1}`, X1],
  ])('%s', async (_situation, input, whole) => {
    expect(await read([call(input), finish()])).toEqual([['a', whole], 'tool-calls'])
  })

  test('under args (specification v1)', async () => {
    expect(await read([{ type: 'tool-call', toolCallId: 'c', toolName: 'a', args: X1 }, finish()])).toEqual([
      ['a', X1],
      'tool-calls',
    ])
  })

  test('only in the deltas', async () => {
    const begun = [
      { type: 'tool-input-start', id: 'c', toolName: 'a' },
      { type: 'tool-input-delta', id: 'c', delta: X1 },
    ]
    expect(await read([...begun, call(''), finish()])).toEqual([['a', X1], 'tool-calls'])
  })
})

describe('ids', () => {
  test.each([['c'], [''], [undefined]])('%j for two calls', async (id) => {
    expect(await read([call(X1, id), call(X2, id), finish()])).toEqual([['a', X1], ['a', X2], 'tool-calls'])
  })

  test('the same call twice under one id runs once', async () => {
    expect(await read([call(X1), call(X1), finish()])).toEqual([['a', X1], 'tool-calls'])
  })
})

describe('ends', () => {
  test.each<[string, unknown, string]>([
    ['a word (specification v2)', 'tool-calls', 'tool-calls'],
    ['a word for the limit', 'length', 'max-tokens'],
    ['nothing', undefined, 'other'],
  ])('%s as the reason', async (_situation, finishReason, end) => {
    expect(await read([call(X1), { ...finish(), finishReason }])).toEqual([['a', X1], end])
  })

  test.each([
    ['length', 'max-tokens'],
    ['content-filter', 'refusal'],
  ])('%s, then another reason', async (reason, end) => {
    expect(await read([call(X1), finish(reason), finish('stop')])).toEqual([['a', X1], end])
  })
})

test.each<[string, unknown, object]>([
  ['left out', undefined, {}],
  ['null', null, {}],
  ['totals alone (specification v2)', { inputTokens: 10, outputTokens: 5 }, { inputTokens: 10, outputTokens: 5 }],
  ['texts', { inputTokens: { total: '10' }, outputTokens: { total: NaN } }, { inputTokens: 10 }],
])('counts: %s', async (_situation, given, told) => {
  expect((await run([text({ delta: 'x' }), finish('stop', { usage: given })])).usage).toEqual(told)
})

test.each<[string, unknown]>([
  ['under text', text({ text: 'Sunny.' })],
  ['under textDelta', text({ textDelta: 'Sunny.' })],
])('a text %s', async (_where, part) => {
  expect(await read([null, text({}), part, finish('stop')])).toEqual([['text', 'Sunny.'], 'end'])
})

test('an error inside an object has its words', async () => {
  const failed = run([{ type: 'error', error: { error: { message: 'it broke' } } }])
  await expect(failed).rejects.toMatchObject({
    code: 'model_provider_failed',
    message: expect.stringContaining('it broke'),
  })
})
