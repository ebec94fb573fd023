// A child's side: what its parent's log says to it, and the totals that its parent reads. The parent is its one client: what
// that says about a request is a decision of the root, and is taken as it is.
import type { Refusal } from '../errors.ts'
import { listUntrusted } from '../messages.ts'
import { decideAnswer, expireAnswer } from './answer.ts'
import { applyCallEvent, settle } from './calls.ts'
import { addSpent, subtractSpent } from './children.ts'
import { continueSession, pause } from './control.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Fact, FactOf } from './fact.ts'
import type { InputOf } from './input.ts'
import { interruptTurn } from './interrupt.ts'
import { deny } from './people.ts'
import { acceptTask } from './queue.ts'
import { withdraw } from './relayed.ts'
import { RULES } from './spec.ts'
import type { Call, Parent, State } from './state.ts'
import { findApproval, findCall, findChild, findQuestion, findRelayed, mayHaveRun } from './state.ts'
import type { Deed, ParentItem, Spent } from './tree-values.ts'
import { NOTHING_SPENT } from './tree-values.ts'

/** Name of a child's client. */
export const PARENT = 'parent'

/** A repeat has no effect. */
export function takeTold(draft: Draft, { from, to, items }: InputOf<'parent-told'>): void {
  const { parent } = draft.state
  if (parent?.pos !== from) return
  const task = items.find((item) => item.type === 'task')
  const end = items.find((item) => item.type === 'end')
  emit(draft, { type: 'parent-told', to, ...(task && { grant: task.grant }), ...(end && { end: end.reason }) })
  for (const item of items) takeItem(draft, item)
}

export function checkTold(state: State, { birth, from, to }: InputOf<'parent-told'>): Refusal | undefined {
  const refuse = (message: string): Refusal => ({ code: 'illegal_input', message })
  const { parent } = state
  if (!parent) return undefined
  if (birth !== parent.birth) return refuse('it is about another log')
  if (from === parent.pos || to <= parent.pos) return undefined
  return refuse(`the parent's log was read up to ${parent.pos}, not ${from}`)
}

function takeItem(draft: Draft, item: ParentItem): void {
  switch (item.type) {
    case 'task':
      attachParent(draft)
      acceptTask(draft, item)
      break
    case 'end':
      endByParent(draft, item.reason)
      break
    case 'pause':
      if (draft.state.phase !== 'paused' && draft.state.phase !== 'stopped') pause(draft)
      break
    case 'continue':
      if (draft.state.phase === 'paused') continueSession(draft)
      break
    case 'approval-decided':
      takeDecision(draft, item)
      break
    case 'question-answered':
      takeAnswer(draft, item)
      break
    case 'call-settled':
      takeSettlement(draft, item)
      break
    case 'call-taken-over':
      takeBack(draft, item.id)
      break
    case 'request-over':
      takeOver(draft, item)
      break
    default:
      item satisfies never
  }
}

/** After a restart too: offers are made to it again. Delivery is the claim, and it has every client tool. */
export function attachParent(draft: Draft): void {
  const { clients, principal } = draft.state
  if (clients.some(({ connection }) => connection === PARENT)) return
  const can = { sequential: false, claims: false, reportsPlayback: false, asks: true }
  emit(draft, { type: 'client-attached', connection: PARENT, principal, ...can })
}

/** The grace of its calls begins at once, since no input follows. */
function endByParent(draft: Draft, reason: string): void {
  for (const { inputId } of draft.state.queue) emit(draft, { type: 'input-withdrawn', inputId })
  if (draft.state.turn) interruptTurn(draft, reason, { type: 'all' })
}

type Item<Type extends ParentItem['type']> = Extract<ParentItem, { readonly type: Type }>

/** The request was closed meanwhile: a limit of this session, or of one between, came first. */
function ignore(draft: Draft, id: string): void {
  emit(draft, { type: 'decision-ignored', id, reason: 'closed' })
}

function takeDecision(draft: Draft, item: Item<'approval-decided'>): void {
  const { id: approvalId, decision, principal, reason, edited, answer } = item
  const call = findApproval(draft.state, approvalId)
  const below = findRelayed(draft.state, approvalId)
  const why = reason !== undefined && { reason }
  const change = edited && { edited: { ...edited, approved: true as const } }
  if (call?.state === 'awaiting-approval') {
    const { callId } = call
    if (call.answer && decision !== 'edit')
      decideAnswer(draft, call, { type: 'approval', approvalId, decision, principal, ...why, answer: answer ?? '' })
    else {
      emit(draft, { type: 'approval-decided', callId, approvalId, decision, principal, ...why, ...change })
      if (decision === 'deny') deny(draft, call, reason)
    }
  } else if (below && !below.isDecided) {
    const { callId, via } = below
    emit(draft, { type: 'approval-decided', callId, via, approvalId, decision, principal, ...why, ...change })
  } else ignore(draft, approvalId)
}

function takeAnswer(draft: Draft, item: Item<'question-answered'>): void {
  const { type: _, id: questionId, ...said } = item
  const found = findQuestion(draft.state, questionId)
  const below = findRelayed(draft.state, questionId)
  const n = Number(questionId.slice(questionId.lastIndexOf('_') + 1))
  if (found) emit(draft, { type: 'question-answered', callId: found.call.callId, questionId, n, ...said })
  else if (below && !below.isDecided)
    emit(draft, { type: 'question-answered', callId: below.callId, via: below.via, questionId, n, ...said })
  else ignore(draft, questionId)
}

function takeSettlement(draft: Draft, { id, settlement }: Item<'call-settled'>): void {
  const call = findCall(draft.state, id)
  const below = findRelayed(draft.state, id)
  if (below ? below.isDecided : !call || call.state === 'settled') ignore(draft, id)
  else if (call) settle(draft, call, settlement, false)
}

/** No client took it: it is run here. */
function takeBack(draft: Draft, callId: string): void {
  const call = findCall(draft.state, callId)
  const below = findRelayed(draft.state, callId)
  if (below && !below.isDecided) emit(draft, { type: 'call-taken-over', callId, via: below.via })
  else if (!below && call?.state === 'claimed') {
    emit(draft, { type: 'call-returned', callId, reason: 'send_failed' })
    emit(draft, { type: 'call-taken-over', callId })
  }
}

/** There is no decision, and there will be none. */
function takeOver(draft: Draft, { id, why }: Item<'request-over'>): void {
  const below = findRelayed(draft.state, id)
  const asked = findApproval(draft.state, id)
  const question = findQuestion(draft.state, id)
  const call = findCall(draft.state, id)
  if (below) withdraw(draft, below, why)
  else if (asked?.state === 'awaiting-approval') endApproval(draft, asked, why)
  else if (question) {
    const { callId } = question.call
    const { n } = question.question
    emit(draft, { type: 'question-answered', callId, questionId: id, n, declined: why })
  } else if (call && call.state !== 'settled') settle(draft, call, { type: 'cancelled', reason: 'nobody' }, false)
}

function endApproval(draft: Draft, call: Call, why: 'expired' | 'nobody'): void {
  if (why === 'expired' || call.answer) applyCallEvent(draft, call, 'approval-expiry')
  else {
    const message = 'no connected client can approve the call'
    settle(draft, call, { type: 'denied', code: 'call_denied', message }, false)
  }
  if (call.answer) expireAnswer(draft)
}

/** Whether nothing is left to do: its answer, or its end, is final. */
export function restsAsChild(state: State): boolean {
  const { turn, step, queue, children, detached, counters, parent } = state
  const isQuiet = turn === null && step === null && queue.length === 0 && children.length === 0
  return isQuiet && detached.length === 0 && (counters.turn > 0 || (parent !== null && parent.end !== null))
}

export type ParentFact = FactOf<'child-opened' | 'parent-told'>

export function applyParentFact(state: State, fact: ParentFact): State {
  if (fact.type === 'child-opened') {
    const { session, birth, callId, root, depth, tools } = fact
    const place = { session, birth, callId, root, depth, tools, pos: -1, grant: null, end: null, finished: null }
    const nothing = { spent: NOTHING_SPENT, acted: false, did: { calls: [] }, untrusted: [] }
    return { ...state, parent: { ...place, ...nothing } }
  }
  const { parent } = state
  if (!parent) return state
  const { to, grant = parent.grant, end = parent.end } = fact
  return { ...state, parent: { ...parent, pos: to, grant, end } }
}

/** Adds a fact to the totals that the parent reads. `before`: the state that the fact was applied to. */
export function countFact(before: State, after: State, fact: Fact): State {
  const { parent } = after
  const said = parent && readTotals(before, parent, fact)
  return said ? { ...after, parent: { ...parent, ...said } } : after
}

function readTotals(before: State, parent: Parent, fact: Fact): Partial<Parent> | undefined {
  switch (fact.type) {
    case 'step-finished': {
      const own = fact.calls.filter(({ answer }) => !answer).length
      const spent = { ...readUsage(fact), rounds: own > 0 ? 1 : 0, calls: own }
      const untrusted = listUntrusted([{ role: 'assistant', parts: fact.parts }])
      return {
        spent: addSpent(parent.spent, spent),
        ...(untrusted.length > 0 && { untrusted: join(parent, untrusted) }),
      }
    }
    case 'turn-started':
      return { finished: null }
    case 'turn-finished': {
      const { outcome, error } = fact
      return { finished: { outcome, ...(error && { error: { code: error.code, message: error.message } }) } }
    }
    case 'model-used':
    case 'summary-finished':
      return { spent: addSpent(parent.spent, readUsage(fact)) }
    case 'child-reported': {
      const known = findChild(before, fact.callId)?.spent ?? NOTHING_SPENT
      const spent = addSpent(parent.spent, subtractSpent(fact.spent, known))
      return { spent, acted: parent.acted || fact.acted, untrusted: join(parent, fact.untrusted) }
    }
    case 'child-closed':
      return { did: addDeeds(parent, fact.did.calls, fact.did.more) }
    case 'child-lost':
      return { acted: parent.acted || findChild(before, fact.callId)?.acts === true }
    case 'input-accepted':
      if (fact.body.type !== 'user' || !fact.body.untrusted) return undefined
      return { untrusted: join(parent, fact.body.untrusted) }
    case 'note-queued':
      return fact.untrusted === undefined ? undefined : { untrusted: join(parent, [fact.untrusted]) }
    case 'call-started': {
      const call = findCall(before, fact.callId)
      return call && call.runs !== 'child' && call.effect !== 'pure' ? { acted: true } : undefined
    }
    case 'call-settled':
      return fact.via === undefined ? readSettled(before, parent, fact) : undefined
    default:
      return undefined
  }
}

function readUsage({ usage }: FactOf<'step-finished' | 'model-used' | 'summary-finished'>): Spent {
  const { inputTokens = 0, outputTokens = 0, costMicros = 0 } = usage
  return { ...NOTHING_SPENT, tokens: inputTokens + outputTokens, costMicros }
}

function readSettled(before: State, parent: Parent, fact: FactOf<'call-settled'>): Partial<Parent> | undefined {
  const call = findCall(before, fact.callId)
  if (!call) return undefined
  const provenance = fact.provenance ?? call.provenance
  const taint = provenance?.trust === 'untrusted' && { untrusted: join(parent, [call.name]) }
  const { settlement } = fact
  const isUnbegun = (settlement.type === 'cancelled' || settlement.type === 'timed-out') && !settlement.begun
  const hasActed =
    call.effect !== 'pure' && call.runs !== 'child' && !isUnbegun && (mayHaveRun(call) || call.mayHaveActed)
  if (!hasActed) return taint || undefined
  const deed: Deed = { callId: call.callId, name: call.name, settlement: settlement.type }
  return { ...taint, acted: true, did: addDeeds(parent, [deed]) }
}

function addDeeds({ did }: Parent, more: readonly Deed[], isMore?: true): Parent['did'] {
  const calls = [...did.calls, ...more]
  const isCut = calls.length > RULES.deeds || did.more === true || isMore === true
  return { calls: calls.slice(0, RULES.deeds), ...(isCut && { more: true as const }) }
}

function join({ untrusted }: Parent, more: readonly string[]): readonly string[] {
  return more.every((name) => untrusted.includes(name)) ? untrusted : [...new Set([...untrusted, ...more])]
}
