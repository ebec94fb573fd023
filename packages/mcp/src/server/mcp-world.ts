// What one server of an agent shares between all its clients: what it offers, their tasks, and the calls of each principal.
import type { Host, Principal } from '@baton/core'
import type { Server } from '@modelcontextprotocol/server'
import { ClientCalls } from './client-calls.ts'
import { createDirectAgent } from './direct-agent.ts'
import { Exposed } from './exposed.ts'
import type { ServerParts } from './options.ts'
import { createSdkServer } from './sdk-server.ts'
import { Tasks } from './tasks.ts'

export interface McpWorldInit {
  readonly host: Host
  readonly parts: ServerParts
  readonly secret: string
}

export class McpWorld {
  readonly parts: ServerParts
  readonly exposed: Exposed
  readonly #init: McpWorldInit
  readonly #direct: ReturnType<typeof createDirectAgent>
  readonly #tasks: Tasks
  /** Calls of principals whose clients have no connection of their own. */
  readonly #principals = new Map<string, { readonly calls: ClientCalls; stopIdle: () => void }>()

  /** @throws BatonError `invalid_agent` */
  constructor(init: McpWorldInit) {
    const { parts } = init
    this.#init = init
    this.parts = parts
    this.exposed = new Exposed(parts)
    this.#direct = createDirectAgent({ agent: parts.agent, resultChars: parts.limits.resultChars })
    this.#tasks = new Tasks(parts.limits, parts.timers)
  }

  /** For a client with a connection of its own. */
  createCalls(principal: Principal): ClientCalls {
    const { host, parts } = this.#init
    return new ClientCalls({ host, parts, principal, direct: this.#direct })
  }

  createServer(calls: ClientCalls, isModern: boolean): Server {
    const { parts, secret } = this.#init
    return createSdkServer({ parts, exposed: this.exposed, calls, tasks: this.#tasks, isModern, secret })
  }

  /** The calls of all requests of a principal. */
  callsOf(principal: Principal): ClientCalls {
    const known = this.#principals.get(principal.id)
    known?.stopIdle()
    const entry = known ?? { calls: this.createCalls(principal), stopIdle: () => {} }
    this.#principals.set(principal.id, entry)
    this.#watchIdle(principal.id)
    return entry.calls
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
