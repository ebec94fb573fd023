// Tools provided by clients: their owners, the clients that may run their calls, and lists replaced by newer ones.
import type { ClientToolSpec } from './input.ts'
import { RULES } from './spec.ts'
import type { Call, Client, ClientToolList, State } from './state.ts'

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
export function findHolder(state: State, call: Pick<Call, 'name' | 'broughtBy'>): Client | undefined {
  const { name, broughtBy } = call
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
