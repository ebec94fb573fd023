// Folds facts about turns, steps and attempts.
import type { Usage } from '../messages.ts'
import { takeCount } from './estimate.ts'
import type { CallProposal, FactOf, SupersedeReason } from './fact.ts'
import { createUnknownFactError } from './fact.ts'
import type { Failure } from './input.ts'
import type { Call, State, Turn } from './state.ts'

type TurnFact = FactOf<
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

/** The turn's spending after a model call outside a step. */
export function spend({ tokens, costMicros }: Turn, usage: Usage): Pick<Turn, 'tokens' | 'costMicros'> {
  return {
    tokens: tokens + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    costMicros: costMicros + (usage.costMicros ?? 0),
  }
}

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
    lastTurn: { turn: fact.turn, steps: state.turn?.steps ?? [] },
    turn: null,
    attempt: null,
    retry: null,
    interrupting: null,
    step: state.step && { ...state.step, orphaned: true },
  }
}
