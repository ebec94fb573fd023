// Reads what an error says about a service that a tool called: HTTP clients put the status into their errors, and
// platforms the code of a failed connection. It knows no client by name.
import type { ErrorCode } from './error-codes.ts'

/** The code for the status of a failed request: 401 is `api_unauthorized`, 502 to 504 are `api_unavailable`. */
export function readStatusCode(status: number): ErrorCode {
  if (status === 401) return 'api_unauthorized'
  if (status === 429) return 'api_rate_limited'
  if (status === 502 || status === 503 || status === 504) return 'api_unavailable'
  if (status >= 500) return 'api_failed'
  return status >= 400 ? 'api_refused' : 'api_malformed'
}

/** Maximum depth of nested causes to check. */
const CAUSES = 4
/** Codes of Node, and of undici, which implements its `fetch`. */
const NETWORK =
  /^(?:ECONN\w+|ENOTFOUND|EAI_\w+|ETIMEDOUT|EPIPE|EHOST\w+|ENET\w+|UND_ERR_(?:\w+_TIMEOUT|SOCKET|CONNECT\w*))$/

/**
 * Returns undefined if neither the error nor its causes say anything about a service. Reads the status from `status`,
 * `statusCode` or `response.status`, as in errors of Octokit, the AI SDK, axios and Effect. Never throws.
 */
export function readServiceFailure(thrown: unknown): ErrorCode | undefined {
  try {
    let current = thrown
    for (let depth = 0; depth < CAUSES && current instanceof Error; depth += 1) {
      const status = findStatus(current)
      if (status !== undefined) return readStatusCode(status)
      const code: unknown = Reflect.get(current, 'code')
      if (typeof code === 'string' && NETWORK.test(code)) return 'api_unavailable'
      current = current.cause
    }
  } catch {
    // It has a throwing getter.
  }
  return undefined
}

/** Codes of connections that were never established, in Node and undici. */
const NEVER_STOOD = /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOST\w+|ENET(?:UNREACH|DOWN)|UND_ERR_CONNECT\w*)$/

/** True: no request was sent, so nothing was done. False: unknown. Never throws. */
export function hasNeverConnected(thrown: unknown): boolean {
  try {
    let current = thrown
    for (let depth = 0; depth < CAUSES && current instanceof Error; depth += 1) {
      const code: unknown = Reflect.get(current, 'code')
      if (typeof code === 'string' && NEVER_STOOD.test(code)) return true
      current = current.cause
    }
  } catch {
    // It has a throwing getter.
  }
  return false
}

function findStatus(error: Error): number | undefined {
  const response: unknown = Reflect.get(error, 'response')
  const told = typeof response === 'object' && response !== null ? Reflect.get(response, 'status') : undefined
  const named = [Reflect.get(error, 'status'), Reflect.get(error, 'statusCode'), told] as readonly unknown[]
  return named.find(
    (status): status is number =>
      typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600,
  )
}
