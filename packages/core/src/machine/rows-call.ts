// Rows for the outcome of calls: results, claims, and clients' reports about them.
import type { StoredPart } from '../messages.ts'
import { applyCallEvent, callOutcome, dropClient, noteOutcome, settle } from './call-event.ts'
import { setCallClock } from './clocks.ts'
import { wholeChars } from './cut-parts.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { IgnoreReason, Settlement } from './fact.ts'
import type { InputOf, Outcome } from './input.ts'
import { findLargeMedia } from './media.ts'
import { heldChars, jsonChars } from './size.ts'
import type { Limits } from './spec.ts'
import { RULES } from './spec.ts'
import type { Call, Offer } from './state.ts'
import { findCall, findDetached } from './state.ts'

export function takeToolResult(draft: Draft, input: InputOf<'tool-finished'>): void {
  const call = findCall(draft.state, input.callId)
  const detached = draft.state.detached.length === 0 ? undefined : findDetached(draft.state, input)
  if (detached) {
    ignore(draft, input, 'late')
    noteOutcome(draft, detached, 'has ended', preview(input.outcome, RULES.noteChars))
  } else if (call && call.state === 'started' && call.attempt === input.attempt) {
    const loss = input.outcome.type === 'error' ? readLoss(input.outcome) : undefined
    settle(draft, call, loss ?? boundOutcome(draft, input.outcome), loss !== undefined)
  } else if (runs(draft, input.callId)) ignore(draft, input, 'stale')
  else ignoreSettled(draft, input)
}

/** A tool that lost its executor, such as a server, reports that the outcome is unknown. */
function readLoss({ code, message: words }: Extract<Outcome, { readonly type: 'error' }>): Settlement | undefined {
  if (code !== 'tool_result_unknown') return undefined
  const message = words.slice(0, wholeChars(words, RULES.noteChars))
  return { type: 'unknown', reason: 'executor-lost', ...(message !== '' && { message }) }
}

function runs({ state }: Draft, callId: string): boolean {
  const call = findCall(state, callId)
  return (call && call.state !== 'settled') || state.detached.some((detached) => detached.callId === callId)
}

export function takeClientResult(draft: Draft, input: InputOf<'tool-result'>): void {
  const { callId, connection, outcome } = input
  const call = findCall(draft.state, callId)
  const asked = call ?? draft.state.recentCalls.findLast((closed) => closed.callId === callId)
  if (!asked) ignore(draft, input, 'unknown')
  else if (asked.runs !== 'client' || !mayAnswer(draft, asked.offer, connection)) ignore(draft, input, 'foreign')
  else if (call && callOutcome(call, 'result') === 'accept') settle(draft, call, boundOutcome(draft, outcome), false)
  else ignoreSettled(draft, input)
}

/**
 * Only the client with the offer may answer, under its own name, until the call's deadline: neither the end of its
 * lease nor a restart passes its claim to another client. Apps without claims have no name that outlives a connection,
 * so the principal is checked instead: a newer connection without claims may deliver the result, even before the old
 * one is known to be dead.
 */
function mayAnswer(draft: Draft, offer: Offer | null, connection: string): boolean {
  const { clients } = draft.state
  const answers = clients.findIndex((client) => client.connection === connection)
  const client = clients[answers]
  if (!offer || !client) return false
  if (offer.connection === connection) return true
  if (offer.claims || client.claims || client.principal !== offer.principal) return false
  const holds = clients.findIndex((other) => other.connection === offer.connection)
  return answers > holds
}

function boundOutcome(draft: Draft, outcome: Outcome): Settlement {
  const chars = outcome.type === 'error' ? outcome.message.length : heldChars(outcome.content)
  const { limits } = draft.spec
  const large =
    chars > limits.resultChars
      ? `the result has ${chars} characters; at most ${limits.resultChars} are allowed`
      : outcome.type === 'ok'
        ? findLargeValue(outcome, limits)
        : undefined
  return large === undefined ? outcome : { type: 'error', code: 'result_too_large', message: large }
}

function findLargeValue(
  { content, value }: Extract<Outcome, { readonly type: 'ok' }>,
  limits: Limits,
): string | undefined {
  const media = findLargeMedia(content, limits)
  if (media !== undefined) return `the result is too large: ${media}`
  const chars = value === undefined ? 0 : jsonChars(value)
  if (chars <= limits.resultChars) return undefined
  return `the result’s value has ${chars} characters as JSON; at most ${limits.resultChars} are allowed`
}

/**
 * Logs a late, repeated or unknown result, which changes nothing in the ledger. The model gets a note if it was told
 * otherwise.
 */
function ignoreSettled(draft: Draft, input: Answer): void {
  const { state } = draft
  const open = findCall(state, input.callId)
  const closed = state.recentCalls.findLast((call) => call.callId === input.callId)
  const settlement = open?.settlement ?? closed?.settlement
  const tellLate = open?.tellLate ?? closed?.tellLate ?? false
  if (settlement === undefined || settlement === null) {
    ignore(draft, input, 'unknown')
    return
  }
  const answered = settlement === 'ok' || (settlement === 'error' && !tellLate)
  ignore(draft, input, answered ? 'duplicate' : 'late')
  const call = open ?? closed
  if (tellLate && call) noteOutcome(draft, call, 'finished after all', preview(input.outcome, RULES.noteChars))
}

type Answer = InputOf<'tool-result'> | InputOf<'tool-finished'>

function ignore(draft: Draft, input: Answer, reason: IgnoreReason): void {
  const outcome = input.outcome.type
  emit(draft, { type: 'result-ignored', callId: input.callId, reason, outcome, preview: preview(input.outcome, 200) })
}

function preview(outcome: Outcome, chars: number): string {
  const text = outcome.type === 'error' ? `Error: ${outcome.message}` : outcome.content.map(shown).join(' ')
  return text.length <= chars ? text : `${text.slice(0, wholeChars(text, chars))}…`
}

function shown(part: StoredPart): string {
  return part.type === 'text' ? part.text : `[${part.type}]`
}

/** A client that claims calls before it acts allows an unclaimed one to move to another client. */
export function claimCall(draft: Draft, input: InputOf<'call-claimed'>): void {
  const call = findCall(draft.state, input.callId)
  if (!call || callOutcome(call, 'claim') !== 'claim') return
  emit(draft, { type: 'call-claimed', callId: input.callId, connection: input.connection })
}

/** A sequential client reached the call: its clock starts. */
export function reachCall(draft: Draft, input: InputOf<'call-reached'>): void {
  const call = findCall(draft.state, input.callId)
  if (call?.offer?.number === input.offer && call.clock.mode === 'waiting') setCallClock(draft, call, 'running')
}

/**
 * The offer could not be written, so the client did not see it and even a `once` call may be offered again. (A client
 * that has claimed a call has seen it; if delivery is the claim, it was only about to be written.) Not to the same
 * connection, though, or a broken one would be offered the call forever: it counts as disconnected until it attaches
 * again.
 */
export function returnOffer(draft: Draft, input: InputOf<'offer-failed'>): void {
  const call = findCall(draft.state, input.callId)
  if (call?.offer?.number !== input.offer) return
  const unseen = call.state === 'offered' || (call.state === 'claimed' && !call.offer.claims)
  if (!unseen) return
  emit(draft, { type: 'call-returned', callId: input.callId, reason: 'send_failed' })
  dropClient(draft, call.offer.connection)
}

/** A call's clock ran out. A `waiting` call only stopped waiting for the calls before it. */
export function passDeadline(draft: Draft, call: Call): void {
  if (call.clock.mode === 'waiting') setCallClock(draft, call, 'running')
  else if (mayTakeOver(draft, call)) emit(draft, { type: 'call-taken-over', callId: call.callId })
  else applyCallEvent(draft, call, 'deadline')
}

/** False if a client may have started the call. In an interrupted turn no call waits for a client: it has settled. */
function mayTakeOver({ spec }: Draft, call: Call): boolean {
  if (call.clock.mode !== 'away' || call.state !== 'ready' || call.mayHaveActed) return false
  return call.broughtBy === undefined && spec.tools.some((tool) => tool.name === call.name && tool.fallback === true)
}

/** A tool of an ended run no longer sets plans. */
export function setPlan(draft: Draft, { callId, attempt, entries }: InputOf<'plan-set'>): void {
  const call = findCall(draft.state, callId)
  if (call?.state !== 'started' || call.attempt !== attempt) return
  const kept = entries.slice(0, RULES.planEntries).map((entry) => ({
    ...entry,
    content: entry.content.slice(0, wholeChars(entry.content, RULES.planChars)),
  }))
  emit(draft, { type: 'plan-set', callId, entries: kept })
}

/** It was paid for, whatever the outcome of the call. */
export function noteUse(draft: Draft, { type, callId, model, usage }: InputOf<'model-used'>): void {
  emit(draft, { type, callId, model, usage })
}
