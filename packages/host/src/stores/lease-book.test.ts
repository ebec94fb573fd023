// Leases between the hosts of one process: a request for a session is reported until the session is released, and
// ending a lease does not end its successor.
import { expect, test } from 'vitest'
import { LeaseBook } from './lease-book.ts'

function createBook() {
  const clock = { now: 0, nowMs: () => clock.now }
  return { clock, book: new LeaseBook({ leaseMs: 1000, clock }) }
}

test('a request for a session is heard until its release, even if its holder acquires it again meanwhile', () => {
  const { book, clock } = createBook()
  book.give('s', 'one', 'ws://one')
  book.give('t', 'one', undefined)
  book.requestHandover('s', 'two')
  book.requestHandover('t', 'one')
  expect(book.renew('one').handovers).toEqual(['s'])
  expect(book.renew('two').handovers).toEqual([])
  const anew = book.give('s', 'one', 'ws://one')
  expect(book.renew('one').handovers).toEqual(['s'])
  if (anew.type === 'given') book.end('s', anew)
  book.give('s', 'one', 'ws://one')
  expect(book.renew('one').handovers).toEqual([])
  // It is not reported after the lease has expired either.
  book.requestHandover('s', 'two')
  clock.now += 1000
  book.give('s', 'one', 'ws://one')
  expect(book.renew('one').handovers).toEqual([])
})

test('a lease ends at its time, without ending its successor', () => {
  const { book, clock } = createBook()
  const first = book.give('s', 'one', undefined)
  clock.now += 999
  expect(book.give('s', 'two', undefined)).toEqual({ type: 'held', owner: 'one', leaseUntilMs: 1000 })
  clock.now += 1
  book.give('s', 'two', 'ws://two')
  if (first.type === 'given') book.end('s', first)
  expect(book.holder('s')).toEqual({ owner: 'two', leaseUntilMs: 2000, address: 'ws://two' })
})

test('a session at rest is resumed after a change that was not made, unless another one has begun', () => {
  const book = new LeaseBook()
  const given = book.give('s', 'ann', undefined)
  if (given.type !== 'given') throw new Error('ann does not get the session')
  given.epoch = 1
  const ann = { session: 's', owner: 'ann', epoch: 1 }
  book.rest('s', 1)
  book.endRest('s')()
  expect(book.resume(ann)).toBe(true)
  book.rest('s', 1)
  const undo = book.endRest('s')
  book.endRest('s') // a second change, which is still being made
  undo()
  expect(book.resume(ann)).toBe(false)
})
