// A decision in the making: facts are folded as they are decided, so each rule sees the state that it decides in.
import { apply } from './apply.ts'
import type { Fact } from './fact.ts'
import type { Spec, ToolSpec } from './spec.ts'
import type { State } from './state.ts'

export interface Draft {
  readonly spec: Spec
  state: State
  readonly facts: Fact[]
}

export function emit(draft: Draft, fact: Fact): void {
  draft.facts.push(fact)
  draft.state = apply(draft.state, fact)
}

/** A tool that a client brought has no say over one of the agent's own of the same name. */
export function findTool(draft: Draft, name: string): ToolSpec | undefined {
  return (
    draft.spec.tools.find((tool) => tool.name === name) ?? draft.state.clientTools.find((tool) => tool.name === name)
  )
}
