// The PostgreSQL store over a real server: the contract of all stores, plus several processes and a crashing server.
import { playStores, storeContract } from '@baton/core/testing'
import type { Acquired, Clock, Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryStore } from '../memory-store.ts'
import { migrate } from './migrations.ts'
import { openPostgresStore } from './postgres-store.ts'

const programs = findPostgres('the PostgreSQL store', console.warn)

describe.skipIf(programs === undefined)('a PostgreSQL store', () => {
  let server: PostgresServer
  let database = ''
  beforeAll(async () => {
    server = await startPostgres(programs ?? '')
    database = server.createDatabase()
  })
  afterAll(() => server.close())

  let schemas = 0
  const places = new WeakMap<Store, { readonly schema: string; readonly clock: Clock }>()
  /** A store whose database takes its time from this clock, by replacing the function `now_ms` that measures leases. */
  const openSteered = async ({ nowMs }: Clock, schema = `test_${(schemas += 1)}`): Promise<Store> => {
    const store = await openPostgresStore(database, { schema, connections: 3 })
    const admin = new Client({ connectionString: database })
    await admin.connect()
    await admin.query(`CREATE TABLE IF NOT EXISTS ${schema}.steered (ms bigint)`)
    await admin.query(`CREATE OR REPLACE FUNCTION ${schema}.now_ms() RETURNS bigint LANGUAGE sql VOLATILE
      AS 'SELECT ms FROM ${schema}.steered'`)
    await admin.query(`DELETE FROM ${schema}.steered`)
    await admin.query(`INSERT INTO ${schema}.steered VALUES (${nowMs()})`)
    let told = nowMs()
    let telling: Promise<unknown> = Promise.resolve()
    // Acts of the same moment all wait until the database knows it.
    const steer = async (): Promise<void> => {
      if (told !== nowMs()) {
        told = nowMs()
        telling = admin.query(`UPDATE ${schema}.steered SET ms = ${told}`)
      }
      await telling
    }
    const steered: Store = {
      ...store,
      acquire: (...given) => steer().then(() => store.acquire(...given)),
      renew: (owner) => steer().then(() => store.renew(owner)),
      resume: (resting) => steer().then(async () => (await store.resume?.(resting)) ?? false),
      put: (...given) => steer().then(() => store.put(...given)),
      remove: (...given) => steer().then(() => store.remove(...given)),
      list: async function* (options) {
        await steer()
        yield* store.list(options)
      },
      children: async function* (...given) {
        await steer()
        yield* store.children(...given)
      },
      listRecoverable: async function* () {
        await steer()
        yield* store.listRecoverable()
      },
      close: async () => {
        await store.close()
        await admin.end().catch(() => {}) // closed twice
      },
    }
    places.set(steered, { schema, clock: { nowMs } })
    return steered
  }
  const reopen = async (store: Store): Promise<Store> => {
    const place = places.get(store)
    await store.close()
    // Its owners died with it; their leases expire.
    return await openSteered({ nowMs: () => (place?.clock.nowMs() ?? 0) + store.leaseMs }, place?.schema)
  }

  for (const { name, run } of storeContract({ open: openSteered, reopen })) test(name, run)

  test('the server and memory answer any acts alike, and keep what they acknowledged', async () => {
    for (let seed = 2001; seed <= 2020; seed++)
      await playStores({
        open: async (clock) => ({ memory: createMemoryStore({ clock }), PostgreSQL: await openSteered(clock) }),
        seed,
        acts: 150,
      })
  })

  const open = (schema = `test_${(schemas += 1)}`): Promise<Store> => openPostgresStore(database, { schema })

  test('two processes that open an empty database at once both have its tables', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => open('at_once')))
    const outcomes = await Promise.all(stores.map((store, index) => store.acquire('s', `owner ${index}`)))
    expect(outcomes.filter(({ type }) => type === 'acquired')).toHaveLength(1)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('an append whose answer is lost with its connection is kept once', async () => {
    const schema = `test_${(schemas += 1)}`
    const store = await open(schema)
    const { epoch } = await acquired(store, 's', 'ann')
    const admin = new Client({ connectionString: database })
    await admin.connect()
    let cut = 0
    for (let pos = 0; pos < 40; pos++) {
      const append = store.append('s', epoch, pos - 1, [record(pos, epoch)])
      const { rowCount } = await admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'baton' AND datname = current_database()`,
      )
      cut += rowCount ?? 0
      expect(await append).toBe(pos)
    }
    expect(await listPositions(store, 's')).toEqual(Array.from({ length: 40 }, (_, pos) => pos))
    console.log(`PostgreSQL: 40 appends while ${cut} connections were cut`)
    await admin.end()
    await store.close()
  })

  test('acknowledged writes survive a dying server, and the store continues with the next one', async () => {
    const store = await open()
    const { epoch } = await acquired(store, 's', 'ann')
    let kept = -1
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 20; count++) kept = await store.append('s', epoch, kept, [record(kept + 1, epoch)])
      const crash = server.crash()
      await crash
      expect((await listPositions(store, 's')).length).toBe(kept + 1)
    }
    await store.close()
  })

  test('while the server is away an append fails with a clear error, and the same append is taken when it is back', async () => {
    const store = await open()
    const { epoch } = await acquired(store, 's', 'ann')
    await server.stop()
    await expect(store.append('s', epoch, -1, [record(0, epoch)])).rejects.toMatchObject({ code: 'store_failed' })
    await server.start()
    expect(await store.append('s', epoch, -1, [record(0, epoch)])).toBe(0)
    await store.close()
  })

  test('while the server is away, many sessions wait no longer than one', async () => {
    const store = await open()
    const names = Array.from({ length: 40 }, (_, index) => `s${index}`)
    const owned = await Promise.all(names.map((name) => acquired(store, name, 'ann')))
    await server.stop()
    const appends = owned.map(({ epoch }, index) => store.append(`s${index}`, epoch, -1, [record(0, epoch)]))
    const outcomes = await Promise.allSettled(appends)
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(names.length)
    await server.start()
    await store.close()
  })

  test('many appends at once are committed together', async () => {
    const store = await open()
    const owned = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => ({
        name: `s${index}`,
        ...(await acquired(store, `s${index}`, 'ann')),
      })),
    )
    const admin = new Client({ connectionString: database })
    await admin.connect()
    const commits = async (): Promise<number> =>
      Number((await admin.query<{ n: string }>('SELECT pg_current_xact_id()::text AS n')).rows[0]?.n)
    const before = await commits()
    for (let pos = 0; pos < 5; pos++)
      await Promise.all(owned.map(({ name, epoch }) => store.append(name, epoch, pos - 1, [record(pos, epoch)])))
    const used = (await commits()) - before
    expect(used).toBeLessThan(60)
    console.log(`PostgreSQL: 500 appends of 100 sessions in ${used} transactions`)
    await admin.end()
    await store.close()
  })

  test('records can be read by people, with any text in them', async () => {
    const schema = `test_${(schemas += 1)}`
    const store = await open(schema)
    const { epoch } = await acquired(store, 's', 'ann')
    const odd = {
      ...record(0, epoch),
      facts: [{ type: 'note-queued', note: 1, text: '\u0000 \ud800 \u2028 😀' }],
    } as const
    await store.append('s', epoch, -1, [odd as unknown as SessionRecord])
    await store.blobs.put('s', 'odd', '\u0000 \ud800')
    expect(await store.blobs.get('s', 'odd')).toBe('\u0000 \ud800')
    for await (const read of store.read('s', 0)) expect(read).toEqual(odd)
    const admin = new Client({ connectionString: database })
    await admin.connect()
    const { rows } = await admin.query(`SELECT session, pos, input, facts FROM ${schema}.readable_records`)
    expect(rows).toEqual([{ session: 's', pos: '0', input: 'pause', facts: 'note-queued' }])
    await admin.end()
    await store.close()
  })

  test('a store that may only look refuses to write, and one of a newer version is refused by name', async () => {
    const schema = `test_${(schemas += 1)}`
    await expect(openPostgresStore(database, { schema, readOnly: true })).rejects.toMatchObject({
      code: 'store_failed',
    })
    await (await open(schema)).close()
    const looking = await openPostgresStore(database, { schema, readOnly: true })
    await expect(looking.acquire('s', 'ann')).rejects.toMatchObject({ code: 'store_failed' })
    await looking.close()
    const admin = new Client({ connectionString: database })
    await admin.connect()
    await admin.query(`INSERT INTO ${schema}.migrations (version) VALUES (99)`)
    await admin.end()
    await expect(open(schema)).rejects.toThrow('version 99')
  })

  test('tables of the version before are upgraded with what they have, and processes of that version take no child', async () => {
    const schema = `test_${(schemas += 1)}`
    const admin = new Client({ connectionString: database })
    await admin.connect()
    await migrate(admin, schema, 1)
    // As that version wrote it.
    await admin.query(`INSERT INTO ${schema}.sessions (id, epoch, pos, last_ms, is_owned) VALUES ('s', 3, 0, 7, true)`)
    await admin.query(`SELECT setval('${schema}.epochs', 3)`)
    await admin.query(`INSERT INTO ${schema}.records VALUES (1, 0, 1, 'pause', 'session-paused', $1)`, [
      JSON.stringify(record(0, 3)),
    ])
    await expect(openPostgresStore(database, { schema, readOnly: true })).rejects.toThrow('tables of version 1')
    const stores = await Promise.all([open(schema), open(schema)])
    const [store] = stores
    expect(await listPositions(store!, 's')).toEqual([0])
    const root = await acquired(store!, 's', 'ann')
    expect(root).toMatchObject({ epoch: 4, pos: 0 })
    const child = await store!.acquire('child', 'ann', undefined, { root: 's', rootEpoch: root.epoch })
    expect(child).toMatchObject({ type: 'acquired', epoch: 5, pos: -1 })
    const acquire = (id: string) => admin.query(`SELECT * FROM ${schema}.acquire($1, 'former', NULL, 10000)`, [id])
    await expect(acquire('child')).rejects.toThrow('session child belongs to session s')
    expect((await acquire('s')).rows[0]).toMatchObject({ held_by: 'ann' })
    expect((await acquire('another')).rows[0]).toMatchObject({ held_by: null, epoch: '6' })
    const { rows } = await admin.query(`SELECT id FROM ${schema}.sessions WHERE is_owned AND id = 'child'`)
    expect(rows).toEqual([])
    await admin.end()
    await Promise.all(stores.map((one) => one.close()))
  })

  test('a process of the version before that goes on writing outdates entries, and changes none', async () => {
    const schema = `test_${(schemas += 1)}`
    const admin = new Client({ connectionString: database })
    await admin.connect()
    await migrate(admin, schema, 2)
    await admin.query(`INSERT INTO ${schema}.sessions (id, epoch, pos, last_ms, is_owned) VALUES ('s', 3, 0, 7, true)`)
    const write = async (pos: number): Promise<void> => {
      // As that version appends.
      await admin.query(`INSERT INTO ${schema}.records VALUES (1, $1, 1, 'pause', 'session-paused', $2)`, [
        pos,
        JSON.stringify(record(pos, 3)),
      ])
      await admin.query(`UPDATE ${schema}.sessions SET pos = $1, last_ms = $2 WHERE key = 1`, [pos, 7 + pos])
    }
    await write(0)
    const store = await open(schema)
    const outdated = async () => {
      const found: unknown[] = []
      for await (const one of store.entries.outdated()) found.push(one)
      return found
    }
    const list = 'all'
    const read = async () => (await store.entries.find({ list, order: 'newest', limit: 9 })).map(({ body }) => body)
    const entry = (body: string) => ({ body, places: [{ list, atMs: 1, item: 0 }] })
    expect([await outdated(), await read()]).toEqual([[{ session: 's', records: 1, lastMs: 7 }], []])
    await store.entries.put('s', 0, entry('first'))
    expect([await outdated(), await read()]).toEqual([[], ['first']])
    await write(1)
    expect([await outdated(), await read()]).toEqual([[{ session: 's', records: 2, lastMs: 8 }], ['first']])
    const { epoch } = await acquired(store, 's', 'ann')
    await store.append('s', epoch, 1, Object.assign([record(2, epoch)], { entry: entry('second') }))
    expect([await outdated(), await read()]).toEqual([[], ['second']])
    await admin.end()
    await store.close()
  })

  test.each(['5.0.abc', '5.0.1\0', '5.999999999999.1', `5.0.${'9'.repeat(19)}`])(
    'the forged place %j is refused by its field, and not by the server',
    async (after) => {
      const store = await open(`test_${(schemas += 1)}`)
      const finding = store.entries.find({ list: 'all', order: 'newest', limit: 9, after })
      await expect(finding).rejects.toMatchObject({ code: 'invalid_option' })
      await store.close()
    },
  )

  test('two processes that both believe to own a root never both write to its children, and nobody waits for ever', async () => {
    const schema = `test_${(schemas += 1)}`
    const [one, two] = [await open(schema), await open(schema)]
    // The names of children sort before and after that of their root.
    const names = ['a child', 'b child', 'z child']
    let epoch = (await acquired(one, 'root', 'ann')).epoch
    let appended = 0
    for (let round = 0; round < 40; round++) {
      const [former, next] = round % 2 === 0 ? [one, two] : [two, one]
      const under = { root: 'root', rootEpoch: epoch }
      const held = await Promise.all(names.map((name) => former.acquire(name, 'ann', undefined, under)))
      const append = async (name: string, index: number) => {
        const child = held[index]
        if (child?.type !== 'acquired') throw new Error(`round ${round}: ${name} was refused`)
        const { epoch: own, pos } = child
        return await former.append(name, own, pos, [record(pos + 1, own)]).catch((cause: unknown) => cause)
      }
      const [root, tries, written] = await Promise.all([
        acquired(next, 'root', 'ann'),
        Promise.all(names.map((name) => former.acquire(name, 'ann', undefined, under))),
        Promise.all(names.map(append)),
        former.append('root', epoch, round - 1, [record(round, epoch)]).catch(() => undefined),
      ])
      epoch = root.epoch
      const late = tries.flatMap((answer) => (answer.type === 'acquired' && answer.epoch > epoch ? [answer.epoch] : []))
      expect(late).toEqual([])
      expect(written.flatMap(listFailure)).toEqual(
        written.flatMap((one) => (typeof one === 'number' ? [] : ['store_conflict'])),
      )
      appended += written.filter((one) => typeof one === 'number').length
      const taken = await Promise.all(
        names.map((name) => next.acquire(name, 'ann', undefined, { root: 'root', rootEpoch: epoch })),
      )
      for (const [index, name] of names.entries()) {
        const [child, old] = [taken[index], tries[index]]
        if (child?.type !== 'acquired') throw new Error(`round ${round}: ${name} was refused`)
        const before = old?.type === 'acquired' ? old : held[index]
        if (before?.type !== 'acquired') throw new Error('not reached')
        const append = former.append(name, before.epoch, child.pos, [record(child.pos + 1, before.epoch)])
        await expect(append).rejects.toMatchObject({ code: 'store_conflict' })
        expect(await former.acquire(name, 'ann', undefined, under)).toEqual({ type: 'not-the-root' })
      }
      const [last] = (await listPositions(next, 'root')).slice(-1)
      if (last !== round) await next.append('root', epoch, round - 1, [record(round, epoch)])
    }
    console.log(`PostgreSQL: ${appended} of 120 appends to children came before their next owner`)
    await Promise.all([one.close(), two.close()])
  })

  test('a root that is removed while its children are acquired, written and put leaves none of them', async () => {
    const schema = `test_${(schemas += 1)}`
    const [one, two] = [await open(schema), await open(schema)]
    const names = ['a child', 'b child', 'z child']
    const calm = (work: Promise<unknown>): Promise<unknown> => work.catch((cause: unknown) => cause)
    for (let round = 0; round < 30; round++) {
      const { epoch } = await acquired(one, 'root', 'ann')
      await one.append('root', epoch, -1, [record(0, epoch)])
      const under = { root: 'root', rootEpoch: epoch }
      const held = await Promise.all(names.map((name) => one.acquire(name, 'ann', undefined, under)))
      const outcomes = await Promise.all([
        two.remove('root', 'ann').then(() => 'removed'),
        ...names.map((name, index) => {
          const child = held[index]
          const own = child?.type === 'acquired' ? child.epoch : 0
          return calm(one.append(name, own, -1, [record(0, own)]))
        }),
        calm(one.append('root', epoch, 0, [record(1, epoch)])),
        ...['c child', 'y child'].map((name) => calm(one.acquire(name, 'ann', undefined, under))),
        ...['d child', 'x child'].map((name) => calm(one.put(name, [record(0, 1)], { root: 'root' }))),
      ])
      const failures = outcomes.flatMap(listFailure)
      expect(failures).toEqual(failures.map(() => 'store_conflict'))
      const admin = new Client({ connectionString: database })
      await admin.connect()
      const { rows } = await admin.query(`SELECT id FROM ${schema}.sessions`)
      expect(rows).toEqual([])
      await admin.end()
    }
    await Promise.all([one.close(), two.close()])
  })

  test('wrong options and addresses are refused, without any password', async () => {
    const wrong = [
      [database, { schema: 'a"b' }],
      [database, { leaseMs: 10 }],
      [database, { connections: 0 }],
      ['not an address with secret', {}],
      ['https://ann:secret@example.org', {}],
    ] as const
    for (const [url, options] of wrong) {
      const failure: unknown = await openPostgresStore(url, options).catch((cause: unknown) => cause)
      expect(failure).toMatchObject({ code: 'invalid_option' })
      expect(String(failure)).not.toContain('secret')
    }
    const away = 'postgres://ann:secret@127.0.0.1:1/none'
    const failure: unknown = await openPostgresStore(away).catch((cause: unknown) => cause)
    expect(failure).toMatchObject({ code: 'store_failed' })
    expect(String(failure)).not.toContain('secret')
  })
})

const record = (pos: number, epoch: number): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1,
  epoch,
  input: { type: 'pause' },
  facts: [{ type: 'session-paused' }],
})

async function acquired(store: Store, session: string, owner: string): Promise<Acquired> {
  const outcome = await store.acquire(session, owner)
  if (outcome.type !== 'acquired') throw new Error(`${session} is not acquired: ${outcome.type}`)
  return outcome
}

/** The code of a failure among outcomes. */
function listFailure(outcome: unknown): readonly unknown[] {
  return outcome instanceof Error ? [(outcome as { readonly code?: unknown }).code] : []
}

async function listPositions(store: Store, session: string): Promise<readonly number[]> {
  const positions: number[] = []
  for await (const { pos } of store.read(session, 0)) positions.push(pos)
  return positions
}
