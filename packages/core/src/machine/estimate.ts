// Estimates the input tokens of a request from the provider's count of the last one and the changes since. Until a
// provider has counted, it estimates from characters.
import type { FactOf } from './fact.ts'
import type { Spec } from './spec.ts'
import type { Counted, IndexEntry, State } from './state.ts'

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
  return index.reduce((sum, entry) => sum + entry.chars, 0)
}
