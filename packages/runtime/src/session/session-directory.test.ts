// Unread changes of sessions for a watcher: the newest of each session, up to a bound.
import { expect, test } from 'vitest'
import { Directory } from './session-directory.ts'

const UNREAD_MAX = 10_000

test('a session that changes again takes no other one out of what waits; one more than the bound takes the oldest', async () => {
  const directory = new Directory({} as ConstructorParameters<typeof Directory>[0]) // unused by a removal
  const watcher = directory.watch()
  for (let index = 0; index < UNREAD_MAX; index++) directory.noteRemoval(`s${index}`, 'ann')
  directory.noteRemoval(`s${UNREAD_MAX - 1}`, 'ann')
  const changes = watcher[Symbol.asyncIterator]()
  expect(await changes.next()).toMatchObject({ value: { type: 'removed', id: 's0' } })
  directory.noteRemoval('more', 'ann')
  directory.noteRemoval('and more', 'ann')
  expect(await changes.next()).toMatchObject({ value: { id: 's2' } })
  await changes.return?.()
})
