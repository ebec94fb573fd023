// The option `--mcp`: MCP servers given as a command, an address or a file. Their tools are added to the agent's.
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Agent, Logger } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { McpOAuth, McpServerConfig, McpServers } from '@baton/mcp/client'
import envPaths from 'env-paths'
import type { Console } from '../console.ts'
import { UsageError } from './usage-error.ts'

export const MCP_HELP = `  --mcp SERVER   add the tools of an MCP server: a quoted command, an address, or a file such as .mcp.json; repeatable`

/** Options for `readWords`. */
export const MCP_OPTION = { type: 'string', multiple: true } as const

export interface McpWords {
  readonly mcp: readonly string[]
  /** If false, programs run without network access, and servers at an address are refused. */
  readonly network: boolean
  readonly terminal: Pick<Console, 'folder' | 'variables'>
  readonly log?: Logger
  readonly onNews?: (line: string) => void
}

/**
 * Connects to every server, so that the command fails at startup if one is wrong.
 * @throws BatonError `invalid_mcp_server`, `api_unavailable` and other connection errors; UsageError for two servers
 * with one name
 */
export async function openMcpServers(words: McpWords): Promise<McpServers> {
  const { createFilePinStore, createFileTokenStore, createMcpServers } = await import('@baton/mcp/client')
  const { data } = envPaths('baton', { suffix: '' })
  const login: McpOAuth = {
    store: createFileTokenStore(join(data, 'mcp-logins.json')),
    redirectUrl: REDIRECT_URL,
    authorize: oneByOne((page) => bringToPage(page, words.onNews ?? ((line) => words.log?.info(line)))),
  }
  const configs = Object.fromEntries(
    Object.entries(withoutNetwork(words, await readServers(words))).map(([name, config]) => [
      name,
      'url' in config && !config.auth && !hasAuthorization(config.headers) ? { ...config, auth: login } : config,
    ]),
  )
  const pins = createFilePinStore(join(data, 'mcp-tools.json'))
  const servers = createMcpServers(configs, { pins, ...(words.log && { log: words.log }) })
  try {
    await Promise.all(servers.sources.map((source) => source.list()))
    return servers
  } catch (cause) {
    await servers.close()
    throw cause
  }
}

/** @throws BatonError `not_permitted` for a server that may use the network */
function withoutNetwork(
  { network }: McpWords,
  servers: Readonly<Record<string, McpServerConfig>>,
): Readonly<Record<string, McpServerConfig>> {
  if (network) return servers
  return Object.fromEntries(
    Object.entries(servers).map(([name, config]) => {
      if ('command' in config) return [name, { ...config, network: false }]
      if (config.network === false) return [name, config]
      throw new BatonError({
        code: 'not_permitted',
        message: `the MCP server "${name}" is reached over the network, which the permissions forbid`,
        hint: 'For a server on this machine that uses no network itself, set "network": false in a file of servers.',
      })
    }),
  )
}

function hasAuthorization(headers: Readonly<Record<string, string>> = {}): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
}

async function readServers({ mcp, terminal }: McpWords): Promise<Readonly<Record<string, McpServerConfig>>> {
  const { parseMcpConfig, readServerArgument } = await import('@baton/mcp/client')
  const servers: Record<string, McpServerConfig> = {}
  const add = (name: string, config: McpServerConfig): void => {
    if (Object.hasOwn(servers, name))
      throw new UsageError(`two MCP servers are called "${name}"; put them into a file with different names:`)
    servers[name] = config
  }
  for (const argument of mcp) {
    if (/^\S+\.json$/.test(argument) && !/^https?:/i.test(argument)) {
      const text = await readConfig(resolve(terminal.folder, argument), argument)
      const given = nameFile(argument, () => parseMcpConfig(text, terminal.variables))
      for (const [name, config] of Object.entries(given)) add(name, config)
    } else {
      const { name, config } = readServerArgument(argument)
      add(name, config)
    }
  }
  return servers
}

async function readConfig(path: string, shown: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException // from readFile
    const why = code === 'ENOENT' ? `there is no file ${path}` : message
    throw new BatonError({ code: 'invalid_mcp_server', message: `the file ${shown} cannot be read: ${why}`, cause })
  }
}

/** Names the file in an error, since one of several may be wrong. */
function nameFile<Value>(shown: string, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    if (!isBatonError(cause)) throw cause
    const { code, message, hint } = cause
    throw new BatonError({ code, message: `${shown}: ${message}`, hint, cause })
  }
}

/**
 * If two servers, or a server and the agent, have a tool of the same name, the later one is renamed to `server.tool`.
 */
export function addMcpServers(agent: Agent, servers: McpServers): Agent {
  return {
    ...agent,
    sources: [...(agent.sources ?? []), ...servers.sources],
    collisions: agent.collisions === 'refuse' ? 'prefix' : agent.collisions,
  }
}

const PORT = 41_763
const REDIRECT_URL = `http://127.0.0.1:${PORT}/callback`
/** Milliseconds for a person to log in. */
const LOGIN_MS = 300_000

/** One page at a time, because one port takes the redirects of all servers. */
export function oneByOne<Answer>(authorize: (page: URL) => Promise<Answer>): (page: URL) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve()
  return (page) => {
    const answer = last.then(() => authorize(page))
    last = answer.catch(() => {}) // its server gets the failure
    return answer
  }
}

/** Shows the login page and waits for its redirect to this machine. @throws BatonError `api_unauthorized` */
function bringToPage(page: URL, onNews: (line: string) => void): Promise<URLSearchParams> {
  return new Promise((found, fail) => {
    const refuse = (message: string, cause?: unknown): void => {
      end()
      fail(new BatonError({ code: 'api_unauthorized', message, ...(cause !== undefined && { cause }) }))
    }
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', REDIRECT_URL)
      const isAnswer = url.pathname === '/callback'
      response.writeHead(isAnswer ? 200 : 404, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
      response.end(isAnswer ? 'Baton has received your answer. You can close this page.\n' : 'There is nothing here.\n')
      if (!isAnswer) return
      end()
      found(url.searchParams)
    })
    const timer = setTimeout(() => refuse(`the login was not completed within ${LOGIN_MS / 60_000} minutes`), LOGIN_MS)
    const end = (): void => {
      clearTimeout(timer)
      server.close()
    }
    server.on('error', (cause) => refuse(`cannot wait for the login on port ${PORT}: ${cause.message}`, cause))
    server.listen(PORT, '127.0.0.1', () => onNews(`log in at ${page.href}`))
  })
}
