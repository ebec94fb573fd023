// The order of calls that an agent demands. The machine enforces it, whatever the model does and whether or not its
// provider supports a tool choice.
import type { Spec } from './spec.ts'
import type { Turn } from './state.ts'

/** The name of the call that represents the approval of an answer; no tool has it. */
export const ANSWER_APPROVAL = 'answer.approve'

/**
 * The tools that need an `ok` result in this turn before the call, or before the answer (without `name`). Empty if it is allowed now.
 * @param done tools that have one
 */
export function findMissing(
  { firstTool, order }: Pick<Spec, 'firstTool' | 'order'>,
  done: readonly string[] = [],
  name?: string,
): readonly string[] {
  if (firstTool !== undefined && name !== firstTool && !done.includes(firstTool)) return [firstTool]
  if (!order) return []
  const rules = order.filter((rule) => ('tool' in rule ? rule.tool === name : name === undefined))
  return [...new Set(rules.flatMap(({ after }) => after))].filter((tool) => !done.includes(tool))
}

/**
 * Whether `stopWhen` ends the turn now that the calls of a step have settled. The turn continues while the answer still
 * requires another tool's result.
 */
export function endsAtCalls(
  spec: Pick<Spec, 'stopWhen' | 'firstTool' | 'order'>,
  { done = [], rounds }: Pick<Turn, 'done' | 'rounds'>,
): boolean {
  const isMet = spec.stopWhen?.some((rule) => ('tool' in rule ? done.includes(rule.tool) : rounds >= rule.rounds))
  return isMet === true && findMissing(spec, done).length === 0
}

/** Message to the model about a premature call. */
export function describeMissing(name: string, missing: readonly string[]): string {
  return `"${name}" may run only after ${list(missing)} gave a result in this turn. Call ${list(missing)} first, then "${name}" again`
}

/** Message to the model about a premature answer. */
export function describeEarlyAnswer(missing: readonly string[]): string {
  return `it may come only after ${list(missing)} gave a result in this turn. Call ${list(missing)} first`
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(' and ')
}
