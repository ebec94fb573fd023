// A child's side: what its parent's log says to it. The parent is its one client: what that says about a request is a decision
// of the root, and is taken as it is.
import type { Refusal } from '../errors.ts'
import { decideAnswer, expireAnswer } from './answer.ts'
import { applyCallEvent, settle } from './calls.ts'
import { endChild, withdraw } from './child-end.ts'
import { continueSession, pause } from './control.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { InputOf } from './input.ts'
import { interruptTurn } from './interrupt.ts'
import type { ParentItem } from './lane-values.ts'
import { attachParent } from './parent-state.ts'
import { deny } from './people.ts'
import { acceptTask } from './queue.ts'
import { cancelTasks } from './task-tools.ts'
import type { Call, State } from './state.ts'
import { findApproval, findCall, findQuestion, findRelayed } from './state.ts'

/** A repeat has no effect. */
export function takeTold(draft: Draft, { from, to, mark, items }: InputOf<'parent-told'>): void {
  const { parent } = draft.state
  if (parent?.pos !== from) return
  const task = items.find((item) => item.type === 'task')
  const end = items.find((item) => item.type === 'end')
  emit(draft, {
    type: 'parent-told',
    to,
    ...(mark !== undefined && { mark }),
    ...(task && { grant: task.grant }),
    ...(end && { end: end.reason }),
  })
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

/** The grace of its calls begins at once, since no input follows. */
function endByParent(draft: Draft, reason: string): void {
  for (const { inputId } of draft.state.queue) emit(draft, { type: 'input-withdrawn', inputId })
  cancelTasks(draft, { by: 'parent' })
  if (draft.state.turn) interruptTurn(draft, { reason }, { type: 'all' })
  // An interrupt may leave a child running.
  for (const { callId } of draft.state.children) endChild(draft, callId, reason)
}

type Item<Type extends ParentItem['type']> = Extract<ParentItem, { readonly type: Type }>

/** The request was closed meanwhile by a limit of this session, or of a session between. */
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
