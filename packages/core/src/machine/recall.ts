// What people decided for later calls too.
import type { State } from './state.ts'

/** What a person decided for later calls of a tool, the newest decision first. */
export function recallDecision(
  state: State,
  call: { readonly name: string; readonly argumentsHash: string },
): 'approve' | 'deny' | undefined {
  const { name, argumentsHash } = call
  const remembered = state.remembered.findLast(
    (other) => other.name === name && (other.argumentsHash === null || other.argumentsHash === argumentsHash),
  )
  return remembered?.decision
}
