// Interrupts: legal in every state, and the history keeps only what the listener heard or read.
import { applyCallEventToAll } from './calls.ts'
import type { Draft } from './draft.ts'
import type { State } from './state.ts'
import { emit } from './draft.ts'
import { readTurnOf } from './state.ts'
import type { InputOf } from './input.ts'
import { countChars, wholeChars } from './size.ts'
import { closeStep, countPlayedChars, cutTexts, finishTurn } from './turn.ts'
import { countUnused, ignoreAnswer } from './answer.ts'
import { readText } from '../messages.ts'
import { cancelTasks } from './task-tools.ts'
import type { Heard, Played } from './values.ts'

export function interrupt(draft: Draft, input: InputOf<'interrupt'>): void {
  if (input.turn !== undefined && input.turn !== draft.state.counters.turn) return
  if (input.tasks) cancelTasks(draft, { by: 'person' })
  interruptTurn(draft, input, input.heard)
}

/**
 * Converts to characters of the newest answer, from the reports so far: a later report covers what was played after the
 * interrupt. A voice that still speaks an older answer has not begun the newest one, because voices speak answers in
 * order.
 */
function findPlayed({ turn, lastTurn, displayedTurn, displayedChars, counters }: State, heard: Heard): Played {
  if (heard.type === 'none') return { type: 'chars', chars: 0 }
  if (heard.type === 'chars') {
    const isOlder = heard.message !== undefined && (readTurnOf(heard.message) ?? 0) < counters.turn
    return { type: 'chars', chars: isOlder ? 0 : heard.chars }
  }
  if (heard.type === 'all' || heard.type === 'display') return heard
  const isReported = displayedChars !== null && displayedTurn === (turn ?? lastTurn)?.turn
  return isReported ? { type: 'chars', chars: displayedChars } : { type: 'all' }
}

/** Asks a running model call to stop and to report its partial answer; everything else ends at once. */
export function interruptTurn(
  draft: Draft,
  { reason, by }: Pick<InputOf<'interrupt'>, 'reason' | 'by'>,
  said: Heard,
): void {
  const why = by === undefined ? { reason } : { reason, by }
  const { state } = draft
  const heard = findPlayed(state, said)
  const turn = state.turn
  if (state.phase === 'interrupting') {
    emit(draft, { type: 'interrupt-accepted', ...why, heard })
    return
  }
  if (state.phase === 'modelling' && state.attempt) {
    const untilMs = state.nowMs + draft.spec.interruptMs
    emit(draft, { type: 'interrupt-accepted', ...why, heard, untilMs })
    return
  }
  emit(draft, { type: 'interrupt-accepted', ...why, heard })
  if (!turn) {
    const last = state.lastTurn
    if (last) cutTexts(draft, last.steps, countPlayedChars(state, heard, last.turn))
    return
  }
  cutTexts(draft, turn.steps, countPlayedChars(state, heard, turn.turn))
  applyCallEventToAll(draft, 'interrupt')
  finishTurn(draft, 'interrupted')
}

/** The answer to an abort, in whichever form arrives first: the partial answer is kept up to the heard part. */
export function finishInterrupt(
  draft: Draft,
  input: InputOf<'model-stopped'> | InputOf<'model-finished'> | InputOf<'model-failed'>,
): void {
  if (input.attempt !== draft.state.attempt?.attempt) {
    ignoreAnswer(draft, input)
    return
  }
  if (input.type === 'model-failed') salvageInterrupted(draft)
  else keepSpoken(draft, input)
}

function keepSpoken(draft: Draft, input: InputOf<'model-stopped'> | InputOf<'model-finished'>): void {
  const { state } = draft
  const { turn, attempt, interrupting } = state
  if (!turn || !attempt || !interrupting) return
  const said = input.type === 'model-stopped' ? input.text : readText(input.parts)
  const left = cutTexts(draft, turn.steps, countPlayedChars(state, interrupting.heard, turn.turn))
  const text = said.slice(0, wholeChars(said, left))
  if (text.trim() !== '') {
    // Calls in an answer that was cut short were never proposed; provider state would vouch for text that changed.
    const parts = [{ type: 'text', text }] as const
    emit(draft, {
      type: 'step-finished',
      step: attempt.step,
      attempt: attempt.attempt,
      model: attempt.model,
      parts,
      calls: [],
      finish: 'end',
      usage: input.type === 'model-finished' ? input.usage : {},
      textChars: text.length,
      chars: countChars(parts),
      interrupted: true,
    })
    closeStep(draft)
  } else if (input.type === 'model-finished') countUnused(draft, input)
  finishTurn(draft, 'interrupted')
}

/** The model can no longer finish: the logged progress is the best available text. */
export function salvageInterrupted(draft: Draft): void {
  const { state } = draft
  const { turn, attempt, interrupting } = state
  if (!turn || !attempt || !interrupting) return
  const heard = countPlayedChars(state, interrupting.heard, turn.turn)
  const textChars = Math.min(cutTexts(draft, turn.steps, heard), attempt.progressChars)
  if (textChars > 0) {
    emit(draft, { type: 'step-salvaged', step: attempt.step, attempt: attempt.attempt, textChars })
    closeStep(draft)
  }
  finishTurn(draft, 'interrupted')
}
