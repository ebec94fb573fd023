// Control of a session as a whole: model, pause, stop, clients, timers, restarts, a changed agent.
import {
  applyCallEvent,
  applyCallEventToAll,
  dropClient,
  graceAfterRestart,
  loseDetached,
  passDeadline,
  prolongTurn,
} from './calls.ts'
import { passChildDeadline } from './children.ts'
import { attachParent } from './parent-state.ts'
import { expireRelayed, findRelayedApproval } from './relayed.ts'
import { bringsTool, hasTool, planDrops } from './clients.ts'
import type { Draft } from './draft.ts'
import type { Client, Deadline } from './state.ts'
import { emit } from './draft.ts'
import { detachedCalls, findCall, findDetached, offeredCalls, openTasks } from './state.ts'
import { endWait } from './task-tools.ts'
import type { InputOf } from './input.ts'
import { endOverdue, expireAnswer, ignoreAnswer } from './answer.ts'
import { flushBatch } from './queue.ts'
import { salvageInterrupted } from './interrupt.ts'
import { expireQuestion } from './people.ts'
import { RULES } from './spec.ts'
import { startModel } from './advance.ts'
import { closeStep, finishTurn } from './turn.ts'
import type { Failure } from './values.ts'

/** The next step uses the new model; a running one continues. */
export function setModel(draft: Draft, input: InputOf<'set-model'>): void {
  emit(draft, { type: 'model-set', model: input.model })
}

/** Applies from the next turn on. */
export function setSettings(draft: Draft, { settings }: InputOf<'set-settings'>): void {
  emit(draft, { type: 'settings-set', settings })
}

/** Absent fields do not change. */
export function describe(draft: Draft, { title, meta }: InputOf<'describe'>): void {
  if (title === undefined && meta === undefined) return
  emit(draft, { type: 'session-described', ...(title !== undefined && { title }), ...(meta && { meta }) })
}

/** The running attempt is dropped and repeated on `continue`; running tools continue, and their results are kept. */
export function pause(draft: Draft): void {
  const { state } = draft
  if (state.phase === 'interrupting') salvageInterrupted(draft)
  const attempt = draft.state.attempt
  if (attempt) emit(draft, { type: 'attempt-superseded', attempt: attempt.attempt, reason: 'paused' })
  emit(draft, { type: 'session-paused' })
}

export function continueSession(draft: Draft): void {
  emit(draft, { type: 'session-continued' })
}

/** Settles every call and starts nothing more; queued inputs are kept for the next start. */
export function stop(draft: Draft): void {
  salvageStopped(draft)
  applyCallEventToAll(draft, 'stop')
  for (const task of openTasks(draft.state)) applyCallEvent(draft, task, 'stop')
  for (const call of detachedCalls(draft.state)) loseDetached(draft, call, 'was stopped with the session')
  closeStep(draft)
  finishTurn(draft, 'stopped')
  emit(draft, { type: 'session-stopped' })
}

/** Logged text of the attempt stays in the history. */
function salvageStopped(draft: Draft): void {
  if (draft.state.phase === 'interrupting') {
    salvageInterrupted(draft)
    return
  }
  const { attempt } = draft.state
  if (!attempt || attempt.progressChars === 0) return
  emit(draft, { type: 'step-salvaged', step: attempt.step, attempt: attempt.attempt, textChars: attempt.progressChars })
}

export function start(draft: Draft): void {
  emit(draft, { type: 'session-started' })
  flushBatch(draft)
}

export function attach(draft: Draft, input: InputOf<'client-attached'>): void {
  const { type, connection, principal, sequential, claims, reportsPlayback, asks, tools, leaseMs } = input
  const untilMs = leaseMs === undefined ? undefined : draft.state.nowMs + leaseMs
  const known = draft.state.clients.find((client) => client.connection === connection)
  if (known && (!known.lease || untilMs === undefined)) return
  const can = { sequential, claims, reportsPlayback, asks, ...(tools && { tools }) }
  if (known && untilMs !== undefined && isAsBefore(known, { ...can, tools: tools ?? null })) {
    emit(draft, { type: 'client-renewed', connection, untilMs })
    return
  }
  emit(draft, { type, connection, principal, ...can, ...(untilMs !== undefined && { untilMs }) })
  if (known && tools) returnOffers(draft, connection, tools)
}

/** False if a new copy of the app, or a device that attaches again, can run other tools. */
function isAsBefore(known: Client, can: Omit<Client, 'connection' | 'principal' | 'lease'>): boolean {
  const list = ({ sequential, claims, reportsPlayback, asks, tools }: typeof can): string =>
    JSON.stringify([sequential, claims, reportsPlayback, asks, tools])
  return list(known) === list(can)
}

/** Returns calls that the client has not claimed and can no longer run. */
function returnOffers(draft: Draft, connection: string, tools: readonly string[]): void {
  for (const call of offeredCalls(draft.state)) {
    const isOffered = call.state === 'offered' && call.offer?.connection === connection && call.broughtBy === undefined
    if (isOffered && !tools.includes(call.name)) applyCallEvent(draft, call, 'detach')
  }
}

export function detach(draft: Draft, input: InputOf<'client-detached'>): void {
  dropClient(draft, input.connection)
}

export function setClientTools(draft: Draft, input: InputOf<'client-tools'>): void {
  const { connection, tools } = input
  for (const { connection: gone, names } of planDrops(draft.state, connection, tools))
    emit(draft, { type: 'client-tools-dropped', connection: gone, names })
  emit(draft, { type: 'client-tools-set', connection, tools })
  settleGone(draft)
  for (const call of [...(draft.state.step?.calls ?? []), ...openTasks(draft.state)]) {
    const offeredHere = call.state === 'offered' && call.offer?.connection === connection
    // Its client no longer has the tool, but another client does.
    if (offeredHere && call.broughtBy !== undefined && !bringsTool(draft.state, connection, call.name))
      applyCallEvent(draft, call, 'detach')
  }
}

export function changeAgent(draft: Draft): void {
  const { agent, hash: specHash } = draft.spec
  if (draft.state.specHash === specHash) return
  emit(draft, { type: 'agent-changed', specHash, ...(agent !== draft.state.agent && { agent }) })
  settleGone(draft)
}

function settleGone(draft: Draft): void {
  for (const call of [...(draft.state.step?.calls ?? []), ...openTasks(draft.state)])
    if (!call.answer && !hasTool(draft, call)) applyCallEvent(draft, call, 'tool-gone')
}

/** Records only progress beyond the known position; a fully displayed answer stays fully displayed. */
export function noteDisplay(draft: Draft, input: InputOf<'display-written'>): void {
  const { displayedTurn, displayedChars, counters } = draft.state
  const { turn, chars } = input
  const isMore = displayedChars !== null && (chars === undefined || chars > displayedChars)
  if ((turn > displayedTurn && turn <= counters.turn) || (turn === displayedTurn && isMore))
    emit(draft, { type: 'display-written', turn, ...(chars !== undefined && { chars }) })
}

/** A timer of an older generation was replaced meanwhile and is ignored. */
export function fireTimer(draft: Draft, input: InputOf<'timer-fired'>): void {
  const { state, spec } = draft
  const { timer, generation } = input
  const current = (deadline: Deadline | null | undefined): boolean => deadline?.generation === generation
  if (timer === 'turn' && current(state.turn?.deadline)) {
    if (state.phase === 'interrupting') salvageInterrupted(draft)
    else endOverdue(draft, 'turn_time_exceeded', `the turn took longer than ${spec.limits.turnMs} ms`)
  } else if (timer === 'retry' && current(state.retry)) {
    startModel(draft)
  } else if (timer === 'interrupt' && current(state.interrupting?.deadline)) {
    salvageInterrupted(draft)
  } else if (timer === 'grace' && current(state.step?.grace)) {
    endGrace(draft)
  } else if (timer === 'batch' && current(state.batch?.deadline)) {
    flushBatch(draft)
  } else fireNamedTimer(draft, timer, generation)
}

/** In a child, calls of its children have their own time, since no input waits for an answer. */
function endGrace(draft: Draft): void {
  for (const call of draft.state.step?.calls ?? [])
    if (call.runs !== 'child' || draft.state.parent === null) applyCallEvent(draft, call, 'grace-over')
}

function fireNamedTimer(draft: Draft, timer: string, generation: number): void {
  const [kind, name] = [timer.slice(0, timer.indexOf(':')), timer.slice(timer.indexOf(':') + 1)]
  if (kind === 'lease') endLease(draft, name, generation)
  else if (kind === 'question') expireQuestion(draft, name, generation)
  else if (kind === 'child') passChildDeadline(draft, name, generation)
  else fireCallTimer(draft, kind, { callId: name, generation })
}

/** A client without a connection did not renew its lease in time. */
function endLease(draft: Draft, connection: string, generation: number): void {
  const client = draft.state.clients.find((other) => other.connection === connection)
  if (client?.lease?.generation !== generation) return
  dropClient(draft, connection)
}

function fireCallTimer(draft: Draft, kind: string, timer: { readonly callId: string; generation: number }): void {
  const { callId, generation } = timer
  const call = findCall(draft.state, callId)
  const current = (deadline: Deadline | null | undefined): boolean => deadline?.generation === generation
  const detached = detachedCalls(draft.state).find((one) => one.callId === callId && current(one.deadline))
  if (kind === 'call' && detached) loseDetached(draft, detached, 'did not end in its time')
  if (kind === 'approval' && !call) expireRelayed(draft, findRelayedApproval(draft.state, callId), generation)
  if (!call) return
  const isDue = kind === 'call' && current(call.deadline ?? call.clock.deadline)
  if (isDue && call.runs === 'machine') endWait(draft, call)
  else if (isDue) passDeadline(draft, call)
  else if (kind === 'approval' && call.state === 'awaiting-approval' && current(call.approval?.deadline)) {
    applyCallEvent(draft, call, 'approval-expiry')
    if (call.answer) expireAnswer(draft)
  }
}

/** The host died and restarted: no client is attached, and no model call or tool is running. */
export function recover(draft: Draft, input: InputOf<'host-restarted'>): void {
  emit(draft, { type: 'host-restarted', downMs: input.downMs })
  prolongTurn(draft, input.downMs)
  for (const { callId } of offeredCalls(draft.state)) {
    const call = findCall(draft.state, callId)
    if (!call) continue
    graceAfterRestart(draft, call, input.downMs)
    applyCallEvent(draft, call, 'restart')
  }
  for (const call of detachedCalls(draft.state)) loseDetached(draft, call, DIED)
  recoverAttempt(draft)
  if (draft.state.parent?.grant) attachParent(draft)
}

/** One piece of work died with its process: clients stay, and other work continues. */
export function loseWork(draft: Draft, { work }: InputOf<'work-lost'>): void {
  if (work.type === 'model') {
    if (draft.state.attempt?.attempt === work.attempt) recoverAttempt(draft)
    else ignoreAnswer(draft, { type: 'work-lost', attempt: work.attempt })
  } else {
    const call = findCall(draft.state, work.callId)
    const detached = findDetached(draft.state, work)
    if (detached) loseDetached(draft, detached, DIED)
    // A timer of another attempt: the call was answered or restarted meanwhile.
    if (call?.state !== 'started' || call.attempt !== work.attempt) return
    applyCallEvent(draft, call, 'restart')
  }
}

/** No caller waits for it, so it is not restarted: the model may call it again. */
const DIED = 'ended with its process'

/** Counted, so that a step that kills its process is not retried forever. */
function recoverAttempt(draft: Draft): void {
  const { state } = draft
  const { attempt, turn } = state
  if (!attempt || !turn) return
  if (state.phase === 'interrupting') {
    salvageInterrupted(draft)
    return
  }
  const summary = attempt.purpose === 'summary'
  const recoveries = summary ? state.summaryRecoveries : turn.recoveries
  if (recoveries + 1 < RULES.recoveries) {
    emit(draft, { type: 'attempt-superseded', attempt: attempt.attempt, reason: 'restart' })
    return
  }
  const message = `the model call was started ${RULES.recoveries} times, and the process died each time`
  const error: Failure = { code: 'recovery_exhausted', message, retryable: false }
  if (summary) emit(draft, { type: 'summary-failed', attempt: attempt.attempt, error })
  else {
    emit(draft, { type: 'attempt-failed', attempt: attempt.attempt, error })
    endOverdue(draft, 'recovery_exhausted', message)
  }
}
