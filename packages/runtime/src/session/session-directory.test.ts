// Unread changes of sessions for a watcher: the newest of each session, up to a bound.
import { createHistory, initialState } from '@baton/core/machine'
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

/** A directory of one session that is not open here, whose log the test lets be read. */
function createWorld() {
  const reads: PromiseWithResolvers<void>[] = []
  let title = 'old'
  const directory = new Directory({
    log: { info: () => {}, warn: () => {} },
    findOpen: () => undefined,
    fold: async () => {
      const read = Promise.withResolvers<void>()
      reads.push(read)
      await read.promise
      return { state: { ...initialState('s'), principal: 'ann', title }, history: createHistory(), lastMs: 1 }
    },
  } as unknown as ConstructorParameters<typeof Directory>[0]) // the parts in use
  const rename = (to: string): void => void (title = to)
  return { directory, reads, rename }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('of two changes the newest is reported last, in whatever order the store answers', async () => {
  const { directory, reads, rename } = createWorld()
  const changes = directory.watch()[Symbol.asyncIterator]()
  void directory.noteChange('s')
  rename('new')
  void directory.noteChange('s')
  for (let answered = 0; answered < reads.length;) {
    const open = reads.slice(answered)
    answered = reads.length
    for (const { resolve } of open.toReversed()) resolve()
    await settle()
  }
  expect(await changes.next()).toMatchObject({ value: { session: { title: 'new' } } })
  await changes.return?.()
})

test('a change that was being read when its session was removed is not reported behind the removal', async () => {
  const { directory, reads } = createWorld()
  const changes = directory.watch()[Symbol.asyncIterator]()
  void directory.noteChange('s')
  directory.noteRemoval('s', 'ann')
  reads[0]?.resolve()
  await settle()
  directory.noteRemoval('other', 'ann')
  expect(await changes.next()).toMatchObject({ value: { type: 'removed', id: 's' } })
  expect(await changes.next()).toMatchObject({ value: { type: 'removed', id: 'other' } })
  await changes.return?.()
})
