// Encodes how a request asks for reasoning. The traits table lists what a model supports; this file knows each server's
// format.
import type { ModelSettings } from '@baton/core'
import { BatonError } from '@baton/core'
import type { ModelTraits } from '../traits/model-traits.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { chooseEffortFor, planThinking } from '../traits/thinking-plan.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import type { OpenAiChatRequest } from './wire.ts'

export type ReasoningFields = Pick<OpenAiChatRequest, 'reasoning_effort' | 'reasoning' | 'thinking'>

export interface ReasoningAsk {
  readonly model: string
  readonly traits: ModelTraits
  readonly settings: ModelSettings
  readonly hasTools: boolean
  /** Whether the model must call a tool. */
  readonly isForced: boolean
}

export interface Reasoning {
  readonly fields: ReasoningFields
  /** The plan's `roomTokens` is the extra output budget for reasoning. */
  readonly plan: ThinkingPlan
}

/**
 * @throws BatonError `model_invalid_request` if the model accepts no tools in Chat Completions, or none with this
 * effort
 */
export function encodeReasoning(ask: ReasoningAsk, how: OpenAiChatQuirks['reasoning']): Reasoning {
  const { traits, settings } = ask
  const plan = planThinking(traits, settings)
  // A gateway turns the word into a budget for models that use one.
  const isBudget = plan.isAsked && traits.thinking.kind === 'budget'
  const word = plan.effort ?? (isBudget ? chooseEffortFor(plan.budget) : undefined)
  const effort = word === undefined ? {} : { reasoning_effort: word }
  switch (how) {
    case 'openai':
      return encodeOpenAi(ask, plan)
    case 'openrouter':
      return encodeOpenRouter(ask, plan)
    case 'deepseek':
      return encodeDeepSeek(ask, plan)
    case 'groq':
      return encodeGroq(ask, plan)
    case 'effort':
      return { fields: effort, plan }
    case 'none':
      return { fields: {}, plan: traits.thinking.off === 'never' ? plan : planThinking(traits, settings, false) }
  }
}

/** 400 "Function tools with reasoning_effort are not supported … in /v1/chat/completions" (vane#1173). */
function encodeOpenAi({ model, traits, settings, hasTools }: ReasoningAsk, asked: ThinkingPlan): Reasoning {
  const isHeldBack = hasTools && traits.chatTools === 'unthinking'
  const plan = isHeldBack ? planThinking(traits, settings, false) : asked
  const isRefused = isHeldBack && (plan.isOn || (settings.effort ?? 'none') !== 'none')
  if (isRefused)
    throw new BatonError({
      code: 'model_invalid_request',
      message: plan.isOn
        ? `${model} does not support tools in Chat Completions, because it always thinks`
        : `${model} does not support tools in Chat Completions with effort "${settings.effort}"`,
      hint: `Use the model openai/${model}: the Responses API supports both. Or set the effort to "none".`,
    })
  return { fields: plan.effort === undefined ? {} : { reasoning_effort: plan.effort }, plan }
}

/**
 * openrouter.ai/docs, reasoning tokens: an effort, a number of tokens, or `enabled: false`, which some models ignore.
 */
function encodeOpenRouter({ traits, settings }: ReasoningAsk, plan: ThinkingPlan): Reasoning {
  const { off, efforts } = traits.thinking
  const tokens = settings.effort === undefined ? Math.floor(settings.reasoningTokens ?? 0) : 0
  if (plan.isAsked) {
    const isWord = tokens <= 0 && plan.effort !== undefined
    return { fields: { reasoning: isWord ? { effort: plan.effort } : { max_tokens: tokens || plan.budget } }, plan }
  }
  if (off === 'between-tools') {
    const least = planThinking(traits, { effort: efforts[0] ?? 'low' })
    return { fields: { reasoning: { effort: least.effort ?? 'low' } }, plan: { ...least, isAsked: false } }
  }
  if (plan.effort !== undefined) return { fields: { reasoning: { effort: plan.effort } }, plan }
  return { fields: off === 'disabled' || off === 'zero' ? { reasoning: { enabled: false } } : {}, plan }
}

/**
 * For `deepseek-reasoner` and `deepseek-chat`, the name decides whether the model thinks; later models have a field
 * that is on by default. 400 "Thinking mode does not support this tool_choice": if a tool must be called, thinking is
 * turned off.
 */
function encodeDeepSeek({ traits, settings, isForced }: ReasoningAsk, plan: ThinkingPlan): Reasoning {
  const { kind } = traits.thinking
  if (kind === 'none') return { fields: {}, plan }
  if (isForced)
    return {
      fields: { thinking: { type: 'disabled' } },
      plan: { ...planThinking(traits, settings, false), isOn: false, roomTokens: 0 },
    }
  if (kind !== 'switch') return { fields: {}, plan }
  return { fields: { thinking: { type: plan.isOn ? 'enabled' : 'disabled' } }, plan }
}

/**
 * "`reasoning_effort` is not supported with this model": gpt-oss accepts effort levels, Qwen 3 `none` or `default`,
 * others nothing.
 */
function encodeGroq({ model, traits, settings }: ReasoningAsk, plan: ThinkingPlan): Reasoning {
  const { kind, off } = traits.thinking
  if (/(?:^|\/)qwen/i.test(model) && kind !== 'none') {
    if (plan.isAsked) return { fields: { reasoning_effort: 'default' }, plan }
    return { fields: { reasoning_effort: 'none' }, plan: { ...plan, isOn: false, roomTokens: 0 } }
  }
  if (model.includes('gpt-oss') && plan.effort !== undefined) return { fields: { reasoning_effort: plan.effort }, plan }
  return { fields: {}, plan: off === 'never' ? plan : planThinking(traits, settings, false) }
}
