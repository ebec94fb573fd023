// Reading any provider's answer: overlong ones are abandoned, nothing is read after an error, and no key is kept.
import type { ModelAnswer, ModelPart } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from '../openai-chat/decode-stream.ts'
import { createToolNames } from '../tool-names.ts'
import type { AnswerReaderOptions } from './answer-reader.ts'
import { createAnswerReader, readSseInto } from './answer-reader.ts'

const QUIET = { progress: 'open', heard: 0 } as const
const failure = new BatonError({ code: 'model_overloaded', message: 'x' })
const init: AnswerReaderOptions = {
  label: 'Theirs',
  secrets: [],
  createReader: () => ({ push: () => undefined, failure, ...QUIET, end: () => failure }),
  decodeWhole: () => failure,
  readNowMs: () => 0,
  readError: ({ body }) => new BatonError({ code: 'model_provider_failed', message: body.slice(0, 10) }),
}
const json = (status: number) => ({ status, headers: { 'content-type': 'application/json' } })
const STREAM = { status: 200, headers: { 'content-type': 'text/event-stream' } }
const HALF = new TextEncoder().encode(' '.repeat(8 * 1024 * 1024))

test('a whole answer above its bound is no answer, and is not asked for again', () => {
  const reader = createAnswerReader(init)
  reader.push(HALF, json(200))
  reader.push(HALF, json(200))
  expect(() => reader.push(HALF, json(200))).toThrow(
    expect.objectContaining({ code: 'model_malformed_answer', retryable: false }),
  )
})

test('blanks before a whole answer are signs of life, and nothing that was heard', () => {
  const reader = createAnswerReader(init)
  const bytes = (text: string) => new TextEncoder().encode(text)
  reader.push(bytes(' \n'), json(200))
  const before = reader.heard
  reader.push(bytes('   '), json(200))
  expect(reader.heard).toBe(before)
  reader.push(bytes(' {'), json(200))
  expect(reader.heard).toBeGreaterThan(before)
})

test.each([
  ['lines that are no objects', '1\n'.repeat(5000), /not JSON/],
  ['a list of what is no object', `[${'1,'.repeat(5000)}1]`, /./],
  ['more lines than an answer has tokens', '{}\n'.repeat(200_001), /more than 200000 pieces/],
  ['a longer list than that', `[${'{},'.repeat(200_000)}{}]`, /more than 200000 pieces/],
])('%s do not go to the reader of a stream', (_, body, message) => {
  let pushed = 0
  const createReader = () => ({ ...init.createReader(json(200)), push: () => void (pushed += 1) })
  const malformed = new BatonError({ code: 'model_malformed_answer', message: 'x' })
  const reader = createAnswerReader({ ...init, createReader, decodeWhole: () => malformed })
  reader.push(new TextEncoder().encode(body), json(200))
  expect(() => reader.end(json(200))).toThrow(expect.objectContaining({ code: 'model_malformed_answer' }))
  expect(() => reader.end(json(200))).toThrow(message)
  expect(pushed).toBe(0)
})

test('of an error 64 KiB are read, and it is told while the rest comes', () => {
  const reader = createAnswerReader(init)
  expect(() => {
    for (const bytes of [new TextEncoder().encode('too bad'), HALF]) reader.push(bytes, json(500))
  }).toThrow('too bad')
})

test('where an error is cut, no half of a key is left', () => {
  const readError = ({ body }: { readonly body: string }) =>
    new BatonError({ code: 'model_provider_failed', message: body.slice(-60) })
  const secrets = ['sk-secret-0123456789']
  for (let before = 0; before < 60; before++) {
    const reader = createAnswerReader({ ...init, secrets, readError })
    const text = `${'x'.repeat(64 * 1024 - before)}${secrets[0]}${'y'.repeat(before)}`
    const read = (): unknown => {
      reader.push(new TextEncoder().encode(text), json(500))
      return reader.end(json(500))
    }
    expect(read).toThrow(/^(?!.*sk-)/)
  }
})

test('what a reader throws is told by the status, or as an answer that is malformed', () => {
  const readError: AnswerReaderOptions['readError'] = ({ body }) => {
    if (body !== '') throw new RangeError('Maximum call stack size exceeded')
    return new BatonError({ code: 'model_rate_limited', message: 'x' })
  }
  const createReader = () => ({
    push: () => {
      throw new RangeError('Maximum call stack size exceeded')
    },
    failure: undefined,
    ...QUIET,
    end: () => failure,
  })
  const reader = createAnswerReader({ ...init, readError, createReader })
  reader.push(new Uint8Array(1), json(429))
  expect(() => reader.end(json(429))).toThrow(expect.objectContaining({ code: 'model_rate_limited' }) as Error)
  expect(() => createAnswerReader({ ...init, createReader }).push(new Uint8Array(1), STREAM)).toThrow(
    expect.objectContaining({ code: 'model_malformed_answer' }) as Error,
  )
})

test('a page in place of an answer is told with its words, and is not asked for again', () => {
  const reader = createAnswerReader(init)
  const head = { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } }
  reader.push(new TextEncoder().encode('<html><body>Please <b>log in</b></body></html>'), head)
  expect(() => reader.end(head)).toThrow(
    expect.objectContaining({
      code: 'model_malformed_answer',
      retryable: false,
      message: 'Theirs responded 200 with text/html; charset=utf-8 instead of an answer: Please log in',
    }) as Error,
  )
})

test('a stream that is called HTML is a stream', () => {
  const reader = createAnswerReader(init)
  const head = { status: 200, headers: { 'content-type': 'text/html' } }
  expect(() => reader.push(new TextEncoder().encode('data: {}'), head)).toThrow('x')
})

test('what a provider says of itself is bounded, and has no key in it', () => {
  const key = 'sk-secret-0123456789'
  const answer: ModelAnswer = {
    parts: [
      { type: 'text', text: 'x' },
      { type: 'source', id: 's1', url: 'javascript:alert(1)', title: 'y'.repeat(5000), quote: 'z'.repeat(9000) },
      { type: 'source', id: 's2', url: `https://x.test/${'y'.repeat(5000)}` },
      { type: 'source', id: 's3', url: `https://x.test/?a=${key}` },
    ],
    finish: 'end',
    usage: {},
    model: `\u001b[2J${key}${'m'.repeat(9000)}`,
    requestId: key,
  }
  const createReader = () => ({ push: () => undefined, failure: undefined, ...QUIET, end: () => answer })
  const read = createAnswerReader({ ...init, secrets: [key], createReader }).end(STREAM)
  expect(read.model).toBe(`[2J[redacted]${'m'.repeat(256 - 14)}`)
  expect(read.requestId).toBe('[redacted]')
  expect(read.parts).toEqual([
    { type: 'text', text: 'x' },
    { type: 'source', id: 's1', title: 'y'.repeat(512), quote: 'z'.repeat(4096) },
    { type: 'source', id: 's3', url: 'https://x.test/?a=[redacted]' },
  ])
})

test('a call that comes twice with one id is one; with other arguments it is another', () => {
  const call = (id: string, given: string): ModelPart => ({
    type: 'call',
    name: 'pay',
    arguments: given,
    state: { provider: 'p', model: 'm', data: { id } },
  })
  const parts = [call('c1', '{"a":1}'), call('c1', '{"a":1}'), call('c1', '{"a":2}'), call('c2', '{"a":1}')]
  const answer: ModelAnswer = { parts, finish: 'tool-calls', usage: {}, model: 'm' }
  const createReader = () => ({ push: () => undefined, failure: undefined, ...QUIET, end: () => answer })
  expect(createAnswerReader({ ...init, createReader }).end(STREAM).parts).toEqual([
    { ...call('c1', '{"a":1}'), repairs: ['repeated-call'] },
    call('c1', '{"a":2}'),
    call('c2', '{"a":1}'),
  ])
})

test('an error is bounded, and has no key in it', () => {
  const key = 'sk-secret-0123456789'
  const told = new BatonError({
    code: 'model_cut_off',
    message: `index ${key} ${'x'.repeat(9000)}`,
    data: { requestId: key, type: 'y'.repeat(9000) },
  })
  const createReader = () => ({ push: () => undefined, failure: told, ...QUIET, end: () => told })
  const reader = createAnswerReader({ ...init, secrets: [key], createReader })
  let thrown: unknown
  try {
    reader.push(new Uint8Array(1), STREAM)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ code: 'model_cut_off', data: { requestId: '[redacted]', type: 'y'.repeat(256) } })
  expect(thrown instanceof Error && thrown.message.startsWith('index [redacted] xxx')).toBe(true)
  expect(thrown instanceof Error && thrown.message.length).toBe(2000)
})

test('after a failure nothing more is read: the connection can be closed', () => {
  const reader = createAnswerReader(init)
  expect(() => reader.push(new Uint8Array(1), { status: 200, headers: {} })).toThrow(failure)
})

test('a call without a name is left out beside another one, which says so; alone it fails the answer', () => {
  const call = (name: string): ModelPart => ({ type: 'call', name, arguments: '{}' })
  const end = (...parts: readonly ModelPart[]) => {
    const answer: ModelAnswer = { parts, finish: 'tool-calls', usage: {}, model: 'm' }
    const createReader = () => ({ push: () => undefined, failure: undefined, ...QUIET, end: () => answer })
    return createAnswerReader({ ...init, createReader }).end(STREAM).parts
  }
  expect(end(call('a'), call(''), call('b'))).toEqual([
    { type: 'call', name: 'a', arguments: '{}', repairs: ['nameless-call-left-out'] },
    { type: 'call', name: 'b', arguments: '{}' },
  ])
  expect(() => end({ type: 'text', text: 'So:' }, call(''))).toThrow(
    expect.objectContaining({ code: 'model_malformed_answer' }) as Error,
  )
})

const encode = (text: string) => new TextEncoder().encode(text)
const chunk = (delta: object, reason: string | null = null) =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })
const CHUNKS = [chunk({ content: 'Sun' }), chunk({ content: 'ny.' }), chunk({}, 'stop')]
const WHOLE = { choices: [{ index: 0, message: { role: 'assistant', content: 'Sunny.' }, finish_reason: 'stop' }] }
const EVENTS = CHUNKS.map((one) => `data: ${one}\n\n`).join('')

/** A body with a content type, read in one piece and byte by byte. */
function readBodies(body: string, type: string): readonly unknown[] {
  const head = { status: 200, headers: { 'content-type': type } }
  const answering = { model: 'm', names: createToolNames([]), sink: () => undefined, secrets: [] }
  const bytes = encode(body)
  return [[bytes], Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))].map((pieces) => {
    const reader = createAnswerReader({
      ...init,
      createReader: () => readSseInto(createOpenAiChatDecoder(answering)),
      decodeWhole: (value) => decodeOpenAiChatCompletion(value, answering),
    })
    try {
      for (const piece of pieces) reader.push(piece, head)
      return reader.end(head).parts
    } catch (thrown) {
      return thrown instanceof BatonError ? `${thrown.code}: ${thrown.message}` : thrown
    }
  })
}

test.each([
  ['JSON as events', JSON.stringify(WHOLE), 'text/event-stream'],
  ['JSON over several lines as events', `\ufeff${JSON.stringify(WHOLE, null, 2)}\n`, 'text/event-stream'],
  ['JSON as text', JSON.stringify(WHOLE), 'text/plain'],
  ['events as JSON', EVENTS, 'application/json'],
  ['events as JSON, behind a comment', `: wait\n\n${EVENTS}data: [DONE]\n\n`, 'application/json; charset=utf-8'],
  ['a piece on each line', `${CHUNKS.join('\n')}\n`, 'application/x-ndjson'],
  ['a piece on each line, as events', CHUNKS.join('\r\n'), 'text/event-stream'],
  ['a list of pieces', `[${CHUNKS.join(',\n')}]`, 'application/json'],
  ['events without the last blank line', EVENTS.trimEnd(), 'text/event-stream'],
  ['events without blank lines', EVENTS.replaceAll('\n\n', '\n'), 'text/event-stream'],
])('what a body is counts, not its label: %s', (_situation, body, type) => {
  const parts = [{ type: 'text', text: 'Sunny.' }]
  expect(readBodies(body, type)).toEqual([parts, parts])
})

test.each([
  ['JSON that is cut off', JSON.stringify(WHOLE).slice(0, -3), 'text/event-stream', /^model_cut_off: /],
  ['pieces that are cut off', CHUNKS.slice(0, 2).join('\n'), 'application/x-ndjson', /^model_cut_off: /],
  ['no words at all', '', 'text/event-stream', /^model_cut_off: /],
  [
    'words',
    'Service is being deployed',
    'text/plain',
    /^model_malformed_answer: Theirs responded 200 .*being deployed$/,
  ],
  ['words as JSON', 'down for work', 'application/json', /^model_malformed_answer: Theirs.* down for work$/],
])('no answer: %s', (_situation, body, type, expected) => {
  for (const said of readBodies(body, type)) expect(said).toMatch(expected)
})

test('an error keeps its advice, its word on another try, and its cause', () => {
  const cause = new Error('why')
  const told = { code: 'model_invalid_request', message: 'x', hint: 'Ask for less.', retryable: true, cause } as const
  const reader = createAnswerReader({ ...init, readError: () => new BatonError(told) })
  reader.push(new Uint8Array(1), { status: 400, headers: {} })
  expect(() => reader.end({ status: 400, headers: {} })).toThrow(expect.objectContaining(told) as Error)
})
