// Turns PostgreSQL's errors into advice for a server's operator, and decides which ones are transient.
import { BatonError, isBatonError } from '@baton/core'

/**
 * SQLSTATE codes of transient errors: the connection broke, the server restarts, two transactions collided.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING = new Set(['57P01', '57P02', '57P03', '40001', '40P01', '53300'])
/** Error codes of Node's sockets. */
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

const UNREACHABLE = 'Start PostgreSQL, or correct the host and port in its address.'

const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  '28000': 'Check the user and password in the address.',
  '28P01': 'Check the user and password in the address.',
  '3D000': 'Create the database, or name another one.',
  '42501': 'Grant the user the right to use and create this schema, or have an administrator open the store once.',
  '53100': 'The disk of the database is full. Free some space; accepted inputs are kept.',
  '53300': 'The database has too many connections. Raise max_connections, or lower `connections` in each process.',
  '25006': 'The database is read-only. Connect to the primary.',
}

/** Whether a retry on a new connection may succeed. Also accepts errors made by `toStoreError`. */
export function isPassing(cause: unknown): boolean {
  if (isBatonError(cause)) return cause.cause !== undefined && isPassing(cause.cause)
  const code = readCode(cause)
  if (code !== undefined) return PASSING.has(code) || NETWORK.has(code) || code.startsWith('08')
  // pg sets no code if the server closes the connection during a query.
  return cause instanceof Error && /connection terminated|timeout expired|Query read timeout/i.test(cause.message)
}

/** The error for the caller, without the database's address, which may contain a password. */
export function toStoreError(cause: unknown): BatonError {
  if (isBatonError(cause)) return cause
  const code = readCode(cause)
  const said = cause instanceof Error && cause.message !== '' ? cause.message : (code ?? String(cause))
  const remedy = REMEDIES[code ?? '']
  return new BatonError({
    code: 'store_failed',
    message: `the PostgreSQL store failed: ${said}${code === undefined || said.includes(code) ? '' : ` (${code})`}`,
    ...(remedy !== undefined && { hint: remedy }),
    cause,
  })
}

function readCode(cause: unknown): string | undefined {
  const code = (cause as { readonly code?: unknown } | null)?.code
  if (typeof code === 'string') return code
  // A host name with several addresses fails with an error for each.
  return cause instanceof AggregateError ? readCode(cause.errors[0]) : undefined
}
