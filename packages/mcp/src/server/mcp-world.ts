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
  readonly calls: ClientCalls
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

  /** For a client with its own connection. Its keys belong to its principal, who may return over another connection. */
  createCalls(principal: Principal): ClientCalls {
    return this.#create(principal, this.#know(principal).begun)
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
    for (const { calls, stopIdle } of this.#principals.values()) {
      stopIdle()
      calls.close()
    }
    this.#principals.clear()
    await this.exposed.close()
  }

  #know(principal: Principal): Known {
    const known = this.#principals.get(principal.id)
    known?.stopIdle()
    const begun: Known['begun'] = new Map()
    const entry = known ?? { calls: this.#create(principal, begun), begun, stopIdle: () => {} }
    this.#principals.set(principal.id, entry)
    this.#watchIdle(principal.id)
    return entry
  }

  #create(principal: Principal, begun: Known['begun']): ClientCalls {
    const { host, parts } = this.#init
    return new ClientCalls({ host, parts, principal, direct: this.#direct, begun })
  }

  #watchIdle(id: string): void {
    const entry = this.#principals.get(id)
    if (!entry) return
    const { limits, timers } = this.parts
    const forget = (): void => {
      if (entry.calls.isBusy) return this.#watchIdle(id)
      entry.calls.close()
      this.#principals.delete(id)
    }
    entry.stopIdle = timers.start(limits.idleMs, forget, { isBackground: true })
  }
}
