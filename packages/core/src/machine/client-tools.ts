// Tools that clients bring: whose they are, who may run their calls, and which lists give way to newer ones.
import type { ClientToolSpec } from './input.ts'
import { RULES } from './spec.ts'
import type { Call, Client, ClientToolList, State } from './state.ts'

/**
 * The tools that clients brought, each name once: those of attached clients before those of clients that are gone, and
 * among them the newest. Sorted by name, so that what a model is told does not depend on who came when. An agent's own
 * tool of the same name wins over all of them; that is not looked at here.
 */
export function listClientTools(state: State): readonly ClientToolSpec[] {
  const named = new Map<string, ClientToolSpec>()
  for (const { tools } of rankLists(state))
    for (const tool of tools) if (!named.has(tool.name)) named.set(tool.name, tool)
  return [...named.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

export interface BroughtTool {
  readonly tool: ClientToolSpec
  /** Null: of an older record, which did not say whose it is. */
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
 * Who runs a client call: of a tool that a client brought that client, or when it is gone another one that brought the
 * same name; of the agent's own tools the client that came last, of those that can run it: after a reconnect the older
 * connection may only look alive.
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

/** Whether anybody, also one who is gone for now, still has the tool of a call that clients brought. */
export function isStillBrought(state: State, { name, broughtBy }: Pick<Call, 'name' | 'broughtBy'>): boolean {
  if (broughtBy === undefined) return bringsTool(state, null, name)
  return state.clientTools.some(({ connection }) => connection !== null && bringsTool(state, connection, name))
}

/** Tools that attached clients other than this one hold: nothing can take their place. */
export function countFixedTools(state: State, connection: string): number {
  const fixed = state.clientTools.filter((list) => list.connection !== connection && isHere(state, list))
  return fixed.reduce((sum, { tools }) => sum + tools.length, 0)
}

export interface DroppedTools {
  readonly connection: string | null
  readonly names: readonly string[]
}

/** The tools that absent clients lose to a new list: tools of the same names, then whole lists, oldest first, for room. */
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
