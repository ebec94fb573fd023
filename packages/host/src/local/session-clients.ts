// The clients that one handle has made of its program, and its results by hand.
import type { Accepted, Client, ClientHandlers, Principal, Refused } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import { attachClient } from './local-client.ts'
import type { SessionSlot } from './session-slot.ts'

export interface SessionClientsInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
}

export class SessionClients {
  readonly #init: SessionClientsInit
  /** Those that are attached. */
  readonly #clients = new Map<string, Client>()
  #closed = false

  constructor(init: SessionClientsInit) {
    this.#init = init
  }

  /** @throws BatonError `session_closed` after `detachAll`, `rate_limited` */
  attach(handlers?: ClientHandlers): Promise<Client> {
    return handlers ? this.#attachFor(handlers, Object.keys(handlers)) : this.#attachFor({})
  }

  async toolResult(callId: string, outcome: Outcome): Promise<Accepted | Refused> {
    const actor = this.#init.slot.actor()
    const asked = actor.state().step?.calls.find((open) => open.callId === callId)?.offer?.connection
    const holder = asked === undefined ? undefined : this.#clients.get(asked)
    if (holder) return await holder.toolResult(callId, outcome)
    const call = actor.history().openCall(callId)
    if (!call || call.settled) return NO_CALL
    // Only for this tool: a program that answers one call by hand takes no others away from their clients.
    const client = await this.#attachFor({}, [call.name])
    return await client.toolResult(callId, outcome)
  }

  /** For good. */
  async detachAll(): Promise<void> {
    this.#closed = true
    for (const client of this.#clients.values()) await client.detach()
  }

  async #attachFor(handlers: ClientHandlers, tools?: readonly string[]): Promise<Client> {
    const { slot, principal, newId } = this.#init
    if (this.#closed) throw closedHere()
    const connection = `local-${newId()}`
    const onDetach = (): void => void this.#clients.delete(connection)
    const client = await attachClient({ slot, principal, handlers, connection, onDetach, ...(tools && { tools }) })
    if (this.#closed) {
      await client.detach() // it came after `detachAll`, and nobody else would see to it
      throw closedHere()
    }
    this.#clients.set(connection, client)
    return client
  }
}

function closedHere(): BatonError {
  return new BatonError({ code: 'session_closed', message: 'this session was closed here' })
}

const NO_CALL: Refused = { type: 'refused', code: 'illegal_input', message: 'there is no such open call' }
