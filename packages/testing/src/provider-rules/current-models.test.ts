// Every current model with every option: requests pass the provider's rules and the strict wires.
import type { JsonObject, ModelRequest, ModelSettings, ToolChoice } from '@baton/core/internal'
import { isBatonError, isJsonObject } from '@baton/core/internal'
import {
  validateAnthropicRequest,
  validateBedrockRequest,
  validateGeminiRequest,
  validateOpenAiChatRequest,
  validateOpenAiResponsesRequest,
} from '../wires/index.ts'
import { encodeAnthropicRequest } from '@baton/models/anthropic'
import { encodeBedrockRequest } from '@baton/models/bedrock'
import { encodeGeminiRequest } from '@baton/models/gemini'
import { encodeOpenAiChatRequest } from '@baton/models/openai-chat'
import { encodeOpenAiResponsesRequest } from '@baton/models/openai-responses'
import { findPreset } from '@baton/models/choose-model'
import { afterAll, describe, expect, test } from 'vitest'
import { checkClaude, readAnthropicFields, readConverseFields } from './claude-rules.ts'
import { checkChat, checkResponses } from './openai-rules.ts'
import { checkDeepSeek, checkGemini, checkGrok, checkGroq, checkNova } from './other-rules.ts'

interface Wire {
  readonly encode: (request: ModelRequest, model: string) => object
  readonly check: (model: string, body: JsonObject) => readonly unknown[]
}

function viaChat(preset: string, check: (body: JsonObject) => readonly unknown[]): Wire {
  const quirks = findPreset(preset)?.quirks
  return {
    encode: (request, model) =>
      encodeOpenAiChatRequest(request, { model, provider: preset, ...(quirks && { quirks }) }),
    check: (_model, body) => [...check(body), ...validateOpenAiChatRequest(body)],
  }
}

const WIRES: Readonly<Record<string, Wire>> = {
  anthropic: {
    encode: (request, model) => encodeAnthropicRequest(request, { model }),
    check: (model, body) => [...checkClaude(model, readAnthropicFields(body)), ...validateAnthropicRequest(body)],
  },
  bedrock: {
    encode: (request, model) => encodeBedrockRequest(request, { model }),
    check: (model, body) => [
      ...(model.includes('claude') ? checkClaude(model, readConverseFields(body)) : checkNova(model, body)),
      ...validateBedrockRequest(body),
    ],
  },
  openai: {
    encode: (request, model) => encodeOpenAiResponsesRequest(request, { model }),
    check: (_model, body) => [...checkResponses(body), ...validateOpenAiResponsesRequest(body)],
  },
  'openai-chat': viaChat('openai-chat', checkChat),
  gemini: {
    encode: (request, model) => encodeGeminiRequest(request, { model }),
    check: (model, body) => [...checkGemini(model, body), ...validateGeminiRequest(body, { model })],
  },
  xai: viaChat('xai', checkGrok),
  deepseek: viaChat('deepseek', checkDeepSeek),
  groq: viaChat('groq', checkGroq),
}

const CLAUDE =
  'fable-5-1 fable-5 opus-5-5 sonnet-5-5 haiku-5-5 opus-5 sonnet-5 opus-4-8 opus-4-7 opus-4-6 sonnet-4-6 opus-4-5'
const GPT = 'gpt-6-astra gpt-6-sol gpt-6-luna gpt-6.1-sol gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.5 gpt-5.4'
const GEMINI = '3.8-flash 3.7-flash 3.6-flash 3.5-flash 3.5-flash-lite 3.1-pro-preview 2.5-pro 2.5-flash 2.5-flash-lite'
const words = (text: string) => text.split(' ')

const MODELS: readonly (readonly [string, string])[] = [
  ...words(`${CLAUDE} haiku-4-5 sonnet-4-5`).map((name) => ['anthropic', `claude-${name}`] as const),
  ...words(`${GPT} gpt-5.4-mini gpt-5.2 gpt-5.1 gpt-5-mini gpt-5-pro o4-mini gpt-4.1`).flatMap((name) => [
    ['openai', name] as const,
    ['openai-chat', name] as const,
  ]),
  ...words(GEMINI).map((name) => ['gemini', `gemini-${name}`] as const),
  ['bedrock', 'us.anthropic.claude-opus-5-5'],
  ['bedrock', 'global.anthropic.claude-haiku-4-5-20251001-v1:0'],
  ['bedrock', 'anthropic.claude-sonnet-5-5'],
  ['bedrock', 'anthropic.claude-opus-4-8-v1:0'],
  ['bedrock', 'amazon.nova-2-lite-v1:0'],
  ['bedrock', 'us.amazon.nova-lite-v1:0'],
  ['xai', 'grok-4.5'],
  ['xai', 'grok-4.3'],
  ['deepseek', 'deepseek-v4-pro'],
  ['groq', 'openai/gpt-oss-120b'],
  ['groq', 'qwen/qwen3-32b'],
]

const TOOL = {
  name: 'agent.spawn',
  description: 'Starts an agent.',
  inputSchema: {
    type: 'object',
    properties: { prompt: { type: 'string' }, ref: { type: 'string' } },
    required: ['prompt'],
  },
} as const
const CHOICES: readonly (ToolChoice | undefined)[] = [
  undefined,
  { type: 'auto' },
  { type: 'any' },
  { type: 'none' },
  { type: 'tool', name: TOOL.name },
]
const THINKING: readonly ModelSettings[] = [
  {},
  { reasoningTokens: 0 },
  { reasoningTokens: 3000 },
  { reasoningTokens: 500_000 },
  { effort: 'none' },
  { effort: 'low' },
  { effort: 'high' },
  { effort: 'xhigh' },
  { effort: 'max' },
]
const SAMPLING: readonly ModelSettings[] = [
  {},
  { temperature: 0.3 },
  { temperature: 1.5, topP: 0.9, stop: ['END'], seed: 1, serviceTier: 'flex' },
]
const OUTPUTS: readonly ModelRequest['output'][] = [
  undefined,
  { name: 'answer', schema: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } }, required: ['a'] } },
]

/** Every combination, in the voice profile with 512 tokens and one call at a time. */
function* listRequests(): Generator<ModelRequest> {
  for (const toolChoice of CHOICES)
    for (const thinking of THINKING)
      for (const sampling of SAMPLING)
        for (const output of OUTPUTS)
          for (const strictTools of [false, true])
            yield {
              instructions: 'Be brief.',
              messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
              tools: toolChoice ? [TOOL] : [],
              toolChoice: toolChoice ?? { type: 'auto' },
              settings: { maxOutputTokens: 512, parallelCalls: false, strictTools, ...thinking, ...sampling },
              session: 's',
              ...(output && { output }),
            }
}

const counts = { models: MODELS.length, requests: 0, 'refused by Baton with a hint': 0 }
/** The request to each model if only a short answer is requested. */
const plain: string[] = []

afterAll(() => {
  const each = Object.entries(counts).map(([what, count]) => `${count} ${what}`)
  console.info(`current models: ${each.join(', ')}\n${plain.join('\n')}`)
})

const TOLD = ['thinking', 'output_config', 'reasoning', 'reasoning_effort', 'thinkingConfig', 'reasoningConfig']
const LIMITS = ['max_tokens', 'max_output_tokens', 'max_completion_tokens', 'maxOutputTokens', 'maxTokens']

function describeBody(body: JsonObject): string {
  const nested = ['generationConfig', 'inferenceConfig', 'additionalModelRequestFields']
  const all = Object.assign({}, body, ...nested.map((key) => body[key])) as JsonObject // fields of one level
  const shown = [...LIMITS, ...TOLD].filter((key) => all[key] !== undefined)
  return shown.map((key) => `${key} ${JSON.stringify(all[key])}`).join(', ')
}

describe('what is sent is accepted', () => {
  test.each(MODELS)('%s/%s', (provider, model) => {
    const wire = WIRES[provider]
    if (!wire) throw new Error(`no wire of ${provider}`)
    const [first] = listRequests()
    const body = first && encode(wire, first, model)
    plain.push(`  ${provider}/${model}: ${body ? describeBody(body) : 'refused with a hint'}`)
    const refused = [...listRequests()].flatMap((request) => {
      const body = encode(wire, request, model)
      counts.requests++
      if (!body) counts['refused by Baton with a hint']++
      return (body ? wire.check(model, body) : []).map((why) => ({ why, settings: request.settings }))
    })
    expect(refused.slice(0, 3)).toEqual([])
  })
})

/** Undefined if Baton itself reports that the model does not accept the request, and what to use instead. */
function encode({ encode }: Wire, request: ModelRequest, model: string): JsonObject | undefined {
  try {
    const body: unknown = JSON.parse(JSON.stringify(encode(request, model)))
    if (!isJsonObject(body)) throw new Error('no object')
    return body
  } catch (error) {
    if (isBatonError(error) && error.message.includes('does not support tools in Chat Completions')) return undefined
    throw error
  }
}
