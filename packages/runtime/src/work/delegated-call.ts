// Examines a call that another agent will do: the child's message, and what must be known of it before it begins.
import type { Agent, DelegateRules, StoredMessage } from '@baton/core/internal'
import { BatonError, describeValue, findDelegate } from '@baton/core/internal'
import type { Delegation } from '@baton/core/machine'
import { collectTexts } from './copied-text.ts'

/** Addresses that a task may pass on, and UTF-16 units of one. */
const KNOWN_MAX = 32
const KNOWN_CHARS = 2048
/** Web and mail addresses. */
const ADDRESS = /\bhttps?:\/\/[^\s"'<>()[\]{},;]+|[^\s"'<>()[\]{},;:@]+@[^\s"'<>()[\]{},;:@]+\.[a-z]{2,}/giu

export interface DelegatedCall {
  /** The validated input. */
  readonly input: unknown
  /** UTF-16 units of a message that the child takes. */
  readonly told: () => readonly StoredMessage[]
  /** Tools whose untrusted results the caller's model has read. */
  readonly untrusted: readonly string[]
}

/** @throws BatonError `invalid_tool` for a `prompt` that returns no text, or what the tool's functions throw */
export function describeDelegation(rules: DelegateRules, { input, told, untrusted }: DelegatedCall): Delegation {
  const agent = findDelegate(rules)
  const text: unknown = rules.prompt(input)
  if (typeof text !== 'string' || text.trim() === '')
    throw new BatonError({ code: 'invalid_tool', message: `prompt must return text, not ${describeValue(text)}` })
  if (text.length > agent.limits.inputChars)
    throw new BatonError({
      code: 'invalid_tool',
      message: `the task has ${text.length} characters; agent "${agent.name}" takes ${agent.limits.inputChars}`,
    })
  const known = untrusted.length > 0 ? findKnown(text, told()) : []
  const { tokens, costMicros, rounds, calls, sessions } = rules.limits
  const limits = {
    ...(tokens !== undefined && { tokens }),
    ...(costMicros !== undefined && { costMicros }),
    ...(rounds !== undefined && { rounds }),
    ...(calls !== undefined && { calls }),
    ...(sessions !== undefined && { sessions }),
  }
  return {
    agent: agent.name,
    task: [{ type: 'text', text }],
    ...(untrusted.length > 0 && { untrusted }),
    ...(untrusted.length > 0 && { known }),
    acts: mayAct(agent),
    ...(Object.keys(limits).length > 0 && { limits }),
  }
}

/** Addresses in the task that the caller's model has read, and not made up. */
function findKnown(text: string, told: readonly StoredMessage[]): readonly string[] {
  const addresses = [...new Set(text.match(ADDRESS))].filter(({ length }) => length <= KNOWN_CHARS)
  if (addresses.length === 0) return []
  const { untrusted, user } = collectTexts(told)
  return addresses
    .filter((one) => user.includes(one) || untrusted.some((passage) => passage.text.includes(one)))
    .slice(0, KNOWN_MAX)
}

/** Agents to look at; more of them count as acting. */
const AGENTS_MAX = 200

/**
 * Whether the agent, or an agent that it may delegate to, has sources or a tool that is not pure. Agents may call each
 * other, and a function may return a new one each time.
 */
function mayAct(first: Agent): boolean {
  const agents = new Set([first])
  for (const { sources, tools } of agents) {
    if (sources.length > 0 || tools.some(({ delegation, effect }) => !delegation && effect !== 'pure')) return true
    for (const { delegation } of tools) {
      if (!delegation) continue
      agents.add(findDelegate(delegation))
      if (agents.size > AGENTS_MAX) return true
    }
  }
  return false
}
