// Clients: the attached ones, what they can run, and the tools that they provide.
import type { ClientToolSpec } from './values.ts'
import type { Draft } from './draft.ts'
import type { Call, Client, ClientToolList, State } from './state.ts'
import type { ToolSpec } from './spec.ts'
import { RULES } from './spec.ts'
import type { FactOf } from './fact.ts'

/**
 * Client tools with unique names: attached clients win over absent ones, and newer lists over older ones. Sorted by
 * name, so that the model's view does not depend on the order of arrival. An agent's own tool of the same name wins
 * over all of them; that is not checked here.
 */
export function listClientTools(state: State): readonly ClientToolSpec[] {
  const named = new Map<string, ClientToolSpec>()
  for (const { tools } of rankLists(state))
    for (const tool of tools) if (!named.has(tool.name)) named.set(tool.name, tool)
  return [...named.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

export interface BroughtTool {
  readonly tool: ClientToolSpec
  /** Null for an older record, which did not name its client. */
  readonly connection: string | null
}

export function findBroughtTool(state: State, name: string): BroughtTool | undefined {
  for (const { connection, tools } of rankLists(state)) {
    const tool = tools.find((candidate) => candidate.name === name)
    if (tool) return { tool, connection }
  }
  return undefined
}

function rankLists(state: State): readonly ClientToolList[] {
  const { clientTools: lists } = state
  if (lists.length < 2) return lists
  const newest = lists.toReversed()
  return [...newest.filter((list) => isHere(state, list)), ...newest.filter((list) => !isHere(state, list))]
}

function isHere(state: State, { connection }: ClientToolList): boolean {
  return state.clients.some((client) => client.connection === connection)
}

/**
 * The client that runs a call. For a client's tool: that client or, if it has detached, another one with a tool of that
 * name. For an agent's tool: the latest client that can run it, since after a reconnect the older connection may only
 * look alive.
 */
export function findHolder(state: State, call: Pick<Call, 'name' | 'broughtBy' | 'relayed'>): Client | undefined {
  const { name, broughtBy, relayed } = call
  // A client whose app knows the root's agent need not know the tools of others.
  if (relayed)
    return state.clients.findLast(({ connection, tools }) => {
      if (tools === null ? relayed.isKnown : tools.includes(name)) return true
      return bringsTool(state, connection, name)
    })
  if (broughtBy === undefined) return state.clients.findLast(({ tools }) => tools === null || tools.includes(name))
  const brings = (client: Client): boolean => bringsTool(state, client.connection, name)
  return (
    state.clients.find((client) => client.connection === broughtBy && brings(client)) ?? state.clients.findLast(brings)
  )
}

export function bringsTool(state: State, connection: string | null, name: string): boolean {
  const list = state.clientTools.find((other) => other.connection === connection)
  return list?.tools.some((tool) => tool.name === name) ?? false
}

/** Whether any client, even an absent one, still has the client tool of a call. */
export function isStillBrought(state: State, { name, broughtBy }: Pick<Call, 'name' | 'broughtBy'>): boolean {
  if (broughtBy === undefined) return bringsTool(state, null, name)
  return state.clientTools.some(({ connection }) => connection !== null && bringsTool(state, connection, name))
}

/** Number of tools of the other attached clients, which cannot be replaced. */
export function countFixedTools(state: State, connection: string): number {
  const fixed = state.clientTools.filter((list) => list.connection !== connection && isHere(state, list))
  return fixed.reduce((sum, { tools }) => sum + tools.length, 0)
}

export interface DroppedTools {
  readonly connection: string | null
  readonly names: readonly string[]
}

/**
 * The tools that absent clients lose to a new list: first tools of the same names, then whole lists, oldest first, to
 * make room.
 */
export function planDrops(
  state: State,
  connection: string,
  brought: readonly ClientToolSpec[],
): readonly DroppedTools[] {
  const names = new Set(brought.map((tool) => tool.name))
  const others = state.clientTools.filter((list) => list.connection !== connection && !isHere(state, list))
  let left = others.reduce((sum, { tools }) => sum + tools.filter(({ name }) => !names.has(name)).length, 0)
  const room = RULES.clientTools - countFixedTools(state, connection) - brought.length
  return others.flatMap(({ connection: gone, tools }): readonly DroppedTools[] => {
    const shadowed = tools.filter(({ name }) => names.has(name))
    const all = left > room
    if (all) left -= tools.length - shadowed.length
    const dropped = all ? tools : shadowed
    return dropped.length === 0 ? [] : [{ connection: gone, names: dropped.map(({ name }) => name) }]
  })
}

/** The agent's own tool with this name, else a client's. */
export function findTool(
  draft: Draft,
  name: string,
): { readonly tool: ToolSpec; readonly broughtBy?: string } | undefined {
  const own = draft.spec.tools.find((tool) => tool.name === name)
  if (own) return { tool: own }
  const brought = findBroughtTool(draft.state, name)
  if (!brought) return undefined
  // Whatever its client declares, it runs at that client.
  const tool: ToolSpec = { ...brought.tool, runs: 'client' }
  return { tool, ...(brought.connection !== null && { broughtBy: brought.connection }) }
}

/** Whether the tool of an open call still exists. */
export function hasTool(draft: Draft, call: Pick<Call, 'name' | 'broughtBy'>): boolean {
  const isOwn = call.broughtBy === undefined && draft.spec.tools.some((tool) => tool.name === call.name)
  return isOwn || isStillBrought(draft.state, call)
}

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
