// Folds facts about clients: which clients are attached, their capabilities, and the tools they provide.
import type { FactOf } from './fact.ts'
import type { Client, State } from './state.ts'

type ClientFact = FactOf<
  | 'client-attached'
  | 'client-renewed'
  | 'client-detached'
  | 'client-tools-set'
  | 'client-tools-dropped'
  | 'host-restarted'
>

export function applyClientFact(state: State, fact: ClientFact): State {
  switch (fact.type) {
    case 'client-attached':
      // A client that attaches again replaces its capabilities.
      return { ...state, clients: [...withoutClient(state, fact), clientFrom(fact, state.pos)] }
    case 'client-renewed':
      return renewClient(state, fact)
    case 'client-detached':
      return { ...state, clients: withoutClient(state, fact) }
    case 'client-tools-set':
      return setTools(state, fact)
    case 'client-tools-dropped':
      return dropTools(state, fact)
    case 'host-restarted':
      return { ...state, clients: [] }
    default:
      return fact satisfies never
  }
}

function withoutClient({ clients }: State, { connection }: { readonly connection: string }): readonly Client[] {
  return clients.filter((client) => client.connection !== connection)
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

function setTools(state: State, fact: FactOf<'client-tools-set'>): State {
  const { tools } = fact
  const connection = fact.connection ?? null
  const others = state.clientTools.filter((list) => list.connection !== connection)
  return { ...state, clientTools: tools.length === 0 ? others : [...others, { connection, tools }] }
}

function dropTools(state: State, { connection, names }: FactOf<'client-tools-dropped'>): State {
  const clientTools = state.clientTools.flatMap((list) => {
    if (list.connection !== connection) return [list]
    const tools = list.tools.filter((tool) => !names.includes(tool.name))
    return tools.length === 0 ? [] : [{ connection, tools }]
  })
  return { ...state, clientTools }
}
