// The PostgreSQL store over a real server: the contract of all stores, plus several processes and a crashing server.
import { storeContract } from '@baton/core/testing'
import type { Acquired, Clock, Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { PostgresServer } from '@baton/testing/postgres'
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
    const steer = async (): Promise<void> => {
      if (told === nowMs()) return
      told = nowMs()
      await admin.query(`UPDATE ${schema}.steered SET ms = ${told}`)
    }
    const steered: Store = {
      ...store,
      acquire: (...given) => steer().then(() => store.acquire(...given)),
      renew: (owner) => steer().then(() => store.renew(owner)),
      resume: (resting) => steer().then(async () => (await store.resume?.(resting)) ?? false),
      remove: (...given) => steer().then(() => store.remove(...given)),
      list: async function* (options) {
        await steer()
        yield* store.list(options)
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
  if (outcome.type === 'held') throw new Error(`${session} is held by ${outcome.owner}`)
  return outcome
}

async function listPositions(store: Store, session: string): Promise<readonly number[]> {
  const positions: number[] = []
  for await (const { pos } of store.read(session, 0)) positions.push(pos)
  return positions
}
