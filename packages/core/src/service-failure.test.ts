// Errors of common HTTP clients about the service they called.
import { expect, test } from 'vitest'
import { readServiceFailure, readStatusCode } from './service-failure.ts'

test.each([
  [301, 'api_malformed'],
  [400, 'api_refused'],
  [401, 'api_unauthorized'],
  [403, 'api_refused'],
  [429, 'api_rate_limited'],
  [500, 'api_failed'],
  [501, 'api_failed'],
  [502, 'api_unavailable'],
  [504, 'api_unavailable'],
  [599, 'api_failed'],
])('the status %i is %s', (status, code) => expect(readStatusCode(status)).toBe(code))

const withFields = (fields: object, cause?: unknown): Error => Object.assign(new Error('failed', { cause }), fields)
const hostile = Object.defineProperty(new Error('failed'), 'status', {
  get: () => {
    throw new Error('no')
  },
})

test.each([
  ['Octokit', withFields({ status: 404 }), 'api_refused'],
  ['the AI SDK', withFields({ statusCode: 429 }), 'api_rate_limited'],
  ['axios', withFields({ code: 'ERR_BAD_RESPONSE', response: { status: 503 } }), 'api_unavailable'],
  ['a wrapper', new Error('the shop is closed', { cause: withFields({ status: 500 }) }), 'api_failed'],
  ['fetch', new TypeError('fetch failed', { cause: withFields({ code: 'ECONNREFUSED' }) }), 'api_unavailable'],
  ['undici', withFields({ code: 'UND_ERR_HEADERS_TIMEOUT' }), 'api_unavailable'],
  ['a name server', withFields({ code: 'ENOTFOUND' }), 'api_unavailable'],
  ['a file system', withFields({ code: 'ENOENT' }), undefined],
  ['a program that ended', withFields({ status: 1 }), undefined],
  ['a state in words', withFields({ status: 'closed' }), undefined],
  ['a status that is no failure', withFields({ status: 200 }), undefined],
  ['a value that is no error', { status: 503 }, undefined],
  ['a getter that throws', hostile, undefined],
])('an error of %s', (_client, thrown, code) => expect(readServiceFailure(thrown)).toBe(code))

test('causes that go round in a ring are not followed for ever', () => {
  const ring = new Error('a')
  ring.cause = ring
  expect(readServiceFailure(ring)).toBeUndefined()
})
