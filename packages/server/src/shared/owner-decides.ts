// Requests that wait for a decision, as the session's owner sees them: some are the owner's to decide, and others wait for
// the people whom a tool or a policy names.
import type { CallView, PendingApproval, Principal } from '@baton/core/internal'
import { findDeciderIssue } from '@baton/core/internal'

type Deciders = CallView['deciders']

/** Whether the session's owner, with these roles, may approve the call now. */
export function ownerDecides(
  { id, roles }: Principal,
  { deciders, given }: Pick<PendingApproval, 'deciders' | 'given'>,
): boolean {
  const hasGiven = given?.some((one) => one.id === id) === true
  return !hasGiven && findDeciderIssue(id, deciders, { principal: id, roles }) === undefined
}

/** Names who decides: `mia, tom or the role "manager"`. */
export function nameDeciders({ people = [], roles = [], needed = 1 }: NonNullable<Deciders>): string {
  const named = [...people, ...roles.map((role) => `the role "${role}"`)]
  const last = named.pop()
  const who =
    last === undefined ? 'somebody else' : [...(named.length > 0 ? [named.join(', ')] : []), last].join(' or ')
  return needed > 1 ? `${needed} of ${who}` : who
}
