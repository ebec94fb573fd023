// How a request asks for reasoning. Most servers have words (`reasoning_effort`) in place of a number of tokens, and each
// family of OpenAI's models takes others of them.
import type { OpenAiChatQuirks } from './quirks.ts'
import type { OpenAiChatRequest } from './wire.ts'

export type ReasoningFields = Pick<OpenAiChatRequest, 'reasoning_effort' | 'reasoning' | 'thinking'>

export interface ReasoningAsk {
  readonly model: string
  /** Tokens; 0 is off. */
  readonly budget: number
  readonly hasTools: boolean
  /** Whether the model must call a tool. */
  readonly isForced: boolean
}

export interface Reasoning {
  readonly fields: ReasoningFields
  /** What the model may think counts as output: tokens to add to the answer's. */
  readonly extraTokens: number
}

/** o1 and its successors cannot be told not to think; without room for it the answer would be empty. */
const ALWAYS_THINKS_TOKENS = 4096

export function encodeReasoning(ask: ReasoningAsk, how: OpenAiChatQuirks['reasoning']): Reasoning {
  const { budget, model } = ask
  const extraTokens = Math.floor(budget)
  const effort = { reasoning_effort: chooseEffort(budget) }
  switch (how) {
    case 'openai':
      return encodeOpenAi(ask)
    case 'openrouter':
      return { fields: budget > 0 ? { reasoning: { max_tokens: extraTokens } } : {}, extraTokens }
    case 'deepseek':
      return { fields: encodeDeepSeek(ask), extraTokens: ask.isForced ? 0 : extraTokens }
    case 'groq':
      // "`reasoning_effort` is not supported with this model": gpt-oss takes these words, others take others or none.
      return { fields: budget > 0 && model.includes('gpt-oss') ? effort : {}, extraTokens }
    case 'effort':
      return { fields: budget > 0 ? effort : {}, extraTokens }
    case 'none':
      return { fields: {}, extraTokens: 0 }
  }
}

/** Whether a model of OpenAI always thinks or may: those refuse a temperature of one's own and `max_tokens`. */
export function isOpenAiReasoningModel(model: string): boolean {
  return /^(o\d|gpt-5(?!.*-chat)|gpt-[6-9](?!.*-chat))/.test(model)
}

/** From 5.1 on `none` is a word, and from 5.2 on the only one beside tools (400 "Function tools with reasoning_effort are
 * not supported for gpt-5.6-terra in /v1/chat/completions … or set reasoning_effort to 'none'"; openai-openapi#541). */
function encodeOpenAi({ model, budget, hasTools }: ReasoningAsk): Reasoning {
  if (!isOpenAiReasoningModel(model)) return { fields: {}, extraTokens: 0 }
  if (/^o\d/.test(model)) {
    const extraTokens = Math.max(Math.floor(budget), ALWAYS_THINKS_TOKENS)
    // o1-preview and o1-mini have no such field.
    const fields = /^o1-(preview|mini)/.test(model) ? {} : { reasoning_effort: chooseEffort(budget) }
    return { fields, extraTokens }
  }
  const minor = /^gpt-5\.(\d+)/.exec(model)?.[1]
  const version = minor === undefined ? (model.startsWith('gpt-5') ? 0 : Infinity) : Number(minor)
  // Variants for code and `pro` think always, in words that differ between them.
  if (/-(codex|pro)/.test(model)) return { fields: {}, extraTokens: Math.max(Math.floor(budget), ALWAYS_THINKS_TOKENS) }
  if (version >= 2 && hasTools) return { fields: { reasoning_effort: 'none' }, extraTokens: 0 }
  if (budget > 0) return { fields: { reasoning_effort: chooseEffort(budget) }, extraTokens: Math.floor(budget) }
  return { fields: { reasoning_effort: version >= 1 ? 'none' : 'minimal' }, extraTokens: 0 }
}

/**
 * `deepseek-reasoner` and `deepseek-chat` say by their names whether they think; later models have a field, which is on by
 * default. 400 "Thinking mode does not support this tool_choice": where a tool must be called, nothing is thought.
 */
function encodeDeepSeek({ model, budget, isForced }: ReasoningAsk): ReasoningFields {
  if (model === 'deepseek-chat') return {}
  if (isForced) return { thinking: { type: 'disabled' } }
  return model === 'deepseek-reasoner' ? {} : { thinking: { type: budget > 0 ? 'enabled' : 'disabled' } }
}

export function deepSeekThinks({ model, budget }: Pick<ReasoningAsk, 'model' | 'budget'>): boolean {
  return model === 'deepseek-reasoner' || (model !== 'deepseek-chat' && budget > 0)
}

function chooseEffort(budget: number): 'low' | 'medium' | 'high' {
  if (budget < 4096) return 'low'
  return budget < 16_384 ? 'medium' : 'high'
}
