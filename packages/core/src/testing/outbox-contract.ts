// Contract cases for the outbox: rows of sessions in lists by time, which one of several hosts changes.
import type { RowPlace, Store } from '../agent/store.ts'
import type { StoreAct } from './store-claims.ts'
import { A, acquired, equal, filled, recordsFrom, same } from './store-claims.ts'

const LIST = '["notices","shop"]'

export const OUTBOX_CASES: Readonly<Record<string, StoreAct>> = {
  'a row is kept, replaced by who knows it, and removed': async (store) => {
    await filled(store, 1)
    const body = JSON.stringify({ text: 'ä 語 😀 \u0000', half: '\ud800' })
    equal(await store.outbox.swap(A, 'shop', undefined, { body, list: LIST, atMs: 5 }), true, 'the first')
    equal(await store.outbox.swap(A, 'shop', undefined, { body: '2', list: LIST, atMs: 6 }), false, 'another first')
    equal(await store.outbox.get(A, 'shop'), body, 'the row')
    equal(await store.outbox.swap(A, 'shop', '3', { body: '2', list: LIST, atMs: 6 }), false, 'one who knows another')
    equal(await store.outbox.swap(A, 'shop', body, { body: '2', list: 'sent', atMs: 6 }), true, 'one who knows it')
    same([await rows(store, LIST), await rows(store, 'sent')], [[], [[A, 'shop', 6, '2']]], 'the lists')
    equal(await store.outbox.swap(A, 'shop', body), false, 'a removal by one who knows another')
    equal(await store.outbox.swap(A, 'shop', '2'), true, 'the removal')
    same([await store.outbox.get(A, 'shop'), await rows(store, 'sent')], [undefined, []], 'the end')
  },
  'of many who change a row at once, one does': async (store) => {
    await filled(store, 1)
    await store.outbox.swap(A, 'shop', undefined, { body: '0', list: LIST, atMs: 5 })
    const swaps = Array.from({ length: 8 }, (_, n) =>
      store.outbox.swap(A, 'shop', '0', { body: `${n + 1}`, list: LIST, atMs: n }),
    )
    equal((await Promise.all(swaps)).filter(Boolean).length, 1, 'how many did')
  },
  'rows are listed by time, session and name, in pages': async (store) => {
    for (const session of ['s2', 's1']) {
      const { epoch } = await acquired(store, session, 'ann')
      await store.append(session, epoch, -1, recordsFrom(0, 1, epoch))
      for (const name of ['b', 'a'])
        await store.outbox.swap(session, name, undefined, { body: '1', list: LIST, atMs: 7 })
    }
    await store.outbox.swap('s2', 'c', undefined, { body: '1', list: LIST, atMs: 3 })
    await store.outbox.swap('s2', 'd', undefined, { body: '1', list: 'other', atMs: 1 })
    const all = ['s2 c', 's1 a', 's1 b', 's2 a', 's2 b']
    const seen: string[] = []
    for (let after: RowPlace | undefined; ;) {
      const page = await store.outbox.find({ list: LIST, limit: 2, ...(after && { after }) })
      seen.push(...page.map(({ session, name }) => `${session} ${name}`))
      after = page.at(-1)
      if (!after) break
    }
    same(seen, all, 'all pages')
  },
  'rows go with their session, and come to none without records': async (store) => {
    const row = { body: '1', list: LIST, atMs: 5 }
    equal(await store.outbox.swap('nobody', 'shop', undefined, row), false, 'no session')
    await acquired(store, 'empty', 'ann')
    equal(await store.outbox.swap('empty', 'shop', undefined, row), false, 'a session without records')
    const { epoch } = await filled(store, 1)
    const child = await store.acquire('child', 'ann', undefined, { root: A, rootEpoch: epoch })
    if (child.type === 'acquired') await store.append('child', child.epoch, -1, recordsFrom(0, 1, child.epoch))
    equal(await store.outbox.swap('child', 'shop', undefined, row), false, 'a child')
    equal(await store.outbox.swap(A, 'shop', undefined, row), true, 'a session with records')
    await store.remove(A, 'ann')
    same([await store.outbox.get(A, 'shop'), await rows(store, LIST)], [undefined, []], 'after its removal')
    await filled(store, 1)
    equal(await store.outbox.get(A, 'shop'), undefined, 'in the next session of its name')
  },
}

async function rows(store: Store, list: string): Promise<readonly (readonly [string, string, number, string])[]> {
  const found = await store.outbox.find({ list, limit: 50 })
  return found.map(({ session, name, atMs, body }) => [session, name, atMs, body])
}
