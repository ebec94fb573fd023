// Calls: what happens to one (an event of the table, a result, a claim, a deadline), their clocks, and their fold.
import { describeEffect } from './render.ts'
import type { CallFact, ClockMode, Fact, FactOf, IgnoreReason, Settlement } from './fact.ts'
import type { Draft } from './draft.ts'
import type { Call, Offer, State } from './state.ts'
import { emit } from './draft.ts'
import {
  detachedCalls,
  findCall,
  findCallIndex,
  findDetached,
  findTask,
  isTask,
  mayHaveRun,
  offeredCalls,
  findChild,
  openTasks,
  waitsForAnswer,
} from './state.ts'
import { isAttached } from './effect.ts'
import type { Limits } from './spec.ts'
import { RULES } from './spec.ts'
import type { CallEvent, CallOutcome } from './table.ts'
import { CALL_TABLE } from './table.ts'
import { makeNote, noteOutcome, preview } from './notes.ts'
import { rememberDecision, rememberRelayed } from './remembered.ts'
import { findLargeMedia, heldChars, jsonChars, measureSettled, wholeChars } from './size.ts'
import { settleTask } from './task-end.ts'
import { changeTask, noteNews, taskBegun, taskSettled, toldChars } from './task-entries.ts'
import type { InputOf, Outcome } from './input.ts'
import { describeUnheard, endChild } from './child-end.ts'
import { holdsClock, unawaited, waitsThrough } from './child-entries.ts'
import { findHolder, findTool } from './clients.ts'
import { applyDecision, applyGiven, applyRelayedEnd, changeRelayedCall } from './relayed-entries.ts'

export function callOutcome(call: Call, event: CallEvent): CallOutcome {
  // A user may let a tool finish silently; only the end of its grace stops it then.
  if (event === 'interrupt' && call.state === 'started' && call.onInterrupt !== 'cancel') return 'stay'
  const cell = CALL_TABLE[event][call.state]
  if (call.runs === 'child') return cell.child
  // Nothing of it runs in a process.
  if (call.runs === 'machine' && event === 'restart') return 'stay'
  return call.effect === 'once' ? cell.once : cell.repeatable
}

/** Applies an event that needs no further data. */
export function applyCallEvent(draft: Draft, call: Call, event: CallEvent): void {
  const { callId } = call
  switch (callOutcome(call, event)) {
    case 'settle-cancelled':
      settle(draft, call, { type: 'cancelled', reason: event, ...(hadEffect(call) && { begun: true }) }, true)
      break
    case 'settle-unknown':
      settle(draft, call, { type: 'unknown', reason: event }, true)
      break
    case 'settle-timed-out': {
      const begun = hadEffect(call)
      settle(draft, call, { type: 'timed-out', reason: event, ...(begun && { begun }) }, begun)
      break
    }
    case 'settle-expired':
      settleUnrun(draft, call, {
        type: 'denied',
        code: 'approval_expired',
        message: 'the call was not approved in time',
      })
      break
    case 'settle-gone': {
      const message = `the tool "${call.name}" was removed while its call was open`
      settleUnrun(draft, call, { type: 'error', code: 'tool_gone', message })
      break
    }
    case 'return':
      emit(draft, { type: 'call-returned', callId, reason: event })
      break
    case 'again':
      startAgain(draft, call)
      break
    case 'end':
      endChild(draft, callId, event)
      break
    case 'settle-without':
      settleWithout(draft, call, event)
      break
    default:
      break
  }
}

/** The step must close in this record: the call settles without its child, which is told to end. */
function settleWithout(draft: Draft, call: Call, event: CallEvent): void {
  endChild(draft, call.callId, event)
  settle(draft, call, describeUnheard(findChild(draft.state, call.callId), event), true)
}

/** Whether the call may already have had its effect, including through a client that claimed it and left. */
function hadEffect(call: Call): boolean {
  return call.effect !== 'pure' && (mayHaveRun(call) || call.mayHaveActed === true)
}

/** Settles a call that was waiting to begin, although a client that left may have run it. */
function settleUnrun(draft: Draft, call: Call, settlement: Extract<Settlement, { readonly message: string }>): void {
  const begun = hadEffect(call)
  const message = begun ? `${settlement.message}: ${describeEffect(begun)}` : settlement.message
  settle(draft, call, { ...settlement, message }, begun)
}

/**
 * Restarts a pure or idempotent tool whose process died, a limited number of times in case the tool kills its process.
 */
function startAgain(draft: Draft, call: Call): void {
  if (call.attempt < RULES.recoveries) {
    startTool(draft, call)
    return
  }
  // It was started each time, and may have had its effect.
  if (call.effect === 'idempotent') {
    settle(draft, call, { type: 'unknown', reason: 'recovery_exhausted' }, true)
    return
  }
  const message = `the tool was started ${call.attempt} times, and the process died each time`
  settle(draft, call, { type: 'error', code: 'recovery_exhausted', message }, true)
}

/** Committed before the tool runs; `once` tools never get here twice. */
export function startTool(draft: Draft, call: Call): void {
  const deadlineMs = draft.state.nowMs + call.timeoutMs
  emit(draft, { type: 'call-started', callId: call.callId, attempt: call.attempt + 1, deadlineMs })
}

/**
 * Whether it may continue without the turn, as a task: a detached tool not while it waits for the user's answer, and at most
 * `RULES.detached` at once.
 */
export function mayDetach({ spec, state }: Draft, call: Call): boolean {
  const hasBegun = call.state === 'started' || call.state === 'claimed' || call.state === 'offered'
  if (call.onInterrupt === 'background' && hasBegun) return openTasks(state).length < (spec.limits.tasks ?? RULES.tasks)
  const isRunning = call.state === 'started' && call.onInterrupt === 'detach' && !waitsForAnswer(call)
  return isRunning && detachedCalls(state).length < RULES.detached
}

/** Settles the call while its tool keeps running: see `State.tasks`. */
export function detachCall(draft: Draft, call: Call): void {
  const { callId, onInterrupt } = call
  const begun = hadEffect(call) && ({ begun: true } as const)
  const settlement: Settlement = { type: 'cancelled', reason: 'interrupt', ...begun, detached: true }
  if (onInterrupt !== 'background') settle(draft, call, settlement, true)
  else emit(draft, { type: 'call-settled', callId, settlement, tellLate: false, task: true })
}

/** Ends a detached tool without an outcome. `why` follows the tool's name, such as `did not end in its time`. */
export function loseDetached(draft: Draft, call: Call, why: string): void {
  emit(draft, { type: 'result-ignored', callId: call.callId, reason: 'late', outcome: 'error', preview: why })
  noteOutcome(draft, call, `${why}: ${hadEffect(call) ? 'it may have had its effect' : 'it has no effect'}`)
}

/** Facts with which a copied session drops a detached tool, which runs for the original session. */
export function leaveToOriginal(state: State, call: Call): readonly Fact[] {
  const why = 'continues in the original conversation, which will report its outcome'
  const { callId } = call
  return [
    { type: 'result-ignored', callId, reason: 'late', outcome: 'error', preview: why },
    makeNote(state, call, why),
  ]
}

export function applyCallEventToAll(draft: Draft, event: CallEvent): void {
  for (const call of draft.state.step?.calls ?? []) applyCallEvent(draft, call, event)
}

/** A client is unreachable or has detached: the calls that it did not accept may be offered to another. */
export function dropClient(draft: Draft, connection: string): void {
  if (!isAttached(draft.state, connection)) return
  emit(draft, { type: 'client-detached', connection })
  for (const call of offeredCalls(draft.state))
    if (call.offer?.connection === connection) applyCallEvent(draft, call, 'detach')
}

/** @param tellLate whether the model learns about a late result, because it was told that there is none */
export function settle(draft: Draft, call: Call, settlement: Settlement, tellLate: boolean): void {
  const { callId, relayed } = call
  const open = findCall(draft.state, callId) // a decision of this record has changed it
  const undecided = open?.state === 'awaiting-approval' && open.approval && { undecided: open.approval.id }
  // The model of a child learns it from its own session.
  if (isTask(call)) settleTask(draft, call, { settlement, tellLate })
  else if (relayed) emit(draft, { type: 'call-settled', callId, via: relayed.via, settlement, tellLate: false })
  else emit(draft, { type: 'call-settled', callId, settlement, tellLate, ...undecided })
}

export function takeToolResult(draft: Draft, input: InputOf<'tool-finished'>): void {
  const call = findCall(draft.state, input.callId)
  const detached = findDetached(draft.state, input)
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
  return (call && call.state !== 'settled') || detachedCalls(state).some((detached) => detached.callId === callId)
}

export function takeClientResult(draft: Draft, input: InputOf<'tool-result'>): void {
  const { callId, connection, outcome } = input
  const ended = findEnded(draft.state, callId)
  const call = ended ? undefined : findCall(draft.state, callId)
  const asked = ended ?? call ?? draft.state.recentCalls.findLast((closed) => closed.callId === callId)
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

export function boundOutcome(draft: Draft, outcome: Outcome): Settlement {
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
  const ended = findEnded(state, input.callId)
  const open = ended ? undefined : findCall(state, input.callId)
  const closed = ended ?? state.recentCalls.findLast((call) => call.callId === input.callId)
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

/** A task's own end counts, and not the receipt that settled it for its step. */
function findEnded({ endedTasks }: State, callId: string): State['endedTasks'][number] | undefined {
  return endedTasks.find((ended) => ended.callId === callId)
}

type Answer = InputOf<'tool-result'> | InputOf<'tool-finished'>

function ignore(draft: Draft, input: Answer, reason: IgnoreReason): void {
  const outcome = input.outcome.type
  emit(draft, { type: 'result-ignored', callId: input.callId, reason, outcome, preview: preview(input.outcome, 200) })
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
  else if (mayTakeOver(draft, call))
    emit(draft, { type: 'call-taken-over', callId: call.callId, ...(call.relayed && { via: call.relayed.via }) })
  else applyCallEvent(draft, call, 'deadline')
}

/** False if a client may have started the call. In an interrupted turn no call waits for a client: it has settled. */
function mayTakeOver({ spec }: Draft, call: Call): boolean {
  if (call.clock.mode !== 'away' || call.state !== 'ready' || call.mayHaveActed) return false
  if (call.relayed) return call.relayed.fallback
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

/**
 * Sets every clock to the mode that the decided state requires. Called once, at the end of each decision. Calls below come
 * first: their modes decide those of the calls that wait for them.
 */
export function setClocks(draft: Draft): void {
  if (draft.state.relayed.length > 0 && draft.state.parent === null)
    for (const { call } of draft.state.relayed) if (call) setCallClock(draft, call, chooseMode(draft.state, call))
  for (const { callId } of openTasks(draft.state)) {
    const task = findTask(draft.state.tasks, callId)
    if (task) setCallClock(draft, task, chooseMode(draft.state, task))
  }
  for (const call of draft.state.step?.calls ?? []) setCallClock(draft, call, chooseMode(draft.state, call))
  const { state } = draft
  const turn = state.turn
  if (!turn) return
  const runs = state.phase !== 'paused' && !waitsForPeople(state)
  if (runs === (turn.deadline !== null)) return
  const remainingMs = turn.deadline ? Math.max(0, turn.deadline.atMs - state.nowMs) : turn.remainingMs
  emit(draft, { type: 'turn-clock-set', deadlineMs: runs ? state.nowMs + remainingMs : null, remainingMs })
}

/** Whether every open call waits for an approval, an answer or a client; each such wait has its own limit. */
function waitsForPeople(state: State): boolean {
  let isOpen = false
  for (const call of state.step?.calls ?? []) {
    if (call.state === 'settled') continue
    if (!isWithPeople(state, call)) return false
    isOpen = true
  }
  return isOpen
}

function isWithPeople(state: State, call: Call): boolean {
  const { operation } = call
  if (operation?.type === 'wait') {
    const tasks = openTasks(state).filter((task) => !operation.tasks || operation.tasks.includes(task.callId))
    return tasks.length > 0 && tasks.every((task) => isWithPeople(state, task))
  }
  const isAsked = call.questions.length > 0 && waitsForAnswer(call)
  const isHeld = call.runs === 'child' ? waitsThrough(state, call.callId) : isWithParent(state, call)
  return call.state === 'awaiting-approval' || call.clock.mode === 'away' || isAsked || isHeld
}

/** A child's call for a client is at the root, which keeps its time. */
function isWithParent({ parent }: State, call: Call): boolean {
  return parent !== null && call.state === 'claimed'
}

function chooseMode(state: State, call: Call): ClockMode {
  if (call.runs === 'child') return call.state === 'started' && !holdsClock(state, call.callId) ? 'running' : 'held'
  if (state.parent) return 'held'
  const waits = call.state === 'ready' || call.state === 'offered' || call.state === 'claimed'
  if (call.runs !== 'client' || !waits) return 'held'
  if (!findHolder(state, call)) return 'away'
  if (call.state === 'ready') return 'held'
  const holder = call.offer?.connection
  const sequential = state.clients.some((client) => client.connection === holder && client.sequential)
  return sequential && call.clock.mode !== 'running' ? 'waiting' : 'running'
}

export function setCallClock(draft: Draft, call: Call, mode: ClockMode): void {
  const { clock, callId } = call
  if (clock.mode === mode) return
  const nowMs = draft.state.nowMs
  const left = clock.deadline ? Math.max(0, clock.deadline.atMs - nowMs) : 0
  const remainingMs = clock.mode === 'running' ? left : clock.remainingMs
  const away =
    clock.awayRemainingMs < 0
      ? (findTool(draft, call.name)?.tool.awayMs ?? draft.spec.limits.awayMs)
      : clock.awayRemainingMs
  const awayRemainingMs = clock.mode === 'away' ? left : away
  const deadlineMs = {
    held: null,
    waiting: nowMs + RULES.reachMs,
    running: nowMs + remainingMs,
    away: nowMs + awayRemainingMs,
  }[mode]
  emit(draft, { type: 'call-clock-set', callId, mode, deadlineMs, remainingMs, awayRemainingMs, graces: clock.graces })
}

/** Downtime of the host does not count towards the turn: nothing could happen in it. */
export function prolongTurn(draft: Draft, downMs: number): void {
  const deadline = draft.state.turn?.deadline
  if (!deadline || downMs <= 0) return
  const deadlineMs = deadline.atMs + downMs
  emit(draft, { type: 'turn-clock-set', deadlineMs, remainingMs: Math.max(0, deadlineMs - draft.state.nowMs) })
}

/**
 * After a restart no client is attached. Deadlines do not move, or a crashing host would hold a call forever, but at
 * least 10 s remain, three times at most.
 */
export function graceAfterRestart(draft: Draft, call: Call, downMs: number): void {
  const { clock, callId } = call
  if (!clock.deadline) return
  if (call.runs === 'child') {
    prolongChild(draft, call, downMs)
    return
  }
  const nowMs = draft.state.nowMs
  const left = Math.max(0, clock.deadline.atMs - nowMs)
  const least = clock.graces < RULES.restartGraces ? RULES.restartGraceMs : 0
  const remainingMs = Math.max(clock.mode === 'running' ? left : clock.remainingMs, least)
  const awayRemainingMs = Math.max(clock.mode === 'away' ? left : clock.awayRemainingMs, least)
  emit(draft, {
    type: 'call-clock-set',
    callId,
    mode: 'away',
    deadlineMs: nowMs + awayRemainingMs,
    remainingMs,
    awayRemainingMs,
    graces: clock.graces + 1,
  })
}

/** After a restart, a child's call keeps the time that it had left. */
function prolongChild(draft: Draft, { callId, clock }: Call, downMs: number): void {
  if (!clock.deadline || downMs <= 0) return
  const { mode, awayRemainingMs, graces } = clock
  const deadlineMs = clock.deadline.atMs + downMs
  const remainingMs = Math.max(0, deadlineMs - draft.state.nowMs)
  emit(draft, { type: 'call-clock-set', callId, mode, deadlineMs, remainingMs, awayRemainingMs, graces })
}

type LedgerFact = CallFact | FactOf<'result-ignored' | 'grace-started'>

export function applyCallFact(state: State, fact: LedgerFact): State {
  switch (fact.type) {
    case 'grace-started': {
      if (!state.step) return state
      return { ...state, step: { ...state.step, grace: { atMs: fact.untilMs, generation: state.pos } } }
    }
    case 'approval-given':
      if (fact.via !== undefined) return applyGiven(state, fact)
      return updateCall(state, fact.callId, (call) => callAfter(state, call, fact))
    case 'approval-decided':
      if (fact.via !== undefined) return rememberRelayed(applyDecision(state, fact), fact)
      return rememberDecision(
        updateCall(state, fact.callId, (call) => approvalDecided(call, fact)),
        fact,
      )
    case 'result-ignored':
      return fact.reason === 'late' ? forgetLate(state, fact.callId) : state
    case 'call-settled': {
      const { callId, settlement } = fact
      if (fact.via !== undefined)
        return applyRelayedEnd(
          updateCall(state, callId, (open) => settled(open, fact)),
          fact,
        )
      const goesOn = fact.task || (settlement.type === 'cancelled' && settlement.detached)
      const call = goesOn ? findCall(state, callId) : undefined
      const done = updateCall(noteDone(state, fact), callId, (open) => withTold(state, settled(open, fact), fact))
      // A task still waits for its child, which may have to end.
      const next = call || state.children.length === 0 ? done : unawaited(done, callId)
      const told = fact.told ? noteNews(next, new Set(fact.told), 'told') : next
      return call ? taskBegun(told, call, fact) : told
    }
    case 'task-settled': {
      const done = taskSettled(state, fact)
      return state.children.length === 0 ? done : unawaited(done, fact.callId)
    }
    case 'call-offered': {
      const counters = { ...state.counters, offer: fact.offer }
      return { ...updateCall(state, fact.callId, (call) => callAfter(state, call, fact)), counters }
    }
    case 'question-answered':
      if (fact.via !== undefined) return applyDecision(state, fact)
      return updateCall(state, fact.callId, (call) => callAfter(state, call, fact))
    case 'call-taken-over':
      if (fact.via !== undefined) return applyRelayedEnd(state, fact)
      return updateCall(state, fact.callId, (call) => callAfter(state, call, fact))
    default:
      return updateCall(state, fact.callId, (call) => callAfter(state, call, fact))
  }
}

function callAfter(
  state: State,
  call: Call,
  fact: Exclude<
    LedgerFact,
    { type: 'grace-started' | 'result-ignored' | 'approval-decided' | 'call-settled' | 'task-settled' }
  >,
): Call {
  switch (fact.type) {
    case 'approval-requested': {
      const approval = {
        id: fact.approvalId,
        askedMs: state.nowMs,
        deadline: { atMs: fact.expiresAtMs, generation: state.pos },
      }
      const { given: _, ...asked } = call
      return { ...asked, state: 'awaiting-approval', approval, approvals: call.approvals + 1 }
    }
    case 'approval-given':
      return { ...call, given: [...(call.given ?? []), fact.principal] }
    case 'question-asked':
      return questionAsked(state, call, fact)
    case 'question-answered':
      return questionAnswered(state, call, fact)
    case 'call-started': {
      const { attempt } = fact
      // A question of an earlier attempt is still open: it stays, and the clock stays paused.
      if (call.questions.length > 0 && waitsForAnswer(call))
        return { ...call, attempt, heldMs: fact.deadlineMs - state.nowMs }
      // The clock of the call keeps its time: it stands while the child waits for people.
      if (call.runs === 'child') return { ...call, state: 'started', attempt }
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
  const { argumentsHash, approved, tokenHash, delegate } = fact.edited
  const editedChars = fact.edited.arguments.length
  if (approved) return { ...call, state: 'ready', argumentsHash, editedChars, ...(delegate && { delegate }) }
  if (tokenHash === undefined) return { ...call, state: 'ready', approval: null, argumentsHash, editedChars }
  return { ...call, state: 'proposed', approval: null, argumentsHash, tokenHash, editedChars }
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
function noteDone(state: State, fact: FactOf<'call-settled'>): State {
  const { callId, settlement } = fact
  const { turn, step } = state
  if (!turn || step?.orphaned !== false || settlement.type !== 'ok' || fact.task) return state
  const call = findCall(state, callId)
  const { done = [] } = turn
  if (!call || call.answer || done.includes(call.name)) return state
  return { ...state, turn: { ...turn, done: [...done, call.name] } }
}

function settled(call: Call, fact: FactOf<'call-settled'>): Call {
  const { settlement, tellLate, provenance } = fact
  const { chars, longChars, media } = measureSettled(fact)
  return {
    ...call,
    state: 'settled',
    settlement: settlement.type,
    // No model reads the outcome of an answer's approval.
    resultChars: call.answer ? 0 : call.editedChars + chars,
    ...(media && { media }),
    ...(longChars !== undefined && { longChars }),
    tellLate,
    ...(provenance && { provenance }),
    approval: null,
    deadline: null,
    heldMs: null,
    questions: [],
    clock: { ...call.clock, mode: 'held', deadline: null },
  }
}

/** Its result also has the outcomes of the tasks that it tells. */
function withTold(state: State, call: Call, { told }: FactOf<'call-settled'>): Call {
  if (!told) return call
  const { longChars: _, ...rest } = call
  const { chars, media } = toldChars(state, told)
  return { ...rest, resultChars: call.resultChars + chars, ...(media && { media }) }
}

function updateCall(state: State, callId: string, change: (call: Call) => Call): State {
  if (state.tasks.length > 0 && findTask(state.tasks, callId)) return changeTask(state, callId, change)
  const calls = state.step?.calls ?? []
  const index = findCallIndex(calls, callId)
  const call = calls[index]
  if (!call || !state.step) return state.relayed.length > 0 ? changeRelayedCall(state, callId, change) : state
  const changed = calls.slice()
  changed[index] = change(call)
  return { ...state, step: { ...state.step, calls: changed } }
}

/** The model learns of a late result at most once. */
function forgetLate(state: State, callId: string): State {
  const recentCalls = state.recentCalls.map((call) => (call.callId === callId ? { ...call, tellLate: false } : call))
  const tasks = state.tasks.filter(({ callId: of, task }) => of !== callId || task.origin !== 'interrupt')
  const endedTasks = state.endedTasks.map((one) => (one.callId === callId ? { ...one, tellLate: false } : one))
  const next = { ...state, recentCalls, tasks, endedTasks }
  return findTask(tasks, callId) ? next : updateCall(next, callId, (call) => ({ ...call, tellLate: false }))
}
