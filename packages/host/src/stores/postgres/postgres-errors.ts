// Explains PostgreSQL's errors to the operator of a server: what to do about them, and which ones pass.
import { BatonError, isBatonError } from '@baton/core'

/**
 * SQLSTATE classes and codes of what passes by itself: the connection broke, the server restarts, two transactions met.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const PASSING = new Set(['57P01', '57P02', '57P03', '40001', '40P01', '53300'])
/** Codes of Node's sockets. */
const NETWORK = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'])

const UNREACHABLE = 'Start PostgreSQL, or correct the host and the port of its address.'

const REMEDIES: Readonly<Record<string, string>> = {
  ECONNREFUSED: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ETIMEDOUT: UNREACHABLE,
  '28000': 'Check the user and the password of the address.',
  '28P01': 'Check the user and the password of the address.',
  '3D000': 'Make the database, or name another one.',
  '42501': 'Give the user the right to use and create this schema, or let an administrator open the store once.',
  '53100': 'The disk of the database is full: make room. What was accepted is kept.',
  '53300': 'The database has too many connections: raise max_connections, or lower the `connections` of each process.',
  '25006': 'The database only reads: connect to the primary.',
}

/** Whether trying again on a new connection may succeed; also of an error that `toStoreError` made. */
export function isPassing(cause: unknown): boolean {
  if (isBatonError(cause)) return cause.cause !== undefined && isPassing(cause.cause)
  const code = readCode(cause)
  if (code !== undefined) return PASSING.has(code) || NETWORK.has(code) || code.startsWith('08')
  // pg gives no code where the other end closes in mid-query.
  return cause instanceof Error && /connection terminated|timeout expired|Query read timeout/i.test(cause.message)
}

/** The error that a caller gets; the address of the database, which may hold a password, is not in it. */
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
  // A host name with several addresses fails with all of their errors.
  return cause instanceof AggregateError ? readCode(cause.errors[0]) : undefined
}
