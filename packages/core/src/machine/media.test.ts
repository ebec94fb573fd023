// Limits of images and files: per part, per input and in number; in inputs and in results, however the bytes are
// stored.
import type { StoredPart } from '../messages.ts'
import { TestSession } from '../testing/test-session.ts'
import { describe, expect, test } from 'vitest'
import { countMediaBytes, findLargeMedia } from './size.ts'
import { DEFAULT_LIMITS } from './spec.ts'

function kept(bytes: number): StoredPart {
  return { type: 'image', mediaType: 'image/png', source: { type: 'blob', handle: 'abc', bytes } }
}

function inline(bytes: number): StoredPart {
  const data = Buffer.alloc(bytes).toString('base64')
  return { type: 'file', mediaType: 'audio/wav', source: { type: 'base64', data } }
}

const address: StoredPart = {
  type: 'file',
  mediaType: 'application/pdf',
  source: { type: 'url', url: 'https://example.org/a.pdf' },
}

test.each([0, 1, 2, 3, 4, 5, 1000])('base64 of %d bytes counts as so many', (bytes) => {
  const part = inline(bytes)
  expect(part.type !== 'text' && countMediaBytes(part.source)).toBe(bytes)
})

test('an agent takes 20 MiB in a part, 64 MiB and 32 parts in an input', () => {
  const mib = 1024 * 1024
  expect(findLargeMedia([kept(20 * mib)], DEFAULT_LIMITS)).toBeUndefined()
  expect(findLargeMedia([kept(20 * mib + 1)], DEFAULT_LIMITS)).toBe(
    'the image at 0 has 20971521 bytes; at most 20971520 are allowed (mediaBytes)',
  )
  const four = [kept(16 * mib), kept(16 * mib), kept(16 * mib), kept(16 * mib)]
  expect(findLargeMedia(four, DEFAULT_LIMITS)).toBeUndefined()
  expect(findLargeMedia([...four, kept(1)], DEFAULT_LIMITS)).toBe(
    'its images and files have 67108865 bytes; at most 67108864 are allowed (inputMediaBytes)',
  )
  const many = Array.from({ length: 32 }, () => address)
  expect(findLargeMedia(many, DEFAULT_LIMITS)).toBeUndefined()
  expect(findLargeMedia([...many, kept(0)], DEFAULT_LIMITS)).toBe(
    'it has 33 images and files; at most 32 are allowed (mediaParts)',
  )
})

describe.each([
  ['in the store', kept],
  ['as base64', inline],
])('bytes %s', (_, hold) => {
  const limits = { mediaBytes: 10, inputMediaBytes: 15, mediaParts: 3, inputChars: 5, resultChars: 5, queueChars: 5 }
  const send = (...parts: readonly StoredPart[]) => ({ type: 'user-input', inputId: 'x', parts }) as const

  test('of an input have limits of their own', () => {
    const session = new TestSession({ limits })
    expect(session.refusal(send(hold(10), hold(5)))).toBeUndefined()
    expect(session.refusal(send(hold(11)))).toBe('input_too_large')
    expect(session.refusal(send(hold(8), hold(8)))).toBe('input_too_large')
    expect(session.refusal(send(hold(1), hold(1), hold(1), hold(1)))).toBe('input_too_large')
  })

  test('do not fill the queue', () => {
    const session = new TestSession({ limits }).user('go')
    for (const inputId of ['x', 'y', 'z']) session.send({ ...send(hold(10)), inputId })
    expect(session.state.queue).toHaveLength(3)
  })

  test('of a result have limits of their own', () => {
    const session = new TestSession({ limits }).user('go').says({ calls: ['read', 'put'] })
    session.returns('call_1_0', { type: 'ok', content: [hold(10)] })
    expect(session.fact('call-settled').settlement.type).toBe('ok')
    session.returns('call_1_1', { type: 'ok', content: [hold(11)] })
    expect(session.fact('call-settled').settlement).toMatchObject({
      type: 'error',
      code: 'result_too_large',
      message: expect.stringMatching(/^the result is too large: the (?:image|file) at 0 has 11 bytes; at most 10/),
    })
  })
})

test('the value beside a result counts as the result does', () => {
  const session = new TestSession({ limits: { resultChars: 10 } }).user('go').says({ calls: ['read', 'put'] })
  const content = [{ type: 'text', text: 'ten' }] as const
  session.returns('call_1_0', { type: 'ok', content, value: 'x'.repeat(8) })
  expect(session.fact('call-settled').settlement.type).toBe('ok')
  session.returns('call_1_1', { type: 'ok', content, value: 'x'.repeat(9) })
  expect(session.fact('call-settled').settlement).toEqual({
    type: 'error',
    code: 'result_too_large',
    message: 'the result’s value has 11 characters as JSON; at most 10 are allowed',
  })
})
