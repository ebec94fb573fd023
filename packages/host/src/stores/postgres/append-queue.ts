// Group commit: appends that arrive while a statement is running wait, and share the next one. An append whose answer
// was lost is looked up before it is sent again.
import type { SessionEntry } from '@baton/core/internal'
import { BatonError, findDueChange } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { encodeJson } from '../memory-store.ts'
import type { PostgresConnections } from './connections.ts'
import { isPassing } from './postgres-errors.ts'

/** Maximum appends, and characters of records, per statement. */
const BATCH_APPENDS = 256
const BATCH_CHARS = 8 * 1024 * 1024

interface Append {
  readonly session: string
  readonly epoch: number
  readonly afterPos: number
  readonly rows: readonly RecordRow[]
  readonly entry: SessionEntry | 'same' | undefined
  readonly chars: number
  readonly dueMs: number | null | undefined
  readonly resolve: (pos: number) => void
  readonly reject: (cause: unknown) => void
}

export class AppendQueue {
  readonly #connections: PostgresConnections
  #waiting: Append[] = []
  #flushing: Promise<void> | undefined

  constructor(connections: PostgresConnections) {
    this.#connections = connections
  }

  /** @throws BatonError `store_conflict`, `store_failed` */
  async append(
    given: Pick<Append, 'session' | 'epoch' | 'afterPos' | 'entry'>,
    records: readonly SessionRecord[],
  ): Promise<number> {
    const rows = buildRows(given.session, records)
    const chars = rows.reduce((sum, { body }) => sum + body.length, 0)
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#waiting.push({ ...given, rows, chars, dueMs: findDueChange(records), resolve, reject })
    this.#flushing ??= this.#flush()
    return await promise
  }

  /** Resolves when every append in progress has been answered. */
  async drain(): Promise<void> {
    await this.#flushing
  }

  /** Never rejects. */
  async #flush(): Promise<void> {
    await Promise.resolve() // appends of the same tick share a statement
    while (this.#waiting.length > 0) await this.#write(this.#takeBatch())
    this.#flushing = undefined
  }

  /** Takes the first append of each session, in order of arrival; further ones of a session wait. */
  #takeBatch(): readonly Append[] {
    const taken = new Map<string, Append>()
    const left: Append[] = []
    let chars = 0
    for (const append of this.#waiting) {
      const fits = taken.size < BATCH_APPENDS && (chars === 0 || chars + append.chars <= BATCH_CHARS)
      if (!fits || taken.has(append.session)) {
        left.push(append)
        continue
      }
      taken.set(append.session, append)
      chars += append.chars
    }
    this.#waiting = left
    // Sorted, so that two processes lock rows in the same order and cannot deadlock.
    return [...taken.values()].toSorted((one, other) => (one.session < other.session ? -1 : 1))
  }

  /** Answers each append. Never rejects. */
  async #write(batch: readonly Append[], wasSent = false): Promise<void> {
    const { schema } = this.#connections
    let mayBeStored = wasSent
    let taken: ReadonlySet<number>
    try {
      taken = await this.#connections.retry(async (query, attempt) => {
        mayBeStored ||= attempt > 0
        return new Set(
          (await query<{ ord: string }>(writeStatement(schema, batch), writeValues(batch))).map(({ ord }) =>
            Number(ord),
          ),
        )
      })
    } catch (cause) {
      // One append's failure, such as a record that is too large, does not fail the others. A broken connection fails
      // all of them.
      if (batch.length > 1 && !isPassing(cause)) for (const append of batch) await this.#write([append], mayBeStored)
      else for (const { reject } of batch) reject(cause)
      return
    }
    const left: Append[] = []
    for (const [index, append] of batch.entries())
      if (taken.has(index + 1)) append.resolve(findEnd(append))
      else left.push(append)
    for (const append of left) await this.#answerLeft(append, mayBeStored).catch(append.reject)
  }

  /**
   * Answers an append that the statement skipped: either another owner took over, or an earlier try stored it and its
   * answer was lost.
   */
  async #answerLeft(append: Append, mayBeStored: boolean): Promise<void> {
    if (mayBeStored && (await this.#isStored(append))) append.resolve(findEnd(append))
    else append.reject(await this.#explain(append))
  }

  /** Whether an earlier try without an answer was stored. The records prove it, because an epoch has one writer. */
  async #isStored({ session, epoch, afterPos, rows: own }: Append): Promise<boolean> {
    const { schema } = this.#connections
    const rows = await this.#connections.query<{ body: string }>(
      `SELECT r.body::text AS body FROM ${schema}.records r JOIN ${schema}.sessions s ON s.key = r.session
       WHERE s.id = $1 AND s.epoch = $2 AND r.pos > $3 AND r.pos <= $4 ORDER BY r.pos`,
      [session, epoch, afterPos, afterPos + own.length],
    )
    return rows.length === own.length && rows.every(({ body }, index) => body === own[index]?.body)
  }

  async #explain({ session, epoch, afterPos }: Append): Promise<BatonError> {
    const { schema } = this.#connections
    const [row] = await this.#connections.query<{ epoch: string; pos: string }>(
      `SELECT epoch, pos FROM ${schema}.sessions WHERE id = $1`,
      [session],
    )
    const is = `epoch ${row?.epoch ?? 0}, position ${row?.pos ?? -1}`
    return new BatonError({
      code: 'store_conflict',
      message: `session ${session} is at ${is}, not at ${epoch}, ${afterPos}`,
    })
  }
}

function findEnd({ afterPos, rows }: Append): number {
  return afterPos + rows.length
}

/** All appends in one statement, which is one transaction; each is stored or skipped independently. */
function writeStatement(schema: string, batch: readonly Append[]): string {
  return `WITH wanted AS (
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $12::boolean[],
      $13::text[], $14::text[]) WITH ORDINALITY
      AS wanted(id, epoch, after_pos, count, last_ms, is_listed, entry, places, ord)
  ), locked AS (
    SELECT s.key FROM ${schema}.sessions s JOIN wanted w ON s.id = w.id ORDER BY s.id FOR UPDATE OF s
  ), taken AS (
    UPDATE ${schema}.sessions s SET pos = w.after_pos + w.count, last_ms = w.last_ms,
      listed = CASE WHEN w.is_listed THEN w.after_pos + w.count ELSE s.listed END
    FROM wanted w WHERE s.id = w.id AND s.epoch = w.epoch AND s.pos = w.after_pos AND s.key IN (SELECT key FROM locked)
    RETURNING s.key, w.ord, CASE WHEN s.root IS NULL THEN w.entry END AS entry, w.places
  ), added AS (
    INSERT INTO ${schema}.records (session, pos, ms, input, facts, body)
    SELECT t.key, r.pos, r.ms, r.input, r.facts, r.body::json
    FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::text[])
      AS r(ord, pos, ms, input, facts, body)
    JOIN taken t ON t.ord = r.ord
  )${changesDue(batch) ? dueStatements(schema) : ''}
  SELECT ord, CASE WHEN entry IS NOT NULL THEN ${schema}.enter(key, entry, places) END FROM taken`
}

function changesDue(batch: readonly Append[]): boolean {
  return batch.some(({ dueMs }) => dueMs !== undefined)
}

function dueStatements(schema: string): string {
  return `, changed AS (
    SELECT t.key, d.at_ms FROM unnest($15::bigint[], $16::bigint[]) AS d(ord, at_ms) JOIN taken t ON t.ord = d.ord
  ), due_set AS (
    INSERT INTO ${schema}.due (session, at_ms) SELECT key, at_ms FROM changed WHERE at_ms IS NOT NULL
    ON CONFLICT (session) DO UPDATE SET at_ms = excluded.at_ms
  ), due_gone AS (
    DELETE FROM ${schema}.due WHERE session IN (SELECT key FROM changed WHERE at_ms IS NULL)
  )`
}

function writeValues(batch: readonly Append[]): readonly unknown[] {
  const rows = batch.flatMap(({ afterPos, rows: own }, index) =>
    own.map((row, offset) => ({ ...row, ord: index + 1, pos: afterPos + 1 + offset })),
  )
  return [
    batch.map(({ session }) => session),
    batch.map(({ epoch }) => epoch),
    batch.map(({ afterPos }) => afterPos),
    batch.map((append) => append.rows.length),
    batch.map((append) => append.rows.at(-1)?.ms ?? 0),
    rows.map(({ ord }) => ord),
    rows.map(({ pos }) => pos),
    rows.map(({ ms }) => ms),
    rows.map(({ input }) => input),
    rows.map(({ facts }) => facts),
    rows.map(({ body }) => body),
    batch.map(({ entry }) => entry !== undefined && entry !== null),
    batch.map(({ entry }) => (typeof entry === 'object' ? (entry?.body ?? null) : null)),
    batch.map(({ entry }) => (typeof entry === 'object' && entry ? writePlaces(entry) : null)),
    ...(changesDue(batch) ? listChanges(batch) : []),
  ]
}

/** Numbers of the appends that change it, and the times. */
function listChanges(batch: readonly Append[]): readonly [readonly number[], readonly (number | null)[]] {
  const changed = batch.flatMap(({ dueMs }, index) => (dueMs === undefined ? [] : [{ ord: index + 1, dueMs }]))
  return [changed.map(({ ord }) => ord), changed.map(({ dueMs }) => dueMs)]
}

export function writePlaces({ places }: SessionEntry): string {
  return JSON.stringify(places.map(({ list, atMs, item }) => [list, atMs, item]))
}

/** A record as a table row. `input` and `facts` hold its types, for people who query the table. */
export interface RecordRow {
  readonly ms: number
  readonly input: string
  readonly facts: string
  readonly body: string
}

/** @throws BatonError `store_failed` for a record that JSON cannot hold */
export function buildRows(session: string, records: readonly SessionRecord[]): readonly RecordRow[] {
  return records.map((record) => ({
    ms: record.wallMs ?? record.nowMs,
    input: record.input.type,
    facts: record.facts.map(({ type }) => type).join(', '),
    body: encodeJson(session, record),
  }))
}
