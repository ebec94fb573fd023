// Reading an answer, whoever sent it: what is too long is given up, and nothing is read behind an error.
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import type { AnswerReaderInit } from './answer-reader.ts'
import { createAnswerReader } from './answer-reader.ts'

const failure = new BatonError({ code: 'model_overloaded', message: 'x' })
const init: AnswerReaderInit = {
  label: 'Theirs',
  secrets: [],
  createReader: () => ({ push: () => undefined, failure, end: () => failure }),
  decodeWhole: () => failure,
  readError: ({ body }) => new BatonError({ code: 'model_provider_failed', message: body.slice(0, 10) }),
}
const json = (status: number) => ({ status, headers: { 'content-type': 'application/json' } })
const HALF = new TextEncoder().encode(' '.repeat(8 * 1024 * 1024))

test('a whole answer above its bound is no answer, and is not asked for again', () => {
  const { push } = createAnswerReader(init)
  push(HALF, json(200))
  push(HALF, json(200))
  expect(() => push(HALF, json(200))).toThrow(
    expect.objectContaining({ code: 'model_malformed_answer', retryable: false }),
  )
})

test('of an error that is too long the beginning is read', () => {
  const { push, end } = createAnswerReader(init)
  for (const bytes of [new TextEncoder().encode('too bad'), HALF, HALF, HALF]) push(bytes, json(500))
  expect(() => end(json(500), 0)).toThrow('too bad')
})

test('after a failure nothing more is read: the connection can be closed', () => {
  const { push } = createAnswerReader(init)
  expect(() => push(new Uint8Array(1), { status: 200, headers: {} })).toThrow(failure)
})
