// The fold of facts about clients: who is attached, what it can do, which tools it brought.
import type { FactOf } from './fact.ts'
import type { Client, State } from './state.ts'

type ClientFact = FactOf<
  'client-attached' | 'client-renewed' | 'client-detached' | 'client-tools-set' | 'host-restarted'
>

export function applyClientFact(state: State, fact: ClientFact): State {
  switch (fact.type) {
    case 'client-attached':
      return { ...state, clients: [...state.clients, clientFrom(fact, state.pos)] }
    case 'client-renewed':
      return renewClient(state, fact)
    case 'client-detached':
      return { ...state, clients: state.clients.filter((client) => client.connection !== fact.connection) }
    case 'client-tools-set':
      return { ...state, clientTools: fact.tools }
    case 'host-restarted':
      return { ...state, clients: [] }
    default:
      return fact satisfies never
  }
}

function clientFrom(fact: FactOf<'client-attached'>, generation: number): Client {
  const { connection, principal, sequential, protocol = 2, tools = null, untilMs } = fact
  const { claims = protocol === 2, reportsPlayback = claims, asks = claims } = fact
  const lease = untilMs === undefined ? null : { atMs: untilMs, generation }
  return { connection, principal, sequential, claims, reportsPlayback, asks, tools, lease }
}

function renewClient(state: State, { connection, untilMs }: FactOf<'client-renewed'>): State {
  const lease = { atMs: untilMs, generation: state.pos }
  const clients = state.clients.map((client) => (client.connection === connection ? { ...client, lease } : client))
  return { ...state, clients }
}
