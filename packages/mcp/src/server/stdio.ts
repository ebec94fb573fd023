// Offers an agent to the one MCP client that started this process: messages arrive on standard input and leave on
// standard output.
import type { Host, Principal } from '@baton/core'
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { checkHost } from './http.ts'
import { McpWorld } from './mcp-world.ts'
import type { McpServerOptions } from './options.ts'
import { readOptions } from './options.ts'

export interface McpStdioOptions extends McpServerOptions {
  /** The owner of the calls' sessions. Default: `local`. */
  readonly principal?: Principal
  /** Default: the process's streams. */
  readonly input?: Readable
  readonly output?: Writable
}

/** A running `serveMcpOverStdio`: `await server.ended` keeps the process alive until the client leaves. */
export interface McpStdioServer {
  /** Settles when the client has disconnected. Never rejects. */
  readonly ended: Promise<void>
  /** Cancels running calls, and ends. Never rejects. */
  close(): Promise<void>
}

const LOCAL: Principal = { id: 'local' }

/**
 * Nothing else may write to the output, because that would break the protocol.
 * @throws BatonError `invalid_option`, `invalid_agent`
 */
export function serveMcpOverStdio(host: Host, options: McpStdioOptions): McpStdioServer {
  checkHost(host, 'serveMcpOverStdio')
  const { principal = LOCAL, input = process.stdin, output = process.stdout, ...rest } = options
  const parts = readOptions('serveMcpOverStdio', rest, false)
  const secret = `${crypto.randomUUID()}${crypto.randomUUID()}`
  const world = new McpWorld({ host, parts, secret })
  const calls = world.createCalls(principal)
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  const transport = new EndingTransport(input, output, { maxBufferSize: parts.limits.messageBytes })
  transport.onEnd = end
  const server = serveStdio(
    ({ era }) => {
      const made = world.createServer(calls, era === 'modern')
      const tell = (): void => void made.sendToolListChanged().catch(() => {}) // no longer connected
      const leave = world.exposed.onChange(tell)
      made.onclose = leave
      return made
    },
    {
      transport,
      onerror: (cause) => parts.log.info('an MCP message was refused', { cause: cause.message.slice(0, 500) }),
    },
  )
  const close = async (): Promise<void> => {
    end()
    calls.cancelAll()
    await server.close()
    calls.close()
    await world.close()
  }
  const left = ended
    .then(close)
    .catch((cause: unknown) => parts.log.warn('the MCP server could not be closed', { cause: String(cause) }))
  return { ended: left, close }
}

/**
 * Closes when the client has disconnected, and when a message is too large. `serveStdio` uses `onclose` itself, so this
 * adds `onEnd`.
 */
class EndingTransport extends StdioServerTransport {
  onEnd: () => void = () => {}

  override async close(): Promise<void> {
    await super.close()
    this.onEnd()
  }
}
