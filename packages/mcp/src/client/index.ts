// Offers the tools of MCP servers as tool sources: `createMcpServers({ files: { command: 'npx', args: […] }
// }).sources`.
import type { Logger, Timers, ToolSource } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { McpLimits, McpServerStatus } from './mcp-server.ts'
import { McpServer } from './mcp-server.ts'
import type { McpPinStore } from './pins.ts'
import { createMemoryPinStore } from './pins.ts'
import type { McpServerConfig } from './server-config.ts'
import { checkServer } from './server-config.ts'
import { createServerFetch } from './server-fetch.ts'
import { checkLimits, PLATFORM_TIMERS, SILENT } from '../shared/platform.ts'

export type { McpOAuth, McpTokenStore } from './auth.ts'
export { createMemoryTokenStore } from './auth.ts'
export { createFilePinStore, createFileTokenStore } from './json-files.ts'
export type { McpLimits, McpServerStatus } from './mcp-server.ts'
export type { McpPinStore } from './pins.ts'
export { createMemoryPinStore } from './pins.ts'
export type { McpServerConfig } from './server-config.ts'
export { parseMcpConfig, readServerArgument } from './server-config.ts'

/** Options of `createMcpServers`. */
export interface McpServersOptions {
  /** Stores tool definitions to detect changes. Default: in memory. */
  readonly pins?: McpPinStore
  readonly limits?: Partial<McpLimits>
  readonly log?: Logger
  /** Default: the process's timers. */
  readonly timers?: Timers
  /**
   * For servers over HTTP. By default each server gets a guarded fetch that allows its own origin and public `https:`
   * addresses. A server on this machine may also name other local addresses.
   */
  readonly fetch?: FetchLike
}

/** MCP servers as sources of an agent. Call `close` when the program ends. */
export interface McpServers {
  /**
   * For `defineAgent({ sources })`, in the order of the configuration. They may serve any number of agents and
   * sessions.
   */
  readonly sources: readonly ToolSource[]
  status(): readonly McpServerStatus[]
  /** Disconnects from all servers and ends their running calls. Never rejects. */
  close(): Promise<void>
}

const LIMITS: McpLimits = {
  connections: 4,
  waiting: 256,
  tools: 256,
  messageBytes: 32 * 1024 * 1024,
  connectMs: 30_000,
  idleMs: 300_000,
}

/**
 * Starts a server for the first session that uses it, shares it between all sessions, restarts it when it fails, and
 * stops it after 5 minutes without a session.
 * @throws BatonError `invalid_mcp_server`, `invalid_option`
 */
export function createMcpServers(
  servers: Readonly<Record<string, McpServerConfig>>,
  options: McpServersOptions = {},
): McpServers {
  const limits = { ...LIMITS, ...options.limits }
  checkLimits('', limits)
  const { pins = createMemoryPinStore(), log = SILENT, timers = PLATFORM_TIMERS, fetch } = options
  if (typeof servers !== 'object' || Array.isArray(servers))
    throw new BatonError({
      code: 'invalid_mcp_server',
      message: 'createMcpServers takes an object of servers by name',
      hint: 'Write createMcpServers({ files: { command: "npx", args: [...] } }).',
    })
  const checked = Object.entries(servers).map(([name, config]) => [name, checkServer(name, config)] as const)
  const opened = checked.map(([name, config]) => {
    const guarded = !fetch && 'url' in config ? createServerFetch(config, limits) : undefined
    const asks = fetch ?? guarded?.fetch
    const server = new McpServer({ name, config, timers, log, pins, limits, ...(asks && { fetch: asks }) })
    const close = async (): Promise<void> => {
      await server.shutDown()
      await guarded?.close()
    }
    return { server, close }
  })
  return {
    sources: opened.map(({ server }) => server),
    status: () => opened.map(({ server }) => server.status()),
    close: async () => void (await Promise.all(opened.map(({ close }) => close()))),
  }
}
