// The connections of a PostgreSQL store. A query whose connection breaks is sent again on another one for a while; every
// query and every wait for a connection has a deadline.
import { userInfo } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { BatonError } from '@baton/core'
import type { PoolClient, QueryResultRow } from 'pg'
import { Pool } from 'pg'
import { isPassing, toStoreError } from './postgres-errors.ts'

/** Milliseconds for a connection to be made, and for a statement to be answered. */
const CONNECT_MS = 5000
const STATEMENT_MS = 15_000
/** Milliseconds before each further try of what failed because the connection broke or the server restarts. */
const RETRY_AFTER_MS: readonly number[] = [0, 50, 200, 500, 1000, 2000]
/** Milliseconds since the first try, after which there is no further one. */
const RETRY_MS = 10_000

export interface ConnectionsInit {
  readonly url: string
  readonly schema: string
  readonly connections: number
  readonly readOnly: boolean
}

/** Rows of one statement. */
export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export class PostgresConnections {
  readonly schema: string
  readonly #pool: Pool
  #closing: Promise<void> | undefined

  constructor({ url, schema, connections, readOnly }: ConnectionsInit) {
    this.schema = schema
    this.#pool = new Pool({
      connectionString: nameUser(url, process.env),
      max: connections,
      application_name: 'baton',
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: STATEMENT_MS + 1000,
      keepAlive: true,
      allowExitOnIdle: true,
      // Acknowledged records are on the disk, whatever the database's default; the server's own option may be stricter.
      // A connection answers in order, so this holds for all that comes; where it fails the connection is broken.
      onConnect: (client) => {
        const readOnlyNow = readOnly ? 'on' : 'off'
        client.query(`SET synchronous_commit = on; SET default_transaction_read_only = ${readOnlyNow}`).catch(() => {})
      },
    })
    // A connection that breaks while nobody uses it: the next query makes another one.
    this.#pool.on('error', () => {})
  }

  query: Query = <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    this.retry((query) => query<Row>(text, values))

  /** Runs what may be run twice: it is run again when its connection breaks. `attempt` counts from 0. */
  async retry<Value>(act: (query: Query, attempt: number) => Promise<Value>): Promise<Value> {
    const query: Query = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await this.#pool.query<Row>(text, [...values])).rows
    const lastStart = performance.now() + RETRY_MS
    for (let attempt = 0; ; attempt++)
      try {
        this.#checkOpen()
        return await act(query, attempt)
      } catch (cause) {
        const afterMs = RETRY_AFTER_MS[attempt]
        if (afterMs === undefined || performance.now() > lastStart || this.#closing || !isPassing(cause))
          throw toStoreError(cause)
        await wait(afterMs)
      }
  }

  /** One transaction, which may be run twice. */
  async transact<Value>(act: (query: Query) => Promise<Value>): Promise<Value> {
    return await this.retry(() => this.once(act))
  }

  /** One transaction. When the connection breaks it is not known whether it was committed. */
  async once<Value>(act: (query: Query) => Promise<Value>): Promise<Value> {
    return await this.use(async (client) => {
      await client.query('BEGIN')
      try {
        const value = await act(async (text, values = []) => (await client.query(text, [...values])).rows)
        await client.query('COMMIT')
        return value
      } catch (cause) {
        await client.query('ROLLBACK').catch(() => {}) // the connection may be gone
        throw cause
      }
    })
  }

  /** A connection of its own. One that broke is thrown away. */
  async use<Value>(act: (client: PoolClient) => Promise<Value>): Promise<Value> {
    this.#checkOpen()
    const client = await this.#pool.connect()
    let broken = false
    // Without a listener the end of a connection in the hands of this process would end the process.
    const onError = (): void => {
      broken = true
    }
    client.on('error', onError)
    try {
      return await act(client)
    } catch (cause) {
      broken ||= isPassing(cause)
      throw cause
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end()
    return this.#closing
  }

  #checkOpen(): void {
    if (this.#closing) throw new BatonError({ code: 'store_failed', message: 'the PostgreSQL store is closed' })
  }
}

/**
 * As libpq does: an address without a user is that of the user of the operating system. The driver looks for it in variables,
 * which containers and services often lack.
 */
export function nameUser(url: string, variables: Readonly<Record<string, string | undefined>>): string {
  if (variables['PGUSER'] || variables['USER'] || !URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.searchParams.has('user')) return url
  try {
    parsed.searchParams.set('user', userInfo().username)
  } catch {
    return url // nobody has a name here, and the server says what is missing
  }
  return parsed.href
}
