// Rules about who may decide an approval: the session's principal, or the people and roles that a tool or a policy names.
// The machine checks them for every front and host.
import type { Refusal } from '../errors.ts'
import type { InputOf } from './input.ts'
import type { Deciders } from './values.ts'

/** A person, with the roles that they have now. */
export interface Decider {
  readonly principal: string
  readonly roles?: readonly string[] | undefined
  /** An operator, whom the host lets decide for the owner. */
  readonly asOwner?: true | undefined
}

/** Why this person may not decide a call of the owner's session; undefined if they may. */
export function findDeciderIssue(owner: string, deciders: Deciders | undefined, who: Decider): string | undefined {
  const { principal, roles = [] } = who
  const isOwner = principal === owner
  // Sessions without a principal do not check the speaker.
  if (!deciders) return isOwner || owner === '' || who.asOwner ? undefined : foreign(principal)
  if (deciders.notAsker && isOwner) return `"${principal}" asked for it, and somebody else has to decide it`
  const { people = [], roles: allowed = [] } = deciders
  if (people.length + allowed.length === 0 || people.includes(principal)) return undefined
  if (allowed.some((role) => roles.includes(role))) return undefined
  const named = [...people, ...allowed.map((role) => `the role "${role}"`)]
  return `"${principal}" may not decide it; ${named.join(', ')} may`
}

export function foreign(principal: string): string {
  return `the session belongs to a principal other than "${principal}"`
}

/** A request as the rules of its deciders see it. */
export interface DecidedRequest {
  readonly owner: string
  readonly deciders: Deciders | undefined
  /** Principals that have approved it. */
  readonly given: readonly string[]
}

/** Whether an approval leaves the request open, for further people: how many. */
export function countLeft({ deciders, given }: DecidedRequest, input: InputOf<'approval'>): number {
  return input.decision === 'approve' ? Math.max(0, (deciders?.needed ?? 1) - given.length - 1) : 0
}

/** Checks a decision against the request's deciders. */
export function checkDecider(request: DecidedRequest, input: InputOf<'approval'>): Refusal | undefined {
  const { owner, deciders, given } = request
  const { principal, decision, remember, approvalId, edited } = input
  const refuse = (why: string): Refusal => ({ code: 'approval_refused', message: `${approvalId}: ${why}` })
  // The asker may take it back.
  const isTakenBack = decision === 'deny' && principal === owner
  const issue = isTakenBack ? undefined : findDeciderIssue(owner, deciders, input)
  if (issue !== undefined) return refuse(issue)
  if (deciders && remember) return refuse('a call with deciders is decided by itself; leave `remember` out')
  if (deciders && decision === 'approve' && given.includes(principal))
    return refuse(`"${principal}" has approved it already`)
  if (decision !== 'edit') return undefined
  const { needed = 1 } = deciders ?? {}
  const after = edited?.check.deciders
  if (needed > 1 || (after?.needed ?? 1) > 1)
    return refuse('several people have to approve the same arguments; deny it with what to change')
  const changed = after && findDeciderIssue(owner, after, input)
  return changed === undefined ? undefined : refuse(`with these arguments, ${changed}`)
}
