// The contract of every store, as named cases for any test runner: `for (const { name, run } of storeContract(init))
// test(name, run)`.
import type { Clock } from '../agent/environment.ts'
import type { Store } from '../agent/store.ts'
import type { SessionRecord } from '../machine/record.ts'
import { initialState } from '../machine/state.ts'
import { ENTRY_CASES } from './entries-contract.ts'
import { OUTBOX_CASES } from './outbox-contract.ts'
import { OWNERSHIP_CASES } from './ownership-contract.ts'
import type { StoreAct } from './store-claims.ts'
import { reopenWithChild, TREE_CASES } from './tree-contract.ts'
import {
  A,
  acquired,
  deface,
  equal,
  filled,
  isTrue,
  listed,
  numbers,
  positions,
  readAll,
  record,
  recordsFrom,
  refuses,
  same,
  createSnapshot,
  createSteppedClock,
} from './store-claims.ts'

export interface StoreContractOptions {
  /** A new, empty store whose leases use this clock. */
  open(clock: Clock): Promise<Store>
  /** Closes the store and opens it again over the same data. Absent if its data does not outlive it. */
  reopen?(store: Store): Promise<Store>
}

export interface StoreCase {
  readonly name: string
  /** Why this case does not run for this store. */
  readonly skip?: string
  /** Opens a separate store and closes it. @throws Error that says what is wrong */
  run(): Promise<void>
}

export function storeContract(init: StoreContractOptions): readonly StoreCase[] {
  const all = Object.entries({ ...CASES, ...OWNERSHIP_CASES, ...TREE_CASES, ...ENTRY_CASES, ...OUTBOX_CASES })
  const cases = all.map(([name, act]): StoreCase => ({ name, run: () => withStore(init, act) }))
  const { reopen } = init
  const durable = Object.entries(DURABLE_CASES).map(([name, act]): StoreCase => ({
    name,
    ...(!reopen && { skip: 'this store keeps nothing longer than it lives' }),
    run: async () => {
      if (!reopen) return
      const store = await init.open(createSteppedClock())
      const next = await act(store, reopen)
      await next.close()
    },
  }))
  return [...cases, ...durable]
}

async function withStore(init: StoreContractOptions, act: StoreAct): Promise<void> {
  const clock = createSteppedClock()
  const store = await init.open(clock)
  try {
    await act(store, clock)
  } finally {
    await store.close()
  }
}

const CASES: Readonly<Record<string, StoreAct>> = {
  'a list goes on after any name, and gives each session once, in one order': async (store) => {
    const names = ['a', '\uff5e', '\u{1f600}', '\ue000', '\u{10000}', 'z', 'é']
    for (const name of names) await store.restore(name, recordsFrom(0, 1, 1))
    const list = async (after?: string): Promise<readonly string[]> => {
      const found: string[] = []
      for await (const { session } of store.list(after === undefined ? {} : { after })) found.push(session)
      return found
    }
    const all = await list()
    same([...all].sort(), [...names].sort(), 'the sessions')
    for (const [index, name] of all.entries()) same(await list(name), all.slice(index + 1), `what comes after ${name}`)
    await store.remove(all[2] ?? '')
    same(await list(all[2]), all.slice(3), 'what comes after a session that is gone')
  },
  'a heartbeat is kept beside the sessions, and is none of them': async (store) => {
    if (!store.heartbeat) return
    equal(await store.heartbeat.read(), undefined, 'a new store')
    await store.heartbeat.write('one')
    await store.heartbeat.write('two')
    equal(await store.heartbeat.read(), 'two', 'the newest')
    same(await listed(store), [], 'the sessions')
  },
  'a new session stands before its first record': async (store) => {
    const { epoch, pos } = await acquired(store, A, 'ann')
    equal(pos, -1, 'the position')
    isTrue(Number.isSafeInteger(epoch) && epoch > 0, `the epoch is a number above 0, not ${epoch}`)
  },
  'what is appended is read again, in order': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    equal(await store.append(A, epoch, -1, recordsFrom(0, 2, epoch)), 1, 'the last position')
    equal(await store.append(A, epoch, 1, recordsFrom(2, 3, epoch)), 4, 'the last position')
    same(await readAll(store, A, 0), recordsFrom(0, 5, epoch), 'the records')
  },
  'reading begins at the position that is asked for': async (store) => {
    const { epoch } = await filled(store, 5)
    same(await positions(store, A, 3), [3, 4], 'from the middle')
    same(await positions(store, A, 5), [], 'from the end')
    same(await positions(store, A, 99), [], 'from behind the end')
    same(await readAll(store, A, 4), recordsFrom(4, 1, epoch), 'the last record')
  },
  'a session that nobody knows has no records, no snapshot, no blobs, and may not be written to': async (store) => {
    same(await positions(store, 'nobody', 0), [], 'its records')
    equal(await store.snapshots.latest('nobody'), undefined, 'its snapshot')
    equal(await store.blobs.get('nobody', 'result/x'), undefined, 'its blob')
    await refuses(store.append('nobody', 0, -1, recordsFrom(0, 1, 0)), 'store_conflict')
    await refuses(store.append('nobody', 1, -1, recordsFrom(0, 1, 1)), 'store_conflict')
    equal((await acquired(store, 'nobody', 'ann')).pos, -1, 'its position')
  },
  'a new owner gets a higher epoch and the position of the log': async (store) => {
    const first = await filled(store, 3)
    await store.release(A, first.epoch)
    const second = await acquired(store, A, 'bob')
    isTrue(second.epoch > first.epoch, `epoch ${second.epoch} is above ${first.epoch}`)
    equal(second.pos, 2, 'the position')
    const again = await acquired(store, A, 'bob')
    isTrue(again.epoch > second.epoch, 'the same owner gets a higher epoch as well')
  },
  'an owner that was replaced cannot append any more': async (store) => {
    const old = await filled(store, 1)
    await store.release(A, old.epoch, 'work')
    const next = await acquired(store, A, 'bob')
    await refuses(store.append(A, old.epoch, 0, recordsFrom(1, 1, old.epoch)), 'store_conflict')
    same(await positions(store, A, 0), [0], 'the log is as it was')
    equal(await store.append(A, next.epoch, 0, recordsFrom(1, 1, next.epoch)), 1, 'the new owner appends')
  },
  'an epoch that was never given cannot append': async (store) => {
    const { epoch } = await filled(store, 1)
    await refuses(store.append(A, epoch + 1, 0, recordsFrom(1, 1, epoch + 1)), 'store_conflict')
  },
  'an append after another position is refused, before the end and behind it': async (store) => {
    const { epoch } = await filled(store, 3)
    for (const afterPos of [-1, 1, 3])
      await refuses(store.append(A, epoch, afterPos, recordsFrom(afterPos + 1, 1, epoch)), 'store_conflict')
    same(await positions(store, A, 0), [0, 1, 2], 'the log is as it was')
  },
  'an append of which one record cannot be kept keeps none of them': async (store) => {
    const { epoch } = await filled(store, 1)
    const broken = { ...record(2, epoch), facts: [{ type: 'note-queued', note: 1n, text: '' }] }
    const batch = [record(1, epoch), broken as unknown as SessionRecord, record(3, epoch)]
    await refuses(store.append(A, epoch, 0, batch), undefined)
    same(await positions(store, A, 0), [0], 'the log is as it was')
    equal(await store.append(A, epoch, 0, recordsFrom(1, 1, epoch)), 1, 'the next append')
  },
  'of appends at once after the same position exactly one is taken': async (store) => {
    const { epoch } = await filled(store, 1)
    const tries = Array.from({ length: 8 }, (_, index) => store.append(A, epoch, 0, recordsFrom(1, index + 1, epoch)))
    const taken = (await Promise.allSettled(tries)).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    equal(taken.length, 1, 'the number of appends that were taken')
    equal((await positions(store, A, 0)).at(-1), taken[0], 'the last position')
  },
  'appends that are not waited for keep their order': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    const appends = Array.from({ length: 50 }, (_, pos) => store.append(A, epoch, pos - 1, [record(pos, epoch)]))
    same(await Promise.all(appends), numbers(50), 'their positions')
    same(await positions(store, A, 0), numbers(50), 'the log')
  },
  'a reading goes on while records are appended, without gaps and without repeats': async (store) => {
    const { epoch } = await filled(store, 100)
    const seen: number[] = []
    for await (const { pos } of store.read(A, 0)) {
      seen.push(pos)
      if (pos === 10) await store.append(A, epoch, 99, recordsFrom(100, 5, epoch))
    }
    isTrue(seen.length === 100 || seen.length === 105, `it has the old records, or all: ${seen.length}`)
    same(seen, numbers(seen.length), 'the positions')
  },
  'a reading that is given up leaves the store usable': async (store) => {
    const { epoch } = await filled(store, 20)
    for await (const { pos } of store.read(A, 0)) if (pos === 3) break
    equal(await store.append(A, epoch, 19, recordsFrom(20, 1, epoch)), 20, 'the next append')
    equal((await positions(store, A, 0)).length, 21, 'the number of records')
  },
  'a record of a megabyte and all of Unicode come back as they were': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    const text = '"\\ \u0000 \u2028 ä 語 😀 '.repeat(60_000)
    const large = record(0, epoch, text)
    await store.append(A, epoch, -1, [large])
    same(await readAll(store, A, 0), [large], 'the record')
  },
  'five hundred records in one append': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    equal(await store.append(A, epoch, -1, recordsFrom(0, 500, epoch)), 499, 'the last position')
    same(await positions(store, A, 0), numbers(500), 'the log')
  },
  'sessions know nothing of each other': async (store) => {
    const names = ['s', 's/1', 's%', "s'; --", 'S', 'ä', ...numbers(40).map((number) => `many-${number}`)]
    const owned = await Promise.all(names.map(async (name) => ({ name, ...(await acquired(store, name, 'ann')) })))
    await Promise.all(owned.map(({ name, epoch }) => store.append(name, epoch, -1, [record(0, epoch, name)])))
    for (const { name, epoch } of owned) same(await readAll(store, name, 0), [record(0, epoch, name)], name)
  },
  'what is changed after it was put in, or after it was read, does not change the store': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    const mine = record(0, epoch, 'as it was')
    await store.append(A, epoch, -1, [mine])
    deface(mine)
    for (const read of await readAll(store, A, 0)) deface(read)
    same(await readAll(store, A, 0), [record(0, epoch, 'as it was')], 'the record')
    const snapshot = createSnapshot(initialState(A))
    await store.snapshots.put(A, snapshot)
    deface(snapshot)
    deface(await store.snapshots.latest(A))
    same(await store.snapshots.latest(A), createSnapshot(initialState(A)), 'the snapshot')
  },
  'the newest snapshot replaces the others of its session': async (store) => {
    await store.snapshots.put(A, createSnapshot({ ...initialState(A), pos: 1 }))
    await store.snapshots.put(A, createSnapshot({ ...initialState(A), pos: 7 }))
    await store.snapshots.put('other', createSnapshot({ ...initialState('other'), pos: 3 }))
    equal((await store.snapshots.latest(A))?.state.pos, 7, 'the position of the snapshot')
  },
  'blobs are kept under their session and their name, and the last one of a name counts': async (store) => {
    await store.blobs.put('s', 'a/b', 'one')
    await store.blobs.put('s/a', 'b', 'two')
    await store.blobs.put('s', 'b', '')
    await store.blobs.put('s', 'twice', 'first')
    await store.blobs.put('s', 'twice', 'second')
    equal(await store.blobs.get('s', 'a/b'), 'one', 's a/b')
    equal(await store.blobs.get('s/a', 'b'), 'two', 's/a b')
    equal(await store.blobs.get('s', 'b'), '', 'an empty blob')
    equal(await store.blobs.get('s', 'twice'), 'second', 'a blob that was put twice')
    equal(await store.blobs.get('s', 'nothing'), undefined, 'a blob that was never put')
  },
  'a blob of two megabytes comes back as it was': async (store) => {
    const text = 'line 😀\n'.repeat(250_000)
    await store.blobs.put(A, 'result/call_1_0_0', text)
    isTrue((await store.blobs.get(A, 'result/call_1_0_0')) === text, 'the blob is the same')
  },
  'the names of blobs are told of their session alone': async (store) => {
    await store.blobs.put(A, 'b', '1')
    await store.blobs.put(A, 'a/1', '2')
    await store.blobs.put('other', 'c', '3')
    same(await store.blobs.names(A), ['a/1', 'b'], 'the names')
    same(await store.blobs.names('nobody'), [], 'the names of nobody')
  },
  'sessions with records are listed by name, with what is known of them': async (store, clock) => {
    const { epoch } = await acquired(store, 'b', 'ann')
    await store.append('b', epoch, -1, recordsFrom(0, 3, epoch))
    await filled(store, 2)
    await acquired(store, 'empty', 'ann')
    await store.release('b', epoch)
    const leaseUntilMs = clock.nowMs() + store.leaseMs
    same(
      await listed(store),
      [
        { session: 'b', records: 3, lastMs: 1002, isOwned: false },
        { session: A, records: 2, lastMs: 1001, isOwned: true, holder: { owner: 'ann', leaseUntilMs } },
      ],
      'the list',
    )
  },
  'a session is released by its owner alone, and owned again by the next': async (store) => {
    const old = await filled(store, 1)
    await store.release(A, old.epoch, 'work')
    const { epoch } = await acquired(store, A, 'bob')
    await store.release(A, old.epoch)
    equal((await listed(store))[0]?.isOwned, true, 'owned, after a former owner released it')
    await store.release(A, epoch)
    equal((await listed(store))[0]?.isOwned, false, 'owned, after its owner released it')
    await store.release('nobody', 1)
    await acquired(store, A, 'carl')
    equal((await listed(store))[0]?.isOwned, true, 'owned by the next one')
  },
  'a log that is put in place is read as it was, and goes on with a higher epoch': async (store) => {
    await store.restore(A, [...recordsFrom(0, 3, 4), ...recordsFrom(3, 2, 7)])
    same(await readAll(store, A, 0), [...recordsFrom(0, 3, 4), ...recordsFrom(3, 2, 7)], 'the records')
    for (const former of [0, 4, 7]) await refuses(store.append(A, former, 4, recordsFrom(5, 1, 7)), 'store_conflict')
    equal((await listed(store))[0]?.isOwned, true, 'owned, so that what is outstanding is looked at')
    const { epoch, pos } = await acquired(store, A, 'ann')
    isTrue(epoch > 7 && pos === 4, `epoch ${epoch} and position ${pos} go on`)
    await refuses(store.restore(A, recordsFrom(0, 1, 1)), 'session_exists')
    equal(await store.append(A, epoch, 4, recordsFrom(5, 1, epoch)), 5, 'the next append')
  },
  'of a session that is removed nothing is left, and its owner cannot write': async (store) => {
    const { epoch } = await filled(store, 3)
    await store.snapshots.put(A, createSnapshot({ ...initialState(A), pos: 2 }))
    await store.blobs.put(A, 'result/x', 'kept')
    const other = await acquired(store, 'other', 'ann')
    await store.append('other', other.epoch, -1, recordsFrom(0, 1, other.epoch))
    await store.remove(A, 'ann')
    await store.remove('nobody')
    await refuses(store.append(A, epoch, 2, recordsFrom(3, 1, epoch)), 'store_conflict')
    same(await readAll(store, A, 0), [], 'the records')
    equal(await store.snapshots.latest(A), undefined, 'the snapshot')
    same(await store.blobs.names(A), [], 'the blobs')
    same(await positions(store, 'other', 0), [0], 'the records of the other session')
    same(
      (await listed(store)).map(({ session }) => session),
      ['other'],
      'the list',
    )
    const next = await acquired(store, A, 'bob')
    equal(next.pos, -1, 'the position of a new session of this name')
    await store.append(A, next.epoch, -1, recordsFrom(0, 3, next.epoch))
    await refuses(store.append(A, epoch, 2, recordsFrom(3, 1, epoch)), 'store_conflict')
  },
  'a name that is none is refused, and two names are never one session': async (store) => {
    for (const name of ['', '\ud800', 'a\u0000', 'a\n', 'a\u202e', 'a\u2028', 'x'.repeat(257)]) {
      await refuses(store.acquire(name, 'ann'), 'invalid_option')
      await refuses(store.put(name, recordsFrom(0, 1, 1)), 'invalid_option')
      await refuses(store.restore(name, recordsFrom(0, 1, 1)), 'invalid_option')
      await refuses(store.snapshots.put(name, createSnapshot(initialState(name))), 'invalid_option')
      await refuses(store.blobs.put(name, 'blob', 'text'), 'invalid_option')
      await refuses(store.blobs.put(A, name, 'text'), 'invalid_option')
    }
    const { epoch } = await acquired(store, '\ufffd', 'ann')
    await store.append('\ufffd', epoch, -1, recordsFrom(0, 1, epoch))
    for (const half of ['\ud800', '\ud801'])
      same(await positions(store, half, 0).catch(() => []), [], 'the records of a name that is none')
  },
  'what is no record is not put and not restored': async (store) => {
    const wrong: readonly [object, 'log_damaged' | 'log_version_unknown'][] = [
      [{ epoch: 2 ** 53 }, 'log_damaged'],
      [{ epoch: 2 ** 53 - 1 }, 'log_damaged'],
      [{ epoch: 2 ** 40 + 1 }, 'log_damaged'],
      [{ epoch: 1e300 }, 'log_damaged'],
      [{ nowMs: 1e16 }, 'log_damaged'],
      [{ facts: [{ type: 'note-queued' }] }, 'log_damaged'],
      [{ facts: [{ type: 'of-a-newer-version' }] }, 'log_version_unknown'],
    ]
    for (const [change, code] of wrong) {
      const records = [record(0, 1), { ...record(1, 1), ...change } as SessionRecord]
      await refuses(store.put(A, records), code)
      await refuses(store.restore(A, records), code)
    }
    for (const part of [recordsFrom(1, 2, 1), [record(0, 1), record(2, 1)], [record(0, 1), record(0, 1)]])
      await refuses(store.restore(A, part), 'log_damaged')
    same(await positions(store, A, 0), [], 'the log')
    isTrue(Number.isSafeInteger((await acquired(store, 'another', 'ann')).epoch), 'other sessions go on')
  },
  'a store that can keep what it is given says so': async (store) => {
    await filled(store, 1)
    same(await store.health(), { ok: true }, 'its health')
    equal((await listed(store)).length, 1, 'the number of sessions afterwards')
  },
  'a store may be closed twice': async (store) => {
    await filled(store, 1)
    await store.close()
    await store.close()
  },
}

type DurableCase = (store: Store, reopen: NonNullable<StoreContractOptions['reopen']>) => Promise<Store>

const DURABLE_CASES: Readonly<Record<string, DurableCase>> = {
  'records, snapshots, blobs and the outbox outlive their store, and epochs go on': async (store, reopen) => {
    const { epoch } = await filled(store, 3)
    await store.snapshots.put(A, createSnapshot({ ...initialState(A), pos: 2 }))
    await store.blobs.put(A, 'result/x', 'kept')
    await store.outbox.swap(A, 'shop', undefined, { body: 'kept', list: 'shop', atMs: 5 })
    const next = await reopen(store)
    same(await readAll(next, A, 0), recordsFrom(0, 3, epoch), 'the records')
    equal((await next.snapshots.latest(A))?.state.pos, 2, 'the position of the snapshot')
    equal(await next.blobs.get(A, 'result/x'), 'kept', 'the blob')
    equal((await next.outbox.find({ list: 'shop', limit: 1 }))[0]?.body, 'kept', 'the row of the outbox')
    const owned = await acquired(next, A, 'bob')
    isTrue(owned.epoch > epoch && owned.pos === 2, `epoch ${owned.epoch} and position ${owned.pos} go on`)
    return next
  },
  'children outlive their store: under their root, and in no list': reopenWithChild,
  'an append that was begun before the store was closed is kept whole, or refused': async (store, reopen) => {
    const { epoch } = await acquired(store, A, 'ann')
    const append = store.append(A, epoch, -1, recordsFrom(0, 20, epoch)).catch(() => undefined)
    const next = await reopen(store)
    const kept = (await positions(next, A, 0)).length
    equal(kept, (await append) === undefined ? 0 : 20, 'the number of records')
    return next
  },
}
