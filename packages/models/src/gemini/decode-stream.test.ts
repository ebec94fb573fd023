// Gemini streams: situations that the recordings lack, and literal answers for those they have.
import type { BatonError, ModelAnswer, ModelEvent } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createGeminiDecoder } from './decode-stream.ts'

const names = createToolNames(['agent.spawn'])
const buildState = (data: object) => ({ provider: 'gemini', model: 'gemini-3-pro', data })

function decode(chunks: readonly unknown[], sink?: (event: ModelEvent) => void, answerLengthMax?: number) {
  const decoder = createGeminiDecoder({
    model: 'gemini-3-pro',
    names,
    secrets: ['AIza-secret'],
    ...(sink && { sink }),
    ...(answerLengthMax !== undefined && { answerLengthMax }),
  })
  for (const chunk of chunks) decoder.push({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
  return decoder.end()
}
const said = (parts: readonly object[], finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason !== undefined && { finishReason }) }],
  ...more,
})
function readAnswer(outcome: ModelAnswer | BatonError): ModelAnswer {
  if (isBatonError(outcome)) throw outcome
  return outcome
}
const findCode = (outcome: ModelAnswer | BatonError) => (isBatonError(outcome) ? outcome.code : outcome.finish)
const call = (functionCall: object, more: object = {}) => ({ functionCall, ...more })

describe('parts', () => {
  test('text in pieces, a thought, and a signature without words keep their order and their place', () => {
    const { parts } = readAnswer(
      decode([
        said([{ text: 'Hm', thought: true }]),
        said([{ text: ' ok', thought: true }]),
        said([{ text: 'Hel' }]),
        said([{ text: 'lo' }]),
        said([{ text: '!', thoughtSignature: 's1' }]),
        said([{ text: ' Bye' }]),
        said([{ text: '', thoughtSignature: 's2' }], 'STOP'),
      ]),
    )
    expect(parts).toEqual([
      { type: 'reasoning', text: 'Hm ok' },
      { type: 'text', text: 'Hello' },
      { type: 'text', text: '!', state: buildState({ thoughtSignature: 's1' }) },
      { type: 'text', text: ' Bye' },
      { type: 'reasoning', text: '', state: buildState({ thoughtSignature: 's2', isText: true }) },
    ])
  })

  test('parallel calls: names of the author, ids where there are some, the signature on the first', () => {
    const { parts, finish } = readAnswer(
      decode([
        said(
          [
            call({ name: 'agent_-dot-spawn', args: { a: [1, { b: null }] }, id: 'c1' }, { thoughtSignature: 's' }),
            call({ name: 'invented' }),
          ],
          'STOP',
        ),
      ]),
    )
    expect(parts).toEqual([
      {
        type: 'call',
        name: 'agent.spawn',
        arguments: '{"a":[1,{"b":null}]}',
        state: buildState({ id: 'c1', thoughtSignature: 's' }),
      },
      { type: 'call', name: 'invented', arguments: '{}' },
    ])
    expect(finish).toBe('tool-calls')
  })

  test('a part of a kind that is not known goes along as it came', () => {
    const { parts } = readAnswer(decode([said([{ brandNew: { x: 1 } }, { executableCode: { code: 'x' } }], 'STOP')]))
    expect(parts).toEqual([
      { type: 'provider', state: buildState({ part: { brandNew: { x: 1 } } }) },
      { type: 'provider', state: buildState({ part: { executableCode: { code: 'x' } } }) },
    ])
  })

  test.each([
    ['nothing', ''],
    ['null', 'null'],
    ['a number', '3'],
    ['no candidates', '{}'],
    ['candidates of another kind', '{"candidates":{"a":1}}'],
    ['a candidate without content', '{"candidates":[null,{"index":0}]}'],
    ['parts of another kind', '{"candidates":[{"content":{"parts":[null,3,{}]}}]}'],
    ['a second candidate', '{"candidates":[{"index":1,"content":{"parts":[{"text":"no"}]},"finishReason":"SAFETY"}]}'],
    ['usage of another kind', '{"usageMetadata":[]}'],
  ])('%s in the stream changes nothing', (_situation, data) => {
    const answer = readAnswer(decode([data, said([{ text: 'x' }], 'STOP'), data]))
    expect([answer.parts, answer.finish]).toEqual([[{ type: 'text', text: 'x' }], 'end'])
  })
})

describe('arguments in pieces (Vertex)', () => {
  const piece = (partialArgs: readonly object[], willContinue = true) => said([call({ partialArgs, willContinue })])
  const open = said([call({ name: 'f', willContinue: true }, { thoughtSignature: 's' })])
  const close = said([call({})])
  const stop = said([{ text: '' }], 'STOP')
  const callIn = (outcome: ModelAnswer | BatonError) => {
    const answer = readAnswer(outcome)
    return [answer.finish, ...answer.parts.map((part) => (part.type === 'call' ? part.arguments : part.type))]
  }

  test('texts go on, lists and objects grow, other values come whole', () => {
    const pieces = [
      { jsonPath: '$.list[0].name', stringValue: 'no', willContinue: true },
      { jsonPath: '$.list[0].name', stringValue: 'odles "x"', willContinue: true },
      { jsonPath: '$.list[0].name', stringValue: '' },
      { jsonPath: '$.list[0].grams', numberValue: 0.5 },
      { jsonPath: '$.list[1]', boolValue: false },
      { jsonPath: "$['a b'][0][0]", nullValue: null },
      { jsonPath: '$.__proto__.x', stringValue: 'y' },
    ]
    const events: ModelEvent[] = []
    const outcome = decode([open, ...pieces.map((each) => piece([each])), close, stop], (event) => events.push(event))
    const text = '{"list":[{"name":"noodles \\"x\\"","grams":0.5},false],"a b":[[null]],"__proto__":{"x":"y"}}'
    expect(callIn(outcome)).toEqual(['tool-calls', text])
    expect(events).toEqual([
      { type: 'call-start', index: 0, name: 'f' },
      { type: 'call-delta', index: 0, text },
      { type: 'call-end', index: 0 },
    ])
    expect(readAnswer(outcome).parts[0]).toMatchObject({ state: buildState({ thoughtSignature: 's' }) })
  })

  test('two texts in turns go on where each was, and one that never ends is not whole', () => {
    const turns = [
      { jsonPath: '$.path', stringValue: 'a', willContinue: true },
      { jsonPath: '$.content', stringValue: 'b', willContinue: true },
      { jsonPath: '$.path', stringValue: '.txt' },
    ]
    const pieces = turns.map((each) => piece([each]))
    const rest = piece([{ jsonPath: '$.content', stringValue: 'c' }])
    expect(callIn(decode([open, ...pieces, rest, close, stop]))).toEqual([
      'tool-calls',
      '{"path":"a.txt","content":"bc"}',
    ])
    expect(callIn(decode([open, ...pieces, close, stop]))).not.toContain('tool-calls')
  })

  test('a call without arguments, ended by an empty one', () => {
    expect(callIn(decode([open, close, stop]))).toEqual(['tool-calls', '{}'])
  })

  test('the last piece may be the end; another call may follow at once', () => {
    const last = piece([{ jsonPath: '$.a', numberValue: 1 }], false)
    expect(callIn(decode([open, last, open, close, stop]))).toEqual(['tool-calls', '{"a":1}', '{}'])
  })

  test.each<[string, readonly object[]]>([
    ['never closed', [open, stop]],
    ['another begins before its end', [open, open, close, stop]],
    ['a text never ends', [open, piece([{ jsonPath: '$.a', stringValue: 'x', willContinue: true }]), close, stop]],
    ['a hole in a list', [open, piece([{ jsonPath: '$.a[1]', stringValue: 'x' }]), close, stop]],
    [
      'a path through a text',
      [
        open,
        piece([
          { jsonPath: '$.a', stringValue: 'x' },
          { jsonPath: '$.a.b', numberValue: 1 },
        ]),
        close,
        stop,
      ],
    ],
    ['a path that is none', [open, piece([{ jsonPath: '$..*', stringValue: 'x' }]), close, stop]],
    ['a path to the root', [open, piece([{ jsonPath: '$', stringValue: 'x' }]), close, stop]],
    ['a path that is too deep', [open, piece([{ jsonPath: `$${'.a'.repeat(65)}`, stringValue: 'x' }]), close, stop]],
    ['no value', [open, piece([{ jsonPath: '$.a' }]), close, stop]],
    ['pieces of no call', [piece([{ jsonPath: '$.a', numberValue: 1 }]), stop]],
    ['arguments that are a list', [said([call({ name: 'f', args: [1] })]), stop]],
  ])('%s: nothing of the answer runs', (_situation, chunks) => {
    expect(readAnswer(decode([said([call({ name: 'good', args: {} })]), ...chunks])).finish).toBe('malformed-call')
  })
})

describe('ends', () => {
  test.each([
    ['STOP', 'end'],
    ['MAX_TOKENS', 'max-tokens'],
    ['SAFETY', 'refusal'],
    ['RECITATION', 'refusal'],
    ['BLOCKLIST', 'refusal'],
    ['PROHIBITED_CONTENT', 'refusal'],
    ['SPII', 'refusal'],
    ['LANGUAGE', 'refusal'],
    ['MODEL_ARMOR', 'refusal'],
    ['IMAGE_SAFETY', 'refusal'],
    ['MALFORMED_FUNCTION_CALL', 'malformed-call'],
    ['UNEXPECTED_TOOL_CALL', 'malformed-call'],
    ['TOO_MANY_TOOL_CALLS', 'malformed-call'],
    ['MALFORMED_RESPONSE', 'malformed-call'],
    ['CONTINUATION', 'pause'],
    ['OTHER', 'other'],
    ['NO_IMAGE', 'other'],
    ['FINISH_REASON_UNSPECIFIED', 'other'],
    ['toString', 'other'],
  ])('%s is %s, also where a call came', (reason, finish) => {
    const answer = readAnswer(decode([said([{ text: 'x' }], reason)]))
    expect([answer.finish, answer.refusal]).toEqual([finish, finish === 'refusal' ? reason : undefined])
    const withCall = readAnswer(decode([said([call({ name: 'f' })], reason)]))
    expect(withCall.finish).toBe(finish === 'end' ? 'tool-calls' : finish)
  })

  test('a question that is blocked has no candidates', () => {
    const usageMetadata = { promptTokenCount: 7, totalTokenCount: 7 }
    const answer = decode([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata }])
    expect(answer).toEqual({
      parts: [],
      finish: 'refusal',
      refusal: 'PROHIBITED_CONTENT',
      usage: { inputTokens: 7 },
      model: 'gemini-3-pro',
    })
  })

  test.each([
    ['nothing came', [], 'model_cut_off'],
    ['text without a reason', [said([{ text: 'x' }])], 'model_cut_off'],
    ['a whole call without a reason', [said([call({ name: 'f' })])], 'model_cut_off'],
    ['an event that is not JSON', ['{"candidates":'], 'model_malformed_answer'],
  ])('%s', (_situation, chunks, code) => expect(findCode(decode(chunks))).toBe(code))

  test('an answer that is too long ends at once', () => {
    const outcome = decode([said([{ text: 'x'.repeat(50) }]), said([{ text: 'y'.repeat(50) }], 'STOP')], undefined, 100)
    expect(outcome).toMatchObject({ code: 'model_malformed_answer', retryable: false })
  })

  test('usage: what was cached is input, thoughts are output; absent counts are absent', () => {
    const usageMetadata = {
      promptTokenCount: 9622,
      cachedContentTokenCount: 9609,
      candidatesTokenCount: 35,
      thoughtsTokenCount: 136,
      totalTokenCount: 9793,
    }
    const events: ModelEvent[] = []
    const meta = { modelVersion: 'gemini-3-pro-001', responseId: 'r1' }
    const sink = (event: ModelEvent) => events.push(event)
    const answer = readAnswer(
      decode(
        [
          said([], undefined, { usageMetadata: { trafficType: 'ON_DEMAND' } }),
          said([], 'STOP', { usageMetadata, ...meta }),
        ],
        sink,
      ),
    )
    const usage = { inputTokens: 9622, cacheReadTokens: 9609, outputTokens: 171, reasoningTokens: 136 }
    expect(answer).toMatchObject({ usage, model: 'gemini-3-pro-001', requestId: 'r1' })
    expect(events).toEqual([{ type: 'usage', usage }])
  })

  test.each([
    ['beside the answer', { candidatesTokenCount: 35, thoughtsTokenCount: 136, totalTokenCount: 181 }],
    ['in the answer and beside it', { candidatesTokenCount: 171, thoughtsTokenCount: 136, totalTokenCount: 181 }],
  ])('thoughts count once where they are %s', (_name, counts) => {
    const usageMetadata = { promptTokenCount: 10, ...counts }
    expect(readAnswer(decode([said([{ text: 'x' }], 'STOP', { usageMetadata })]))).toMatchObject({
      usage: { inputTokens: 10, outputTokens: 171, reasoningTokens: 136 },
    })
  })

  test('usage that every chunk repeats is handed on when it changes, so that an answer that is cut off has its last one', () => {
    const events: ModelEvent[] = []
    const counted = (counts: object) => said([{ text: 'x' }], undefined, { usageMetadata: counts })
    const outcome = decode(
      [
        counted({ promptTokenCount: 7 }),
        counted({ promptTokenCount: 7, candidatesTokenCount: null }),
        counted({ promptTokenCount: 7, candidatesTokenCount: 1 }),
        counted({ promptTokenCount: 7, candidatesTokenCount: 1, totalTokenCount: 8 }),
        counted({ candidatesTokenCount: 3 }),
      ],
      (event) => event.type === 'usage' && events.push(event),
    )
    expect(findCode(outcome)).toBe('model_cut_off')
    expect(events).toEqual([
      { type: 'usage', usage: { inputTokens: 7 } },
      { type: 'usage', usage: { inputTokens: 7, outputTokens: 1 } },
      { type: 'usage', usage: { inputTokens: 7, outputTokens: 3 } },
    ])
  })

  test.each([
    ['texts', { text: 'x' }],
    ['thoughts', { text: 'x', thought: true }],
    ['signatures', { text: '', thoughtSignature: 's' }],
    ['parts of another kind', { hologram: {} }],
  ])('%s without end stop at the bound, however small they are', (_situation, part) => {
    const chunks = Array.from({ length: 10 }, () => said([part]))
    expect(findCode(decode([...chunks, said([], 'STOP')], undefined, 100))).toBe('model_malformed_answer')
  })
})

describe('errors inside of the stream', () => {
  const error = (code: number, status: string, message = 'Sorry.') => ({ error: { code, status, message } })
  test.each([
    [error(429, 'RESOURCE_EXHAUSTED'), 'model_rate_limited'],
    [error(503, 'UNAVAILABLE'), 'model_overloaded'],
    [error(500, 'INTERNAL'), 'model_provider_failed'],
    [error(504, 'DEADLINE_EXCEEDED'), 'model_timeout'],
    [error(403, 'PERMISSION_DENIED'), 'model_auth_failed'],
    [error(400, 'INVALID_ARGUMENT'), 'model_invalid_request'],
    [error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'), 'model_auth_failed'],
    [
      error(400, 'INVALID_ARGUMENT', 'The input token count (9) exceeds the maximum number of tokens allowed (8).'),
      'context_overflow',
    ],
    [error(503, 'BRAND_NEW'), 'model_overloaded'],
    [{ error: 'text' }, 'model_provider_failed'],
    [[error(503, 'UNAVAILABLE')], 'model_overloaded'],
  ])('%j', (chunk, code) => {
    const outcome = decode([said([{ text: 'Half' }]), chunk, said([{ text: 'x' }], 'STOP')])
    expect(findCode(outcome)).toBe(code)
  })

  test('says no key', () => {
    const outcome = decode([error(500, 'INTERNAL', 'key AIza-secret is bad')])
    expect(isBatonError(outcome) && outcome.message).toBe(
      'Gemini ended the stream with INTERNAL: key [redacted] is bad',
    )
  })
})
