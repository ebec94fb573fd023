// 2025-11-25 clients over HTTP. Each starts with a handshake, gets an unguessable id, and has its own server until it
// disconnects or has been idle for too long.
import type { Principal } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Server, EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'
import { WebStandardStreamableHTTPServerTransport, isInitializeRequest } from '@modelcontextprotocol/server'
import type { ClientCalls } from './client-calls.ts'
import { answerError } from './http-answers.ts'
import type { McpWorld } from './mcp-world.ts'

interface Connected {
  readonly id: string
  readonly principal: string
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly server: Server
  readonly calls: ClientCalls
  readonly leave: () => void
  stopIdle: () => void
}

const SESSION_HEADER = 'mcp-session-id'

export class ConnectedClients {
  readonly #world: McpWorld
  readonly #clients = new Map<string, Connected>()

  constructor(world: McpWorld) {
    this.#world = world
  }

  async answer(request: Request, parsedBody: unknown, principal: Principal): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER)
    if (id !== null) {
      const client = this.#clients.get(id)
      // Another principal's client is treated as unknown.
      if (!client || client.principal !== principal.id)
        return answerError(404, -32_001, 'there is no such MCP session; start a new one')
      this.#watchIdle(client)
      return await client.transport.handleRequest(request, { parsedBody })
    }
    if (request.method !== 'POST' || !isInitializeRequest(parsedBody))
      return answerError(400, -32_000, `the header ${SESSION_HEADER} is missing; start with "initialize"`)
    try {
      return await this.#admit(request, parsedBody, principal)
    } catch (cause) {
      if (!isBatonError(cause)) throw cause
      return answerError(503, -32_000, cause.message)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => this.#close(client)))
  }

  /** @throws BatonError `rate_limited` */
  async #admit(request: Request, parsedBody: unknown, principal: Principal): Promise<Response> {
    const client = await this.#connect(principal)
    let isAdmitted = false
    try {
      const response = await client.transport.handleRequest(request, { parsedBody })
      if (!response.ok) return response
      // Without an await until it is counted: otherwise each of several clients that connect at once would find room.
      this.#makeRoom(principal.id)
      this.#watchIdle(client)
      isAdmitted = true
      return response
    } finally {
      if (!isAdmitted) await this.#close(client)
    }
  }

  async #connect(principal: Principal): Promise<Connected> {
    const id = crypto.randomUUID()
    const { parts, exposed } = this.#world
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: new EventLog(),
      maxRequestBodySize: parts.limits.messageBytes,
      onsessionclosed: () => this.#leave(id),
    })
    const calls = this.#world.createCalls(principal, () => this.#noteUse(id))
    const server = this.#world.createServer(calls, false)
    await server.connect(transport)
    const tell = (): void => void server.sendToolListChanged().catch(() => {}) // no listener is connected
    const leave = exposed.onChange(tell)
    return { id, principal: principal.id, transport, server, calls, leave, stopIdle: () => {} }
  }

  /** Drops the clients that have been idle longest to make room. @throws BatonError `rate_limited` */
  #makeRoom(principal: string): void {
    const { clients, clientsPerPrincipal } = this.#world.parts.limits
    const all = [...this.#clients.values()]
    const own = all.filter((client) => client.principal === principal)
    for (const [limit, some] of [
      [clientsPerPrincipal, own],
      [clients, all],
    ] as const) {
      if (some.length < limit) continue
      const oldest = some.find(({ calls }) => !calls.isBusy)
      if (!oldest)
        throw new BatonError({
          code: 'rate_limited',
          message: `${limit} MCP clients are connected, and all are busy`,
        })
      void this.#close(oldest)
    }
  }

  /** The map is ordered by last use. */
  #watchIdle(client: Connected): void {
    const { limits, timers } = this.#world.parts
    client.stopIdle()
    this.#clients.delete(client.id)
    this.#clients.set(client.id, client)
    const forget = (): void => (client.calls.isBusy ? this.#watchIdle(client) : void this.#close(client))
    client.stopIdle = timers.start(limits.idleMs, forget, { isBackground: true })
  }

  /** The idle time of a client begins after its calls, not before them. */
  #noteUse(id: string): void {
    const client = this.#clients.get(id)
    if (client) this.#watchIdle(client)
  }

  #leave(id: string): void {
    const client = this.#clients.get(id)
    if (client) this.#forget(client)
  }

  #forget(client: Connected): void {
    this.#clients.delete(client.id)
    client.stopIdle()
    client.leave()
    client.calls.close()
  }

  async #close(client: Connected): Promise<void> {
    this.#forget(client)
    await client.server.close().catch((cause: unknown) => {
      this.#world.parts.log.info('the connection to an MCP client could not be closed', { cause: String(cause) })
    })
  }
}

const EVENTS = 512
const CHARS = 1024 * 1024

interface Stored {
  readonly number: number
  readonly stream: string
  readonly message: JSONRPCMessage
  readonly chars: number
}

/**
 * Stores the newest events for a 2025-11-25 client, up to a limit, so that it can continue after its connection broke.
 */
class EventLog implements EventStore {
  #events: Stored[] = []
  #chars = 0
  #next = 0

  storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    const number = (this.#next += 1)
    const chars = JSON.stringify(message).length
    this.#events.push({ number, stream, message, chars })
    this.#chars += chars
    // The newest event is always kept, whatever its size: it may be the result that the client waits for.
    while (this.#events.length > EVENTS || (this.#chars > CHARS && this.#events.length > 1))
      this.#chars -= this.#events.shift()?.chars ?? 0
    return Promise.resolve(nameEvent(stream, number))
  }

  getStreamIdForEventId(id: string): Promise<string | undefined> {
    return Promise.resolve(this.#find(id)[0]?.stream)
  }

  /** Resolves with an empty string if nothing of the stream is stored from this event on. */
  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const found = this.#find(lastId)
    for (const { number, stream, message } of found) {
      const id = nameEvent(stream, number)
      if (id !== lastId && Object.keys(message).length > 0) await send(id, message)
    }
    return found[0]?.stream ?? ''
  }

  /** The event and what follows it in its stream. A large result may have displaced the event itself. */
  #find(id: string): readonly Stored[] {
    const at = id.lastIndexOf('_')
    const [name, from] = [id.slice(0, at), Number(id.slice(at + 1))]
    return this.#events.filter(({ stream, number }) => stream === name && number >= from)
  }
}

function nameEvent(stream: string, number: number): string {
  return `${stream}_${number}`
}
