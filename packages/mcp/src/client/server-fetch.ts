// The fetch of one MCP server over HTTP. The program named the server; whatever the server's answers name (logins, keys, redirects)
// must be public.
import { createGuardedFetch } from '@baton/tools/guard'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { McpLimits } from './mcp-server.ts'
import type { HttpMcpServer } from './server-config.ts'
import { isLoopback } from './server-config.ts'

export interface ServerFetch {
  readonly fetch: FetchLike
  /** Ends its connections. */
  close(): Promise<void>
}

/** Milliseconds to wait for the head of an answer, as the platform's fetch does. Calls and connecting have time limits of their own. */
const ANSWER_MS = 300_000
const THIS_MACHINE = ['127.0.0.0/8', '::1', 'localhost'] as const

/** A server on this machine is a program of its user, and may name other places on this machine, such as where to log in. */
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
