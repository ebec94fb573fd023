// `baton mcp`: serves an agent and its tools to MCP clients, over standard input and output for the program that starts
// it, or over HTTP.
import type { Logger, Permissions } from '@baton/core'
import { secretsIn } from '@baton/models/internal'
import type { McpServerOptions } from '@baton/mcp/server'
import { createNodeListener } from '@baton/server/http'
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Command } from '../command.ts'
import type { Console } from '../console.ts'
import type { EmbeddedHost } from '../places/embedded-host.ts'
import { openEmbeddedHost } from '../places/embedded-host.ts'
import { JWT_WORDS } from './jwt-options.ts'
import { MCP_HELP } from '../words/mcp-option.ts'
import { PERMISSION_HELP, PERMISSION_WORDS, permissionLine, readPermissions } from '../words/permission-options.ts'
import { namePortOption } from './port-in-use.ts'
import { reserveOutput } from '../places/reserved-output.ts'
import { createAccess } from './serve-access.ts'
import { readPort } from './serve-options.ts'
import { createServerLog } from './server-log.ts'
import type { ServerOptions } from './server-options.ts'
import { pickChoice, readOrigin, serverOptions } from './server-options.ts'
import type { StoreLocation } from '../places/store-location.ts'
import { storeLocation } from '../places/store-location.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords } from '../words/words.ts'

const HELP = `baton mcp: serve an agent and its tools to MCP clients

A client starts this command and talks to it over standard input and output. With --http it is a server at /mcp.

Usage: baton mcp [AGENT] [options]

Options:
  --expose WHAT  tools: each of the agent's tools; agent: one tool that asks the agent; both (default: tools)
  --model NAME   "<provider>/<model>" or "offline" (default: the agent's own, then as for "baton chat")
  --base-url URL use another address for that provider; on its own it implies openai-compatible
${MCP_HELP}
${PERMISSION_HELP}
  --store URL    where to keep calls: memory:, for one day after last use, sqlite:FILE or postgres://HOST/DATABASE
                 (default: memory:)
  --log-level NAME
                 info, warn or silent, on standard error (default: warn; with --http, info)

Over HTTP:
  --http         serve at http://HOST:PORT/mcp
  --host NAME    address to listen on (default: 127.0.0.1)
  --port NUMBER  port to listen on; 0 chooses a free one (default: PORT, then 8080)
  --token TEXT   token required as "Authorization: Bearer" (BATON_TOKEN is safer); required if --host is not this
                 machine, unless --insecure is given
  --jwt-issuer URL, --jwt-audience NAME, --jwt-jwks URL, --jwt-claim NAME
                 accept JWTs, as "baton serve" does; each principal has separate calls
  --allow-origin ORIGIN, --public-host NAME
                 origins of pages that may connect, and the server's names behind a proxy; repeatable
  --json         print one line of JSON when the server is ready: {"event":"listening","url":"http://..."}

Examples:
  baton mcp agent.ts
  baton mcp agent.ts --expose both --http --port 8765
  claude mcp add shop -- npx baton mcp shop/agent.ts
`

interface McpOptions {
  readonly agent: string | undefined
  readonly expose: NonNullable<McpServerOptions['expose']>
  readonly model: string | undefined
  readonly baseUrl: string | undefined
  readonly mcp: readonly string[]
  readonly permissions: Permissions | undefined
  readonly store: StoreLocation
  readonly server: ServerOptions
  /** If absent, serves over standard input and output. */
  readonly http: HttpPlace | undefined
}

interface HttpPlace {
  readonly host: string
  readonly port: number
  readonly origins: readonly string[] | undefined
  readonly json: boolean
}

export const mcpCommand: Command = {
  help: HELP,
  run: async (words, terminal) => {
    const options = readOptions(words, terminal)
    return options.http ? await serveHttp(options, options.http, terminal) : await serveStdio(options, terminal)
  },
}

/** @throws UsageError */
function readOptions(words: readonly string[], { variables, folder }: Console): McpOptions {
  const { values, positionals } = readWords(words, {
    command: 'mcp',
    options: {
      expose: { type: 'string' },
      model: { type: 'string' },
      'base-url': { type: 'string' },
      mcp: { type: 'string', multiple: true },
      ...PERMISSION_WORDS,
      store: { type: 'string', default: 'memory:' },
      http: { type: 'boolean', default: false },
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string' },
      token: { type: 'string' },
      ...JWT_WORDS,
      insecure: { type: 'boolean', default: false },
      'allow-origin': { type: 'string', multiple: true },
      'public-host': { type: 'string', multiple: true },
      'log-format': { type: 'string' },
      'log-level': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
    words: ['AGENT'],
  })
  if (!values.http)
    for (const name of ['port', 'token', 'allow-origin', 'public-host', 'jwt-issuer'] as const)
      if (values[name] !== undefined) throw new UsageError(`--${name} requires --http`)
  const expose = pickChoice(values.expose, '--expose', ['tools', 'agent', 'both']) ?? 'tools'
  const level = values['log-level'] ?? (values.http ? 'info' : 'warn')
  return {
    agent: positionals[0],
    expose,
    model: values.model,
    baseUrl: values['base-url'],
    mcp: values.mcp ?? [],
    permissions: readPermissions(values),
    store: storeLocation(values.store, variables, folder),
    server: serverOptions({ ...values, 'log-level': level }, variables),
    http: values.http
      ? {
          host: values.host,
          port: readPort(values.port, variables),
          origins: values['allow-origin']?.map(readOrigin),
          json: values.json,
        }
      : undefined,
  }
}

async function openHost(options: McpOptions, terminal: Console, log: Logger): Promise<EmbeddedHost> {
  const note = (line: string): void => terminal.note(line)
  // In memory, the logs of calls would accumulate.
  const keepDays = options.store.type === 'memory' ? 1 : undefined
  return await openEmbeddedHost({ ...options, keepDays, exchanges: undefined, terminal, log, onNews: note })
}

async function serveStdio(options: McpOptions, terminal: Console): Promise<number> {
  const { streams } = terminal
  if (!streams) throw new UsageError('there is no standard input; use --http')
  // Done before any of the agent's code runs, because its output is not protocol messages.
  const output = reserveOutput(streams)
  const log = await createServerLog(options.server, terminal, secretsIn(terminal.variables))
  const embedded = await openHost(options, terminal, log)
  const { serveMcpOverStdio } = await import('@baton/mcp/server')
  const { agent, host } = embedded
  const server = serveMcpOverStdio(host, { agent, expose: options.expose, log, input: streams.input, output })
  const stopListening = terminal.onStop(() => void server.close())
  await server.ended
  stopListening()
  await embedded.stop(0)
  return 0
}

async function serveHttp(options: McpOptions, place: HttpPlace, terminal: Console): Promise<number> {
  const log = await createServerLog(options.server, terminal, [
    ...secretsIn(terminal.variables),
    ...(options.server.token === undefined ? [] : [options.server.token]),
  ])
  const access = createAccess({ ...place, server: options.server }, randomUUID(), log)
  const embedded = await openHost(options, terminal, log)
  const { createMcpHandler } = await import('@baton/mcp/server')
  const { agent, host } = embedded
  const handler = createMcpHandler(host, { agent, expose: options.expose, log, ...access.handler })
  const listener = createNodeListener((request) =>
    new URL(request.url).pathname === '/mcp' ? handler(request) : Promise.resolve(new Response(null, { status: 404 })),
  )
  const server = createServer(listener)
  const prepared = access.prepare()
  try {
    const url = await listen(server, place)
    await prepared
    terminal.write(
      place.json
        ? `${JSON.stringify({ event: 'listening', url })}\n`
        : `MCP at ${url}\n  agent  ${agent.name}${permissionLine(embedded)}\n  end    Ctrl+C\n`,
    )
    await new Promise<void>((resolve) => void terminal.onStop(resolve))
  } finally {
    await handler.close()
    await embedded.stop(options.server.drainMs)
    server.close()
    server.closeAllConnections()
  }
  return 0
}

function listen(server: Server, { host, port }: HttpPlace): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => reject(namePortOption(cause, { host, port }) as Error)) // one of the two
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo // it listens on a port
      resolve(`http://${host.includes(':') ? `[${host}]` : host}:${taken}/mcp`)
    })
  })
}
