// Measures the cost of an append to the PostgreSQL store, compared with a bare INSERT of the same text with its own
// commit: one after another, and 500 at once over as many connections. BATON_BENCH_POSTGRES names an empty database;
// the row is left out otherwise.
import { openPostgresStore } from '@baton/host/postgres'
import { Pool } from 'pg'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const AT_ONCE = 500
const IN_A_ROW = 100
const CONNECTIONS = 5
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(10)

export async function measurePostgres(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const url = process.env['BATON_BENCH_POSTGRES'] ?? ''
  if (url === '') return []
  const store = await openPostgresStore(url, { schema: 'baton_bench', connections: CONNECTIONS })
  const pool = new Pool({ connectionString: url, max: CONNECTIONS })
  await pool.query('CREATE TABLE IF NOT EXISTS bare (session text, pos bigint, body json, PRIMARY KEY (session, pos))')
  await pool.query('TRUNCATE bare')
  const owned = await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const name = `s${index}`
      await store.remove(name)
      const outcome = await store.acquire(name, 'bench')
      return { name, epoch: outcome.type === 'acquired' ? outcome.epoch : 0, pos: -1 }
    }),
  )
  const next = (index: number) => owned[index] ?? { name: '', epoch: 0, pos: -1 }
  const create = ({ epoch, pos }: { readonly epoch: number; readonly pos: number }) => {
    const facts = [{ type: 'note-queued', note: pos + 1, text: TEXT }] as const
    return { version: 1, pos: pos + 1, nowMs: 1, epoch, input: { type: 'pause' }, facts } as const
  }
  const append = async (index: number): Promise<void> => {
    const log = next(index)
    log.pos = await store.append(log.name, log.epoch, log.pos, [create(log)])
  }
  let rows = 0
  const insert = async (index: number): Promise<void> => {
    rows += 1
    await pool.query('INSERT INTO bare VALUES ($1, $2, $3)', [`s${index}`, rows, JSON.stringify(create(next(index)))])
  }
  try {
    const values = { bareOne: [] as number[], one: [] as number[], bareMany: [] as number[], many: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      values.bareOne.push((await timeInARow(insert)) * (AT_ONCE / IN_A_ROW))
      values.one.push((await timeInARow(append)) * (AT_ONCE / IN_A_ROW))
      values.bareMany.push(await timeAtOnce(insert))
      values.many.push(await timeAtOnce(append))
    }
    return [
      ...compared(
        new Map([
          ['bare inserts, one after the other', values.bareOne],
          ['appends, one after the other', values.one],
          ['bare inserts at once', values.bareMany],
          ['appends at once', values.many],
        ]),
        'bare inserts, one after the other',
      ),
    ]
  } finally {
    await store.close()
    await pool.end()
  }
}

/** Milliseconds for sequential runs. */
async function timeInARow(act: (index: number) => Promise<void>): Promise<number> {
  const startMs = performance.now()
  for (let index = 0; index < IN_A_ROW; index++) await act(index)
  return performance.now() - startMs
}

/** Milliseconds until all have completed. */
async function timeAtOnce(act: (index: number) => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => act(index)))
  return performance.now() - startMs
}
