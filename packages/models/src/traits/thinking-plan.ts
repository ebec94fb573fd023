// Plans how much a model thinks in a request, from the user's settings and the traits table, and how much room its
// thinking needs: thinking counts as output everywhere and must not cut off the answer.
import type { Effort, ModelRequest, ModelSettings } from '@baton/core/internal'
import type { ModelTraits } from './model-traits.ts'

export interface ThinkingPlan {
  /** Whether the model thinks or may think. */
  readonly isOn: boolean
  /** Whether the user asked for it; a model that cannot be stopped thinks unasked. */
  readonly isAsked: boolean
  /** The effort to send, among those the model accepts. */
  readonly effort?: Effort
  /** The tokens to send if the model takes a budget; 0 is off. */
  readonly budget: number
  /** Output tokens in addition to those of the answer. */
  readonly roomTokens: number
}

const OFF: ThinkingPlan = { isOn: false, isAsked: false, budget: 0, roomTokens: 0 }

/** Efforts in ascending order. */
const ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Output tokens reserved for thinking at each effort: several times what models were seen to use. */
const ROOM: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 2048,
  low: 8192,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 98_304,
}

/** Budgets for each effort, for models that take tokens. */
const BUDGETS: Readonly<Record<Effort, number>> = { ...ROOM, minimal: 1024, low: 2048, medium: 8192, high: 24_576 }

/** Room for a model that decides itself how much to think. */
const UNTOLD_TOKENS = 8192

/** @param mayThink false if the request rules out thinking, whatever the settings say */
export function planThinking({ thinking }: ModelTraits, settings: ModelSettings, mayThink = true): ThinkingPlan {
  if (thinking.kind === 'none') return OFF
  const asked = mayThink ? readAsked(settings) : undefined
  if (asked === undefined) return planUnasked(thinking)
  const effort = chooseEffort(thinking.efforts, asked)
  const tokens = settings.effort === undefined ? Math.floor(settings.reasoningTokens ?? 0) : 0
  const budget = clampBudget(tokens > 0 ? tokens : BUDGETS[asked], thinking)
  const roomTokens =
    thinking.kind === 'budget' ? budget : Math.max(tokens, effort === undefined ? UNTOLD_TOKENS : ROOM[effort])
  return { isOn: true, isAsked: true, ...(effort !== undefined && { effort }), budget, roomTokens }
}

/**
 * The request's output limit: the answer's tokens plus those for thinking, up to what the model supports. Thinking gets
 * at most half of the window, because the input needs the rest. Without a configured limit, it is what the model and
 * its window allow; `undefined` if the table does not know the model.
 */
export function limitOutput(
  traits: Pick<ModelTraits, 'outputTokens' | 'contextTokens'>,
  answerTokens: number | undefined,
  { plan, request }: { readonly plan: ThinkingPlan; readonly request: Pick<ModelRequest, 'instructions' | 'messages'> },
): number | undefined {
  const { outputTokens, contextTokens = Number.MAX_SAFE_INTEGER } = traits
  if (answerTokens === undefined) return outputTokens && Math.min(outputTokens, findRoom(request, contextTokens))
  const room = Math.max(Math.min(plan.roomTokens, Math.floor(contextTokens / 2) - answerTokens), 0)
  return Math.min(answerTokens + room, outputTokens ?? Number.MAX_SAFE_INTEGER)
}

/**
 * Minimum tokens for an answer, or a quarter of a small window. With less room, the provider reports that the window is
 * full.
 */
const LEAST_ROOM_TOKENS = 4096
/** Estimated tokens of an image or file, and of a request's instructions and tools. */
const MEDIA_TOKENS = 3000
const OTHER_TOKENS = 8000
/** Lower than in most texts, so that the estimate is high. */
const CHARS_PER_TOKEN = 3

/** Providers reject a request whose input and maximum answer together exceed the window. */
function findRoom({ instructions, messages }: Pick<ModelRequest, 'instructions' | 'messages'>, window: number): number {
  let tokens = Math.min(OTHER_TOKENS, window / 8) + instructions.length / CHARS_PER_TOKEN
  for (const { parts } of messages)
    for (const part of parts)
      if (part.type === 'result')
        for (const piece of part.content)
          tokens += piece.type === 'text' ? piece.text.length / CHARS_PER_TOKEN : MEDIA_TOKENS
      else if (part.type === 'text' || part.type === 'reasoning') tokens += part.text.length / CHARS_PER_TOKEN
      else tokens += part.type === 'call' ? part.arguments.length / CHARS_PER_TOKEN : MEDIA_TOKENS
  return Math.max(Math.min(LEAST_ROOM_TOKENS, Math.floor(window / 4)), Math.floor(window - tokens))
}

function readAsked({ effort, reasoningTokens = 0 }: ModelSettings): Effort | undefined {
  if (effort !== undefined) return effort === 'none' ? undefined : effort
  return reasoningTokens > 0 ? chooseEffortFor(reasoningTokens) : undefined
}

/** Converts a number of tokens to an effort, for models and servers that take words. */
export function chooseEffortFor(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/** Thinking turned off, or reduced to the model's minimum. */
function planUnasked(thinking: ModelTraits['thinking']): ThinkingPlan {
  const { off, budget } = thinking
  // Short notes between calls remain.
  if (off === 'between-tools') return { ...OFF, isOn: true, roomTokens: ROOM.minimal }
  if (off === 'none') return { ...OFF, effort: 'none' }
  if (off !== 'never') return OFF
  const [effort] = thinking.kind === 'untold' ? [] : thinking.efforts
  if (effort !== undefined) return { ...OFF, isOn: true, effort, roomTokens: ROOM[effort] }
  if (budget) return { ...OFF, isOn: true, budget: budget.least, roomTokens: Math.max(budget.least, ROOM.minimal) }
  return { ...OFF, isOn: true, roomTokens: UNTOLD_TOKENS }
}

/** The requested effort, otherwise the next higher one, otherwise the model's highest. */
function chooseEffort(efforts: readonly Effort[], asked: Effort): Effort | undefined {
  const rank = ORDER.indexOf(asked)
  return efforts.find((effort) => ORDER.indexOf(effort) >= rank) ?? efforts.at(-1)
}

function clampBudget(tokens: number, { budget }: ModelTraits['thinking']): number {
  return budget ? Math.min(Math.max(tokens, budget.least), budget.most) : tokens
}
