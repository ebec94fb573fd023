// Reads the verdict of an agent's approval policy, which is foreign code: an invalid one lets no call run.
import type { PolicyVerdict } from '@baton/core/internal'
import { BatonError, checkFields, describeValue, findDecidersIssue } from '@baton/core/internal'

/**
 * Validates the verdict, since policies are foreign code and the verdict goes into a record. @throws BatonError
 * `invalid_agent`
 */
export function readVerdict(verdict: PolicyVerdict | undefined): PolicyVerdict | undefined {
  if (verdict === undefined || verdict === 'allow' || verdict === 'ask' || verdict === 'deny') return verdict
  if (typeof verdict === 'object' && (verdict as object | null)) checkFields(verdict, VERDICT_FIELDS)
  const { deny, ask, destination, each, deciders } = Object(verdict) as Readonly<Record<string, unknown>> // any value has fields
  const issue = deciders === undefined ? undefined : findDecidersIssue(deciders)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_agent', message: `the approval policy: ${issue}` })
  const isPlace = destination === undefined || (typeof destination === 'string' && destination.length <= PLACE_CHARS)
  const asks = typeof ask === 'string' && isPlace && (each === undefined || typeof each === 'boolean')
  if (typeof deny === 'string' || (deny === undefined && asks)) return verdict
  throw new BatonError({
    code: 'invalid_agent',
    message: `the approval policy returned ${describeValue(verdict)}, which is not a verdict`,
    hint: `Return 'allow', 'ask', 'deny', { deny: 'why' }, { ask: 'why', destination } with at most ${PLACE_CHARS} characters, or undefined.`,
  })
}

/** A misspelt `deciders` would let the session's own principal decide. */
const VERDICT_FIELDS = {
  what: 'the verdict of the approval policy',
  code: 'invalid_agent',
  fields: new Set(['deny', 'ask', 'destination', 'each', 'deciders']),
  elsewhere: { decider: 'deciders', by: 'deciders', reason: 'write { ask: "why" } or { deny: "why" }' },
} as const

/** Maximum characters of a destination. */
const PLACE_CHARS = 1_024
