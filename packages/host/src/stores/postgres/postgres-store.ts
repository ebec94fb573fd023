// A store in PostgreSQL: durable, and shared by several processes at once. Leases are measured by the database's clock.
import type { ChildOf, OwnedLogStore, Store, StoredSession, StoreHealth } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, DUE_ROWS, findDueChange, importPeer } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { checkRecords, checkWholeLog } from '@baton/core/machine'
import type { KnownRow } from '../child-checks.ts'
import { checkChild, checkNames, checkOwn } from '../child-checks.ts'
import { checkText } from '../legal-text.ts'
import { planPut } from '../put-by-position.ts'
import { ReadPace } from '../read-pace.ts'
import { createHeldError } from '../session-held.ts'
import type { RecordRow } from './append-queue.ts'
import { AppendQueue, buildRows } from './append-queue.ts'
import type { Query } from './connections.ts'
import type { ConnectionsOptions } from './connections.ts'
import { PostgresConnections } from './connections.ts'
import { openEntries } from './entries.ts'
import { openOutbox } from './outbox.ts'
import { openOwnership, readHolder } from './ownership.ts'
import { migrate, readVersion, STORE_VERSION } from './migrations.ts'
import { toStoreError } from './postgres-errors.ts'
import { openBlobs, openSnapshots } from './snapshots-and-blobs.ts'

interface PostgresStoreOptions {
  /**
   * The schema of its tables, created if missing: lower-case letters, digits and `_`, at most 40 characters. Default:
   * `baton`.
   */
  readonly schema?: string
  /**
   * Milliseconds a lease lasts after it is acquired or renewed, by the database's clock; at least 1,000. Default:
   * 10,000.
   */
  readonly leaseMs?: number
  /** Maximum number of connections. Default: 5. */
  readonly connections?: number
  /** Opens the store for reading only: writes fail, and the tables must exist. */
  readonly readOnly?: boolean
}

const LEASE_MS = 10_000
const FIELDS = new Set(['schema', 'leaseMs', 'connections', 'readOnly'])
/** Records, or listed sessions, per query. */
const ROWS = 256

/**
 * Opens the store, and creates or migrates its tables. Several processes can open it; each session has one owner. `url`
 * has libpq's format: `postgres://user:password@host:5432/database?sslmode=verify-full`.
 * @throws BatonError `store_failed` (no connection, no permission, tables of a newer version), `invalid_option`
 */
export async function openPostgresStore(url: string, options: PostgresStoreOptions = {}): Promise<Store> {
  checkFields(options, { what: 'openPostgresStore', code: 'invalid_option', fields: FIELDS })
  checkKinds(options, { what: 'openPostgresStore', code: 'invalid_option', kinds: { readOnly: 'true or false' } })
  const { schema = 'baton', leaseMs = LEASE_MS, connections: count = 5, readOnly = false } = options
  checkOptions(schema, leaseMs, count)
  const connections = await createConnections({ url, schema, connections: count, readOnly })
  try {
    await connections.use(async (client) => {
      if (!readOnly) await migrate(client, schema)
      checkVersion(await readVersion(client, schema), schema)
    })
  } catch (cause) {
    await connections.close()
    throw toStoreError(cause)
  }
  const appends = new AppendQueue(connections)
  return {
    ...openLogs(connections),
    ...openOwnership(connections, { appends, leaseMs }),
    snapshots: openSnapshots(connections),
    blobs: openBlobs(connections),
    entries: openEntries(connections),
    outbox: openOutbox(connections),
    health: () => findHealth(connections, readOnly),
    heartbeat: {
      read: async () => {
        const [row] = await connections.query<{ heartbeat: string | null }>(`SELECT heartbeat FROM ${schema}.health`)
        return row?.heartbeat ?? undefined
      },
      write: async (text) => {
        await connections.query(`UPDATE ${schema}.health SET heartbeat = $1`, [text])
      },
    },
    close: async () => {
      await appends.drain()
      await connections.close()
    },
  }
}

/** Checks health with a write, unless the store is read-only. */
async function findHealth({ query, schema }: PostgresConnections, readOnly: boolean): Promise<StoreHealth> {
  try {
    await query(readOnly ? `SELECT at FROM ${schema}.health` : `UPDATE ${schema}.health SET at = now()`)
    return { ok: true }
  } catch (cause) {
    const { code, message, hint } = toStoreError(cause)
    return { ok: false, code, message, hint }
  }
}

type Logs = Pick<
  OwnedLogStore,
  'put' | 'read' | 'list' | 'children' | 'listRecoverable' | 'listDue' | 'restore' | 'remove'
>

function openLogs(connections: PostgresConnections): Logs {
  const { schema } = connections
  const pace = new ReadPace()
  return {
    put: async (session, records, under) => {
      checkNames(session, under)
      checkRecords(records)
      await connections.transact((query) => putRecords(query, { schema, session, records, under }))
    },
    read: async function* (session, fromPos) {
      checkText('a session’s id', session)
      for (let next = Math.max(0, fromPos); ; next += ROWS) {
        const rows = await connections.query<{ body: string }>(
          `SELECT r.body::text AS body FROM ${schema}.records r JOIN ${schema}.sessions s ON s.key = r.session
           WHERE s.id = $1 AND r.pos >= $2 ORDER BY r.pos LIMIT ${ROWS}`,
          [session, next],
        )
        for (const { body } of rows) {
          const turn = pace.takeTurn(body.length)
          if (turn) await turn
          yield JSON.parse(body) as SessionRecord // written by append; the reader checks its version
        }
        if (rows.length < ROWS) return
      }
    },
    list: ({ after } = {}) => listSessions(connections, { where: 's.pos >= 0', after }),
    children: (root, { after } = {}) => listSessions(connections, { where: 'true', after, root }),
    listDue: async (after) => {
      const rows = await connections.query<{ id: string; at_ms: string }>(
        `SELECT s.id, d.at_ms FROM ${schema}.due d JOIN ${schema}.sessions s ON s.key = d.session
         WHERE s.root IS NULL AND (d.at_ms, s.id) > ($1, $2) ORDER BY d.at_ms, s.id LIMIT ${DUE_ROWS}`,
        [after?.dueMs ?? Number.MIN_SAFE_INTEGER, after?.session ?? ''],
      )
      return rows.map((row) => ({ session: row.id, dueMs: Number(row.at_ms) }))
    },
    listRecoverable: () =>
      listSessions(connections, {
        where: `s.pos >= 0 AND s.is_owned AND coalesce(l.until_ms <= ${schema}.now_ms(), true)`,
      }),
    restore: async (session, records, under) => {
      checkNames(session, under)
      checkWholeLog(records)
      await connections
        .once((query) => restoreRecords(query, { schema, session, records, under }))
        .catch((cause: unknown) => Promise.reject(toStoreError(cause)))
    },
    remove: async (session, owner = '') => {
      checkText('a session’s id', session)
      await connections.transact(async (query) => {
        // In the order in which appends lock theirs.
        const rows = await query<{ key: string; id: string; root: string | null }>(
          `SELECT key, id, root FROM ${schema}.sessions WHERE id = $1 OR root = $1 ORDER BY id FOR UPDATE`,
          [session],
        )
        const own = rows.find(({ id }) => id === session)
        checkOwn(session, own)
        const holder = own && (await findHolder(query, schema, own.key))
        if (holder && holder.owner !== owner) throw createHeldError(session, holder)
        // Includes children that were acquired while this waited for the locks.
        await query(`DELETE FROM ${schema}.sessions WHERE id = $1 OR root = $1`, [session])
      })
    },
  }
}

interface Listing {
  readonly where: string
  readonly after?: string | undefined
  /** Lists the children of this root. Without it, lists independent sessions. */
  readonly root?: string
}

/** Lists sessions in pages. */
async function* listSessions(
  connections: PostgresConnections,
  { where, after: first = '', root }: Listing,
): AsyncGenerator<StoredSession> {
  const { schema } = connections
  if (root !== undefined) checkText('a root’s id', root)
  const isOwn = root === undefined
  // Children have the holder of their root.
  const held = isOwn ? 's.key' : `(SELECT key FROM ${schema}.sessions WHERE id = $2)`
  for (let after = first; ;) {
    const rows = await connections.query<ListRow>(
      `SELECT s.id, s.pos, s.last_ms, s.is_owned, l.owner, l.address, l.until_ms
       FROM ${schema}.sessions s LEFT JOIN ${schema}.leases l ON l.session = ${held} AND l.until_ms > ${schema}.now_ms()
       WHERE s.id > $1 AND ${isOwn ? 's.root IS NULL' : 's.root = $2'} AND ${where} ORDER BY s.id LIMIT ${ROWS}`,
      isOwn ? [after] : [after, root],
    )
    for (const row of rows)
      yield {
        session: row.id,
        records: Number(row.pos) + 1,
        lastMs: Number(row.last_ms),
        isOwned: row.is_owned,
        ...(row.owner !== null && { holder: readHolder({ ...row, owner: row.owner }) }),
      }
    if (rows.length < ROWS) return
    after = rows.at(-1)?.id ?? ''
  }
}

interface ListRow {
  readonly id: string
  readonly pos: string
  readonly last_ms: string
  readonly is_owned: boolean
  readonly owner: string | null
  readonly address: string | null
  readonly until_ms: string
}

async function findHolder(query: Query, schema: string, key: string) {
  const [row] = await query<{ owner: string; address: string | null; until_ms: string }>(
    `SELECT owner, address, until_ms FROM ${schema}.leases WHERE session = $1 AND until_ms > ${schema}.now_ms() FOR UPDATE`,
    [key],
  )
  return row && readHolder(row)
}

interface Place {
  readonly schema: string
  readonly session: string
  readonly under: ChildOf | undefined
}

interface LockedRow extends KnownRow {
  readonly key: string
}

/**
 * Returns the session's row, locked until the transaction ends. Creates it if missing.
 * @throws BatonError `illegal_input` for a child without its root, or an independent session under one
 */
async function lockSession(query: Query, { schema, session, under }: Place): Promise<LockedRow> {
  const root = under?.root ?? null
  const [found] = await query<{ key: string; pos: string; root: string | null }>(
    `INSERT INTO ${schema}.sessions AS known (id, root) VALUES ($1, $2)
     ON CONFLICT (id) DO UPDATE SET id = known.id RETURNING key, pos, root`,
    [session, root],
  )
  const row = { key: found?.key ?? '', pos: Number(found?.pos ?? -1), root: found?.root ?? null }
  if (under) checkChild(session, under.root, row)
  else checkOwn(session, row)
  if (row.root !== root) await query(`UPDATE ${schema}.sessions SET root = $2 WHERE key = $1`, [row.key, root])
  return row
}

/** Returns the row of a root, and keeps it from removal until the transaction ends. */
async function keepRoot(query: Query, schema: string, root: string): Promise<LockedRow | undefined> {
  const [row] = await query<{ key: string; pos: string; root: string | null }>(
    `SELECT key, pos, root FROM ${schema}.sessions WHERE id = $1 AND root IS NULL FOR KEY SHARE`,
    [root],
  )
  return row && { ...row, pos: Number(row.pos) }
}

interface PutOptions extends Place {
  readonly records: readonly SessionRecord[]
}

/** @throws BatonError `session_exists`, `illegal_input` */
async function restoreRecords(query: Query, init: PutOptions): Promise<void> {
  const { schema, session, records, under } = init
  const rows = buildRows(session, records)
  const root = under && (await keepRoot(query, schema, under.root))
  const row = await lockSession(query, init)
  const existing = row.pos >= 0 ? session : root && root.pos >= 0 ? under?.root : undefined
  if (existing !== undefined)
    throw new BatonError({ code: 'session_exists', message: `session ${existing} already exists in the store` })
  const epoch = records.at(-1)?.epoch ?? 0
  await insertRecords(query, { schema, key: row.key, pos: -1, rows, epoch, dueMs: findDueChange(records) })
  // Under an epoch that nobody has, not even a former owner of the log.
  await query(`UPDATE ${schema}.sessions SET epoch = nextval('${schema}.epochs'), is_owned = $2 WHERE key = $1`, [
    row.key,
    !under,
  ])
  await query(`DELETE FROM ${schema}.leases WHERE session = $1`, [row.key])
}

async function putRecords(query: Query, init: PutOptions): Promise<void> {
  const { schema, session, records, under } = init
  if (records.length === 0) return
  const rows = buildRows(session, records)
  const positions = records.map(({ pos }) => pos)
  const root = under && (await keepRoot(query, schema, under.root))
  const row = await lockSession(query, init)
  const known = await query<{ pos: string; body: string }>(
    `SELECT pos, body::text AS body FROM ${schema}.records WHERE session = $1 AND pos = ANY($2::bigint[])`,
    [row.key, positions.filter((pos) => Number.isSafeInteger(pos))],
  )
  const stored = new Map(known.map(({ pos, body }) => [Number(pos), body]))
  const heldBy = (await findHolder(query, schema, root?.key ?? row.key))?.owner
  const missingRoot = root && root.pos >= 0 ? undefined : under?.root
  const plan = planPut(
    { session, positions, bodies: rows.map(({ body }) => body) },
    { lastPos: row.pos, heldBy, missingRoot, bodyAt: (pos) => stored.get(pos) },
  )
  if (plan.type === 'conflict') throw new BatonError({ code: 'store_conflict', message: plan.message })
  if (plan.bodies.length === 0) return
  // New records follow the stored ones, in order. A record may be given twice.
  const byPos = new Map(positions.map((pos, index) => [pos, rows[index]]))
  const added = plan.bodies.flatMap((_, index) => byPos.get(row.pos + 1 + index) ?? [])
  await insertRecords(query, {
    schema,
    key: row.key,
    pos: row.pos,
    rows: added,
    epoch: records.at(-1)?.epoch ?? 0,
    dueMs: findDueChange(records),
  })
}

interface InsertOptions {
  readonly schema: string
  readonly key: string
  /** Position of the last stored record. */
  readonly pos: number
  readonly rows: readonly RecordRow[]
  /** Epoch of the last record. */
  readonly epoch: number
  readonly dueMs: number | null | undefined
}

async function insertRecords(query: Query, { schema, key, pos, rows, epoch, dueMs }: InsertOptions): Promise<void> {
  await query(
    `INSERT INTO ${schema}.records (session, pos, ms, input, facts, body)
     SELECT $1, $2 + ord, ms, input, facts, body::json
     FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS given(ms, input, facts, body, ord)`,
    [
      key,
      pos,
      rows.map(({ ms }) => ms),
      rows.map(({ input }) => input),
      rows.map(({ facts }) => facts),
      rows.map(({ body }) => body),
    ],
  )
  await query(`UPDATE ${schema}.sessions SET pos = $2, last_ms = $3 WHERE key = $1`, [
    key,
    pos + rows.length,
    rows.at(-1)?.ms ?? 0,
  ])
  await query(`SELECT ${schema}.raise_epochs($1)`, [epoch])
  if (dueMs === null) await query(`DELETE FROM ${schema}.due WHERE session = $1`, [key])
  else if (dueMs !== undefined)
    await query(
      `INSERT INTO ${schema}.due (session, at_ms) VALUES ($1, $2) ON CONFLICT (session) DO UPDATE SET at_ms = excluded.at_ms`,
      [key, dueMs],
    )
}

/** @throws BatonError `invalid_option` */
function checkOptions(schema: string, leaseMs: number, connections: number): void {
  const wrong = !/^[a-z_][a-z0-9_]{0,39}$/.test(schema)
    ? `schema must be at most 40 lower-case letters, digits and _, not ${JSON.stringify(schema)}`
    : !(Number.isSafeInteger(leaseMs) && leaseMs >= 1000)
      ? `leaseMs must be a whole number of at least 1000, not ${String(leaseMs)}`
      : !(Number.isSafeInteger(connections) && connections >= 1 && connections <= 100)
        ? `connections must be a whole number from 1 to 100, not ${String(connections)}`
        : undefined
  if (wrong !== undefined) throw new BatonError({ code: 'invalid_option', message: wrong })
}

/**
 * @throws BatonError `invalid_option` for an invalid address, which the error omits because it may contain a password, or
 * if `pg` is not installed
 */
async function createConnections(init: ConnectionsOptions): Promise<PostgresConnections> {
  if (!URL.canParse(init.url) || !/^postgres(ql)?:$/.test(new URL(init.url).protocol))
    throw new BatonError({
      code: 'invalid_option',
      message: 'the address of the store is not a PostgreSQL URL',
      hint: 'Write it as postgres://user:password@host:5432/database.',
    })
  return new PostgresConnections(await importPeer('pg', 'a PostgreSQL store', () => import('pg')), init)
}

/** @throws BatonError `store_failed` */
function checkVersion(version: number, schema: string): void {
  if (version === STORE_VERSION) return
  const message =
    version === 0
      ? `the database has no store in schema ${schema}`
      : `schema ${schema} has tables of version ${version}; this Baton knows version ${STORE_VERSION}`
  throw new BatonError({ code: 'store_failed', message })
}
