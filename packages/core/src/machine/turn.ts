// The course of a turn: inputs enter, the model is called, its calls settle, until the turn ends.
import type { ErrorCode } from '../errors.ts'
import type { EnteredInputs, StepCut, TurnOutcome } from './fact.ts'
import type { Played } from './input.ts'
import { applyCallEvent, detachCall, mayDetach } from './call-event.ts'
import { scheduleCalls } from './call-schedule.ts'
import type { Draft } from './draft.ts'
import { endsAtCalls } from './order.ts'
import { emit } from './draft.ts'
import type { Limits, Spec } from './spec.ts'
import { RULES } from './spec.ts'
import type { IndexEntry, QueuedInput, State, Turn, TurnStep } from './state.ts'
import { requestChars } from './estimate.ts'
import { makeRoom } from './window.ts'

/** Separates two steps' texts in a turn's full answer. */
export const TEXT_SEPARATOR = '\n\n'

/** Does everything possible now: starts and offers calls, closes the step, calls the model, begins the next turn. */
export function advance(draft: Draft): void {
  // A turn may begin and fail at once, for lack of room or tokens: then the inputs behind it get their turn.
  do {
    if (draft.state.phase === 'stopped') return
    scheduleCalls(draft)
    if (draft.state.step?.orphaned) endOrphans(draft)
    closeStep(draft)
    const { state } = draft
    if (state.step) {
      if (state.step.orphaned && !state.step.grace && state.queue.some((item) => item.ready))
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
    else if (isAwaited && mayDetach(draft.state, call)) detachCall(draft, call)
}

/** A step enters the history when its last call has settled. */
export function closeStep(draft: Draft): void {
  const step = draft.state.step
  if (!step || step.calls.some((call) => call.state !== 'settled')) return
  emit(draft, { type: 'step-closed', step: step.step, entry: draft.state.counters.entry + 1 })
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

type TurnWish = { readonly [Name in 'model' | 'settings' | 'output']?: QueuedInput[Name] | undefined }

/** The facts that begin a turn; its inputs enter next. */
export function openTurn(draft: Draft, { model, settings, output }: TurnWish = {}): void {
  const { spec, state } = draft
  const first = model ?? state.model ?? spec.models[0] ?? ''
  const all = { ...state.settings, ...settings }
  emit(draft, {
    type: 'turn-started',
    turn: state.counters.turn + 1,
    exchange: state.counters.exchange + 1,
    models: [first, ...spec.models.filter((candidate) => candidate !== first)],
    ...(Object.keys(all).length > 0 && { settings: all }),
    ...(output && { output }),
    deadlineMs: state.nowMs + spec.limits.turnMs,
  })
}

/** Rewound inputs enter the history again, message by message. */
export function enterAgain(draft: Draft, asked: readonly IndexEntry[]): void {
  const { state } = draft
  const entries = asked.map(({ inputs = [], notes = [], chars, media }, index): EnteredInputs => ({
    entry: state.counters.entry + 1 + index,
    inputs,
    notes,
    chars,
    ...(media && { media }),
  }))
  emit(draft, { type: 'inputs-entered', exchange: state.turn?.exchange ?? 0, entries })
}

/** Inputs enter in the order of their acceptance; adjacent transcript entries become one message. */
function enterInputs(draft: Draft, items: readonly QueuedInput[]): void {
  const { state } = draft
  const entries: EnteredInputs[] = []
  let previous: QueuedInput | undefined
  for (const item of items) {
    const last = entries.at(-1)
    if (last && previous?.type === 'transcript' && item.type === 'transcript')
      entries[entries.length - 1] = {
        ...last,
        inputs: [...last.inputs, item.inputId],
        chars: last.chars + item.chars,
      }
    else
      entries.push({
        entry: state.counters.entry + 1 + entries.length,
        inputs: [item.inputId],
        notes: entries.length === 0 ? state.notes.map((note) => note.note) : [],
        chars: item.chars + (entries.length === 0 ? state.notes.reduce((sum, note) => sum + note.chars, 0) : 0),
        ...(item.media && { media: { ...item.media, inputs: [item.inputId] } }),
      })
    previous = item
  }
  emit(draft, { type: 'inputs-entered', exchange: state.turn?.exchange ?? 0, entries })
}

/** Notes for the model enter as a separate message. */
export function enterNotes(draft: Draft): void {
  const { state } = draft
  const notes = state.notes.map((note) => note.note)
  const chars = state.notes.reduce((sum, note) => sum + note.chars, 0)
  const entries = [{ entry: state.counters.entry + 1, inputs: [], notes, chars }]
  emit(draft, { type: 'inputs-entered', exchange: state.turn?.exchange ?? 0, entries })
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
  if (turn.tokens > spec.limits.turnTokens) {
    failTurn(
      draft,
      'turn_tokens_exceeded',
      `the turn used ${turn.tokens} tokens; the limit is ${spec.limits.turnTokens}`,
    )
    return
  }
  if (turn.costMicros > spec.limits.turnCostMicros) {
    const [spent, limit] = [turn.costMicros, spec.limits.turnCostMicros].map((micros) => `$${micros / 1_000_000}`)
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
    choice: turn.rounds >= spec.limits.toolRounds ? 'none' : 'auto',
    chars: requestChars(spec, state),
    ...(firstWordMs !== undefined && { firstWordMs }),
  })
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

/** Milliseconds for the first piece of an answer to arrive, from any model; Infinity without a limit. */
export function leftOfWaitMs({ firstWordMs }: Limits, wait: Turn['wait'], nowMs: number): number {
  return wait ? wait.sinceMs + firstWordMs - nowMs : firstWordMs
}

export function finishTurn(draft: Draft, outcome: TurnOutcome, text = ''): void {
  const turn = draft.state.turn
  if (turn) emit(draft, { type: 'turn-finished', turn: turn.turn, outcome, text })
}

/** `issues`: what the answer's last value lacks, if it did not fit the output schema. */
export function failTurn(draft: Draft, code: ErrorCode, message: string, issues?: string): void {
  const turn = draft.state.turn
  const error = { code, message, ...(issues !== undefined && { issues }) }
  if (turn) emit(draft, { type: 'turn-finished', turn: turn.turn, outcome: 'failed', text: '', error })
}

/** The characters of a turn's full text that its listener heard or read. */
export function countPlayedChars(state: State, heard: Played, turn: number): number {
  if (heard.type === 'chars') return heard.chars
  if (heard.type === 'all' || state.displayedTurn > turn) return Number.MAX_SAFE_INTEGER
  return state.displayedTurn < turn ? 0 : (state.displayedChars ?? Number.MAX_SAFE_INTEGER)
}

/** Cuts the texts of finished steps to the heard part; returns how much is left for a text that follows them. */
export function cutTexts(draft: Draft, steps: readonly TurnStep[], heard: number): number {
  const cuts: StepCut[] = []
  let left = heard
  let first = true
  for (const { step, textChars } of steps) {
    if (textChars === 0) continue
    if (!first) left -= TEXT_SEPARATOR.length
    first = false
    const keepChars = Math.max(0, Math.min(left, textChars))
    if (keepChars < textChars) cuts.push({ step, keepChars })
    left -= textChars
  }
  if (cuts.length > 0) emit(draft, { type: 'answer-cut', cuts })
  return Math.max(0, first ? left : left - TEXT_SEPARATOR.length)
}
