// Requests that Google, Amazon, xAI, DeepSeek and Groq reject for individual models, as of November 2026:
// ai.google.dev/gemini-api/docs/thinking and whats-new-gemini-3.6, docs.cloud.google.com guides/gemini-3-8-flash, Nova
// 2 user guide, docs.x.ai, api-docs.deepseek.com.
import type { JsonObject } from '@baton/core'
import type { Refusal } from './rule.ts'
import { STARVED, THOUGHTS_TOKENS_MIN, VOICE_TOKENS, listAt, listBroken, numberAt, objectAt, textAt } from './rule.ts'

const LEVELS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gemini-3(\.1)?-pro/, ['low', 'medium', 'high']],
  [/^gemini-3\.[78]-flash/, ['low', 'medium', 'high']],
  [/^gemini-3/, ['minimal', 'low', 'medium', 'high']],
]

export function checkGemini(model: string, body: JsonObject): readonly Refusal[] {
  const generation = objectAt(body, 'generationConfig')
  const { thinkingLevel: level, thinkingBudget: budget } = objectAt(generation, 'thinkingConfig')
  const maxTokens = numberAt(generation, 'maxOutputTokens')
  const levels = LEVELS.find(([pattern]) => pattern.test(model))?.[1] ?? []
  const isOff = budget === 0
  const samples = generation['temperature'] !== undefined || generation['topP'] !== undefined
  const isJson = generation['responseMimeType'] === 'application/json'
  const tokens = typeof budget === 'number' ? budget : THOUGHTS_TOKENS_MIN
  return listBroken([
    [level !== undefined && !levels.some((one) => one === level), `thinking level is one of ${levels.join(', ')}`],
    [budget !== undefined && levels.length > 0, 'Thinking budget and thinking level are not supported together.'],
    [isOff && model.includes('2.5-pro'), 'Budget 0 is invalid. This model only works in thinking mode.'],
    [typeof budget === 'number' && budget > (model.includes('pro') ? 32_768 : 24_576), 'thinking budget out of range'],
    [samples && /^gemini-3\.[678]/.test(model), 'temperature, top_p, and top_k are deprecated'],
    [isJson && listAt(body, 'tools').length > 0 && levels.length === 0, 'Function calling with a response mime type'],
    [!isOff && maxTokens < VOICE_TOKENS + tokens, STARVED],
    [maxTokens > 65_536, 'maxOutputTokens is above the maximum of the model'],
  ])
}

export function checkNova(model: string, body: JsonObject): readonly Refusal[] {
  const inference = objectAt(body, 'inferenceConfig')
  const reasoning = objectAt(body, 'additionalModelRequestFields', 'reasoningConfig')
  const thinks = reasoning['type'] === 'enabled'
  const isHigh = reasoning['maxReasoningEffort'] === 'high'
  return listBroken([
    [thinks && !model.includes('nova-2'), 'reasoningConfig is of Nova 2'],
    [isHigh && inference['maxTokens'] !== undefined, 'maxTokens must be unset with the effort high'],
    [thinks && numberAt(inference, 'maxTokens') < VOICE_TOKENS + THOUGHTS_TOKENS_MIN, STARVED],
  ])
}

export function checkGrok(body: JsonObject): readonly Refusal[] {
  const { reasoning_effort: effort } = body
  const name = textAt(body, 'model')
  const allowed = name === 'grok-4.3' ? ['none', 'low', 'medium', 'high'] : ['low', 'medium', 'high']
  return listBroken([
    [
      effort !== undefined && !allowed.some((one) => one === effort),
      `reasoning_effort is one of ${allowed.join(', ')}`,
    ],
    [body['stop'] !== undefined, 'Argument not supported on this model: stop'],
    [effort !== 'none' && numberAt(body, 'max_tokens') < VOICE_TOKENS + THOUGHTS_TOKENS_MIN, STARVED],
  ])
}

export function checkDeepSeek(body: JsonObject): readonly Refusal[] {
  const isOn = objectAt(body, 'thinking')['type'] !== 'disabled'
  return listBroken([
    [isOn && body['tool_choice'] !== undefined, 'Thinking mode does not support this tool_choice'],
    [isOn && numberAt(body, 'max_tokens') < VOICE_TOKENS + THOUGHTS_TOKENS_MIN, STARVED],
  ])
}

export function checkGroq(body: JsonObject): readonly Refusal[] {
  const { reasoning_effort: effort } = body
  const allowed = textAt(body, 'model').includes('qwen') ? ['none', 'default'] : ['low', 'medium', 'high']
  return listBroken([
    [
      effort !== undefined && !allowed.some((one) => one === effort),
      `reasoning_effort is one of ${allowed.join(', ')}`,
    ],
    [effort !== 'none' && numberAt(body, 'max_completion_tokens') < VOICE_TOKENS + THOUGHTS_TOKENS_MIN, STARVED],
  ])
}
