// Requests that Anthropic and Bedrock reject for each Claude model, as of November 2026. Pages of
// platform.claude.com/docs/en/models: the "What's new" of Opus 5, 5.5 and Sonnet 5.5, the migration guides of Haiku 4.5
// and 5.5; AWS, "Adaptive thinking".
import type { JsonObject } from '@baton/core'
import type { Refusal } from './rule.ts'
import { STARVED, THOUGHTS_TOKENS_MIN, VOICE_TOKENS, listBroken, numberAt, objectAt } from './rule.ts'

/** The fields the rules refer to, in every provider's format. */
export interface ClaudeFields {
  readonly thinking: JsonObject
  readonly effort: unknown
  readonly temperature: unknown
  readonly topP: unknown
  /** `auto`, `any`, `tool`, `none`. */
  readonly choice: unknown
  readonly maxTokens: number
  readonly schema: JsonObject | undefined
}

export function readAnthropicFields(body: JsonObject): ClaudeFields {
  const output = objectAt(body, 'output_config')
  const schema = objectAt(output, 'format', 'schema')
  return {
    thinking: objectAt(body, 'thinking'),
    effort: output['effort'],
    temperature: body['temperature'],
    topP: body['top_p'],
    choice: objectAt(body, 'tool_choice')['type'],
    maxTokens: numberAt(body, 'max_tokens'),
    schema: Object.keys(schema).length > 0 ? schema : undefined,
  }
}

export function readConverseFields(body: JsonObject): ClaudeFields {
  const inference = objectAt(body, 'inferenceConfig')
  const more = objectAt(body, 'additionalModelRequestFields')
  return {
    thinking: objectAt(more, 'thinking'),
    effort: objectAt(more, 'output_config')['effort'],
    temperature: inference['temperature'],
    topP: inference['topP'],
    choice: Object.keys(objectAt(body, 'toolConfig', 'toolChoice'))[0],
    maxTokens: numberAt(inference, 'maxTokens'),
    schema: undefined,
  }
}

const ONLY_ADAPTIVE = /claude-(fable|mythos|opus-4-7|opus-4-8|opus-5|sonnet-5|haiku-5-5)/
const BUDGET_ONLY = /claude-(opus|sonnet|haiku)-4-5/
const ALWAYS_ON = /claude-(fable|opus-5-5)/
const ON_BY_DEFAULT = /claude-(fable|opus-5|sonnet-5|haiku-5)/
const NO_FORCING = /claude-(fable-5-1|opus-5-5|sonnet-5-5)/
const DISABLED_UP_TO_HIGH = /claude-(opus-5(?!-5)|haiku-5-5)/

export function checkClaude(model: string, fields: ClaudeFields): readonly Refusal[] {
  const { thinking, effort, temperature, topP, choice, maxTokens } = fields
  const { type, budget_tokens: budget } = thinking
  const samples = temperature !== undefined || topP !== undefined
  const isForced = choice === 'any' || choice === 'tool'
  const isHigh = effort === 'xhigh' || effort === 'max'
  const thinks = type === 'enabled' || type === 'adaptive' || (type === undefined && ON_BY_DEFAULT.test(model))
  return listBroken([
    [type === 'enabled' && ONLY_ADAPTIVE.test(model), '"thinking.type.enabled" is not supported for this model.'],
    [type === 'adaptive' && BUDGET_ONLY.test(model), 'adaptive thinking is not supported on this model'],
    [type === 'disabled' && ALWAYS_ON.test(model), '"thinking.type.disabled" is not supported for this model.'],
    [type === 'disabled' && model.includes('sonnet-5-5'), 'use thinking.type "between_tools" in place of "disabled"'],
    [type === 'between_tools' && !model.includes('sonnet-5-5'), 'between_tools is of Sonnet 5.5'],
    [type === 'between_tools' && isHigh, 'between_tools takes the efforts low, medium and high'],
    [type === 'disabled' && isHigh && DISABLED_UP_TO_HIGH.test(model), 'disabled takes the effort high or lower'],
    [samples && ONLY_ADAPTIVE.test(model), '`temperature` is deprecated for this model.'],
    [temperature !== undefined && topP !== undefined, '`temperature` and `top_p` cannot both be specified'],
    [temperature !== undefined && type === 'enabled', '`temperature` may only be set to 1 when thinking is enabled'],
    [isForced && NO_FORCING.test(model), 'tool_choice forces tool use, which this model does not support'],
    [isForced && type === 'enabled', 'Thinking may not be enabled when tool_choice forces tool use.'],
    [effort !== undefined && BUDGET_ONLY.test(model), 'This model does not support the effort parameter.'],
    [effort === 'xhigh' && /-4-6/.test(model), 'xhigh is of Opus 4.7 and later'],
    [effort !== undefined && !EFFORTS.includes(effort), 'effort is one of low, medium, high, xhigh, max'],
    [maxTokens > (BUDGET_ONLY.test(model) ? 64_000 : 128_000), 'max_tokens is above the maximum of the model'],
    [type === 'enabled' && !isBudget(budget, maxTokens), 'max_tokens must be greater than thinking.budget_tokens'],
    [type === 'enabled' && maxTokens - Number(budget) < VOICE_TOKENS && maxTokens < 64_000, STARVED],
    [thinks && maxTokens < VOICE_TOKENS + (type === 'enabled' ? 1024 : THOUGHTS_TOKENS_MIN), STARVED],
  ])
}

const EFFORTS: readonly unknown[] = ['low', 'medium', 'high', 'xhigh', 'max']

function isBudget(budget: unknown, maxTokens: number): boolean {
  return typeof budget === 'number' && budget >= 1024 && budget < maxTokens
}
