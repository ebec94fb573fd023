// The agents that a host lists, by name.
import type { Agent } from '@baton/core/internal'
import { BatonError, findNearName } from '@baton/core/internal'
import type { CatalogOptions } from './catalog.ts'
import { checkAgent } from './catalog-refusals.ts'

/** @throws BatonError `invalid_agent` if two agents share a name */
export function indexAgents({
  agents = [],
  agent,
}: Pick<CatalogOptions, 'agent' | 'agents'>): ReadonlyMap<string, Agent> {
  const index = new Map<string, Agent>()
  for (const one of agents) {
    checkAgent(one)
    if (index.has(one.name))
      throw new BatonError({ code: 'invalid_agent', message: `two agents are named "${one.name}"` })
    index.set(one.name, one)
  }
  if (agent !== undefined) checkAgent(agent)
  if (agent && !index.has(agent.name)) index.set(agent.name, agent)
  return index
}

/** @throws BatonError `invalid_agent` if no listed agent has this name */
export function findAgent(agents: ReadonlyMap<string, Agent>, name: string): Agent {
  const found = agents.get(name)
  if (found) return found
  const names = [...agents.keys()]
  const near = findNearName(names, name)
  throw new BatonError({
    code: 'invalid_agent',
    message: `the host lists no agent "${name.slice(0, 100)}"${near === undefined ? '' : `; did you mean "${near}"?`}`,
    hint: names.length === 0 ? 'List it: createHost({ agents: [writer] }).' : `It lists ${names.join(', ')}.`,
  })
}

/** A name would skip `agentOf`, and with it the session's own services, models and tools. */
export function createBypassError(name: string): BatonError {
  return new BatonError({
    code: 'invalid_agent',
    message: `this host chooses agents with agentOf, so a session cannot name the agent "${name.slice(0, 100)}"`,
    hint: 'Let agentOf choose by id, principal or meta of the session, or pass the agent itself.',
  })
}
