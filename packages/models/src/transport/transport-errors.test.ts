// Invalid requests are found before they are sent, even after a valid one with the same headers.
import type { HttpRequest } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createRequestCheck } from './transport-errors.ts'

const REQUEST: HttpRequest = {
  url: 'https://host/v1',
  headers: { 'x-api-key': 'k' },
  body: '{}',
  firstByteTimeoutMs: 1,
  betweenBytesTimeoutMs: 1,
}

test('the same headers are looked at again for another address', () => {
  const check = createRequestCheck()
  expect(check(REQUEST)).toBeUndefined()
  expect(check({ ...REQUEST, body: 'another' })).toBeUndefined()
  expect(check({ ...REQUEST, url: 'ftp://host' })).toMatchObject({ code: 'model_invalid_request' })
  expect(check(REQUEST)).toBeUndefined()
})

test('a wrong request is refused each time, and its header is named without its value', () => {
  const check = createRequestCheck()
  const wrong = { ...REQUEST, headers: { 'x-api-key': 'line\nbreak' } }
  const refusals = [check(wrong), check(wrong)]
  expect(refusals.map((error) => error?.message)).toEqual(
    Array(2).fill('the header x-api-key contains a character that headers do not allow'),
  )
})

test('other headers are looked at for themselves', () => {
  const check = createRequestCheck()
  expect(check(REQUEST)).toBeUndefined()
  expect(check({ ...REQUEST, headers: { 'bad name': 'x' } })).toMatchObject({ code: 'model_invalid_request' })
})
