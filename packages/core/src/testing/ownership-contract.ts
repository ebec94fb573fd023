// Contract cases for owners and their leases, and for records written by position.
import type { DueSession, RestingSession, Store, StoredSession } from '../agent/store.ts'
import type { SessionRecord } from '../machine/record.ts'
import type { StoreAct } from './store-claims.ts'
import {
  A,
  acquired,
  equal,
  filled,
  isTrue,
  listed,
  positions,
  readAll,
  record,
  recordsFrom,
  refuses,
  same,
} from './store-claims.ts'

const LEASES: Readonly<Record<string, StoreAct>> = {
  'a session that somebody holds is refused to others, with who holds it and until when': async (store, clock) => {
    const { leaseUntilMs } = await acquired(store, A, 'ann')
    equal(leaseUntilMs, clock.nowMs() + store.leaseMs, 'the end of the lease')
    same(await store.acquire(A, 'bob'), { type: 'held', owner: 'ann', leaseUntilMs }, 'the answer')
    await store.acquire('elsewhere', 'ann', 'ws://ann')
    const held = { type: 'held', owner: 'ann', leaseUntilMs, address: 'ws://ann' }
    same(await store.acquire('elsewhere', 'bob'), held, 'the answer')
  },
  'of two owners who ask in the same moment one gets the session': async (store) => {
    const outcomes = await Promise.all([store.acquire(A, 'ann'), store.acquire(A, 'bob')])
    same(outcomes.map(({ type }) => type).toSorted(), ['acquired', 'held'], 'the answers')
  },
  'a lease that has ended gives the session to the next who asks, and its former owner is kept out': async (
    store,
    clock,
  ) => {
    const { epoch } = await filled(store, 1)
    clock.step(store.leaseMs - 1)
    equal((await store.acquire(A, 'bob')).type, 'held', 'a moment before its end')
    clock.step(1)
    equal(await store.append(A, epoch, 0, recordsFrom(1, 1, epoch)), 1, 'an append while nobody else has asked')
    const next = await acquired(store, A, 'bob')
    equal(next.pos, 1, 'the position')
    await refuses(store.append(A, epoch, 1, recordsFrom(2, 1, epoch)), 'store_conflict')
    equal((await store.acquire(A, 'ann')).type, 'held', 'the former owner asks')
  },
  'an owner keeps all that it renews, and no other owner’s': async (store, clock) => {
    await Promise.all([acquired(store, 'a', 'ann'), acquired(store, 'b', 'ann'), acquired(store, 'c', 'carl')])
    clock.step(store.leaseMs - 1)
    const { leaseUntilMs } = await store.renew('ann')
    equal(leaseUntilMs, clock.nowMs() + store.leaseMs, 'the end of the lease')
    clock.step(store.leaseMs - 1)
    for (const session of ['a', 'b'])
      same(await store.acquire(session, 'bob'), { type: 'held', owner: 'ann', leaseUntilMs }, session)
    await acquired(store, 'c', 'bob')
    await store.renew('nobody')
  },
  'a lease that has ended is renewed as long as nobody else took the session': async (store, clock) => {
    await acquired(store, 'a', 'ann')
    await acquired(store, 'b', 'ann')
    clock.step(store.leaseMs)
    await acquired(store, 'b', 'bob')
    await store.renew('ann')
    equal((await store.acquire('a', 'bob')).type, 'held', 'the one that nobody took')
    clock.step(store.leaseMs - 1)
    await store.renew('ann')
    clock.step(1)
    await acquired(store, 'b', 'carl')
  },
  'a session that is released is free at once, but not by a former epoch': async (store) => {
    const old = await acquired(store, A, 'ann')
    const { epoch } = await acquired(store, A, 'ann')
    await store.release(A, old.epoch, 'work')
    equal((await store.acquire(A, 'bob')).type, 'held', 'after its former epoch was released')
    await store.release(A, epoch)
    const next = await acquired(store, A, 'bob')
    await store.renew('ann')
    await store.release(A, epoch, 'work')
    equal((await store.acquire(A, 'carl')).type, 'held', 'after the former owner released it again')
    await store.release(A, next.epoch, 'work')
    await acquired(store, A, 'carl')
    await refuses(store.release(A, next.epoch, 'all' as 'work'), 'invalid_option')
  },
  'who releases a session and acquires it again in the same moment holds it': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await Promise.all([store.release(A, epoch, 'work'), acquired(store, A, 'ann')])
    equal((await store.acquire(A, 'bob')).type, 'held', 'afterwards')
  },
  'a session that is removed is held by nobody': async (store) => {
    await filled(store, 1)
    await store.remove(A, 'ann')
    await acquired(store, A, 'bob')
  },
  'a session that somebody holds is removed by nobody else': async (store, clock) => {
    const { epoch } = await filled(store, 1)
    await refuses(store.remove(A), 'session_held')
    await refuses(store.remove(A, 'bob'), 'session_held')
    equal(await store.append(A, epoch, 0, recordsFrom(1, 1, epoch)), 1, 'an append of the holder')
    clock.step(store.leaseMs)
    await store.remove(A, 'bob')
    same(await readAll(store, A, 0), [], 'the records when the lease had ended')
    await refuses(store.append(A, epoch, 1, recordsFrom(2, 1, epoch)), 'store_conflict')
  },
  'recoverable is what nobody holds and nobody left with nothing': async (store, clock) => {
    const recoverable = (): Promise<readonly string[]> => listNames(store)
    const { epoch } = await filled(store, 1)
    await acquired(store, 'empty', 'ann')
    await store.put('kept here', recordsFrom(0, 1, 1))
    await store.restore('restored', recordsFrom(0, 1, 1))
    same(await recoverable(), ['restored'], 'while ann holds hers')
    await store.release(A, epoch)
    same(await recoverable(), ['restored'], 'when ann has left with nothing')
    const again = await acquired(store, A, 'ann')
    await store.release(A, again.epoch, 'work')
    same(await recoverable(), ['restored', A], 'when ann has left with work')
    await acquired(store, A, 'bob')
    await acquired(store, 'restored', 'bob')
    same(await recoverable(), [], 'when bob holds all')
    clock.step(store.leaseMs - 1)
    same(await recoverable(), [], 'before the lease ends')
    clock.step(1)
    same(await recoverable(), ['restored', A], 'when the lease has ended')
    same(
      (await listed(store)).flatMap(({ holder }) => holder ?? []),
      [],
      'who holds something then',
    )
  },
  'who holds a session is told that another owner asks for it, until it is released': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await acquired(store, 'other', 'ann')
    const handovers = async (owner: string): Promise<readonly string[]> => (await store.renew(owner)).handovers
    same(await handovers('ann'), [], 'before somebody asks')
    await store.requestHandover(A, 'bob')
    await store.requestHandover('other', 'ann')
    await store.requestHandover('nobody', 'bob')
    same(await handovers('ann'), [A], 'when bob asks')
    same(await handovers('ann'), [A], 'when ann has been told')
    same(await handovers('bob'), [], 'of bob')
    await store.release(A, epoch)
    same(await handovers('ann'), [], 'when it is released')
    await acquired(store, A, 'bob')
    same(await handovers('bob'), [], 'of the next owner')
  },
}

const PUTS: Readonly<Record<string, StoreAct>> = {
  'what is put by position is read again; the same again, or a part of it, changes nothing': async (store) => {
    await store.put(A, recordsFrom(0, 3, 4))
    await store.put(A, recordsFrom(0, 3, 4))
    await store.put(A, recordsFrom(1, 1, 4))
    await store.put(A, [])
    await store.put(A, [reversed(record(2, 4)), record(3, 5)])
    await store.put(A, [record(4, 5), record(4, 5)])
    same(await readAll(store, A, 0), [...recordsFrom(0, 3, 4), ...recordsFrom(3, 2, 5)], 'the records')
    same(await listed(store), [{ session: A, records: 5, lastMs: 1004, isOwned: false }], 'the list')
  },
  'another record at a position is refused, and nothing of that put is kept': async (store) => {
    await store.put(A, recordsFrom(0, 2, 1))
    await refuses(store.put(A, [record(1, 1, 'another'), record(2, 1)]), 'store_conflict')
    await refuses(store.put(A, [record(2, 1), record(2, 1, 'another')]), 'store_conflict')
    same(await positions(store, A, 0), [0, 1], 'the log')
  },
  'a put that would leave out a record is refused, and names it': async (store) => {
    await refuses(store.put(A, recordsFrom(1, 1, 1)), 'store_conflict', 'skip record 0')
    await store.put(A, recordsFrom(0, 2, 1))
    await refuses(store.put(A, [record(2, 1), record(4, 1)]), 'store_conflict', 'skip record 3')
    await refuses(store.put(A, [record(-1, 1)]), 'store_conflict', '-1')
    same(await positions(store, A, 0), [0, 1], 'the log')
  },
  'a put adds nothing to a session that somebody holds; an owner goes on behind what was put': async (store) => {
    await store.put(A, recordsFrom(0, 2, 9))
    const { epoch, pos } = await acquired(store, A, 'ann')
    isTrue(epoch > 9 && pos === 1, `epoch ${epoch} and position ${pos} go on`)
    await refuses(store.put(A, recordsFrom(0, 3, 9)), 'store_conflict', 'ann')
    await store.put(A, recordsFrom(0, 2, 9))
    equal(await store.append(A, epoch, 1, recordsFrom(2, 1, epoch)), 2, 'the next append')
    await store.release(A, epoch)
    await store.put(A, recordsFrom(3, 1, epoch))
    await refuses(store.append(A, epoch, 2, recordsFrom(3, 1, epoch)), 'store_conflict')
  },
}

/** A store without `rest` passes: its hosts release instead. */
const RESTS: Readonly<Record<string, StoreAct>> = {
  'a session at rest is free for every other owner, and its former owner cannot take it back': async (store) => {
    const resting = await rested(store)
    if (!resting) return
    const next = await acquired(store, A, 'bob')
    equal(next.pos, resting.pos, 'the position')
    equal(await resume(store, resting), false, 'taken back while bob holds it')
    await refuses(store.append(A, resting.epoch, 0, recordsFrom(1, 1, resting.epoch)), 'store_conflict')
    await store.rest?.(A, resting.epoch)
    equal((await store.acquire(A, 'carl')).type, 'held', 'after the former owner let it rest again')
    await store.release(A, next.epoch)
    equal(await resume(store, resting), false, 'taken back when bob has left')
  },
  'an owner takes a session back as it left it: under its epoch, with a new lease': async (store, clock) => {
    const resting = await rested(store, 'ws://ann')
    if (!resting) return
    clock.step(store.leaseMs * 2)
    await store.renew('ann')
    equal((await listed(store))[0]?.holder, undefined, 'its holder while it rests')
    equal(await resume(store, resting), true, 'taken back')
    const leaseUntilMs = clock.nowMs() + store.leaseMs
    const held = { type: 'held', owner: 'ann', leaseUntilMs, address: 'ws://ann' }
    same(await store.acquire(A, 'bob'), held, 'who holds it')
    equal(await store.append(A, resting.epoch, 0, recordsFrom(1, 1, resting.epoch)), 1, 'the next append')
    clock.step(store.leaseMs)
    same(await listNames(store), [A], 'recoverable when its lease has ended')
  },
  'a session at rest has no holder, is not recoverable, and nobody asks for it': async (store) => {
    const resting = await rested(store)
    if (!resting) return
    await store.requestHandover(A, 'bob')
    same((await store.renew('ann')).handovers, [], 'what others ask for')
    const lastMs = record(0, resting.epoch).nowMs
    same(await listed(store), [{ session: A, records: 1, lastMs, isOwned: false }], 'the list')
    same(await listNames(store), [], 'recoverable')
    await store.release(A, resting.epoch)
    same(await listNames(store), [], 'recoverable after its release')
  },
  'a session at rest that was written or removed is not taken back': async (store) => {
    const resting = await rested(store)
    if (!resting) return
    await store.put(A, recordsFrom(1, 1, resting.epoch))
    equal(await resume(store, resting), false, 'taken back after a put')
    const next = await acquired(store, A, 'ann')
    await store.rest?.(A, next.epoch)
    await store.remove(A, 'bob')
    const emptied = { session: A, owner: 'ann', epoch: next.epoch, pos: 1 }
    equal(await resume(store, emptied), false, 'taken back after a removal')
    same(await listed(store), [], 'the list')
  },
}

const DUE: Readonly<Record<string, StoreAct>> = {
  'the sessions to look at are listed by the newest time in their records, the earliest first': async (store) => {
    const times: readonly (readonly [string, readonly (number | null | undefined)[]])[] = [
      ['late', [undefined, 5000, undefined]],
      ['early', [9000, 1000]],
      ['also late', [5000]],
      ['never', [undefined]],
      ['no more', [2000, null]],
      ['long ago', [-5]],
    ]
    for (const [session, due] of times) {
      const { epoch } = await acquired(store, session, 'ann')
      for (const [pos, dueMs] of due.entries())
        await store.append(session, epoch, pos - 1, [dueRecord(pos, epoch, dueMs)])
    }
    const order = [
      { session: 'long ago', dueMs: -5 },
      { session: 'early', dueMs: 1000 },
      { session: 'also late', dueMs: 5000 },
      { session: 'late', dueMs: 5000 },
    ]
    same(await store.listDue(), order, 'all of them')
    same(await store.listDue(order[2]), order.slice(3), 'those behind one')
    await store.release('early', (await acquired(store, 'early', 'ann')).epoch)
    same(await store.listDue(order[0]), order.slice(1), 'the same after a release')
    for (const { session } of order) await store.remove(session, 'ann')
    same(await store.listDue(), [], 'those that were removed')
  },
  'one append with several times leaves the last of them, and what is restored or put has its own': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    const both = [dueRecord(0, epoch, 7000), dueRecord(1, epoch, 3000), dueRecord(2, epoch, undefined)]
    await store.append(A, epoch, -1, both)
    await store.restore('restored', [dueRecord(0, 1, 4000), dueRecord(1, 1, undefined)])
    await store.put('put', [dueRecord(0, 1, 6000)])
    await store.put('put', [dueRecord(0, 1, 6000), dueRecord(1, 1, 5000)])
    const found = (await store.listDue()).map(({ session, dueMs }) => [session, dueMs])
    same(
      found,
      [
        [A, 3000],
        ['restored', 4000],
        ['put', 5000],
      ],
      'the list',
    )
    await store.put('put', [dueRecord(2, 1, null)])
    same((await store.listDue()).length, 2, 'without the one whose time was taken away')
  },
  'more sessions than a page has are listed page by page, each once': async (store) => {
    const names = Array.from({ length: 300 }, (_, index) => `s-${String(index).padStart(3, '0')}`)
    for (const [index, name] of names.entries()) await store.put(name, [dueRecord(0, 1, 1000 + (index % 3))])
    const found: DueSession[] = []
    for (let page = await store.listDue(); page.length > 0; page = await store.listDue(page.at(-1))) found.push(...page)
    same(found.map(({ session }) => session).toSorted(), names, 'the names')
    same(
      found.map(({ dueMs }) => dueMs),
      found.map(({ dueMs }) => dueMs).toSorted((one, other) => one - other),
      'the times',
    )
  },
  'a child is not among them': async (store) => {
    const { epoch } = await filled(store, 1)
    const child = await store.acquire('child', 'ann', undefined, { root: A, rootEpoch: epoch })
    if (child.type !== 'acquired') throw new Error('the child was not acquired')
    await store.append('child', child.epoch, -1, [dueRecord(0, child.epoch, 1000)])
    same(await store.listDue(), [], 'the list')
  },
}

function dueRecord(pos: number, epoch: number, dueMs: number | null | undefined): SessionRecord {
  return { ...record(pos, epoch), ...(dueMs !== undefined && { dueMs }) }
}

export const OWNERSHIP_CASES = { ...LEASES, ...PUTS, ...RESTS, ...DUE }

/** A session of ann with one record, at rest. */
async function rested(store: Store, address?: string): Promise<RestingSession | undefined> {
  if (!store.rest) return undefined
  const outcome = await store.acquire(A, 'ann', address)
  if (outcome.type !== 'acquired') throw new Error('another owner holds it')
  const { epoch } = outcome
  await store.append(A, epoch, -1, recordsFrom(0, 1, epoch))
  await store.rest(A, epoch)
  return { session: A, owner: 'ann', epoch, pos: 0, ...(address !== undefined && { address }) }
}

async function resume(store: Store, resting: RestingSession): Promise<boolean | undefined> {
  return await store.resume?.(resting)
}

async function listNames(store: Store): Promise<readonly string[]> {
  const found: StoredSession[] = []
  for await (const one of store.listRecoverable()) found.push(one)
  return found.map(({ session }) => session)
}

/** The same record with its fields reversed. */
function reversed(given: SessionRecord): SessionRecord {
  return Object.fromEntries(Object.entries(given).toReversed()) as unknown as SessionRecord // the same fields
}
