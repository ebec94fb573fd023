// Applies what a page has of a turn's calls: the results of its tools, and its user's decisions. Other pages may do the
// same at the same moment.
import type { CallView, FrontSession } from '@baton/core/internal'
import { isBatonError, stringifySorted } from '@baton/core/internal'
import { createPageName, isPage } from './chat-answer.ts'
import type { Given } from './chat-request.ts'

/** Whether a call had already settled differently before this page's report, or belongs to another client. */
export function hasEndedOtherwise(
  given: Exclude<Given, { type: 'decision' }>,
  calls: ReadonlyMap<string, CallView>,
): boolean {
  const call = calls.get(given.callId)
  if (call?.runs !== 'client') return false
  if (!call.result) return given.isElsewhere || !isOfPages(call)
  const isOk = call.result.type === 'ok'
  if (!isOk || given.type === 'failed') return isOk === (given.type === 'failed')
  const { value, content } = call.result
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
  return value === undefined ? text !== asText(given.output) : stringifySorted(value) !== stringifySorted(given.output)
}

/** Whether a page runs the call, or no client does because the lease of its page ended or the host restarted. */
function isOfPages({ holder }: CallView): boolean {
  return holder === undefined || isPage(holder)
}

type DecisionGiven = Extract<Given, { readonly type: 'decision' }>

/** Whether the model has read that the call ended without a result, and the page has one after all. */
function isLate({ type }: Given, { result }: CallView): boolean {
  return type === 'result' && result !== undefined && WITHOUT_RESULT.has(result.type)
}

const WITHOUT_RESULT: ReadonlySet<string> = new Set(['unknown', 'timed-out', 'cancelled'])

/** Calls and requests of the session's newest turn. */
export interface GivenTo {
  readonly calls: ReadonlyMap<string, CallView>
  /** Approvals that the turn has requested. */
  readonly requested: ReadonlySet<string>
  readonly newId: () => string
}

/**
 * Applies a result or decision. Skips results of settled calls that are not late, and of calls that another client is
 * known to run. False if another request was faster.
 * @throws BatonError `approval_refused` for a decision on a request that the session did not make
 */
export async function takeGiven(
  session: FrontSession,
  given: Given,
  { calls, requested, newId }: GivenTo,
): Promise<boolean> {
  if (given.type === 'decision') {
    const isInvented = !requested.has(given.approvalId) && calls.get(given.callId)?.status === 'awaiting-approval'
    return await decide(session, given, isInvented)
  }
  if (given.isElsewhere) return true
  const call = calls.get(given.callId)
  if (!call || call.runs !== 'client' || !isOfPages(call)) return true
  const isSettled = call.status === 'settled'
  if (isSettled && (call.holder === undefined || !isLate(given, call))) return true
  const outcome =
    given.type === 'failed'
      ? ({ type: 'error', code: 'tool_failed', message: given.message } as const)
      : ({ type: 'ok', content: [{ type: 'text', text: asText(given.output) }], value: given.output } as const)
  // Attaching the call's page again would shorten the lease that keeps its other calls.
  const client = await session.client(
    call.holder === undefined
      ? { client: createPageName(newId()), below: true }
      : { client: call.holder, onlyResults: true },
  )
  try {
    if (!isSettled && call.status !== 'running') await client.claim(call.callId)
    return (await client.result(call.callId, outcome)).ignored === undefined
  } catch (cause) {
    if (isBatonError(cause) && (cause.code === 'call_over' || cause.code === 'call_not_offered')) return false
    throw cause
  } finally {
    // Its response has ended: a client that stayed would be offered later calls, and nobody would run them.
    if (isDone(session, call, calls)) await client.detach().catch(() => {}) // its lease will expire
  }
}

/** Whether the client behind a call has no other open call. */
function isDone(session: FrontSession, { callId, holder }: CallView, calls: GivenTo['calls']): boolean {
  if (holder === undefined) return true
  return [...calls.values()].every(
    (one) => one.holder !== holder || one.callId === callId || session.openCall(one.callId)?.settled !== false,
  )
}

/** `isInvented`: the session is asked even if the request is not open, for its refusal. */
async function decide(
  session: FrontSession,
  { approvalId, isApproved, reason }: DecisionGiven,
  isInvented: boolean,
): Promise<boolean> {
  const isOpen = async () => (await session.approvals()).some((one) => one.approvalId === approvalId)
  if (!isInvented && !(await isOpen())) return true
  const decision = isApproved ? 'approve' : 'deny'
  try {
    await session.decide({ approvalId, decision, ...(reason !== undefined && { reason }) })
    return true
  } catch (cause) {
    if (isInvented || (await isOpen())) throw cause
    return false
  }
}

function asText(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}
