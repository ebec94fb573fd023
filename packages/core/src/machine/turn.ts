// Turns, steps and attempts: the facts that begin and end them, and their fold.
import type { ErrorCode } from '../errors.ts'
import type { CallProposal, EnteredInputs, FactOf, StepCut, SupersedeReason, TurnOutcome } from './fact.ts'
import { createUnknownFactError } from './fact.ts'
import type { Failure, IndexEntry, Played } from './values.ts'
import type { Draft } from './draft.ts'
import type { Call, QueuedInput, State, Turn, TurnStep } from './state.ts'
import { emit } from './draft.ts'
import { spend } from './state.ts'
import type { Limits } from './spec.ts'
import { takeCount } from './window.ts'

/** Separates two steps' texts in a turn's full answer. */
export const TEXT_SEPARATOR = '\n\n'

/** A step enters the history when its last call has settled. */
export function closeStep(draft: Draft): void {
  const step = draft.state.step
  if (!step || step.calls.some((call) => call.state !== 'settled')) return
  emit(draft, { type: 'step-closed', step: step.step, entry: draft.state.counters.entry + 1 })
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
export function enterInputs(draft: Draft, items: readonly QueuedInput[]): void {
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

export type TurnFact = FactOf<
  | 'turn-started'
  | 'turn-clock-set'
  | 'turn-settings-set'
  | 'model-started'
  | 'attempt-progressed'
  | 'attempt-superseded'
  | 'attempt-failed'
  | 'answer-ignored'
  | 'step-finished'
  | 'step-salvaged'
  | 'output-refused'
  | 'interrupt-accepted'
  | 'model-used'
  | 'turn-finished'
>

export function applyTurnFact(state: State, fact: TurnFact): State {
  switch (fact.type) {
    case 'turn-started':
      return turnStarted(state, fact)
    case 'turn-clock-set': {
      const deadline = fact.deadlineMs === null ? null : { atMs: fact.deadlineMs, generation: state.pos }
      return { ...state, turn: state.turn && { ...state.turn, deadline, remainingMs: fact.remainingMs } }
    }
    case 'turn-settings-set': {
      const { models, settings } = fact
      return { ...state, turn: state.turn && { ...state.turn, models, settings, candidate: 0, failures: 0 } }
    }
    case 'model-started':
      return modelStarted(state, fact)
    case 'attempt-progressed': {
      const progressChars = fact.offset + fact.text.length
      return { ...state, attempt: state.attempt && { ...state.attempt, progressChars } }
    }
    case 'attempt-superseded':
      return attemptSuperseded(learnWindow(state, fact.error), fact)
    case 'attempt-failed':
      return { ...state, attempt: null }
    case 'answer-ignored':
      return state
    case 'step-finished':
      return stepFinished(state, fact)
    case 'step-salvaged':
      return stepSalvaged(state, fact)
    case 'model-used':
      return { ...state, turn: state.turn && { ...state.turn, ...spend(state.turn, fact.usage) } }
    case 'output-refused':
      return { ...state, turn: state.turn && answerRefused(state.turn, fact) }
    case 'interrupt-accepted':
      if (fact.untilMs === undefined) return state
      return {
        ...state,
        phase: 'interrupting',
        interrupting: { heard: fact.heard, deadline: { atMs: fact.untilMs, generation: state.pos } },
      }
    case 'turn-finished':
      return turnFinished(state, fact)
    default:
      throw createUnknownFactError(fact satisfies never)
  }
}

function learnWindow(state: State, error: Failure | undefined): State {
  const { attempt, learntWindows = [] } = state
  if (!attempt || error?.contextTokens === undefined) return state
  const others = learntWindows.filter(({ model }) => model !== attempt.model)
  return { ...state, learntWindows: [...others, { model: attempt.model, tokens: error.contextTokens }] }
}

/** An answered request with more tokens than a refusal named proves that the refusal was wrong. */
function forgetWindow({ attempt, learntWindows }: State, { usage }: FactOf<'step-finished'>): Partial<State> {
  const isWrong = learntWindows?.some(
    ({ model, tokens }) => model === attempt?.model && tokens < (usage.inputTokens ?? 0),
  )
  return isWrong ? { learntWindows: learntWindows?.filter(({ model }) => model !== attempt?.model) ?? [] } : {}
}

/** Its output is void and no longer part of the turn's text. */
function answerRefused(turn: Turn, { step, by }: FactOf<'output-refused'>): Turn {
  const steps = turn.steps.map((said) => (said.step === step ? { ...said, textChars: 0 } : said))
  return by === undefined
    ? { ...turn, steps, misfits: (turn.misfits ?? 0) + 1 }
    : { ...turn, steps, refusals: (turn.refusals ?? 0) + 1 }
}

function turnStarted(state: State, fact: FactOf<'turn-started'>): State {
  const turn: Turn = {
    turn: fact.turn,
    exchange: fact.exchange,
    models: fact.models,
    settings: fact.settings ?? {},
    ...(fact.output && { output: fact.output }),
    candidate: 0,
    failures: 0,
    recoveries: 0,
    rounds: 0,
    calls: 0,
    pauses: 0,
    shrinks: 0,
    tokens: 0,
    costMicros: 0,
    askedAgain: false,
    steps: [],
    deadline: { atMs: fact.deadlineMs, generation: state.pos },
    remainingMs: fact.deadlineMs - state.nowMs,
    continuing: false,
    asks: false,
  }
  const counters = { ...state.counters, turn: fact.turn, exchange: fact.exchange }
  return { ...state, turn, counters, phase: 'modelling', summaryFailed: false, summaryRecoveries: 0 }
}

function modelStarted(state: State, fact: FactOf<'model-started'>): State {
  const { attempt, step, model, fromEntry, toEntry, choice, chars, firstWordMs } = fact
  const { turn, nowMs } = state
  const limited = firstWordMs === undefined ? {} : { firstWordMs }
  return {
    ...state,
    phase: 'modelling',
    retry: null,
    counters: { ...state.counters, attempt },
    attempt: { attempt, purpose: 'step', step, model, fromEntry, toEntry, choice, chars, progressChars: 0, ...limited },
    turn:
      turn && firstWordMs !== undefined
        ? { ...turn, wait: { sinceMs: turn.wait?.sinceMs ?? nowMs, untilMs: nowMs + firstWordMs } }
        : turn,
  }
}

function withoutWait(turn: Turn): Turn {
  const { wait: _, ...rest } = turn
  return rest
}

/**
 * The wait for the first word continues after a failure, unless its answer had begun. After a restart or a pause it
 * starts over.
 */
function waitOn(turn: Turn, reason: SupersedeReason, progressChars: number): Turn {
  if (!turn.wait) return turn
  if (progressChars > 0 || reason === 'restart' || reason === 'paused' || reason === 'model-set')
    return withoutWait(turn)
  return reason === 'fallback' ? { ...turn, wait: { ...turn.wait, untilMs: null } } : turn
}

function attemptSuperseded(state: State, fact: FactOf<'attempt-superseded'>): State {
  const retry = fact.retryAtMs === undefined ? null : { atMs: fact.retryAtMs, generation: state.pos }
  const summary = state.attempt?.purpose === 'summary'
  const turn = state.turn && waitOn(state.turn, fact.reason, state.attempt?.progressChars ?? 0)
  const next = { ...state, attempt: null, retry, turn }
  if (!turn || fact.reason === 'paused' || fact.reason === 'model-set') return next
  if (summary) return { ...next, summaryRecoveries: state.summaryRecoveries + 1, phase: 'modelling' }
  switch (fact.reason) {
    case 'failed':
      return { ...next, turn: { ...turn, failures: turn.failures + 1 } }
    case 'fallback':
      return { ...next, turn: { ...turn, failures: 0, candidate: turn.candidate + 1 } }
    case 'restart':
      return { ...next, turn: { ...turn, recoveries: turn.recoveries + 1 } }
    case 'empty':
      return { ...next, turn: { ...turn, askedAgain: true } }
    case 'context-full':
      return { ...next, turn: { ...turn, shrinks: turn.shrinks + 1 } }
    case 'too-large':
      return next
    default:
      return fact.reason satisfies never
  }
}

function stepFinished(state: State, fact: FactOf<'step-finished'>): State {
  const turn = state.turn
  if (!turn) return state
  const { step, textChars } = fact
  const hasCalls = fact.calls.length > 0
  const asksPerson = fact.calls[0]?.answer !== undefined
  return {
    ...state,
    phase: hasCalls && state.phase === 'modelling' ? 'calling' : state.phase,
    attempt: null,
    counters: { ...state.counters, step },
    ...takeCount(state, fact),
    ...(state.learntWindows && forgetWindow(state, fact)),
    step: {
      step,
      exchange: turn.exchange,
      chars: fact.chars,
      calls: fact.calls.map(createCall),
      orphaned: false,
      grace: null,
    },
    turn: {
      ...(turn.wait ? withoutWait(turn) : turn),
      failures: 0,
      recoveries: 0,
      rounds: turn.rounds + (hasCalls && !asksPerson ? 1 : 0),
      calls: turn.calls + (asksPerson ? 0 : fact.calls.length),
      pauses: turn.pauses + (fact.finish === 'pause' ? 1 : 0),
      continuing: fact.finish === 'pause',
      tokens: turn.tokens + (fact.usage.inputTokens ?? 0) + (fact.usage.outputTokens ?? 0),
      costMicros: turn.costMicros + (fact.usage.costMicros ?? 0),
      // The history has no call for a person's approval of the answer.
      steps: [...turn.steps, { step, textChars, hasCalls: hasCalls && !asksPerson }],
    },
  }
}

function stepSalvaged(state: State, fact: FactOf<'step-salvaged'>): State {
  const turn = state.turn
  if (!turn) return state
  const { step, textChars } = fact
  return {
    ...state,
    attempt: null,
    counters: { ...state.counters, step },
    step: { step, exchange: turn.exchange, chars: textChars, calls: [], orphaned: false, grace: null },
    turn: { ...(turn.wait ? withoutWait(turn) : turn), steps: [...turn.steps, { step, textChars, hasCalls: false }] },
  }
}

/** The description of a call for people is text, so it is in the history and not in the state. */
function createCall(proposal: CallProposal): Call {
  return {
    ...(proposal.about ? withoutText(proposal) : proposal),
    state: proposal.asks || proposal.tokenHash !== undefined ? 'proposed' : 'ready',
    attempt: 0,
    approvals: 0,
    approval: null,
    offer: null,
    clock: { mode: 'held', deadline: null, remainingMs: proposal.timeoutMs, awayRemainingMs: -1, graces: 0 },
    deadline: null,
    heldMs: null,
    questions: [],
    settlement: null,
    resultChars: 0,
    editedChars: 0,
    tellLate: false,
  }
}

function withoutText(proposal: CallProposal): Omit<CallProposal, 'about'> {
  const { about: _, ...rest } = proposal
  return rest
}

function turnFinished(state: State, fact: FactOf<'turn-finished'>): State {
  return {
    ...state,
    phase: state.phase === 'paused' ? 'paused' : 'idle',
    lastTurn: {
      turn: fact.turn,
      steps: state.turn?.steps ?? [],
      asks: state.turn?.asks ?? false,
      ...(fact.error && { error: fact.error.code }),
    },
    turn: null,
    attempt: null,
    retry: null,
    interrupting: null,
    step: state.step && { ...state.step, orphaned: true },
  }
}
