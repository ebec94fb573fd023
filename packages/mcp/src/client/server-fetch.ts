// The fetch of one MCP server over HTTP. The program chose the server, but every address named in the server's
// responses (logins, keys, redirects) must be public.
import { createGuardedFetch } from '@baton/tools/guard'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { McpLimits } from './mcp-server.ts'
import type { HttpMcpServer } from './server-config.ts'
import { isLoopback } from './server-config.ts'

export interface ServerFetch {
  readonly fetch: FetchLike
  /** Closes its connections. */
  close(): Promise<void>
}

/**
 * Milliseconds to wait for response headers, same as the platform's fetch. Calls and connecting have separate time
 * limits.
 */
const ANSWER_MS = 300_000
const THIS_MACHINE = ['127.0.0.0/8', '::1', 'localhost'] as const

/**
 * A server on this machine runs as a program of its user, so it may name other local addresses, such as a login page.
 */
export function createServerFetch(
  server: Pick<HttpMcpServer, 'url' | 'timeoutMs' | 'network'>,
  limits: McpLimits,
): ServerFetch {
  const { url, timeoutMs = ANSWER_MS, network } = server
  const { origin, hostname } = new URL(url)
  const isLocal = isLoopback(hostname)
  const common = {
    allow: isLocal ? [origin, ...THIS_MACHINE] : [origin],
    onlyAllowed: network === false,
    schemes: isLocal ? (['https', 'http'] as const) : (['https'] as const),
    maxBytes: limits.messageBytes,
  }
  const toServer = createGuardedFetch({
    ...common,
    streams: true,
    timeoutMs: Math.ceil(Math.max(ANSWER_MS, timeoutMs)),
  })
  const toOthers = createGuardedFetch({ ...common, timeoutMs: limits.connectMs })
  return {
    fetch: (target, init) => (new URL(target).origin === origin ? toServer : toOthers)(target, init),
    close: async () => void (await Promise.all([toServer.close(), toOthers.close()])),
  }
}
