// Ownership of the sessions in a PostgreSQL store: leases by the database's clock, and epochs.
import type { Acquired, HeldByOther, Holder, NotTheRoot, OwnedLogStore, Under } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import { checkChild, checkNames, checkOwn } from '../child-checks.ts'
import { checkLeft } from '../lease-book.ts'
import { checkText } from '../legal-text.ts'
import type { AppendQueue } from './append-queue.ts'
import type { PostgresConnections } from './connections.ts'

type Ownership = Pick<
  OwnedLogStore,
  'leaseMs' | 'acquire' | 'append' | 'renew' | 'release' | 'rest' | 'resume' | 'requestHandover'
>

interface OwnershipOptions {
  readonly appends: AppendQueue
  readonly leaseMs: number
}

export function openOwnership(connections: PostgresConnections, { appends, leaseMs }: OwnershipOptions): Ownership {
  const { schema } = connections
  const release: Ownership['release'] = async (session, epoch, left = 'nothing') => {
    checkLeft(left)
    checkText('a session’s id', session)
    await connections.transact(async (query) => {
      const [row] = await query<{ key: string }>(
        `UPDATE ${schema}.sessions SET is_owned = is_owned AND $3 WHERE id = $1 AND epoch = $2 RETURNING key`,
        [session, epoch, left === 'work'],
      )
      if (row) await query(`DELETE FROM ${schema}.leases WHERE session = $1`, [row.key])
    })
  }
  return {
    leaseMs,
    acquire: async (session, owner, address, under) => {
      checkNames(session, under)
      if (under) return await acquireUnder(connections, session, under)
      const values = [session, owner, address ?? null, leaseMs]
      const rows = await connections
        .query<AcquireRow>(`SELECT * FROM ${schema}.acquire($1, $2, $3, $4)`, values)
        .catch((cause: unknown) => {
          checkOwn(session, { root: readRoot(cause) })
          throw cause
        })
      return readAcquired(rows[0])
    },
    append: async (session, epoch, afterPos, records) => {
      checkText('a session’s id', session)
      return await appends.append({ session, epoch, afterPos, entry: records.entry }, records)
    },
    renew: async (owner) => {
      const rows = await connections.query<{ id: string; until_ms: string; asked_by: string | null }>(
        `UPDATE ${schema}.leases l SET until_ms = ${schema}.now_ms() + $2 FROM ${schema}.sessions s
         WHERE l.owner = $1 AND s.key = l.session RETURNING s.id, l.until_ms, l.asked_by`,
        [owner, leaseMs],
      )
      const leaseUntilMs =
        rows.length > 0
          ? rows.reduce((least, row) => Math.min(least, Number(row.until_ms)), Infinity)
          : await readEnd(connections, leaseMs)
      return { leaseUntilMs, handovers: rows.flatMap(({ id, asked_by: by }) => (by === null ? [] : [id])) }
    },
    release,
    // A released session keeps its epoch.
    rest: (session, epoch) => release(session, epoch),
    resume: async ({ session, owner, epoch, pos, address }) => {
      checkText('a session’s id', session)
      const rows = await connections.query(
        `WITH mine AS (UPDATE ${schema}.sessions SET is_owned = true WHERE id = $1 AND epoch = $2 AND pos = $3
           AND root IS NULL RETURNING key)
         INSERT INTO ${schema}.leases AS known (session, owner, address, until_ms)
           SELECT key, $4, $5, ${schema}.now_ms() + $6 FROM mine
           ON CONFLICT (session) DO UPDATE SET until_ms = excluded.until_ms WHERE known.owner = excluded.owner
         RETURNING known.session`,
        [session, epoch, pos, owner, address ?? null, leaseMs],
      )
      return rows.length > 0
    },
    requestHandover: async (session, owner) => {
      await connections.query(
        `UPDATE ${schema}.leases l SET asked_by = $2 FROM ${schema}.sessions s
         WHERE s.id = $1 AND l.session = s.key AND l.owner <> $2`,
        [session, owner],
      )
    },
  }
}

/** @throws BatonError `illegal_input`, `store_failed` */
async function acquireUnder(
  { query, schema }: PostgresConnections,
  session: string,
  { root, rootEpoch }: Under,
): Promise<Acquired | NotTheRoot> {
  checkChild(session, root, undefined)
  const [row] = await query<{ of_root: string | null; pos: string; epoch: string | null; until_ms: string | null }>(
    `SELECT * FROM ${schema}.acquire_under($1, $2, $3)`,
    [session, root, rootEpoch],
  )
  if (!row) return { type: 'not-the-root' }
  const pos = Number(row.pos)
  checkChild(session, root, { root: row.of_root, pos })
  return { type: 'acquired', epoch: Number(row.epoch), pos, leaseUntilMs: Number(row.until_ms ?? 0) }
}

/** The root that the database names as it refuses to give a child without it. */
function readRoot(cause: unknown): string | undefined {
  const refusal = (isBatonError(cause) ? cause.cause : undefined) as { code?: unknown; detail?: unknown } | undefined // of pg
  return refusal?.code === 'BTN01' && typeof refusal.detail === 'string' ? refusal.detail : undefined
}

interface AcquireRow {
  readonly held_by: string | null
  readonly held_at: string | null
  readonly epoch: string
  readonly pos: string
  readonly until_ms: string
}

function readAcquired(row: AcquireRow | undefined): Acquired | HeldByOther {
  if (!row)
    throw new BatonError({ code: 'store_failed', message: 'the PostgreSQL store returned no row for an acquire' })
  if (row.held_by !== null)
    return { type: 'held', ...readHolder({ owner: row.held_by, address: row.held_at, until_ms: row.until_ms }) }
  return { type: 'acquired', epoch: Number(row.epoch), pos: Number(row.pos), leaseUntilMs: Number(row.until_ms) }
}

interface HolderRow {
  readonly owner: string
  readonly address: string | null
  readonly until_ms: string
}

export function readHolder({ owner, address, until_ms: untilMs }: HolderRow): Holder {
  return { owner, leaseUntilMs: Number(untilMs), ...(address !== null && { address }) }
}

async function readEnd({ query, schema }: PostgresConnections, leaseMs: number): Promise<number> {
  const [row] = await query<{ now: string }>(`SELECT ${schema}.now_ms() AS now`)
  return Number(row?.now) + leaseMs
}
