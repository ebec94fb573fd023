// Clocks that pause: a turn's while it waits only for people, a client call's while no client is attached.
import type { ClockMode } from './fact.ts'
import { findHolder } from './client-tools.ts'
import type { Draft } from './draft.ts'
import { emit, findTool } from './draft.ts'
import { RULES } from './spec.ts'
import type { Call, State } from './state.ts'
import { waitsForAnswer } from './state.ts'

/** Sets every clock to the mode that the decided state requires. Called once, at the end of each decision. */
export function setClocks(draft: Draft): void {
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
    const isAsked = call.questions.length > 0 && waitsForAnswer(call)
    if (call.state !== 'awaiting-approval' && call.clock.mode !== 'away' && !isAsked) return false
    isOpen = true
  }
  return isOpen
}

function chooseMode(state: State, call: Call): ClockMode {
  const waits = call.state === 'ready' || call.state === 'offered' || call.state === 'claimed'
  if (call.runs === 'server' || !waits) return 'held'
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
export function graceAfterRestart(draft: Draft, call: Call): void {
  const { clock, callId } = call
  if (!clock.deadline) return
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
