// The agent of a child session: that of its delegating tool, under the policies and permissions of all its callers.
import type { Agent, ApprovalPolicy, DelegateRules, PolicyVerdict, Tool } from '@baton/core/internal'
import { CHILD_PREFIX, findDelegate } from '@baton/core/internal'
import type { PathStep } from '@baton/core/machine'

/** Name of the session of a delegated call. Whoever opens it gets the same one. */
export function nameChild(digest: (text: string) => string, parent: string, callId: string): string {
  return `${CHILD_PREFIX}${digest(`${parent}\n${callId}`)}`
}

/**
 * Returns the agent of a child. `caller` is the agent of the calling session, which has what it inherited itself.
 * @throws BatonError `invalid_tool` if the tool's function returns no agent
 */
export function createChildAgent(caller: Agent, callId: string, rules: DelegateRules): Agent {
  const { inherits } = rules
  const own = findDelegate(rules)
  const above = inherits.policies ? caller.approvalPolicy : undefined
  const inherited = inherits.permissions ? (caller.permissions ?? []) : []
  // The agent itself: what the catalog knows of it is kept, and a child opens like any session.
  if (!above && inherited.length === 0) return own
  return {
    ...own,
    ...(above && { approvalPolicy: joinPolicies(own.approvalPolicy, above, { callId, agent: own.name }) }),
    ...(inherited.length > 0 && { permissions: [...(own.permissions ?? []), ...inherited] }),
  }
}

/** The delegating tool of a call; undefined if the agent has it no longer. */
export function findDelegation(tools: readonly Tool[], name: string): DelegateRules | undefined {
  return tools.find((tool) => tool.name === name)?.delegation
}

/** A policy of a caller makes a verdict stricter, and never looser. */
function joinPolicies(own: ApprovalPolicy | undefined, above: ApprovalPolicy, step: PathStep): ApprovalPolicy {
  return async (call) => {
    const verdict = await own?.(call)
    if (isDenial(verdict)) return verdict
    const outer = await above({ ...call, path: [step, ...(call.path ?? [])] })
    if (isDenial(outer)) return outer
    if (outer === undefined || outer === 'allow') return verdict
    if (verdict === undefined || verdict === 'allow') return outer
    return joinRequests(verdict, outer)
  }
}

type Verdict = PolicyVerdict | undefined

function isDenial(verdict: Verdict): boolean {
  return verdict === 'deny' || (typeof verdict === 'object' && verdict !== null && 'deny' in verdict)
}

/** Asks for both reasons. An approval covers later calls only if both policies allow it. */
function joinRequests(one: PolicyVerdict, other: PolicyVerdict): PolicyVerdict {
  if (typeof one !== 'object' || !('ask' in one)) return other
  if (typeof other !== 'object' || !('ask' in other)) return one
  const isSame = one.destination === other.destination
  return {
    ask: one.ask === other.ask ? one.ask : `${one.ask} ${other.ask}`,
    ...(isSame && one.destination !== undefined && { destination: one.destination }),
    // Absent, the tool decides.
    ...(one.each === true || other.each === true
      ? { each: true }
      : one.each === false && other.each === false && { each: false }),
  }
}
