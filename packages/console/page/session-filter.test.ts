// The list of sessions as changes come: newest first, each once, and only what the filter lets through.
import { expect, test } from 'vitest'
import type { SessionInfo } from './api.ts'
import { applyChange, describeActivity, isShown, stateOfActivity } from './session-filter.ts'

const info = (id: string, lastMs: number, more: Partial<SessionInfo> = {}): SessionInfo => ({
  id,
  agent: 'shop',
  principal: { id: 'ann' },
  meta: {},
  activity: 'idle',
  createdMs: 0,
  lastMs,
  ...more,
})

test('a session that is used moves to the front, and one that fits no more leaves', () => {
  const list = [info('b', 2), info('a', 1)]
  const moved = applyChange(list, { type: 'changed', session: info('a', 3) }, {})
  expect(moved.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(
    applyChange(list, { type: 'changed', session: info('a', 3) }, { activity: 'waiting' }).map(({ id }) => id),
  ).toEqual(['b'])
  expect(applyChange(list, { type: 'removed', id: 'b', principal: { id: 'ann' } }, {}).map(({ id }) => id)).toEqual([
    'a',
  ])
  expect(applyChange(list, { type: 'changed', session: info('old', 0) }, {}).map(({ id }) => id)).toEqual([
    'b',
    'a',
    'old',
  ])
  expect(applyChange(list, { type: 'live' }, {})).toBe(list)
})

test('a search looks at id, title, agent and owner', () => {
  const one = info('s-1', 1, { title: 'Refund of A-17' })
  for (const search of ['S-1', 'a-17', 'SHOP', 'ann']) expect(isShown(one, { search })).toBe(true)
  expect(isShown(one, { search: 'bob' })).toBe(false)
})

test('what it waits for, or that it failed, in words', () => {
  const waits = info('s', 1, { activity: 'waiting', waitsFor: ['person', 'client'] })
  expect(describeActivity(waits, ['pay 40 EUR'])).toBe('waits for a person: pay 40 EUR, waits for a client')
  expect(describeActivity(info('s', 1), [])).toBe('idle')
  const failed = info('s', 1, { error: { code: 'model_auth_failed' } })
  expect([describeActivity(failed, []), stateOfActivity(failed)]).toEqual(['failed: model_auth_failed', 'error'])
  expect(describeActivity({ ...failed, activity: 'paused' }, [])).toBe('paused')
})
