// Addresses of the page: each route is read back from its address.
import { expect, test } from 'vitest'
import type { Route } from './route.ts'
import { formatRoute, parseRoute } from './route.ts'

test.each<Route>([
  { view: 'sessions' },
  { view: 'sessions', activity: 'waiting', agent: 'a&b', principal: 'ann/1', search: 'pay 40 €' },
  { view: 'session', session: 'a/b?c#d%', tab: 'timeline' },
  { view: 'session', session: 's', tab: 'timeline', row: 'call_1_0/call_2_0' },
  { view: 'session', session: 's', tab: 'replay', row: '12' },
  { view: 'session', session: 's', tab: 'replay', row: 'call_1_0/12', part: 'changes' },
  { view: 'failures', days: '30', agent: 'a b', principal: 'ann', code: 'tool_failed' },
  { view: 'compare', session: 'a/b', other: 'c d' },
  { view: 'inbox' },
  { view: 'inbox', session: 's/1', approval: 'approval_call_1_0_1' },
  { view: 'cost', days: '30', agent: 'a b' },
])('%j', (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route)
})

test.each(['', '#', '#/nowhere', '#/sessions/', '#%E0%A4%A'])('%j leads to the sessions', (hash) => {
  expect(parseRoute(hash)).toEqual({ view: 'sessions' })
})

test('an unknown part of a session leads to its timeline', () => {
  expect(parseRoute('#/sessions/s/nothing')).toEqual({ view: 'session', session: 's', tab: 'timeline' })
})
