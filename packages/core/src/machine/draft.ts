// A decision in progress: facts are folded as they are decided, so each rule sees the current state.
import { findBroughtTool, isStillBrought } from './client-tools.ts'
import type { Fact } from './fact.ts'
import type { Spec, ToolSpec } from './spec.ts'
import type { Call, State } from './state.ts'

export interface Draft {
  readonly spec: Spec
  state: State
  readonly facts: Fact[]
  /** `apply`, which imports the files that decide. */
  readonly fold: (state: State, fact: Fact) => State
}

export function emit(draft: Draft, fact: Fact): void {
  draft.facts.push(fact)
  draft.state = draft.fold(draft.state, fact)
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
