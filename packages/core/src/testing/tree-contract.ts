// Contract cases for the children of a session: their owners, their lists, and their removal with the root.
import type { Acquired, Store, StoredSession, Under } from '../agent/store.ts'
import { initialState } from '../machine/state.ts'
import type { StoreAct } from './store-claims.ts'
import {
  A,
  acquired,
  createSnapshot,
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
} from './store-claims.ts'

/** Children of A, and another root. */
const ONE = 'child-1'
const TWO = 'child-2'
const B = 'session-b'
const NOT_THE_ROOT = { type: 'not-the-root' }

const OWNERS: Readonly<Record<string, StoreAct>> = {
  'a child is acquired under its root, with a higher epoch each time': async (store) => {
    const under = await rooted(store)
    const first = await acquiredUnder(store, ONE, under)
    equal(first.pos, -1, 'the position of a new child')
    isTrue(first.epoch > under.rootEpoch, `epoch ${first.epoch} is above ${under.rootEpoch}`)
    equal(await store.append(ONE, first.epoch, -1, recordsFrom(0, 3, first.epoch)), 2, 'the last position')
    const again = await acquiredUnder(store, ONE, under)
    isTrue(again.epoch > first.epoch && again.pos === 2, `epoch ${again.epoch} and position ${again.pos} go on`)
    await refuses(store.append(ONE, first.epoch, 2, recordsFrom(3, 1, first.epoch)), 'store_conflict')
    equal(await store.append(ONE, again.epoch, 2, recordsFrom(3, 1, again.epoch)), 3, 'the next append')
    same(await readAll(store, ONE, 3), [record(3, again.epoch)], 'the record')
  },
  'nobody acquires a child under a root that is gone, or that has another epoch; and nothing is changed': async (
    store,
  ) => {
    same(await store.acquire(ONE, 'ann', undefined, { root: 'nobody', rootEpoch: 1 }), NOT_THE_ROOT, 'of nobody')
    const under = await rooted(store)
    const { rootEpoch } = under
    for (const wrong of [rootEpoch - 1, rootEpoch + 1, 0, -1])
      same(await store.acquire(ONE, 'ann', undefined, { root: A, rootEpoch: wrong }), NOT_THE_ROOT, `epoch ${wrong}`)
    same(await childrenOf(store, A), [], 'the children')
    const { epoch } = await acquiredUnder(store, ONE, under)
    same(await store.acquire(TWO, 'ann', undefined, { root: ONE, rootEpoch: epoch }), NOT_THE_ROOT, 'under a child')
    const next = await acquired(store, A, 'ann')
    same(await store.acquire(ONE, 'ann', undefined, under), NOT_THE_ROOT, 'when its owner has acquired the root again')
    equal(await store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch)), 0, 'an append after the refusal')
    equal((await acquiredUnder(store, ONE, { root: A, rootEpoch: next.epoch })).pos, 0, 'the position')
    await store.remove(A, 'ann')
    same(
      await store.acquire(ONE, 'ann', undefined, { root: A, rootEpoch: next.epoch }),
      NOT_THE_ROOT,
      'when it is gone',
    )
    same(await childrenOf(store, A), [], 'the children of a root that is gone')
  },
  'an owner that lost the root appends to a child until the next owner has acquired it, and acquires none any more':
    async (store, clock) => {
      const old = await rooted(store)
      const one = await acquiredUnder(store, ONE, old)
      await store.append(ONE, one.epoch, -1, recordsFrom(0, 1, one.epoch))
      clock.step(store.leaseMs)
      const next = await acquired(store, A, 'bob')
      equal(await store.append(ONE, one.epoch, 0, recordsFrom(1, 1, one.epoch)), 1, 'an append of the former owner')
      const taken = await acquiredUnder(store, ONE, { root: A, rootEpoch: next.epoch }, 'bob')
      equal(taken.pos, 1, 'the position that the next owner reads')
      await refuses(store.append(ONE, one.epoch, 1, recordsFrom(2, 1, one.epoch)), 'store_conflict')
      for (const child of [ONE, TWO])
        same(await store.acquire(child, 'ann', undefined, old), NOT_THE_ROOT, `${child} for the former owner`)
      equal(await store.append(ONE, taken.epoch, 1, recordsFrom(2, 1, taken.epoch)), 2, 'an append of the next owner')
    },
  'the first record of a child is refused to whoever had acquired it without writing, when the next owner has it':
    async (store, clock) => {
      const old = await acquiredUnder(store, ONE, await rooted(store))
      clock.step(store.leaseMs)
      const next = await acquired(store, A, 'bob')
      const taken = await acquiredUnder(store, ONE, { root: A, rootEpoch: next.epoch }, 'bob')
      equal(taken.pos, -1, 'the position')
      await refuses(store.append(ONE, old.epoch, -1, recordsFrom(0, 1, old.epoch)), 'store_conflict')
      same(await positions(store, ONE, 0), [], 'the log')
    },
  'a child needs no lease: the lease of its root counts, and nobody takes it when that has ended': async (
    store,
    clock,
  ) => {
    const under = await rooted(store)
    const { epoch, leaseUntilMs } = await acquiredUnder(store, ONE, under)
    equal(leaseUntilMs, clock.nowMs() + store.leaseMs, 'the end of the lease of its root')
    clock.step(store.leaseMs - 1)
    const renewed = await store.renew('ann')
    same(
      (await childrenOf(store, A)).map(({ holder }) => holder),
      [{ owner: 'ann', leaseUntilMs: renewed.leaseUntilMs }],
      'who holds it when the root is renewed',
    )
    clock.step(store.leaseMs * 2)
    same(
      (await childrenOf(store, A)).map(({ holder }) => holder ?? 'nobody'),
      ['nobody'],
      'who holds it when the lease has ended',
    )
    await refuses(store.acquire(ONE, 'bob'), 'illegal_input', A)
    equal(await store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch)), 0, 'an append after the lease has ended')
    equal((await acquiredUnder(store, ONE, under)).pos, 0, 'while nobody else has acquired the root')
  },
  'a child is neither handed over, nor left, nor taken back: it goes with its root': async (store) => {
    const under = await rooted(store)
    const { epoch } = await acquiredUnder(store, ONE, under)
    await store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch))
    await store.requestHandover(ONE, 'bob')
    same((await store.renew('ann')).handovers, [], 'what others ask for')
    await store.rest?.(ONE, epoch)
    for (const left of ['work', 'nothing'] as const) {
      await store.release(ONE, epoch, left)
      same(await recoverable(store), [], `recoverable when it is left with ${left}`)
    }
    const back = await store.resume?.({ session: ONE, owner: 'ann', epoch, pos: 0 })
    equal(back ?? false, false, 'taken back')
    equal(await store.append(ONE, epoch, 0, recordsFrom(1, 1, epoch)), 1, 'an append under its epoch')
    equal((await store.acquire(A, 'bob')).type, 'held', 'its root')
    await refuses(store.release(ONE, epoch, 'all' as 'work'), 'invalid_option')
  },
  'a child is acquired, put, restored and removed under its own root alone': async (store) => {
    const under = await rooted(store)
    const other = await rooted(store, B)
    const { epoch } = await acquiredUnder(store, ONE, under)
    await store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch))
    const more = recordsFrom(1, 1, epoch)
    for (const owner of ['ann', 'bob']) await refuses(store.acquire(ONE, owner), 'illegal_input', A)
    await refuses(store.acquire(ONE, 'ann', undefined, other), 'illegal_input', A)
    await refuses(store.put(ONE, more), 'illegal_input', A)
    await refuses(store.put(ONE, more, { root: B }), 'illegal_input', A)
    await refuses(store.restore(ONE, recordsFrom(0, 2, epoch)), 'illegal_input', A)
    for (const owner of [undefined, 'ann']) await refuses(store.remove(ONE, owner), 'illegal_input', A)
    equal((await store.acquire(A, 'bob')).type, 'held', 'its root is held as before')
    equal(await store.append(ONE, epoch, 0, more), 1, 'the next append')
  },
  'a session of its own is no child, and no session is its own root': async (store) => {
    const under = await rooted(store)
    const { epoch } = await acquired(store, 'own', 'carl')
    await store.append('own', epoch, -1, recordsFrom(0, 1, epoch))
    await refuses(store.acquire('own', 'ann', undefined, under), 'illegal_input', 'own')
    await refuses(store.put('own', recordsFrom(1, 1, epoch), { root: A }), 'illegal_input', 'own')
    await refuses(store.restore('own', recordsFrom(0, 1, epoch), { root: 'none' }), 'illegal_input', 'own')
    await refuses(store.acquire(A, 'ann', undefined, under), 'illegal_input', A)
    await refuses(store.put(A, recordsFrom(1, 1, 1), { root: A }), 'illegal_input', A)
    await refuses(store.restore('self', recordsFrom(0, 1, 1), { root: 'self' }), 'illegal_input', 'self')
    equal(await store.append('own', epoch, 0, recordsFrom(1, 1, epoch)), 1, 'an append of its owner')
    same(await childrenOf(store, A), [], 'the children')
  },
  'a name without a record becomes a child, whoever held it': async (store) => {
    const under = await rooted(store)
    const early = await acquired(store, ONE, 'mallory')
    await store.blobs.put(TWO, 'image', 'early')
    const { epoch, pos } = await acquiredUnder(store, ONE, under)
    equal(pos, -1, 'the position')
    await refuses(store.append(ONE, early.epoch, -1, recordsFrom(0, 1, early.epoch)), 'store_conflict')
    await refuses(store.acquire(ONE, 'mallory'), 'illegal_input', A)
    equal(await store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch)), 0, 'the first record')
    await acquiredUnder(store, TWO, under)
    equal(await store.blobs.get(TWO, 'image'), 'early', 'a text that was there before')
    same(await namesOf(store, A), [ONE, TWO], 'the children')
  },
  'of many who acquire a child in the same moment the one with the highest epoch has it': async (store) => {
    const under = await rooted(store)
    const all = await Promise.all(numbers(8).map(() => acquiredUnder(store, ONE, under)))
    const epochs = all.map(({ epoch }) => epoch).toSorted((one, other) => one - other)
    equal(new Set(epochs).size, 8, 'the number of epochs')
    const newest = epochs.at(-1) ?? 0
    for (const epoch of epochs.slice(0, -1))
      await refuses(store.append(ONE, epoch, -1, recordsFrom(0, 1, epoch)), 'store_conflict')
    equal(await store.append(ONE, newest, -1, recordsFrom(0, 1, newest)), 0, 'the first record')
  },
  'who acquires children while another takes the root has them before that, or not at all': async (store, clock) => {
    let under = await rooted(store)
    for (const round of numbers(5)) {
      clock.step(store.leaseMs)
      const names = numbers(6).map((index) => `child-${round}-${index}`)
      const former = under
      const [answers, root] = await Promise.all([
        Promise.all(names.map((name) => store.acquire(name, 'ann', undefined, former))),
        acquired(store, A, `owner-${round}`),
      ])
      under = { root: A, rootEpoch: root.epoch }
      for (const [index, name] of names.entries()) {
        const answer = answers[index]
        const next = await acquiredUnder(store, name, under)
        if (answer?.type !== 'acquired') continue
        isTrue(answer.epoch < root.epoch, `epoch ${answer.epoch} of a child is older than ${root.epoch} of its root`)
        isTrue(answer.epoch < next.epoch, `epoch ${answer.epoch} is older than ${next.epoch}`)
      }
    }
  },
}

const LISTS: Readonly<Record<string, StoreAct>> = {
  'a child is in no list of sessions, and nobody recovers it, whatever becomes of its owner': async (store, clock) => {
    const under = await rooted(store)
    const { epoch } = await acquiredUnder(store, ONE, under)
    await store.append(ONE, epoch, -1, recordsFrom(0, 2, epoch))
    const names = async (): Promise<readonly string[]> => (await listed(store)).map(({ session }) => session)
    same(await names(), [A], 'the list')
    same(await recoverable(store), [], 'recoverable while its root is held')
    clock.step(store.leaseMs)
    same(await names(), [A], 'the list when the lease has ended')
    same(await recoverable(store), [A], 'recoverable when the lease has ended')
    const next = await acquired(store, A, 'bob')
    await store.release(A, next.epoch)
    same(await recoverable(store), [], 'recoverable when its root is left with nothing')
    same(await names(), [A], 'the list then')
  },
  'the children of a root are listed by name, with what is known of them, also without a record': async (
    store,
    clock,
  ) => {
    const under = await rooted(store)
    const other = await rooted(store, B)
    const two = await acquiredUnder(store, TWO, under)
    await acquiredUnder(store, ONE, under)
    await acquiredUnder(store, 'child-of-b', other)
    await store.append(TWO, two.epoch, -1, recordsFrom(0, 3, two.epoch))
    const holder = { owner: 'ann', leaseUntilMs: clock.nowMs() + store.leaseMs }
    same(
      await childrenOf(store, A),
      [
        { session: ONE, records: 0, lastMs: 0, isOwned: false, holder },
        { session: TWO, records: 3, lastMs: 1002, isOwned: false, holder },
      ],
      'the children',
    )
    same(await namesOf(store, B), ['child-of-b'], 'the children of another root')
    for (const name of [ONE, 'nobody', '']) same(await namesOf(store, name), [], `the children of ${name}`)
  },
  'a list of children goes on after any name, and gives each child once': async (store) => {
    await store.restore('other', recordsFrom(0, 1, 1), { root: B })
    const names = numbers(300).map((index) => `c${String(index).padStart(3, '0')}`)
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(
        names.slice(from, from + 50).map((name) => store.restore(name, recordsFrom(0, 1, 1), { root: A })),
      )
    same(await namesOf(store, A), names, 'the children')
    for (const index of [0, 255, 256, 299])
      same(await namesOf(store, A, names[index]), names.slice(index + 1), `what comes after ${index}`)
    same(await namesOf(store, A, 'c100x'), names.slice(101), 'what comes after a name that is none')
    same(await listed(store), [], 'the list of sessions')
  },
}

const WHOLE_TREES: Readonly<Record<string, StoreAct>> = {
  'a root is removed with all its children in one act, and nobody can write to any of them': async (store) => {
    const under = await rooted(store)
    const other = await rooted(store, B)
    const epochs: number[] = []
    for (const child of [ONE, TWO]) {
      const { epoch } = await acquiredUnder(store, child, under)
      await store.append(child, epoch, -1, recordsFrom(0, 3, epoch))
      await store.snapshots.put(child, createSnapshot({ ...initialState(child), pos: 2 }))
      await store.blobs.put(child, 'result/x', 'kept')
      epochs.push(epoch)
    }
    const kept = await acquiredUnder(store, 'child-of-b', other)
    await store.append('child-of-b', kept.epoch, -1, recordsFrom(0, 1, kept.epoch))
    await refuses(store.remove(A, 'bob'), 'session_held')
    await refuses(store.remove(A), 'session_held')
    same(await namesOf(store, A), [ONE, TWO], 'the children after a removal that was refused')
    await store.remove(A, 'ann')
    for (const [index, child] of [ONE, TWO].entries()) {
      const epoch = epochs[index] ?? 0
      await refuses(store.append(child, epoch, 2, recordsFrom(3, 1, epoch)), 'store_conflict')
      await refuses(store.append(child, epoch, -1, recordsFrom(0, 1, epoch)), 'store_conflict')
      same(await positions(store, child, 0), [], `the records of ${child}`)
      equal(await store.snapshots.latest(child), undefined, `the snapshot of ${child}`)
      equal(await store.blobs.get(child, 'result/x'), undefined, `the text of ${child}`)
      same(await store.blobs.names(child), [], `the texts of ${child}`)
      same(await store.acquire(child, 'ann', undefined, under), NOT_THE_ROOT, `${child} under the former root`)
    }
    same(await namesOf(store, A), [], 'the children')
    same(await namesOf(store, B), ['child-of-b'], 'the children of another root')
    equal(await store.append('child-of-b', kept.epoch, 0, recordsFrom(1, 1, kept.epoch)), 1, 'an append there')
    const again = await rooted(store)
    same(await namesOf(store, A), [], 'the children of a new session of this name')
    equal((await acquiredUnder(store, ONE, again)).pos, -1, 'the position of its child')
  },
  'a child that is acquired while its root is removed is gone with it': async (store) => {
    for (const round of numbers(5)) {
      const under = await rooted(store)
      const names = numbers(6).map((index) => `child-${round}-${index}`)
      const [answers] = await Promise.all([
        Promise.all(names.map((name) => store.acquire(name, 'ann', undefined, under))),
        store.remove(A, 'ann'),
      ])
      same(await namesOf(store, A), [], 'the children')
      for (const [index, name] of names.entries()) {
        const answer = answers[index]
        const epoch = answer?.type === 'acquired' ? answer.epoch : 1
        await refuses(store.append(name, epoch, -1, recordsFrom(0, 1, epoch)), 'store_conflict')
      }
    }
  },
  'the log of a child that is written elsewhere is put under its root, as long as that has a log': async (store) => {
    await refuses(store.put(ONE, recordsFrom(0, 1, 1), { root: A }), 'store_conflict', A)
    await store.put(A, recordsFrom(0, 1, 1))
    await store.put(ONE, recordsFrom(0, 2, 4), { root: A })
    await store.put(ONE, recordsFrom(0, 3, 4), { root: A })
    same(await readAll(store, ONE, 0), recordsFrom(0, 3, 4), 'the records')
    await refuses(store.put(ONE, [record(2, 4, 'another')], { root: A }), 'store_conflict')
    await refuses(store.put(ONE, recordsFrom(4, 1, 4), { root: A }), 'store_conflict', 'skip record 3')
    same(
      await childrenOf(store, A),
      [{ session: ONE, records: 3, lastMs: 1002, isOwned: false }],
      'the children of a root that nobody holds',
    )
    const root = await acquired(store, A, 'ann')
    await refuses(store.put(ONE, recordsFrom(3, 1, 4), { root: A }), 'store_conflict', 'ann')
    await store.put(ONE, recordsFrom(0, 3, 4), { root: A })
    const { epoch, pos } = await acquiredUnder(store, ONE, { root: A, rootEpoch: root.epoch })
    isTrue(epoch > 4 && pos === 2, `epoch ${epoch} and position ${pos} go on`)
    await store.remove(A, 'ann')
    await refuses(store.put(ONE, recordsFrom(0, 3, 4), { root: A }), 'store_conflict', A)
    same(await namesOf(store, A), [], 'the children after a late copy')
    same(await listed(store), [], 'the list after a late copy')
  },
  'a tree comes back with its children first, and is recovered as a whole': async (store) => {
    await store.restore(ONE, recordsFrom(0, 3, 7), { root: A })
    await store.restore(TWO, recordsFrom(0, 1, 9), { root: A })
    same(await recoverable(store), [], 'recoverable before its root is there')
    await refuses(store.restore(ONE, recordsFrom(0, 3, 7), { root: A }), 'session_exists', ONE)
    await refuses(store.restore(ONE, recordsFrom(0, 3, 7), { root: B }), 'illegal_input', A)
    await store.restore(A, recordsFrom(0, 2, 5))
    await refuses(store.restore('late', recordsFrom(0, 1, 1), { root: A }), 'session_exists', A)
    same(await recoverable(store), [A], 'recoverable')
    same(await namesOf(store, A), [ONE, TWO], 'its children')
    const root = await acquired(store, A, 'ann')
    isTrue(root.epoch > 9 && root.pos === 1, `epoch ${root.epoch} and position ${root.pos} go on`)
    const { epoch, pos } = await acquiredUnder(store, ONE, { root: A, rootEpoch: root.epoch })
    isTrue(epoch > 9 && pos === 2, `epoch ${epoch} and position ${pos} go on`)
    equal(await store.append(ONE, epoch, 2, recordsFrom(3, 1, epoch)), 3, 'the next append')
  },
  'children whose root has not come are removed by its name': async (store) => {
    await store.restore(ONE, recordsFrom(0, 3, 7), { root: A })
    await store.blobs.put(ONE, 'result/x', 'kept')
    await store.remove(A, 'importing')
    same(await namesOf(store, A), [], 'the children')
    equal(await store.blobs.get(ONE, 'result/x'), undefined, 'the text')
    await store.restore(ONE, recordsFrom(0, 1, 7), { root: A })
    same(await positions(store, ONE, 0), [0], 'the log of the next try')
  },
  'a root with a name that is none is refused': async (store) => {
    for (const root of ['', '\ud800', 'a\u0000', 'a\n', 'x'.repeat(257)]) {
      await refuses(store.acquire(ONE, 'ann', undefined, { root, rootEpoch: 1 }), 'invalid_option')
      await refuses(store.put(ONE, recordsFrom(0, 1, 1), { root }), 'invalid_option')
      await refuses(store.restore(ONE, recordsFrom(0, 1, 1), { root }), 'invalid_option')
    }
  },
}

export const TREE_CASES = { ...OWNERS, ...LISTS, ...WHOLE_TREES }

/** Children after their store was opened again. */
export async function reopenWithChild(store: Store, reopen: (store: Store) => Promise<Store>): Promise<Store> {
  const former = await rooted(store)
  const { epoch } = await acquiredUnder(store, ONE, former)
  await store.append(ONE, epoch, -1, recordsFrom(0, 2, epoch))
  const next = await reopen(store)
  same(await recoverable(next), [A], 'recoverable')
  same(await namesOf(next, A), [ONE], 'the children')
  await refuses(next.acquire(ONE, 'bob'), 'illegal_input', A)
  const root = await acquired(next, A, 'bob')
  const owned = await acquiredUnder(next, ONE, { root: A, rootEpoch: root.epoch }, 'bob')
  isTrue(owned.epoch > epoch && owned.pos === 1, `epoch ${owned.epoch} and position ${owned.pos} go on`)
  same(await next.acquire(ONE, 'ann', undefined, former), NOT_THE_ROOT, 'for the former owner')
  return next
}

/** Ann's session with one record, as a root. */
async function rooted(store: Store, session = A): Promise<Under> {
  const { epoch } = session === A ? await filled(store, 1) : await acquired(store, session, 'ann')
  return { root: session, rootEpoch: epoch }
}

/** @throws Error if it is not acquired */
async function acquiredUnder(store: Store, child: string, under: Under, owner = 'ann'): Promise<Acquired> {
  const outcome = await store.acquire(child, owner, undefined, under)
  if (outcome.type === 'acquired') return outcome
  throw new Error(
    `the store breaks its contract: ${owner} cannot acquire ${child} under ${under.root}: ${outcome.type}`,
  )
}

async function childrenOf(store: Store, root: string, after?: string): Promise<readonly StoredSession[]> {
  const found: StoredSession[] = []
  for await (const one of store.children(root, after === undefined ? {} : { after })) found.push(one)
  return found
}

async function namesOf(store: Store, root: string, after?: string): Promise<readonly string[]> {
  return (await childrenOf(store, root, after)).map(({ session }) => session)
}

async function recoverable(store: Store): Promise<readonly string[]> {
  const found: string[] = []
  for await (const { session } of store.listRecoverable()) found.push(session)
  return found
}
