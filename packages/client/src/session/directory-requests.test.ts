// Requests of a list of sessions while others are pending, and over breaking connections. The test plays the server.
import type { JsonObject } from '@baton/core'
import { expect, onTestFinished, test } from 'vitest'
import { openDirectory } from '../index.ts'
import { createPlayedServer, outcomeOf, settle } from '../played-server.test-kit.ts'

const url = 'ws://127.0.0.1:9/ws'

const info = (id: string, lastMs: number, more: object = {}): object => ({ id, title: id, lastMs, meta: {}, ...more })

function openList(options: { readonly most?: number; readonly meta?: JsonObject } = {}) {
  const server = createPlayedServer()
  const list = openDirectory({ url, world: server.world, ...options })
  onTestFinished(() => list.close())
  /** Accepts the subscription, and returns the list in one page. */
  const read = (sessions: readonly object[]): void => {
    server.begin()
    server.accept(server.asked('session.watch')[0])
    server.accept(server.asked('session.list')[0], { sessions })
  }
  const change = (session: object): void =>
    server.say({ type: 'session.changed', change: { type: 'changed', session } })
  const shown = (): unknown => list.getSnapshot().sessions.map(({ id }) => id)
  return { server, list, read, change, shown }
}

test('sessions that are made at the same time are made one after another, whatever becomes of the first', async () => {
  const { server, list, read } = openList()
  read([])
  const made = [list.create({ title: 'a' }), list.create({ title: 'b' }), list.create({ title: 'c' })].map(outcomeOf)
  await settle()
  // A connection follows one session at a time.
  expect(server.asked('session.open').map(({ title }) => title)).toEqual(['a'])
  server.refuse(server.asked('session.open')[0], 'quota_exceeded')
  await settle()
  server.accept(server.asked('session.open')[1], { session: 'b' })
  await settle()
  expect(server.newest().sent.slice(-1)).toMatchObject([{ type: 'session.close' }])
  // The connection breaks before the second is closed: it exists anyway, and the third is requested over the next
  // connection.
  server.breakWith(1006)
  server.advance(1000)
  read([])
  server.accept(server.asked('session.close')[0])
  await settle()
  server.accept(server.asked('session.open')[0], { session: 'c' })
  await settle()
  server.accept(server.asked('session.close')[1])
  expect(await Promise.all(made)).toEqual(['quota_exceeded', 'b', 'c'])
})

test('what may have been made is not made again, what was deleted meanwhile is deleted, and the rest is asked again', async () => {
  const { server, list, read } = openList()
  read([info('a', 2), info('b', 1)])
  const asked = [list.create(), list.delete('a'), list.delete('b'), list.rename('b', 'B')].map(outcomeOf)
  await settle()
  server.breakWith(1006)
  server.advance(1000)
  read([info('b', 1)])
  expect(server.newest().sent.map(({ type }) => type)).toEqual([
    'session.watch',
    'session.list',
    'session.delete',
    'session.describe',
  ])
  for (const request of server.newest().sent.slice(2)) server.accept(request)
  expect(await Promise.all(asked)).toEqual(['connection_failed', 'done', 'done', 'done'])
})

test.each([
  ['a page that has more than are listed', 2, [info('a', 3), info('b', 2), info('c', 1)], []],
  ['a session that comes and drives out the oldest', 2, [info('b', 2), info('c', 1)], [info('a', 3)]],
])('%s leaves the newest, and says that there are more', (_, most, page, changes) => {
  const { read, list, change, shown } = openList({ most })
  read(page)
  changes.forEach(change)
  expect([shown(), list.getSnapshot().more]).toEqual([['a', 'b'], true])
})

test('a session that is described otherwise leaves the list that is only of others', () => {
  const { read, change, shown } = openList({ meta: { kind: { of: 'note' } } })
  read([info('a', 2, { meta: { kind: { of: 'note' } } }), info('b', 1, { meta: { kind: { of: 'note' } } })])
  change(info('a', 3, { meta: { kind: { of: 'memo' } } }))
  expect(shown()).toEqual(['b'])
})

test('a list that is refused for a moment is read over the next connection; one that is refused for good ends', async () => {
  const { server, list, read, shown } = openList()
  server.begin()
  server.refuse(server.asked('session.watch')[0], 'quota_exceeded', { retryable: true })
  expect(list.getSnapshot()).toMatchObject({ status: 'waiting', error: { code: 'quota_exceeded' } })
  server.advance(1000)
  read([info('a', 1)])
  expect([shown(), list.getSnapshot().error]).toEqual([['a'], undefined])
  server.breakWith(1006)
  const renamed = outcomeOf(list.rename('a', 'A'))
  server.advance(1000)
  server.begin()
  server.refuse(server.asked('session.watch')[0], 'unauthorized')
  expect(list.getSnapshot()).toMatchObject({ status: 'closed', error: { code: 'unauthorized' } })
  expect([await renamed, server.waiting()]).toEqual(['unauthorized', 0])
})

test('the list that is known stays while it is read anew, and what was removed and made again is shown', () => {
  const { server, read, change, shown } = openList()
  read([info('a', 2), info('b', 1)])
  server.say({ type: 'session.changed', change: { type: 'removed', id: 'a' } })
  server.breakWith(1006)
  server.advance(1000)
  server.begin()
  server.accept(server.asked('session.watch')[0])
  change(info('c', 5))
  expect(shown()).toEqual(['b'])
  server.accept(server.asked('session.list')[0], { sessions: [info('b', 1), info('a', 3)] })
  expect(shown()).toEqual(['c', 'a', 'b'])
})
