// How much a Gemini model thinks: 2.5 takes a budget, 3 and later a level, older ones neither. Thoughts count as output, so what
// a model may think is added to what it may answer.
import type { WireThinking } from './wire.ts'
import { isGemini3, modelFamily } from './wire.ts'

export interface EncodedThinking {
  /** Absent for models that do not know the field (400 "Thinking budget is not supported"). */
  readonly config?: WireThinking
  /** Added to the tokens of the answer. */
  readonly extraTokens: number
}

/** Room for models that think although they are told not to: Gemini 3 Pro knows no less than `low`. */
const UNASKED_TOKENS = 4096
const MINIMAL_TOKENS = 1024

/** @param budget tokens that the model may think; 0 is off, or as near to it as the model can */
export function encodeThinking(model: string, budget: number): EncodedThinking {
  const family = modelFamily(model)
  if (/gemini-2\.5/.test(family)) return encodeBudget(family, budget)
  return isGemini3(model) && /gemini/.test(family) ? encodeLevel(family, budget) : { extraTokens: 0 }
}

/** ai.google.dev/gemini-api/docs/thinking: the least and the most that each takes; Pro cannot be turned off. */
function encodeBudget(family: string, budget: number): EncodedThinking {
  const isPro = /-pro/.test(family)
  const least = isPro ? 128 : /-lite/.test(family) ? 512 : 1
  if (budget <= 0) {
    const off = isPro ? least : 0
    return { config: { thinkingBudget: off }, extraTokens: off }
  }
  const tokens = Math.min(Math.max(Math.floor(budget), least), isPro ? 32_768 : 24_576)
  return { config: { includeThoughts: true, thinkingBudget: tokens }, extraTokens: tokens }
}

/** Gemini 3 Pro knows `low` and `high` only. */
function encodeLevel(family: string, budget: number): EncodedThinking {
  const isPro = /-pro/.test(family)
  if (budget <= 0) {
    return isPro
      ? { config: { thinkingLevel: 'low' }, extraTokens: UNASKED_TOKENS }
      : { config: { thinkingLevel: 'minimal' }, extraTokens: MINIMAL_TOKENS }
  }
  const graded = budget < 16_384 && !isPro ? 'medium' : 'high'
  return { config: { includeThoughts: true, thinkingLevel: budget < 4096 ? 'low' : graded }, extraTokens: budget }
}
