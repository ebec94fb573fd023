// The connections of a PostgreSQL store. A query whose connection breaks is retried on another one for a while. Every
// query and every wait for a connection has a deadline.
import { userInfo } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { BatonError } from '@baton/core'
import type * as Postgres from 'pg'
import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { isPassing, toStoreError } from './postgres-errors.ts'

/** Milliseconds to connect, and to answer a statement. */
const CONNECT_MS = 5000
const STATEMENT_MS = 15_000
/** Milliseconds before each retry after a broken connection or a server restart. */
const RETRY_AFTER_MS: readonly number[] = [0, 50, 200, 500, 1000, 2000]
/** Milliseconds after the first attempt when retries stop. */
const RETRY_MS = 10_000

export interface ConnectionsOptions {
  readonly url: string
  readonly schema: string
  readonly connections: number
  readonly readOnly: boolean
}

/** Runs one statement and returns its rows. */
export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

export class PostgresConnections {
  readonly schema: string
  readonly #pool: Pool
  #closing: Promise<void> | undefined

  constructor({ Pool: ClientPool }: Pick<typeof Postgres, 'Pool'>, init: ConnectionsOptions) {
    const { url, schema, connections, readOnly } = init
    this.schema = schema
    this.#pool = new ClientPool({
      connectionString: nameUser(url, process.env),
      max: connections,
      application_name: 'baton',
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: STATEMENT_MS + 1000,
      keepAlive: true,
      allowExitOnIdle: true,
      // Keeps acknowledged records on disk, whatever the database's default; a stricter server setting still applies.
      // A connection answers in order, so this covers every later statement. If it fails, the connection is broken.
      onConnect: (client) => {
        const readOnlyNow = readOnly ? 'on' : 'off'
        client.query(`SET synchronous_commit = on; SET default_transaction_read_only = ${readOnlyNow}`).catch(() => {})
      },
    })
    // An idle connection broke; the next query opens another.
    this.#pool.on('error', () => {})
  }

  query: Query = <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    this.retry((query) => query<Row>(text, values))

  /** Runs a repeatable action, retrying it when its connection breaks. `attempt` counts from 0. */
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

  /** Runs a repeatable action in one transaction, with retries. */
  async transact<Value>(act: (query: Query) => Promise<Value>): Promise<Value> {
    return await this.retry(() => this.once(act))
  }

  /** Runs one transaction. If the connection breaks, it is unknown whether the transaction was committed. */
  async once<Value>(act: (query: Query) => Promise<Value>): Promise<Value> {
    return await this.use(async (client) => {
      await client.query('BEGIN')
      try {
        const value = await act(async (text, values = []) => (await client.query(text, [...values])).rows)
        await client.query('COMMIT')
        return value
      } catch (cause) {
        await client.query('ROLLBACK').catch(() => {}) // the connection may be lost
        throw cause
      }
    })
  }

  /** Runs `act` on a dedicated connection. A broken one is discarded. */
  async use<Value>(act: (client: PoolClient) => Promise<Value>): Promise<Value> {
    this.#checkOpen()
    const client = await this.#pool.connect()
    let broken = false
    // Without a listener, a connection that ends while checked out would crash the process.
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
 * Adds the operating system's user to an address without one, as libpq does. The driver itself looks in variables that
 * containers and services often lack.
 */
export function nameUser(url: string, variables: Readonly<Record<string, string | undefined>>): string {
  if (variables['PGUSER'] || variables['USER'] || !URL.canParse(url)) return url
  const parsed = new URL(url)
  if (parsed.username !== '' || parsed.searchParams.has('user')) return url
  try {
    parsed.searchParams.set('user', userInfo().username)
  } catch {
    return url // the system has no name for this user; the server will report what is missing
  }
  return parsed.href
}
