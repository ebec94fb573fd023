// A decision in progress: facts are folded as they are decided, so each rule sees the current state.
import type { Fact } from './fact.ts'
import type { Spec } from './spec.ts'
import type { State } from './state.ts'

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
