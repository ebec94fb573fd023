// The window: the part of the history that a request may hold. It moves by whole exchanges and never splits a step. Here
// are its rules, the estimate of tokens behind them, and the fold of the index of the history.
import type { Draft } from './draft.ts'
import type { Counted, State, TurnStep } from './state.ts'
import { emit } from './draft.ts'
import { spend } from './state.ts'
import type { Spec } from './spec.ts'
import { RULES } from './spec.ts'
import type { IndexEntry, LongResult, MediaSize } from './values.ts'
import type { FactOf, StepCut } from './fact.ts'
import { countWakes, noteNews, tasksOf } from './task-entries.ts'

/** Shares of the available room. */
const HALF = 1 / 2
const THREE_QUARTERS = 3 / 4

/**
 * Shortens the history until the request fits. A result that is too large alone first moves behind a handle. Then the
 * model writes a summary if the agent wants one, or else the oldest exchanges are dropped. The running exchange stays;
 * only as many of its results as necessary move behind handles. If that is not enough, the turn cannot continue.
 */
export function makeRoom(draft: Draft): 'ready' | 'summarising' | { readonly message: string } {
  const { spec } = draft
  let tokens = requestTokens(spec, draft.state)
  if (needsRoom(draft, draft.state.index, tokens)) {
    if (shorten(draft) === 'summarising') return 'summarising'
    tokens = requestTokens(spec, draft.state)
  }
  const { length } = draft.state.index
  if (length > spec.window.messages)
    return { message: `the running exchange has ${length} messages; the window holds ${spec.window.messages}` }
  const hardTokens = spec.window.contextTokens ?? Number.MAX_SAFE_INTEGER
  if (tokens + spec.window.reserveTokens <= hardTokens) return 'ready'
  return { message: `the running exchange needs about ${tokens} tokens; the model's window has ${hardTokens}` }
}

function shorten(draft: Draft): 'summarising' | undefined {
  moveResults(draft, 'alone')
  if (draft.spec.window.summarise && !draft.state.summaryFailed && needsRoom(draft)) {
    const range = summaryRange(draft)
    if (range) {
      const attempt = draft.state.counters.attempt + 1
      emit(draft, { type: 'summary-started', attempt, ...range, ...nameLimit(draft) })
      return 'summarising'
    }
  }
  if (needsRoom(draft)) dropOldest(draft)
  moveResults(draft, 'all')
  return undefined
}

/**
 * Drops the oldest exchanges. A dropped summary is lost with everything it absorbed: if nothing else is old, results go
 * first, and the summary stays while the request fits the window.
 */
function dropOldest(draft: Draft): void {
  const isOnly = isOnlySummarised(draft)
  if (isOnly) moveResults(draft, 'all')
  if (!isOnly || (needsRoom(draft) && !fitsWindow(draft))) slideOn(draft)
}

/** Whether everything older than the running exchange is a summary. */
function isOnlySummarised({ state }: Draft): boolean {
  const current = state.turn?.exchange ?? state.counters.exchange
  return (
    state.index[0]?.role === 'summary' &&
    state.index.every(({ exchange, role }) => exchange === current || role === 'summary')
  )
}

/** Whether the request fits the window, if known, rather than just the threshold at which messages are dropped. */
function fitsWindow({ spec, state }: Draft): boolean {
  const { contextTokens, reserveTokens } = spec.window
  if (contextTokens === undefined || state.index.length > spec.window.messages) return false
  return requestTokens(spec, state) + reserveTokens <= contextTokens
}

/** Whether the history has anything older than the running exchange, or results that may move behind handles. */
export function mayShrink({ index }: State): boolean {
  return isLonger(index) || index.some(({ long }) => long)
}

/**
 * After the provider reported a full window: drops the older half, or moves all long results of the running exchange.
 */
export function shrink(draft: Draft): void {
  const { index } = draft.state
  if (isLonger(index)) slide(draft, Math.max(1, Math.floor(wholeExchanges({ index }).length / 2)))
  else
    emitMoved(
      draft,
      index.flatMap(({ long = [] }) => long),
    )
}

function isLonger(index: readonly IndexEntry[]): boolean {
  return index.at(0)?.exchange !== index.at(-1)?.exchange
}

/** Whether a request with these entries would be too large. */
function needsRoom(
  draft: Draft,
  index = draft.state.index,
  tokens = requestTokens(draft.spec, draft.state, index),
): boolean {
  const { exchanges, messages } = draft.spec.window
  return index.length > messages || countExchanges(index) > exchanges || isTooMuch(draft, tokens)
}

/** Whether a request with these entries has more tokens than this share of the maximum. */
function isTooLarge(draft: Draft, index = draft.state.index, share = 1): boolean {
  return isTooMuch(draft, requestTokens(draft.spec, draft.state, index), share)
}

function isTooMuch({ spec, state }: Draft, tokens: number, share = 1): boolean {
  const { actAtTokens, contextTokens, reserveTokens } = spec.window
  const most = actAtTokens ?? contextTokens ?? Number.MAX_SAFE_INTEGER
  const learnt = (state.learntWindows && findLearntWindow(state)) ?? most
  const room = learnt < most ? learnt - Math.min(reserveTokens, Math.floor(learnt / 2)) : most - reserveTokens
  return tokens > room * share
}

/** Tokens of the window, as named in a refusal by the turn's current model. */
function findLearntWindow({ turn, learntWindows = [] }: State): number | undefined {
  return learntWindows.find(({ model }) => model === turn?.models[turn.candidate])?.tokens
}

/**
 * If the request is too large, moves results behind handles, oldest first, until a quarter of the room is free: each move changes
 * the beginning of all later requests, so few moves are better than many.
 * @param which `alone`: only results that take half of the room
 */
function moveResults(draft: Draft, which: 'alone' | 'all'): void {
  if (!isTooLarge(draft)) return
  const moved: LongResult[] = []
  let index = draft.state.index
  const newest = index.findLast(({ role }) => role === 'step')?.entry
  for (const entry of index)
    for (const result of entry.long ?? []) {
      if (which === 'alone' && !isTooLarge(draft, [{ ...entry, chars: result.chars }], HALF)) continue
      // Results that the model has just requested are moved only if they must be.
      if (!isTooLarge(draft, index, entry.entry === newest ? 1 : THREE_QUARTERS)) continue
      moved.push(result)
      index = withoutResults(index, [result])
    }
  emitMoved(draft, moved)
}

function emitMoved(draft: Draft, results: readonly LongResult[]): void {
  if (results.length === 0) return
  const left = withoutResults(draft.state.index, results)
  const sizes = left
    .filter((entry, at) => entry !== draft.state.index[at])
    .map(({ entry, chars }) => ({ entry, chars }))
  emit(draft, { type: 'results-moved', calls: results.map(({ callId }) => callId), sizes })
}

/** The entries once these results are behind handles. */
function withoutResults(index: readonly IndexEntry[], results: readonly LongResult[]): readonly IndexEntry[] {
  return index.map((entry) => {
    const saved = (entry.long ?? []).filter((result) => results.includes(result))
    const chars = saved.reduce((sum, result) => sum + result.chars - RULES.movedChars, 0)
    return saved.length === 0 ? entry : { ...entry, chars: entry.chars - chars }
  })
}

/**
 * Drops the oldest exchanges until the request fits, and then a quarter of the rest: a window that moves rarely
 * leaves the beginning of most requests as it was, and providers charge little for a beginning that they know.
 */
function slideOn(draft: Draft): void {
  const { index } = draft.state
  const exchanges = listExchanges(index)
  const keep = (count: number): readonly IndexEntry[] => {
    const first = exchanges[count]
    return first === undefined ? [] : index.slice(index.findIndex((entry) => entry.exchange === first))
  }
  let count = 1
  while (count < exchanges.length && needsRoom(draft, keep(count))) count += 1
  slide(draft, count + Math.floor(wholeExchanges({ index: keep(count) }).length / 4))
}

/** Drops the `count` oldest exchanges (a summary counts with the exchange that it ends), never the running one. */
function slide(draft: Draft, count: number): boolean {
  const { state } = draft
  const current = state.turn?.exchange ?? state.counters.exchange
  const exchanges = listExchanges(state.index)
  const kept = exchanges.slice(Math.min(count, exchanges.length - 1))[0] ?? current
  const from = state.index.find((entry) => entry.exchange === kept)
  if (!from || from.entry === state.index[0]?.entry) return false
  emit(draft, { type: 'window-moved', fromEntry: from.entry, ...nameLimit(draft) })
  return true
}

/** The window's limit on messages, if the history exceeds it. */
function nameLimit({ spec, state }: Draft): Pick<FactOf<'window-moved'>, 'messages'> {
  const { messages } = spec.window
  return state.index.length > messages ? { messages } : {}
}

/** Older exchanges, or else the older steps of the running one. */
function summaryRange(draft: Draft): { readonly fromEntry: number; readonly toEntry: number } | undefined {
  const { state } = draft
  const current = state.turn?.exchange ?? state.counters.exchange
  const exchanges = wholeExchanges(state)
  const kept = exchanges.slice(-Math.max(1, fittingExchanges(draft)))[0] ?? current
  const older = state.index.filter((entry) => entry.exchange < kept)
  const steps = state.index.filter((entry) => entry.exchange === current && entry.role !== 'user').slice(0, -1)
  const worth = older.some((entry) => entry.role !== 'summary') ? older : steps.length > 1 ? steps : []
  const first = worth[0]
  const last = worth.at(-1)
  return first && last ? { fromEntry: first.entry, toEntry: last.entry } : undefined
}

/** Number of newest exchanges that stay: as they fit into half of the room, and fewer than the window holds. */
function fittingExchanges(draft: Draft): number {
  const { spec, state } = draft
  const most = Math.min(spec.window.keepExchanges, spec.window.exchanges - 1)
  const newestFirst = wholeExchanges(state).toReversed()
  const fitting = newestFirst.findIndex((_, at) => {
    const kept = newestFirst.slice(0, at + 1)
    return (
      at === most ||
      isTooLarge(
        draft,
        state.index.filter((entry) => kept.includes(entry.exchange)),
        HALF,
      )
    )
  })
  return fitting < 0 ? newestFirst.length : fitting
}

/** Number of exchanges with more than a summary left; the entries of each are adjacent. */
function countExchanges(index: readonly IndexEntry[]): number {
  let count = 0
  let newest: number | undefined
  for (const { exchange, role } of index) {
    if (role === 'summary' || exchange === newest) continue
    count += 1
    newest = exchange
  }
  return count
}

/** Exchanges with more than a summary left. */
function wholeExchanges({ index }: Pick<State, 'index'>): readonly number[] {
  return listExchanges(index.filter((entry) => entry.role !== 'summary'))
}

/** Exchanges in order; the entries of each are adjacent. */
function listExchanges(index: readonly IndexEntry[]): readonly number[] {
  const exchanges: number[] = []
  for (const { exchange } of index) if (exchange !== exchanges.at(-1)) exchanges.push(exchange)
  return exchanges
}

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
  const entering = state.queue.filter((item) => entered.has(item.inputId))
  const hasTasks = entering.some(({ type }) => type === 'task')
  const next = hasTasks ? noteNews(state, tasksOf(entered), 'told') : state
  return withEntries(
    {
      ...next,
      wakes: hasTasks ? countWakes(state, entering) : state.wakes,
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

/** Characters per token assumed for the overhead, and the first guess for everything else. */
export const CHARS_PER_TOKEN = 4
/** Tokens that a provider adds around a message. */
const MESSAGE_TOKENS = 4
/** Tokens around a tool's result, including the difference between its text and other text (recorded: 3 to 40). */
const RESULT_TOKENS = { least: 0, most: 100 }
/**
 * Minimum characters to learn the cost of a character from. A first request includes hidden prompts, so it needs more.
 */
const LEARNS_FROM_CHARS = 400
const LEARNS_FROM_FIRST_CHARS = 4000
/** Tokens per 1,000 characters: a provider outside these bounds counts something else. */
const DENSITY = { least: 50, most: 2000 }

type Learnt = Pick<State, 'tokensPer1000Chars' | 'tokensPerResult'>
type Estimated = Pick<State, 'index' | 'counted' | 'turn' | 'counters' | 'model'> & Learnt

/** The part of a spec that determines the size of a request. */
interface Measured extends Pick<Spec, 'models'> {
  readonly window: Pick<Spec['window'], 'overheadTokens'>
}

/** UTF-16 units of the next request, as logged. */
export function requestChars(spec: Measured, { index }: Pick<State, 'index'>): number {
  return spec.window.overheadTokens * CHARS_PER_TOKEN + indexChars(index)
}

/** Estimated tokens of a request with these entries to the turn's current model. */
export function requestTokens(spec: Measured, state: Estimated, index = state.index): number {
  const { counted, turn, tokensPer1000Chars } = state
  const model = turn ? turn.models[turn.candidate] : (state.model ?? spec.models[0])
  if (!counted || counted.model !== model) return Math.ceil((requestChars(spec, { index }) * tokensPer1000Chars) / 1000)
  const chars = spec.window.overheadTokens * CHARS_PER_TOKEN - counted.overheadChars
  const exchange = turn?.exchange ?? state.counters.exchange
  const tokens = keptTokens(counted, index, exchange) + addedTokens(counted, index, state)
  return Math.max(0, Math.ceil(tokens + chars / CHARS_PER_TOKEN))
}

/** Data for the next estimate. If the provider did not count, the previous count stays. */
export function takeCount(state: State, fact: FactOf<'step-finished'>): Pick<State, 'counted'> & Learnt {
  const { attempt, turn, counted, tokensPer1000Chars, tokensPerResult } = state
  const { inputTokens, outputTokens } = fact.usage
  if (!attempt || !turn || inputTokens === undefined) return { counted, tokensPer1000Chars, tokensPerResult }
  const historyChars = indexChars(state.index)
  const thoughts = measureThoughts(fact)
  const earlier = counted?.exchange === turn.exchange ? counted.thoughtTokens : 0
  return {
    ...learn(state, inputTokens),
    counted: {
      model: attempt.model,
      exchange: turn.exchange,
      toEntry: attempt.toEntry,
      tokens: inputTokens,
      historyChars,
      overheadChars: attempt.chars - historyChars,
      answerChars: fact.chars,
      answerTokens:
        outputTokens === undefined
          ? Math.ceil((fact.chars * tokensPer1000Chars) / 1000)
          : outputTokens - (thoughts.rideAlong ? 0 : thoughts.tokens),
      answerCalls: fact.calls.filter(({ answer }) => !answer).length,
      thoughtTokens: earlier + (thoughts.rideAlong ? thoughts.tokens : 0),
    },
  }
}

/**
 * Tokens left of the counted request: removed entries take their share with them, and thoughts of an ended exchange are
 * not sent again.
 */
function keptTokens(counted: Counted, index: readonly IndexEntry[], exchange: number): number {
  const { tokens, historyChars, overheadChars, toEntry } = counted
  const kept = indexChars(index.filter(({ entry }) => entry <= toEntry))
  const thoughts = exchange === counted.exchange ? 0 : counted.thoughtTokens
  if (kept === historyChars) return tokens - thoughts
  const overheadTokens = Math.min(tokens, overheadChars / CHARS_PER_TOKEN)
  const share = historyChars === 0 ? 1 : kept / historyChars
  return overheadTokens + (tokens - overheadTokens) * share - Math.min(thoughts, tokens) * share
}

/** Tokens added after the count: the answer, which was counted too, the results of its calls, and new inputs. */
function addedTokens(
  counted: Counted,
  index: readonly IndexEntry[],
  { tokensPer1000Chars: density, tokensPerResult }: Learnt,
): number {
  const added = index.filter(({ entry }) => entry > counted.toEntry)
  const chars = indexChars(added)
  const framing = added.length * MESSAGE_TOKENS
  // An answer that was cut, or is not part of the history yet.
  if (added.length === 0 || chars < counted.answerChars) return framing + (chars * density) / 1000
  const rest = chars - counted.answerChars
  return counted.answerTokens + framing + counted.answerCalls * tokensPerResult + (rest * density) / 1000
}

/**
 * Learns the cost of a character from the growth since the last count or, if there are few characters, the extra cost
 * of a result.
 */
function learn(state: State, inputTokens: number): Learnt {
  const { counted, attempt, turn, index, tokensPer1000Chars, tokensPerResult } = state
  const chars = attempt?.chars ?? 0
  if (!counted || counted.model !== attempt?.model) {
    const isLong = chars >= LEARNS_FROM_FIRST_CHARS
    return {
      tokensPer1000Chars: isLong
        ? approach(tokensPer1000Chars, (inputTokens * 1000) / chars, DENSITY)
        : tokensPer1000Chars,
      tokensPerResult,
    }
  }
  const added = index.filter(({ entry }) => entry > counted.toEntry)
  const isWhole = indexChars(index) - indexChars(added) === counted.historyChars
  const rest = indexChars(added) - counted.answerChars
  // The count for images is a guess, and says nothing about characters.
  if (!isWhole || rest < 0 || added.some(({ media }) => media)) return { tokensPer1000Chars, tokensPerResult }
  const kept = keptTokens(counted, index, turn?.exchange ?? 0)
  const without = (known: Partial<Learnt>): number =>
    inputTokens - kept - addedTokens(counted, index, { tokensPer1000Chars, tokensPerResult, ...known })
  if (rest >= LEARNS_FROM_CHARS) {
    const density = (without({ tokensPer1000Chars: 0 }) * 1000) / rest
    return { tokensPer1000Chars: approach(tokensPer1000Chars, density, DENSITY), tokensPerResult }
  }
  if (counted.answerCalls === 0) return { tokensPer1000Chars, tokensPerResult }
  const each = without({ tokensPerResult: 0 }) / counted.answerCalls
  return { tokensPer1000Chars, tokensPerResult: approach(tokensPerResult, each, RESULT_TOKENS) }
}

/**
 * The average of the old and the new value, so that one odd count (a cached image, a hidden prompt) has limited effect.
 */
function approach(
  before: number,
  seen: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  return Math.round((before + Math.min(most, Math.max(least, Math.round(seen)))) / 2)
}

/** Thoughts are output, but the next request holds them only if the provider signed them. */
function measureThoughts({ parts, usage, chars }: FactOf<'step-finished'>): {
  readonly tokens: number
  readonly rideAlong: boolean
} {
  const rideAlong = parts.some(
    (part) => part.type === 'provider' || ((part.type === 'reasoning' || part.type === 'call') && part.state),
  )
  const told = parts.reduce((sum, part) => sum + (part.type === 'reasoning' ? part.text.length : 0), 0)
  const { outputTokens = 0, reasoningTokens = chars === 0 ? 0 : Math.round((outputTokens * told) / chars) } = usage
  return { tokens: Math.min(outputTokens, reasoningTokens), rideAlong }
}

function indexChars(index: readonly IndexEntry[]): number {
  let sum = 0
  for (const { chars } of index) sum += chars
  return sum
}
