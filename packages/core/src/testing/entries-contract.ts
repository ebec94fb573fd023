// Contract cases for entries: what lists show of a session, kept with the records that change it.
import type { AppendedRecords, EntryPlace, SessionEntry, Store } from '../agent/store.ts'
import type { SessionRecord } from '../machine/record.ts'
import type { StoreAct } from './store-claims.ts'
import { A, acquired, equal, filled, isTrue, recordsFrom, refuses, same } from './store-claims.ts'

const ALL = '["sessions",null]'

export const ENTRY_CASES: Readonly<Record<string, StoreAct>> = {
  'an entry is stored with the records that it shows, in all its lists': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    const body = JSON.stringify({ title: 'ä 語 😀 \u0000' })
    const entry = makeEntry(body, [at(5), { list: 'o\u2028ther "1"', atMs: 7, item: 2 }])
    equal(await store.append(A, epoch, -1, listed(recordsFrom(0, 2, epoch), entry)), 1, 'the last position')
    same(await found(store, ALL), [[A, 5, 0, body]], 'the first list')
    same(await found(store, 'o\u2028ther "1"'), [[A, 7, 2, body]], 'the second list')
    same(await found(store, 'nothing'), [], 'a list without entries')
    equal(await store.entries.get(A), body, 'the entry')
    same(await outdated(store), [], 'the outdated ones')
  },
  'an entry moves with the next one, and stays with `same`': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await store.append(A, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry('1', [at(5), at(6, 'old')])))
    await store.append(A, epoch, 0, listed(recordsFrom(1, 1, epoch), makeEntry('2', [at(9), at(9, 'new')])))
    await store.append(A, epoch, 1, listed(recordsFrom(2, 3, epoch), 'same'))
    same(await found(store, ALL), [[A, 9, 0, '2']], 'the list')
    same([await found(store, 'old'), (await found(store, 'new')).length], [[], 1], 'the lists of one entry')
    same(await outdated(store), [], 'the outdated ones')
  },
  'an append without an entry outdates it, until that of the last record is put': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await store.append(A, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry('1', [at(5)])))
    await store.append(A, epoch, 0, recordsFrom(1, 1, epoch))
    await store.append(A, epoch, 1, listed(recordsFrom(2, 1, epoch), 'same'))
    same(await outdated(store), [[A, 3, 1002]], 'the outdated ones')
    same(await found(store, ALL), [[A, 5, 0, '1']], 'the list meanwhile')
    await store.entries.put(A, 1, makeEntry('2', [at(6)]))
    same(await found(store, ALL), [[A, 6, 0, '2']], 'the list after an earlier entry')
    same(await outdated(store), [[A, 3, 1002]], 'still outdated')
    await store.entries.put(A, 2, makeEntry('3', [at(7)]))
    same([await found(store, ALL), await outdated(store)], [[[A, 7, 0, '3']], []], 'the end')
    await store.entries.put(A, 2, makeEntry('4', [at(8)]))
    same(await found(store, ALL), [[A, 7, 0, '3']], 'an entry that is not outdated')
  },
  'a refused append leaves the entry as it was': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await store.append(A, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry('1', [at(5)])))
    await refuses(
      store.append(A, epoch, 3, listed(recordsFrom(4, 1, epoch), makeEntry('2', [at(6)]))),
      'store_conflict',
    )
    same([await found(store, ALL), await outdated(store)], [[[A, 5, 0, '1']], []], 'the list')
  },
  'a log that is copied or put in place has an outdated entry': async (store) => {
    await store.put('b', recordsFrom(0, 2, 1))
    await store.restore('c', recordsFrom(0, 1, 1))
    await filled(store, 1)
    await acquired(store, 'empty', 'ann')
    same(
      await outdated(store),
      [
        ['b', 2, 1001],
        ['c', 1, 1000],
        [A, 1, 1000],
      ],
      'the outdated ones',
    )
    same((await outdated(store, 'b')).length, 2, 'those after a name')
    await store.entries.put('b', 1, makeEntry('1', [at(5)]))
    await store.put('b', recordsFrom(1, 1, 1))
    same((await outdated(store)).length, 2, 'after a copy that brought nothing')
    await store.put('b', recordsFrom(2, 1, 1))
    same((await outdated(store)).length, 3, 'after a copy that brought a record')
  },
  'a list is read in pages from either end, by time, item and session': async (store) => {
    const names = ['s1', 's2', 's3', 's4']
    for (const [index, name] of names.entries()) {
      const { epoch } = await acquired(store, name, 'ann')
      const places = [at(10 + Math.floor(index / 2)), at(10 + Math.floor(index / 2), ALL, 1)]
      await store.append(name, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry(name, places)))
    }
    const oldest = await pages(store, 'oldest', 3)
    same(oldest.map(([name, ms, item]) => `${name} ${ms} ${item}`).length, 8, 'all of them')
    same(await pages(store, 'newest', 3), oldest.toReversed(), 'the newest first')
    same(
      oldest.map(([, ms]) => ms),
      [10, 10, 10, 10, 11, 11, 11, 11],
      'their times',
    )
    same((await found(store, ALL, { sinceMs: 11 })).length, 4, 'since a time, the newest first')
    same((await found(store, ALL, { sinceMs: 11, order: 'oldest' })).length, 4, 'since a time, the oldest first')
  },
  'a page goes on after an entry that has moved or is gone': async (store) => {
    for (const [index, name] of ['s1', 's2', 's3', 's4'].entries()) {
      const { epoch } = await acquired(store, name, 'ann')
      await store.append(name, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry(name, [at(10 + index)])))
    }
    const [, second] = await store.entries.find({ list: ALL, order: 'newest', limit: 2 })
    await store.remove('s3', 'ann')
    const { epoch } = await acquired(store, 's2', 'ann')
    await store.append('s2', epoch, 0, listed(recordsFrom(1, 1, epoch), makeEntry('s2', [at(20)])))
    const rest = await found(store, ALL, { ...(second && { after: second.place }) })
    same(rest, [['s1', 10, 0, 's1']], 'the next page')
    same((await found(store, ALL)).length, 3, 'all of them')
  },
  'a removed session has no entry, and neither has a child': async (store) => {
    const { epoch } = await acquired(store, A, 'ann')
    await store.append(A, epoch, -1, listed(recordsFrom(0, 1, epoch), makeEntry('1', [at(5)])))
    const child = await store.acquire('child-1', 'ann', undefined, { root: A, rootEpoch: epoch })
    isTrue(child.type === 'acquired', 'the child is acquired')
    if (child.type !== 'acquired') return
    await store.append('child-1', child.epoch, -1, recordsFrom(0, 1, child.epoch))
    same([await outdated(store), await store.entries.get('child-1')], [[], undefined], 'of a child')
    await store.remove(A, 'ann')
    same([await found(store, ALL), await outdated(store), await store.entries.get(A)], [[], [], undefined], 'nothing')
    await store.restore(A, recordsFrom(0, 1, 1))
    same(await found(store, ALL), [], 'the next session of its name')
  },
}

function at(atMs: number, list = ALL, item = 0): EntryPlace {
  return { list, atMs, item }
}

function listed(records: readonly SessionRecord[], entry: SessionEntry | 'same'): AppendedRecords {
  return Object.assign([...records], { entry })
}

function makeEntry(body: string, places: readonly EntryPlace[]): SessionEntry {
  return { body, places }
}

type Row = readonly [session: string, atMs: number, item: number, body: string | undefined]

async function found(
  store: Store,
  list: string,
  query: { readonly sinceMs?: number; readonly order?: 'newest' | 'oldest'; readonly after?: string } = {},
): Promise<readonly Row[]> {
  const entries = await store.entries.find({ list, order: 'newest', limit: 50, ...query })
  return entries.map(({ session, atMs, item, body }) => [session, atMs, item, body])
}

async function pages(store: Store, order: 'newest' | 'oldest', limit: number): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let after: string | undefined; ;) {
    const page = await store.entries.find({ list: ALL, order, limit, ...(after !== undefined && { after }) })
    rows.push(...page.map(({ session, atMs, item, body }): Row => [session, atMs, item, body]))
    after = page.at(-1)?.place
    if (page.length < limit || after === undefined) return rows
  }
}

async function outdated(store: Store, after?: string): Promise<readonly (readonly [string, number, number])[]> {
  const rows: (readonly [string, number, number])[] = []
  for await (const { session, records, lastMs } of store.entries.outdated(after === undefined ? {} : { after }))
    rows.push([session, records, lastMs])
  return rows
}
