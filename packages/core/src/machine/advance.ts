// Everything that follows from an input without outside help: calls start, steps close, the model is called, the next
// turn begins.
import { applyCallEvent, detachCall, mayDetach, setCallClock, startTool } from './calls.ts'
import { beginChild } from './children.ts'
import { countBelow, mayBeginChild, treeLimits } from './tree-limits.ts'
import type { Draft } from './draft.ts'
import type { Call, QueuedInput, State, Turn } from './state.ts'
import { emit } from './draft.ts'
import { findTask, openTasks } from './state.ts'
import { runOperation, settleWaits } from './task-tools.ts'
import { endsAtCalls } from './answer.ts'
import type { Spec } from './spec.ts'
import { RULES } from './spec.ts'
import { closeStep, enterInputs, failTurn, finishTurn, leftOfWaitMs, openTurn } from './turn.ts'
import { makeRoom, requestChars } from './window.ts'
import { requestApproval } from './people.ts'
import { findHolder } from './clients.ts'

/** Does everything possible now: starts and offers calls, closes the step, calls the model, begins the next turn. */
export function advance(draft: Draft): void {
  // A turn may begin and fail at once, for lack of room or tokens: then the inputs behind it get their turn.
  do {
    if (draft.state.phase === 'stopped') return
    scheduleCalls(draft)
    if (draft.state.tasks.length > 0) scheduleTasks(draft)
    if (draft.state.endedTasks.length > 0 || draft.state.step?.calls.some(({ operation }) => operation))
      settleWaits(draft)
    if (draft.state.relayed.length > 0) offerRelayed(draft)
    if (draft.state.step?.orphaned) endOrphans(draft)
    closeStep(draft)
    const { state } = draft
    if (state.step) {
      const { step, queue, parent } = state
      if (
        step.orphaned &&
        !step.grace &&
        (queue.some((item) => item.ready) || (parent !== null && parent.end !== null))
      )
        emit(draft, { type: 'grace-started', untilMs: state.nowMs + RULES.graceMs })
      return
    }
    if (state.phase === 'paused') return
    if (!state.turn) startTurn(draft)
    else if (!state.attempt && !state.retry) nextStep(draft)
  } while (draft.state.phase === 'idle' && draft.state.queue.some((item) => item.ready) && !draft.state.step)
}

/**
 * Handles calls of an interrupted turn. A returned call is no longer offered. Once an input waits, tools that may
 * detach do.
 */
function endOrphans(draft: Draft): void {
  const isAwaited = draft.state.queue.some((item) => item.ready)
  for (const call of draft.state.step?.calls ?? [])
    if (call.state === 'ready') applyCallEvent(draft, call, 'interrupt')
    else if (isAwaited && mayDetach(draft, call)) detachCall(draft, call)
}

function startTurn(draft: Draft): void {
  const waiting = draft.state.queue.filter((item) => item.ready)
  if (waiting.length === 0) return
  // One answer fits one schema: inputs with a different schema, or none, are answered by the next turn.
  const output = waiting.find((item) => item.type === 'user')?.output
  const wanted = JSON.stringify(output)
  const other = waiting.findIndex((item) => item.type === 'user' && JSON.stringify(item.output) !== wanted)
  const items = other < 0 ? waiting : waiting.slice(0, other)
  openTurn(draft, {
    model: items.findLast((item) => item.model !== undefined)?.model,
    settings: items.findLast((item) => item.settings)?.settings,
    output,
  })
  enterInputs(draft, items)
  startModel(draft)
}

/** After a closed step: steering inputs enter, then the model is called again. */
function nextStep(draft: Draft): void {
  const { spec, state } = draft
  const turn = state.turn
  if (!turn) return
  if (spec.stopWhen && endsAtCalls(spec, turn)) {
    finishTurn(draft, 'tool')
    return
  }
  const { turnTokens: tokens, turnCostMicros: costMicros } = spec.limits
  const most = state.parent === null ? { tokens, costMicros } : treeLimits(spec, state)
  if (turn.tokens > most.tokens) {
    failTurn(draft, 'turn_tokens_exceeded', `the turn used ${turn.tokens} tokens; the limit is ${most.tokens}`)
    return
  }
  if (turn.costMicros > most.costMicros) {
    const [spent, limit] = [turn.costMicros, most.costMicros].map((micros) => `$${micros / 1_000_000}`)
    failTurn(draft, 'turn_cost_exceeded', `the turn cost ${spent}; the limit is ${limit}`)
    return
  }
  // An input with its own schema waits for its own turn, and so do later inputs.
  const wanted = JSON.stringify(turn.output)
  const other = state.queue.findIndex((item) => item.output && JSON.stringify(item.output) !== wanted)
  const steering = other < 0 ? state.queue : state.queue.slice(0, other)
  const steer = steering.findLastIndex((item) => item.ready && item.delivery !== 'queue')
  if (steer >= 0 && !turn.continuing) steerTurn(draft, turn, state.queue.slice(0, steer + 1))
  startModel(draft)
}

/** An input that enters a running turn may set a model and settings, like an input that begins a turn. */
function steerTurn(draft: Draft, turn: Turn, items: readonly QueuedInput[]): void {
  const model = items.findLast((item) => item.model !== undefined)?.model
  const brought = items.findLast((item) => item.settings)?.settings
  const settings = brought ? { ...draft.state.settings, ...brought } : turn.settings
  const models = model === undefined ? turn.models : [model, ...draft.spec.models.filter((other) => other !== model)]
  if (models !== turn.models || settings !== turn.settings) emit(draft, { type: 'turn-settings-set', models, settings })
  enterInputs(draft, items)
}

/** Starts the next attempt of the turn's next step, once the history fits. */
export function startModel(draft: Draft): void {
  const room = makeRoom(draft)
  if (room === 'summarising') return
  if (room !== 'ready') {
    failTurn(draft, 'context_overflow', room.message)
    return
  }
  const { spec, state } = draft
  const turn = state.turn
  if (!turn) return
  const isBounded = spec.limits.firstWordMs < Number.MAX_SAFE_INTEGER
  const firstWordMs = isBounded ? findFirstWordMs(spec, turn, state.nowMs) : undefined
  emit(draft, {
    type: 'model-started',
    attempt: state.counters.attempt + 1,
    step: state.counters.step + 1,
    model: turn.models[turn.candidate] ?? '',
    fromEntry: state.index[0]?.entry ?? 0,
    toEntry: state.counters.entry,
    choice: hasRounds(spec, state, turn) ? 'auto' : 'none',
    chars: requestChars(spec, state),
    ...(firstWordMs !== undefined && { firstWordMs }),
  })
}

function hasRounds(spec: Spec, state: State, turn: Turn): boolean {
  if (turn.rounds >= spec.limits.toolRounds) return false
  // The limits of a tree bind a turn with children, and a child's.
  if (state.parent === null && !turn.below) return true
  return countBelow(turn).rounds < treeLimits(spec, state).rounds
}

/**
 * The rest of the model's share of `firstWordMs`, or an equal share of the remaining time for all models that may still
 * be called.
 */
function findFirstWordMs({ limits }: Spec, { wait, models, candidate }: Turn, nowMs: number): number {
  const leftMs =
    wait?.untilMs === null || !wait
      ? leftOfWaitMs(limits, wait, nowMs) / (models.length - candidate)
      : wait.untilMs - nowMs
  return Math.max(0, Math.floor(leftMs))
}

/**
 * Does nothing while the session is paused or the step's turn has ended. One pass: a starting call changes only itself,
 * so running calls are counted once and kept in count.
 */
export function scheduleCalls(draft: Draft): void {
  if (draft.state.phase !== 'calling') return
  const running: Running = { calls: 0, server: 0, alone: 0, isHeldUp: false }
  for (const call of draft.state.step?.calls ?? []) count(running, call)
  const calls = draft.state.step?.calls.length ?? 0
  for (let index = 0; index < calls; index++) {
    const call = draft.state.step?.calls[index]
    if (call?.state === 'proposed') requestApproval(draft, call)
    if (call?.state !== 'ready') continue
    if (mayBegin(draft, call, running)) {
      begin(draft, call)
      const begun = draft.state.step?.calls[index]
      if (begun) count(running, begun)
    }
    if (!call.parallel && draft.state.step?.calls[index]?.state === 'ready') running.isHeldUp = true
  }
}

/** Tasks begin in every phase in which a session works. `limits.tasks` bounds them, and they hold up no other call. */
function scheduleTasks(draft: Draft): void {
  if (draft.state.phase === 'paused') return
  for (const { callId } of openTasks(draft.state)) {
    const task = findTask(draft.state.tasks, callId)
    if (task?.state === 'proposed') requestApproval(draft, task)
    else if (task?.state === 'ready' && mayBeginTask(draft, task)) begin(draft, task)
  }
}

function mayBeginTask({ spec, state }: Draft, task: Call): boolean {
  if (task.runs === 'client') return findHolder(state, task) !== undefined
  return task.runs !== 'child' || mayBeginChild(spec, state)
}

interface Running {
  calls: number
  server: number
  /** Running calls that must run alone. */
  alone: number
  /** An earlier call that must run alone is waiting for the others to end. */
  isHeldUp: boolean
}

function count(running: Running, call: Call): void {
  if (call.runs === 'machine') return
  if (call.state !== 'started' && call.state !== 'offered' && call.state !== 'claimed') return
  running.calls += 1
  if (call.runs === 'server') running.server += 1
  if (!call.parallel) running.alone += 1
}

/** A call that must run alone waits for all running ones, and all others wait for it. */
function mayBegin({ spec, state }: Draft, call: Call, running: Running): boolean {
  if (running.isHeldUp || running.alone > 0 || (!call.parallel && running.calls > 0)) return false
  if (call.runs === 'client') return findHolder(state, call) !== undefined
  if (call.runs === 'child') return mayBeginChild(spec, state)
  if (call.runs === 'machine') return true
  return running.server < spec.limits.parallelCalls
}

function begin(draft: Draft, call: Call): void {
  // The root says whether a child's approval expired.
  if (call.approval && draft.state.parent === null && draft.state.nowMs > call.approval.deadline.atMs) {
    applyCallEvent(draft, call, 'approval-expiry')
    return
  }
  if (call.runs === 'server') {
    startTool(draft, call)
    return
  }
  if (call.runs === 'child') {
    beginChild(draft, call)
    return
  }
  if (call.runs === 'machine') {
    runOperation(draft, call)
    return
  }
  offer(draft, call)
}

/** Calls of sessions below are offered here if this is the root. */
function offerRelayed(draft: Draft): void {
  if (draft.state.parent !== null) return
  for (const { call, via } of draft.state.relayed) {
    const isOver = draft.state.children.find(({ callId }) => callId === via)?.phase === 'ending'
    if (call?.state === 'ready' && !isOver) offer(draft, call)
  }
}

function offer(draft: Draft, call: Call): void {
  const client = findHolder(draft.state, call)
  if (!client) return
  const { callId } = call
  const { connection } = client
  // The call moves directly from one client to the next: the new client's clock starts when it reaches the call.
  if (call.clock.mode === 'running') setCallClock(draft, call, 'held')
  emit(draft, { type: 'call-offered', callId, connection, offer: draft.state.counters.offer + 1 })
  // A client without claims acts on what it reads, so delivery is the claim and is committed before it.
  if (!client.claims) emit(draft, { type: 'call-claimed', callId, connection })
}
