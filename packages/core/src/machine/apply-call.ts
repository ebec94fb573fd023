// Folds facts about single calls: the ledger.
import type { FactOf, Settlement } from './fact.ts'
import { countChars, measureLong, measureMedia } from './size.ts'
import { RULES } from './spec.ts'
import type { Call, RememberedDecision, State } from './state.ts'
import { findCall, findCallIndex, waitsForAnswer } from './state.ts'

type CallFact = FactOf<
  | 'approval-requested'
  | 'approval-decided'
  | 'question-asked'
  | 'question-answered'
  | 'call-started'
  | 'call-offered'
  | 'call-claimed'
  | 'call-returned'
  | 'call-taken-over'
  | 'call-clock-set'
  | 'call-settled'
  | 'result-ignored'
  | 'grace-started'
>

export function applyCallFact(state: State, fact: CallFact): State {
  switch (fact.type) {
    case 'grace-started': {
      if (!state.step) return state
      return { ...state, step: { ...state.step, grace: { atMs: fact.untilMs, generation: state.pos } } }
    }
    case 'approval-decided':
      return rememberDecision(
        updateCall(state, fact.callId, (call) => approvalDecided(call, fact)),
        fact,
      )
    case 'result-ignored':
      return fact.reason === 'late' ? forgetLate(state, fact.callId) : state
    case 'call-settled': {
      const { callId, settlement } = fact
      const call = settlement.type === 'cancelled' && settlement.detached ? findCall(state, callId) : undefined
      const next = updateCall(noteDone(state, fact), callId, (open) => settled(open, settlement, fact.tellLate))
      return call ? { ...next, detached: [...state.detached, call] } : next
    }
    case 'call-offered': {
      const counters = { ...state.counters, offer: fact.offer }
      return { ...updateCall(state, fact.callId, (call) => callAfter(state, call, fact)), counters }
    }
    default:
      return updateCall(state, fact.callId, (call) => callAfter(state, call, fact))
  }
}

function callAfter(
  state: State,
  call: Call,
  fact: Exclude<CallFact, { type: 'grace-started' | 'result-ignored' | 'approval-decided' | 'call-settled' }>,
): Call {
  switch (fact.type) {
    case 'approval-requested': {
      const approval = { id: fact.approvalId, deadline: { atMs: fact.expiresAtMs, generation: state.pos } }
      return { ...call, state: 'awaiting-approval', approval, approvals: call.approvals + 1 }
    }
    case 'question-asked':
      return questionAsked(state, call, fact)
    case 'question-answered':
      return questionAnswered(state, call, fact)
    case 'call-started': {
      const { attempt } = fact
      // A question of an earlier attempt is still open: it stays, and the clock stays paused.
      if (call.questions.length > 0 && waitsForAnswer(call))
        return { ...call, attempt, heldMs: fact.deadlineMs - state.nowMs }
      return { ...call, state: 'started', attempt, deadline: { atMs: fact.deadlineMs, generation: state.pos } }
    }
    case 'call-offered': {
      const { connection, offer: number } = fact
      const client = state.clients.find((other) => other.connection === connection)
      const { principal = '', claims = true } = client ?? {}
      return { ...call, state: 'offered', offer: { number, connection, principal, claims } }
    }
    case 'call-claimed':
      return { ...call, state: 'claimed' }
    case 'call-returned': {
      // A claim that the client never heard of does not count.
      const mayHaveActed = call.state === 'claimed' && fact.reason !== 'send_failed'
      return { ...call, state: 'ready', ...(mayHaveActed && { mayHaveActed }) }
    }
    case 'call-taken-over':
      return { ...call, runs: 'server' }
    case 'call-clock-set': {
      const deadline = fact.deadlineMs === null ? null : { atMs: fact.deadlineMs, generation: state.pos }
      const { mode, remainingMs, awayRemainingMs, graces } = fact
      return { ...call, clock: { mode, deadline, remainingMs, awayRemainingMs, graces } }
    }
    default:
      return fact satisfies never
  }
}

function approvalDecided(call: Call, fact: FactOf<'approval-decided'>): Call {
  // The approval stays with the call: its expiry is checked again when the call begins.
  if (fact.decision === 'approve') return { ...call, state: 'ready' }
  if (fact.decision === 'deny' || !fact.edited) return { ...call, approval: null }
  const { argumentsHash, approved, tokenHash } = fact.edited
  const editedChars = fact.edited.arguments.length
  if (approved) return { ...call, state: 'ready', argumentsHash, editedChars }
  if (tokenHash === undefined) return { ...call, state: 'ready', approval: null, argumentsHash, editedChars }
  return { ...call, state: 'proposed', approval: null, argumentsHash, tokenHash, editedChars }
}

/** The newest decision for a tool, for a tool with these arguments, or for its destination replaces the older one. */
function rememberDecision(state: State, fact: FactOf<'approval-decided'>): State {
  const call = findCall(state, fact.callId)
  if (!call) return state
  const { name, argumentsHash, asksFor, asksEach } = call
  // A person who changed the arguments approved their destination, which is unknown.
  const stands = fact.remember !== undefined || !asksEach
  if (asksFor !== undefined && asksFor !== '' && fact.decision === 'approve' && stands)
    return remember(state, { name, argumentsHash: null, asksFor, decision: 'approve' })
  if (!fact.remember || (asksFor !== undefined && fact.decision !== 'deny')) return state
  const decision = fact.decision === 'deny' ? 'deny' : 'approve'
  return remember(state, { name, argumentsHash: fact.remember === 'tool' ? null : argumentsHash, decision })
}

function remember(state: State, decided: RememberedDecision): State {
  const { name, argumentsHash, asksFor } = decided
  const others = state.remembered.filter(
    (other) => other.name !== name || other.argumentsHash !== argumentsHash || other.asksFor !== asksFor,
  )
  return { ...state, remembered: [...others, decided].slice(-RULES.remembered) }
}

/** The tool's own clock pauses while it waits for an answer. */
function questionAsked(state: State, call: Call, fact: FactOf<'question-asked'>): Call {
  const deadline = { atMs: fact.expiresAtMs, generation: state.pos }
  const questions = [...call.questions, { n: fact.n, id: fact.questionId, deadline }]
  const heldMs = call.deadline ? Math.max(0, call.deadline.atMs - state.nowMs) : call.heldMs
  return { ...call, questions, heldMs, deadline: null }
}

function questionAnswered(state: State, call: Call, fact: FactOf<'question-answered'>): Call {
  const questions = call.questions.map((asked) => (asked.n === fact.n ? { ...asked, deadline: null } : asked))
  const answered = { ...call, questions }
  if (call.heldMs === null || waitsForAnswer(answered)) return answered
  return { ...answered, heldMs: null, deadline: { atMs: state.nowMs + call.heldMs, generation: state.pos } }
}

/** `order` checks which tools have run in the turn. */
function noteDone(state: State, { callId, settlement }: FactOf<'call-settled'>): State {
  const { turn, step } = state
  if (!turn || step?.orphaned !== false || settlement.type !== 'ok') return state
  const call = findCall(state, callId)
  const { done = [] } = turn
  if (!call || call.answer || done.includes(call.name)) return state
  return { ...state, turn: { ...turn, done: [...done, call.name] } }
}

function settled(call: Call, settlement: Settlement, tellLate: boolean): Call {
  const isOk = settlement.type === 'ok'
  const media = isOk ? measureMedia(settlement.content) : undefined
  const longChars = isOk ? measureLong(settlement.content) : undefined
  const said = 'message' in settlement ? settlement.message.length : SETTLED_CHARS
  return {
    ...call,
    state: 'settled',
    settlement: settlement.type,
    // No model reads the outcome of an answer's approval.
    resultChars: call.answer ? 0 : call.editedChars + (isOk ? countChars(settlement.content) : said),
    ...(media && { media }),
    ...(longChars !== undefined && { longChars }),
    tellLate,
    approval: null,
    deadline: null,
    heldMs: null,
    questions: [],
    clock: { ...call.clock, mode: 'held', deadline: null },
  }
}

/** Characters reserved for the text that the model gets if a settlement has none. */
const SETTLED_CHARS = 50

function updateCall(state: State, callId: string, change: (call: Call) => Call): State {
  if (!state.step) return state
  const { calls } = state.step
  const index = findCallIndex(calls, callId)
  const call = calls[index]
  if (!call) return state
  const changed = calls.slice()
  changed[index] = change(call)
  return { ...state, step: { ...state.step, calls: changed } }
}

/** The model learns of a late result at most once. */
function forgetLate(state: State, callId: string): State {
  const recentCalls = state.recentCalls.map((call) => (call.callId === callId ? { ...call, tellLate: false } : call))
  const detached = state.detached.filter((call) => call.callId !== callId)
  return updateCall({ ...state, recentCalls, detached }, callId, (call) => ({ ...call, tellLate: false }))
}
