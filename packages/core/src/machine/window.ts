// The window: the part of the history that a request may hold. It moves by whole exchanges and never splits a step.
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import { requestTokens } from './estimate.ts'
import type { MessageLimit } from './spec.ts'
import { RULES } from './spec.ts'
import type { LongResult } from './size.ts'
import type { IndexEntry, State } from './state.ts'

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
  moveResults(draft, 'alone')
  if (spec.window.summarise && !draft.state.summaryFailed && needsRoom(draft)) {
    const range = summaryRange(draft)
    if (range) {
      const attempt = draft.state.counters.attempt + 1
      emit(draft, { type: 'summary-started', attempt, ...range, ...nameLimit(draft) })
      return 'summarising'
    }
  }
  if (needsRoom(draft)) dropOldest(draft)
  moveResults(draft, 'all')
  const { length } = draft.state.index
  if (length > spec.window.messages)
    return { message: `the running exchange has ${length} messages; the window holds ${spec.window.messages}` }
  const hardTokens = spec.window.contextTokens ?? Number.MAX_SAFE_INTEGER
  const tokens = requestTokens(spec, draft.state)
  if (tokens + spec.window.reserveTokens <= hardTokens) return 'ready'
  return { message: `the running exchange needs about ${tokens} tokens; the model's window has ${hardTokens}` }
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
function needsRoom(draft: Draft, index = draft.state.index): boolean {
  const { exchanges, messages } = draft.spec.window
  const tooMany = wholeExchanges({ index }).length > exchanges || index.length > messages
  return tooMany || isTooLarge(draft, index)
}

/** Whether a request with these entries has more tokens than this share of the maximum. */
function isTooLarge({ spec, state }: Draft, index = state.index, share = 1): boolean {
  const { actAtTokens, contextTokens, reserveTokens } = spec.window
  const most = actAtTokens ?? contextTokens ?? Number.MAX_SAFE_INTEGER
  const learnt = (state.learntWindows && findLearntWindow(state)) ?? most
  const room = learnt < most ? learnt - Math.min(reserveTokens, Math.floor(learnt / 2)) : most - reserveTokens
  return requestTokens(spec, state, index) > room * share
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
function nameLimit({ spec, state }: Draft): MessageLimit {
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
