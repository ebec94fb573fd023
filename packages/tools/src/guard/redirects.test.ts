// The request that follows a redirect: method and body follow the fetch standard, and nothing secret goes to another
// origin.
import { expect, test } from 'vitest'
import type { Asked } from './redirects.ts'
import { isRedirect, nextRequest } from './redirects.ts'

const FROM = new URL('https://a.example/start')
const HERE = new URL('https://a.example/next')
const ELSEWHERE = new URL('https://b.example/next')

function asked(method: string, body?: string): Asked {
  const headers = new Headers({
    accept: 'text/html',
    authorization: 'Bearer secret',
    'x-team': 'blue',
    ...(body !== undefined && { 'content-type': 'text/plain', 'content-language': 'en' }),
  })
  return {
    url: FROM,
    method,
    headers,
    redirect: 'follow',
    body: body === undefined ? undefined : new TextEncoder().encode(body),
  }
}

test('these statuses lead on, and no other', () => {
  const leading = Array.from({ length: 200 }, (_, index) => 300 + index).filter(isRedirect)
  expect(leading).toEqual([301, 302, 303, 307, 308])
})

// https://fetch.spec.whatwg.org/#http-redirect-fetch, step 12
test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'POST', 'GET'],
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
  [301, 'PUT', 'PUT'],
  [302, 'PUT', 'PUT'],
  [303, 'PUT', 'GET'],
  [301, 'DELETE', 'DELETE'],
  [302, 'GET', 'GET'],
  [303, 'HEAD', 'HEAD'],
])('after a %i a %s goes on as a %s, its body with it where the method stays', (status, method, followed) => {
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const next = nextRequest(asked(method, hasBody ? 'words' : undefined), status, HERE)
  expect(next.method).toBe(followed)
  expect(next.body === undefined).toBe(!hasBody || followed !== method)
  expect(next.headers.has('content-type')).toBe(next.body !== undefined)
  expect(next.headers.get('authorization')).toBe('Bearer secret')
})

test('another origin gets neither keys nor headers of its own, whatever their names', () => {
  const next = nextRequest(asked('GET'), 302, ELSEWHERE)
  expect([...next.headers]).toEqual([['accept', 'text/html']])
})

test('a body never goes to another origin: the redirect is refused, unless it drops the body', () => {
  expect(() => nextRequest(asked('POST', 'words'), 307, ELSEWHERE)).toThrow('its body would go to a different origin')
  expect(nextRequest(asked('POST', 'words'), 303, ELSEWHERE)).toMatchObject({ method: 'GET', body: undefined })
})
