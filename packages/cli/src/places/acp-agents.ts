// The agent of each editor session: created for the session's folder, with the editor's files and terminals, and the
// MCP servers that the editor requests.
import type { Agent, Logger } from '@baton/core/internal'
import { BatonError, mayUseNetwork } from '@baton/core/internal'
import type { McpServerConfig, McpServers } from '@baton/mcp/client'
import type { AcpMcpServer, AcpPlace } from '@baton/server/internal'
import { createDefaultAgent } from './default-agent.ts'
import type { EmbeddedHost } from './embedded-host.ts'
import { loadAgentFile } from './load-agent.ts'
import { addMcpServers } from '../words/mcp-option.ts'

export interface AcpAgentsOptions {
  readonly agent: string | undefined
  readonly folder: string
  readonly open: () => Promise<EmbeddedHost>
  readonly log: Logger
}

/** @throws BatonError `invalid_agent`, `not_permitted`, `invalid_mcp_server` and other connection errors */
export function createAcpAgents({ agent, folder, open, log }: AcpAgentsOptions): (place: AcpPlace) => Promise<Agent> {
  return async (place) => {
    const { fit } = await open()
    const { cwd, additionalDirectories, editor, mcpServers } = place
    const made =
      agent === undefined
        ? createDefaultAgent(cwd, {}, editor)
        : await (await loadAgentFile(agent, folder)).make({ cwd, additionalDirectories, editor })
    const fitted = fit(made)
    return mcpServers.length === 0 ? fitted : await addServers(fitted, mcpServers, log)
  }
}

async function addServers(agent: Agent, servers: readonly AcpMcpServer[], log: Logger): Promise<Agent> {
  if (!mayUseNetwork(agent.permissions ?? []))
    throw new BatonError({
      code: 'not_permitted',
      message: `the editor requests MCP servers (${servers.map(({ name }) => name).join(', ')}), but the permissions forbid network access`,
      hint: 'Pass them with --mcp instead, in a file with "network": false.',
    })
  const { createMcpServers } = await import('@baton/mcp/client')
  const opened = createMcpServers(Object.fromEntries(nameServers(servers)), { log })
  try {
    // Connects now, so that an unreachable server is an error rather than a missing tool later.
    await Promise.all(opened.sources.map((source) => source.list()))
  } catch (cause) {
    await opened.close()
    throw cause
  }
  return addMcpServers(agent, closeTogether(opened))
}

/** Closes the servers when the last of their sources closes. */
function closeTogether(servers: McpServers): McpServers {
  let open = servers.sources.length
  const sources = servers.sources.map((source) => ({
    name: source.name,
    list: () => source.list(),
    ...(source.network !== undefined && { network: source.network }),
    ...(source.onChange && { onChange: (listener: () => void) => source.onChange?.(listener) ?? (() => {}) }),
    close: async (): Promise<void> => {
      await source.close?.()
      open -= 1
      if (open === 0) await servers.close()
    },
  }))
  return { ...servers, sources }
}

/** Tool names begin with server names, so illegal characters are replaced, and a taken name gets a number. */
function* nameServers(servers: readonly AcpMcpServer[]): Generator<[string, McpServerConfig]> {
  const taken = new Set<string>()
  for (const server of servers) {
    const base =
      server.name
        .replace(/[^A-Za-z0-9_.-]+/g, '-')
        .replace(/^[^A-Za-z0-9]+/, '')
        .slice(0, 60) || 'server'
    let name = base
    for (let n = 2; taken.has(name); n += 1) name = `${base}-${n}`
    taken.add(name)
    yield [name, toConfig(server)]
  }
}

function toConfig(server: AcpMcpServer): McpServerConfig {
  if (server.type === 'stdio') {
    const { command, args, env } = server
    return { command, args, env }
  }
  const { type, url, headers } = server
  return { type, url, headers }
}
