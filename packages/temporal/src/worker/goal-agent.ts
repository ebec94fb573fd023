// The agent of a goal: the named agent, with the goal's tools, verdict and limits.
import type { Agent } from '@baton/core'
import { BatonError } from '@baton/core'
import { findMissing } from '@baton/core/machine'
import type { GoalTerms } from '../contract.ts'

/** @throws BatonError `invalid_agent` with what the agent lacks */
export function narrowAgent(agent: Agent, { tools, outputSchema, limits }: GoalTerms): Agent {
  const unknown = (tools ?? []).filter((name) => !agent.tools.some((tool) => tool.name === name))
  if (unknown.length > 0) {
    const names = agent.tools.map(({ name }) => name).join(', ')
    throw refuse(agent, `has no tool ${unknown.map((name) => `"${name}"`).join(', ')}; it has ${names}`)
  }
  const [needed] = findMissing(agent).filter((name) => tools && !tools.includes(name))
  if (needed !== undefined)
    throw refuse(agent, `must call its tool "${needed}" before it answers, so the goal's tools must include it`)
  if (outputSchema && outputSchema['type'] !== 'object')
    throw refuse(agent, 'cannot return that verdict: the root of outputSchema must have the type "object"')
  for (const [name, value] of Object.entries(limits ?? {}))
    if (!Object.hasOwn(agent.limits, name) || !(Number.isFinite(value) && value > 0))
      throw refuse(
        agent,
        `cannot have the limit "${name}" of ${value}; its limits are ${Object.keys(agent.limits).join(', ')}, with values above 0`,
      )
  return {
    ...agent,
    ...(tools && { tools: agent.tools.filter(({ name }) => tools.includes(name)), sources: [] }),
    ...(outputSchema && { output: outputSchema as NonNullable<Agent['output']>, outputSchema }), // a JSON Schema is one
    limits: { ...agent.limits, ...limits },
  }
}

function refuse(agent: Agent, why: string): BatonError {
  return new BatonError({ code: 'invalid_agent', message: `the goal cannot be judged: agent "${agent.name}" ${why}` })
}
