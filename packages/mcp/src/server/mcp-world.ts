// State shared by all clients of one agent's server: its tools, their tasks, and the calls of each principal.
import type { Host, Principal } from '@baton/core'
import type { Server } from '@modelcontextprotocol/server'
import type { CallPlace } from './client-calls.ts'
import { ClientCalls } from './client-calls.ts'
import { createDirectAgent } from './direct-agent.ts'
import { Exposed } from './exposed.ts'
import type { ServerParts } from './options.ts'
import { createSdkServer } from './sdk-server.ts'
import { Tasks } from './tasks.ts'

export interface McpWorldOptions {
  readonly host: Host
  readonly parts: ServerParts
  readonly secret: string
}

interface Known {
  /** Those of requests without a connection. */
  readonly calls: ClientCalls
  /** Those of clients with a connection, and of clients that have left their calls running. */
  readonly connected: Set<ClientCalls>
  readonly begun: Map<string, Promise<CallPlace>>
  stopIdle: () => void
}

export class McpWorld {
  readonly parts: ServerParts
  readonly exposed: Exposed
  readonly #init: McpWorldOptions
  readonly #direct: ReturnType<typeof createDirectAgent>
  readonly #tasks: Tasks
  readonly #principals = new Map<string, Known>()

  /** @throws BatonError `invalid_agent` */
  constructor(init: McpWorldOptions) {
    const { parts } = init
    this.#init = init
    this.parts = parts
    this.exposed = new Exposed(parts)
    this.#direct = createDirectAgent({ agent: parts.agent, resultChars: parts.limits.resultChars })
    this.#tasks = new Tasks(parts.limits, parts.timers)
  }

  /**
   * For a client with its own connection. Its keys belong to its principal, who may return over another connection.
   * `onRelease` is called when one of its calls has ended, and when it has disconnected.
   */
  createCalls(principal: Principal, onRelease?: () => void): ClientCalls {
    const { connected, begun } = this.#know(principal)
    const calls = this.#create(principal, begun, onRelease)
    connected.add(calls)
    return calls
  }

  createServer(calls: ClientCalls, isModern: boolean): Server {
    const { parts, secret } = this.#init
    return createSdkServer({ parts, exposed: this.exposed, calls, tasks: this.#tasks, isModern, secret })
  }

  /** The calls of all requests of a principal whose clients have no connection. */
  callsOf(principal: Principal): ClientCalls {
    return this.#know(principal).calls
  }

  async close(): Promise<void> {
    this.#tasks.close()
    const all = [...this.#principals.values()]
    this.#principals.clear()
    for (const { calls, stopIdle } of all) {
      stopIdle()
      calls.close()
    }
    await this.exposed.close()
  }

  #know(principal: Principal): Known {
    const known = this.#principals.get(principal.id) ?? this.#createKnown(principal)
    this.#principals.set(principal.id, known)
    this.#watchIdle(principal.id)
    return known
  }

  #createKnown(principal: Principal): Known {
    const begun: Known['begun'] = new Map()
    return { calls: this.#create(principal, begun), connected: new Set(), begun, stopIdle: () => {} }
  }

  #create(principal: Principal, begun: Known['begun'], onRelease = (): void => {}): ClientCalls {
    const { host, parts } = this.#init
    return new ClientCalls({
      host,
      parts,
      principal,
      direct: this.#direct,
      begun,
      onRelease: (calls) => {
        onRelease()
        if (!calls.isInUse) this.#principals.get(principal.id)?.connected.delete(calls)
        this.#watchIdle(principal.id)
      },
    })
  }

  /** Forgets a principal that has no connection and no running call for long enough. */
  #watchIdle(id: string): void {
    const known = this.#principals.get(id)
    if (!known) return
    known.stopIdle()
    const { limits, timers } = this.parts
    const forget = (): void => {
      // Its idle time begins when that ends.
      if (known.calls.isBusy || known.connected.size > 0) return
      this.#principals.delete(id)
      known.calls.close()
    }
    known.stopIdle = timers.start(limits.idleMs, forget, { isBackground: true })
  }
}
