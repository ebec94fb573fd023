// Decisions of people that also apply to later calls: their fold, and what they say about a call.
import type { FactOf } from './fact.ts'
import type { CallCheck } from './input.ts'
import { RULES } from './spec.ts'
import type { Call, RememberedDecision, State } from './state.ts'
import { findCall, findRelayed } from './state.ts'

/** The newest decision for a tool, for a tool with these arguments, or for its destination replaces the older one. */
export function rememberDecision(state: State, fact: FactOf<'approval-decided'>): State {
  const call = findCall(state, fact.callId)
  return call ? rememberDecided(state, fact, call) : state
}

type Decided = Pick<Call, 'name' | 'argumentsHash' | 'asksFor' | 'asksEach'> & Pick<RememberedDecision, 'agents'>

/** The root remembers decisions about calls below by the agents that make them. */
export function rememberRelayed(state: State, fact: FactOf<'approval-decided'>): State {
  const one = findRelayed(state, fact.approvalId)
  return one?.asked && state.parent === null
    ? rememberDecided(state, fact, { ...one.asked, agents: one.agents })
    : state
}

function rememberDecided(state: State, fact: FactOf<'approval-decided'>, call: Decided): State {
  const { name, argumentsHash, asksFor, asksEach } = call
  const of = call.agents && { agents: call.agents }
  // A person who changed the arguments approved their destination, which is unknown.
  const stands = fact.remember !== undefined || !asksEach
  if (asksFor !== undefined && asksFor !== '' && fact.decision === 'approve' && stands)
    return remember(state, { name, ...of, argumentsHash: null, asksFor, decision: 'approve' })
  if (!fact.remember || (asksFor !== undefined && fact.decision !== 'deny')) return state
  const decision = fact.decision === 'deny' ? 'deny' : 'approve'
  return remember(state, { name, ...of, argumentsHash: fact.remember === 'tool' ? null : argumentsHash, decision })
}

function remember(state: State, decided: RememberedDecision): State {
  const { name, argumentsHash, asksFor } = decided
  const others = state.remembered.filter(
    (other) =>
      !isOfAgents(other, decided.agents) ||
      other.name !== name ||
      other.argumentsHash !== argumentsHash ||
      other.asksFor !== asksFor,
  )
  return { ...state, remembered: [...others, decided].slice(-RULES.remembered) }
}

/** Whether a remembered decision is about calls of these agents; undefined: of the session's own. */
function isOfAgents({ agents }: RememberedDecision, of: readonly string[] | undefined): boolean {
  if (!agents || !of) return agents === of
  return agents.length === of.length && agents.every((agent, at) => agent === of[at])
}

/** A person's decision for later calls of a tool, or for those with the same arguments; the newest decision first. */
export function recallDecision(
  state: State,
  tool: string,
  { argumentsHash, asksFor }: Pick<CallCheck, 'argumentsHash' | 'asksFor'>,
  agents?: readonly string[],
): 'approve' | 'deny' | undefined {
  const own = state.remembered.filter((one) => isOfAgents(one, agents))
  const remembered = own.findLast((one) => {
    if (one.name !== tool) return false
    // A later approval of the destination does not approve the very call that a person denied.
    if (asksFor !== undefined && one.decision === 'approve' && isDenied(own, tool, argumentsHash)) return false
    if (one.asksFor !== undefined) return one.asksFor === asksFor
    const fits = one.argumentsHash === null || one.argumentsHash === argumentsHash
    return fits && (asksFor === undefined || one.decision === 'deny')
  })
  return remembered?.decision
}

function isDenied(remembered: State['remembered'], tool: string, argumentsHash: string): boolean {
  const denies = ({ name, decision, argumentsHash: denied }: State['remembered'][number]): boolean =>
    name === tool && decision === 'deny' && denied === argumentsHash
  return remembered.some(denies)
}
