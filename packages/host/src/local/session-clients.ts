// The clients that one handle has made of its program, and its results by hand.
import type { Accepted, Client, ClientHandlers, Principal, Refused } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import { attachClient } from './local-client.ts'
import type { SessionSlot } from './session-slot.ts'

export interface SessionClients {
  /** @throws BatonError `session_closed` after `detachAll`, `rate_limited` */
  attach(handlers?: ClientHandlers): Promise<Client>
  toolResult(callId: string, outcome: Outcome): Promise<Accepted | Refused>
  /** For good. */
  detachAll(): Promise<void>
}

export interface SessionClientsInit {
  readonly slot: SessionSlot
  readonly principal: Principal
  readonly newId: () => string
}

export function createSessionClients({ slot, principal, newId }: SessionClientsInit): SessionClients {
  const clients = new Set<Client>()
  let closed = false

  const attachFor = async (handlers: ClientHandlers, tools?: readonly string[]): Promise<Client> => {
    if (closed) throw new BatonError({ code: 'session_closed', message: 'this session was closed here' })
    const connection = `local-${newId()}`
    const client = await attachClient({ slot, principal, handlers, connection, ...(tools && { tools }) })
    clients.add(client)
    return client
  }

  const toolResult = async (callId: string, outcome: Outcome): Promise<Accepted | Refused> => {
    const calls = slot.actor().state().step?.calls
    const asked = calls?.find((open) => open.callId === callId)?.offer?.connection
    const holder = [...clients].find(({ connection }) => connection === asked)
    if (holder) return await holder.toolResult(callId, outcome)
    const call = slot.actor().history().openCall(callId)
    if (!call || call.settled) return NO_CALL
    // Only for this tool: a program that answers one call by hand takes no others away from their clients.
    const client = await attachFor({}, [call.name])
    return await client.toolResult(callId, outcome)
  }

  return {
    attach: (handlers) => (handlers ? attachFor(handlers, Object.keys(handlers)) : attachFor({})),
    toolResult,
    detachAll: async () => {
      closed = true
      for (const client of clients) await client.detach()
      clients.clear()
    },
  }
}

const NO_CALL: Refused = { type: 'refused', code: 'illegal_input', message: 'there is no such open call' }
