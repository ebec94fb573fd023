// Folds facts about the history's index: entries that were added, removed or shortened.
import { spend } from './apply-turn.ts'
import type { FactOf, StepCut } from './fact.ts'
import type { MediaSize } from './size.ts'
import { RULES } from './spec.ts'
import type { IndexEntry, State, TurnStep } from './state.ts'

type HistoryFact = FactOf<
  | 'inputs-entered'
  | 'step-closed'
  | 'window-moved'
  | 'results-moved'
  | 'summary-started'
  | 'summary-finished'
  | 'summary-failed'
  | 'answer-cut'
  | 'inputs-left-out'
  | 'history-rewound'
>

export function applyHistoryFact(state: State, fact: HistoryFact): State {
  switch (fact.type) {
    case 'inputs-entered':
      return inputsEntered(state, fact)
    case 'step-closed':
      return stepClosed(state, fact)
    case 'window-moved':
      return { ...state, index: state.index.filter((entry) => entry.entry >= fact.fromEntry) }
    case 'results-moved':
      return resultsMoved(state, fact)
    case 'summary-started':
      return summaryStarted(state, fact)
    case 'summary-finished':
      return summaryFinished(state, fact)
    case 'summary-failed':
      return { ...state, attempt: null, summaryFailed: true, phase: 'modelling' }
    case 'answer-cut':
      return answerCut(state, fact.cuts)
    case 'inputs-left-out':
      return inputsLeftOut(state, fact)
    case 'history-rewound':
      return {
        ...state,
        index: fact.index,
        lastTurn: null,
        recentInputs: [...state.recentInputs, { inputId: fact.inputId, pos: state.pos }].slice(-RULES.remembered),
      }
    default:
      return fact satisfies never
  }
}

function inputsEntered(state: State, fact: FactOf<'inputs-entered'>): State {
  const entered = new Set(fact.entries.flatMap((entry) => entry.inputs))
  const told = new Set(fact.entries.flatMap((entry) => entry.notes))
  // A repeated input is no longer in the queue.
  const silent = new Set(state.queue.filter((item) => item.asks === false).map((item) => item.inputId))
  const asks = [...entered].some((inputId) => !silent.has(inputId))
  const entries = fact.entries.map(({ entry, inputs, notes, chars, media }): IndexEntry => ({
    entry,
    exchange: fact.exchange,
    role: 'user',
    chars,
    inputs,
    notes,
    ...(media && { media }),
  }))
  return withEntries(
    {
      ...state,
      turn: state.turn && { ...state.turn, asks: state.turn.asks || asks },
      queue: state.queue.filter((item) => !entered.has(item.inputId)),
      notes: state.notes.filter((note) => !told.has(note.note)),
    },
    entries,
  )
}

function stepClosed(state: State, fact: FactOf<'step-closed'>): State {
  const step = state.step
  if (!step) return state
  const resultChars = step.calls.reduce((sum, call) => sum + call.resultChars, 0)
  const media = step.calls.flatMap((call) => call.media ?? [])
  const long = step.calls.flatMap(({ callId, longChars: chars }) => (chars === undefined ? [] : [{ callId, chars }]))
  const closed = step.calls.map(({ callId, name, runs, offer, settlement, tellLate, provenance }) => ({
    callId,
    name,
    runs,
    offer,
    settlement: settlement ?? 'unknown',
    tellLate,
    ...(provenance && { provenance }),
  }))
  const entry: IndexEntry = {
    entry: fact.entry,
    exchange: step.exchange,
    role: 'step',
    chars: step.chars + resultChars,
    step: step.step,
    ...(media.length > 0 && { media: addMedia(media) }),
    ...(long.length > 0 && { long }),
  }
  const recentCalls = [...state.recentCalls, ...closed].slice(-RULES.remembered)
  return withEntries({ ...state, step: null, recentCalls }, [entry])
}

function addMedia(sizes: readonly MediaSize[]): MediaSize {
  return sizes.reduce((sum, { parts, chars }) => ({ parts: sum.parts + parts, chars: sum.chars + chars }))
}

function withEntries(state: State, entries: readonly IndexEntry[]): State {
  const last = entries.at(-1)?.entry ?? state.counters.entry
  return {
    ...state,
    index: [...state.index, ...entries],
    counters: { ...state.counters, entry: last },
  }
}

function summaryStarted(state: State, fact: FactOf<'summary-started'>): State {
  const { attempt, fromEntry, toEntry } = fact
  return {
    ...state,
    phase: 'summarising',
    retry: null,
    counters: { ...state.counters, attempt },
    attempt: {
      attempt,
      purpose: 'summary',
      model: '',
      step: 0,
      fromEntry,
      toEntry,
      choice: 'none',
      chars: 0,
      progressChars: 0,
    },
  }
}

/** The summary takes the number of the last entry that it replaces, so the index stays sorted. */
function summaryFinished(state: State, fact: FactOf<'summary-finished'>): State {
  const replaced = state.index.filter((entry) => entry.entry >= fact.fromEntry && entry.entry <= fact.toEntry)
  const older = state.index.filter((entry) => entry.entry < fact.fromEntry)
  const newer = state.index.filter((entry) => entry.entry > fact.toEntry)
  const summary: IndexEntry = {
    entry: fact.toEntry,
    exchange: replaced.at(-1)?.exchange ?? 0,
    role: 'summary',
    chars: fact.text.length,
  }
  const turn = state.turn && { ...state.turn, ...spend(state.turn, fact.usage) }
  return { ...state, turn, attempt: null, phase: 'modelling', index: [...older, summary, ...newer] }
}

function resultsMoved(state: State, { calls, sizes }: FactOf<'results-moved'>): State {
  const chars = new Map(sizes.map((size) => [size.entry, size.chars]))
  const index = state.index.map((entry) => {
    if (!chars.has(entry.entry)) return entry
    const { long, ...kept } = entry
    const left = long?.filter(({ callId }) => !calls.includes(callId)) ?? []
    return { ...kept, chars: chars.get(entry.entry) ?? entry.chars, ...(left.length > 0 && { long: left }) }
  })
  return { ...state, index }
}

function inputsLeftOut(state: State, { sizes }: FactOf<'inputs-left-out'>): State {
  const sized = new Map(sizes.map((size) => [size.entry, size]))
  const index = state.index.map((entry) => {
    const size = sized.get(entry.entry)
    if (!size) return entry
    const { media: _, ...kept } = entry
    return { ...kept, chars: size.chars, ...(size.media && { media: size.media }) }
  })
  return { ...state, index }
}

function answerCut(state: State, cuts: readonly StepCut[]): State {
  const keep = new Map(cuts.map((cut) => [cut.step, cut.keepChars]))
  const steps = [...(state.turn?.steps ?? []), ...(state.lastTurn?.steps ?? [])]
  const removed = new Map(steps.map((step) => [step.step, step.textChars - (keep.get(step.step) ?? step.textChars)]))
  const callless = new Set(steps.filter((step) => !step.hasCalls).map((step) => step.step))
  const index = state.index.flatMap((entry) => {
    if (entry.role !== 'step' || entry.step === undefined || !keep.has(entry.step)) return [entry]
    if (keep.get(entry.step) === 0 && callless.has(entry.step)) return []
    return [{ ...entry, chars: entry.chars - (removed.get(entry.step) ?? 0) }]
  })
  const step = state.step && { ...state.step, chars: state.step.chars - (removed.get(state.step.step) ?? 0) }
  const shorten = (turnStep: TurnStep): TurnStep => ({
    ...turnStep,
    textChars: keep.get(turnStep.step) ?? turnStep.textChars,
  })
  return {
    ...state,
    index,
    step,
    turn: state.turn && { ...state.turn, steps: state.turn.steps.map(shorten) },
    lastTurn: state.lastTurn && { ...state.lastTurn, steps: state.lastTurn.steps.map(shorten) },
  }
}
