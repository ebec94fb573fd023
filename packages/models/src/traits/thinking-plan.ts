// How much a model is to think in one request, by what its user asks for and what the table says of it, and how much room its
// thoughts need: they count as output everywhere, and an answer must not be cut by them.
import type { Effort, ModelRequest, ModelSettings } from '@baton/core'
import type { ModelTraits } from './model-traits.ts'

export interface ThinkingPlan {
  /** Whether the model thinks or may think. */
  readonly isOn: boolean
  /** Whether its user asked for it; a model that cannot be kept from thinking does so unasked. */
  readonly isAsked: boolean
  /** The word to send, of those that the model takes. */
  readonly effort?: Effort
  /** The tokens to send where the model takes a budget; 0 is off. */
  readonly budget: number
  /** Output tokens beside those of the answer. */
  readonly roomTokens: number
}

const OFF: ThinkingPlan = { isOn: false, isAsked: false, budget: 0, roomTokens: 0 }

/** Efforts, least first. */
const ORDER: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Output tokens that thoughts of an effort are given: several times what models were seen to use at it. */
const ROOM: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 2048,
  low: 8192,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 98_304,
}

/** Budgets of the words, for models that take tokens. */
const BUDGETS: Readonly<Record<Effort, number>> = { ...ROOM, minimal: 1024, low: 2048, medium: 8192, high: 24_576 }

/** Room for a model that thinks as it likes. */
const UNTOLD_TOKENS = 8192

/** @param mayThink false where the request forbids thoughts, whatever was asked for */
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
 * The most tokens of the request: those of the answer and of its thoughts, as far as the model can write them. Thoughts are
 * given no more than half of the window: the question needs the rest. Where nobody set a number, what the model can write and
 * its window has room for; undefined where the table does not know it.
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

/** Tokens that an answer needs at least, or a quarter of a small window; where there is less, the provider says that it is full. */
const LEAST_ROOM_TOKENS = 4096
/** Tokens of an image or a file, as a guess; and those that instructions and tools of a request need beside its messages. */
const MEDIA_TOKENS = 3000
const OTHER_TOKENS = 8000
/** Fewer than most texts have, so that the guess is high. */
const CHARS_PER_TOKEN = 3

/** Providers refuse a request whose input and longest answer together do not fit into the window. */
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

/** A number of tokens as a word, for models and servers that take words. */
export function chooseEffortFor(tokens: number): 'low' | 'medium' | 'high' {
  if (tokens < 4096) return 'low'
  return tokens < 16_384 ? 'medium' : 'high'
}

/** Off, or as little as the model can. */
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

/** The word that was asked for, else the next one above it, else the model's greatest. */
function chooseEffort(efforts: readonly Effort[], asked: Effort): Effort | undefined {
  const rank = ORDER.indexOf(asked)
  return efforts.find((effort) => ORDER.indexOf(effort) >= rank) ?? efforts.at(-1)
}

function clampBudget(tokens: number, { budget }: ModelTraits['thinking']): number {
  return budget ? Math.min(Math.max(tokens, budget.least), budget.most) : tokens
}
