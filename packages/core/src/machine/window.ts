// The window: which part of the history a request may hold. It moves by whole exchanges and never splits a step.
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import { requestTokens } from './estimate.ts'
import { RULES } from './spec.ts'
import type { IndexEntry, State } from './state.ts'

/**
 * Shortens the history until the request fits: by a summary where the agent wants one, else by dropping the oldest
 * exchanges. The running exchange stays; where it alone does not fit, the turn cannot go on.
 */
export function makeRoom(draft: Draft): 'ready' | 'summarising' | { readonly message: string } {
  const { spec } = draft
  if (spec.window.summarise && !draft.state.summaryFailed && needsRoom(draft)) {
    const range = summaryRange(draft)
    if (range) {
      emit(draft, { type: 'summary-started', attempt: draft.state.counters.attempt + 1, ...range })
      return 'summarising'
    }
  }
  if (needsRoom(draft)) slideOn(draft)
  const { length } = draft.state.index
  if (length > RULES.indexed)
    return { message: `the running exchange has ${length} entries; at most ${RULES.indexed} are kept` }
  const hardTokens = spec.window.contextTokens ?? Number.MAX_SAFE_INTEGER
  const tokens = requestTokens(spec, draft.state)
  if (tokens + spec.window.reserveTokens <= hardTokens) return 'ready'
  return { message: `the running exchange needs about ${tokens} tokens; the model's window has ${hardTokens}` }
}

/** Whether the history has anything older than the running exchange. */
export function mayHalve(state: State): boolean {
  return state.index.at(0)?.exchange !== state.index.at(-1)?.exchange
}

/** After the provider said that its window is full: drops the older half. */
export function halve(draft: Draft): void {
  const count = wholeExchanges(draft.state).length
  slide(draft, Math.max(1, Math.floor(count / 2)))
}

/** Whether a request with these entries would be too large. */
function needsRoom({ spec, state }: Draft, index = state.index): boolean {
  const actAt = spec.window.actAtTokens ?? spec.window.contextTokens ?? Number.MAX_SAFE_INTEGER
  const tooMany = wholeExchanges({ index }).length > spec.window.exchanges || index.length > RULES.indexed
  return tooMany || requestTokens(spec, state, index) + spec.window.reserveTokens > actAt
}

/**
 * Drops the oldest exchanges until the request fits, and then a quarter of those that remain: a window that moves seldom
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
  emit(draft, { type: 'window-moved', fromEntry: from.entry })
  return true
}

/** Older exchanges first; then the older steps of the running one. */
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

/** How many of the newest exchanges stay: those that fit into half of the room, and one less than the window holds. */
function fittingExchanges(draft: Draft): number {
  const { spec, state } = draft
  const most = Math.min(spec.window.keepExchanges, spec.window.exchanges - 1)
  const actAt = spec.window.actAtTokens ?? spec.window.contextTokens
  if (actAt === undefined) return most
  const room = (actAt - spec.window.reserveTokens) / 2
  const newestFirst = wholeExchanges(state).toReversed()
  const fitting = newestFirst.findIndex((_, at) => {
    const kept = newestFirst.slice(0, at + 1)
    return (
      at === most ||
      requestTokens(
        spec,
        state,
        state.index.filter((entry) => kept.includes(entry.exchange)),
      ) > room
    )
  })
  return fitting < 0 ? newestFirst.length : fitting
}

/** Those that something is left of but their summary. */
function wholeExchanges({ index }: Pick<State, 'index'>): readonly number[] {
  return listExchanges(index.filter((entry) => entry.role !== 'summary'))
}

/** In their order; the entries of one stand together. */
function listExchanges(index: readonly IndexEntry[]): readonly number[] {
  const exchanges: number[] = []
  for (const { exchange } of index) if (exchange !== exchanges.at(-1)) exchanges.push(exchange)
  return exchanges
}
