// Encodes a neutral request as the body of Converse. Pure. Any valid history, from this or another provider, yields a
// body that Bedrock accepts; each rule is documented with its source where it is applied.
import type { JsonObject, ModelRequest } from '@baton/core'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import { withSayableOutput } from '../schema/sayable-output.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { countFreeMarks, findMarkedMessages } from '../cache-marks.ts'
import { addProviderFields } from '../provider-fields.ts'
import { refuseChosenServerTool } from '../server-tools.ts'
import { encodeToolName } from '../tool-names.ts'
import type { TraitsQuery } from '../traits/find-traits.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelFamily, ModelTraits, TraitsOverride } from '../traits/model-traits.ts'
import type { Sampling } from '../traits/sampling.ts'
import { chooseSampling } from '../traits/sampling.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { documentsLeftOut } from './encode-content.ts'
import { createMessageEncoder } from './encode-messages.ts'
import { hasCalls } from './flatten-history.ts'
import type { BedrockRequest, CachePoint, WireMessage, WireTool, WireToolChoice, WireToolConfig } from './wire.ts'
import { PROVIDER } from './wire.ts'

export interface BedrockEncodeOptions {
  /** Id of a model or inference profile, or the ARN of a profile. */
  readonly model: string
  /** Model family, if the id does not name it, as with the ARN of a custom profile. */
  readonly family?: ModelFamily
  /** Overrides for the model's row in the traits table. */
  readonly traits?: TraitsOverride
  /**
   * How long the prompt cache keeps marked prefixes; `off`, the default, sets no marks, because older models reject
   * them.
   */
  readonly cache?: 'off' | '5m' | '1h'
}

/**
 * Converse enforces output schemas only for Claude, and is documented to show images only to Claude and Nova
 * ("Structured outputs" and "Supported models", Bedrock user guide). For other models, the table describes what they
 * support elsewhere.
 */
export function findQuery({ model, family, traits }: BedrockEncodeOptions): TraitsQuery {
  const query = { model, ...(family && { family }) }
  const found = findTraits(query)
  const isClaude = found.family === 'claude'
  const override: TraitsOverride = {
    ...(!isClaude && { output: 'none' }),
    ...(!isClaude && !found.family.startsWith('nova') && { images: false, cache: false }),
    ...traits,
  }
  return { ...query, override }
}

export function encodeBedrockRequest(
  given: ModelRequest,
  options: BedrockEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): BedrockRequest {
  const { family, traits } = memory.traits(() => findTraits(findQuery(options)))
  const request = withSayableOutput(given, 'anthropic-strict', memory.compile, traits.schemas)
  refuseChosenServerTool(request, PROVIDER)
  const mayCall = request.tools.length > 0 && request.toolChoice.type !== 'none'
  const isFlat = !mayCall && hasCalls(request.messages)
  const work: Work = { request, family, traits, options, memory, mayCall, isFlat }
  const { messages, plan } = encodeHistory(work)
  const { instructions, output, settings } = request
  const mark = buildMark(settings.cache ?? options.cache, traits)
  const free = countFreeMarks(
    FIXED_MARKS,
    'cachePoint',
    settings.serverTools?.[PROVIDER],
    settings.provider?.[PROVIDER],
  )
  const maxTokens = limitOutput(traits, settings.maxOutputTokens, { plan, request })
  const { temperature, topP } = chooseInference(work, plan)
  const fields = modelFields(work, plan, maxTokens ?? Number.MAX_SAFE_INTEGER)
  const body: BedrockRequest = {
    messages: mark.length > 0 ? markEnds(messages, mark, free) : messages,
    ...(instructions.trim() !== '' && { system: [{ text: instructions }, ...mark] }),
    inferenceConfig: {
      // Thinking is part of maxTokens; the rest is for the answer.
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(topP !== undefined && { topP }),
      ...(settings.stop && traits.stop && { stopSequences: settings.stop }),
    },
    ...(mayCall && { toolConfig: encodeTools(work, plan, mark) }),
    ...(fields && { additionalModelRequestFields: fields }),
    ...(output && { outputConfig: encodeOutput(output, memory.compile) }),
    ...(settings.serviceTier !== undefined && { serviceTier: { type: settings.serviceTier } }),
  }
  return addProviderFields(body, settings, PROVIDER)
}

interface Work {
  readonly request: ModelRequest
  readonly family: ModelFamily
  readonly traits: ModelTraits
  readonly options: BedrockEncodeOptions
  readonly memory: RequestMemory<WireMessage>
  /** Whether the model may call tools. If not, none are declared. */
  readonly mayCall: boolean
  readonly isFlat: boolean
}

interface History {
  readonly messages: readonly WireMessage[]
  readonly plan: ThinkingPlan
}

function encodeHistory(work: Work): History {
  const { request, family, traits, options, memory, isFlat } = work
  const { model } = options
  const plan = planThinking(traits, request.settings)
  const leftOut = documentsLeftOut(request.messages, isFlat)
  const encode = (keepThinking: boolean) =>
    memory.histories.encode(request.messages, `${keepThinking} ${isFlat} ${leftOut}`, () =>
      createMessageEncoder({ model, family, keepThinking, isFlat, documentsLeftOut: leftOut }),
    )
  const messages = encode(plan.isOn)
  const isBound = plan.isOn && family === 'claude' && traits.thinking.kind === 'budget'
  if (!isBound || startsWithThinking(messages)) return { messages, plan }
  return { messages: encode(false), plan: planThinking(traits, request.settings, false) }
}

/**
 * Claude with a thinking budget: the open assistant turn, whose tool results were just added, must start with thinking,
 * or Bedrock responds "Expected `thinking` or `redacted_thinking`, but found `tool_use`". Otherwise this request is
 * sent without thinking.
 */
function startsWithThinking(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (!message.content.some((block) => block['toolResult'] !== undefined)) break
  }
  return first?.content[0] === undefined || first.content[0]['reasoningContent'] !== undefined
}

/**
 * Nova calls tools more reliably with greedy decoding (Nova user guide, "Troubleshooting tool calls"). The user's
 * settings win.
 */
function chooseInference({ request, family, traits, mayCall }: Work, plan: ThinkingPlan): Sampling {
  const { temperature = isGreedy(family, mayCall) ? 0 : undefined, topP } = request.settings
  // Models accept only the default temperature while thinking. Converse's scale ends at 1.
  if (plan.isOn) return {}
  const wished = { ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { topP }) }
  return chooseSampling(traits, wished, { thinks: plan.isOn, temperatureMax: 1 })
}

function isGreedy(family: ModelFamily, mayCall: boolean): boolean {
  return family === 'nova' && mayCall
}

/** Adds settings that Converse has no fields for, in the format of the model vendor's own API. */
function modelFields(work: Work, plan: ThinkingPlan, maxTokens: number): JsonObject | undefined {
  const { request, family, mayCall } = work
  const greedy = isGreedy(family, mayCall) && (request.settings.temperature ?? 0) === 0
  const fields = {
    ...(family === 'claude' && encodeClaude(work, plan, maxTokens)),
    ...(family === 'nova-2' &&
      plan.isAsked && { reasoningConfig: { type: 'enabled', maxReasoningEffort: plan.effort ?? 'low' } }),
    ...(greedy && { inferenceConfig: { topK: 1 } }),
  }
  return Object.keys(fields).length > 0 ? fields : undefined
}

function encodeClaude({ traits: { thinking } }: Work, plan: ThinkingPlan, maxTokens: number): JsonObject {
  const { kind, off } = thinking
  if (kind === 'budget')
    return plan.isOn ? { thinking: { type: 'enabled', budget_tokens: Math.min(plan.budget, maxTokens - 1) } } : {}
  if (kind !== 'adaptive') return {}
  const effort = plan.effort === undefined ? {} : { output_config: { effort: plan.effort } }
  if (plan.isAsked || off === 'never') return { thinking: { type: 'adaptive' }, ...effort }
  if (off === 'between-tools') return { thinking: { type: 'between_tools' } }
  return off === 'disabled' ? { thinking: { type: 'disabled' } } : {}
}

function encodeTools(work: Work, plan: ThinkingPlan, mark: readonly CachePoint[]): WireToolConfig {
  const { request, family, memory } = work
  // Claude applies Anthropic's rule for property names here too: one invalid name rejects every tool.
  const dialect = family === 'claude' ? 'anthropic' : family.startsWith('nova') ? 'nova' : 'bedrock'
  const tools = request.tools.map(({ name, description, inputSchema }): WireTool => {
    const { schema } = memory.compile(inputSchema, dialect)
    const toolSpec = { name: encodeToolName(name), inputSchema: { json: schema } }
    // A description needs at least one character (API_runtime_ToolSpecification).
    return { toolSpec: description.trim() === '' ? toolSpec : { ...toolSpec, description } }
  })
  const toolChoice = encodeToolChoice(work, plan)
  // Nova does not accept cache marks among its tools (Bedrock user guide, prompt caching).
  const marks = family === 'claude' ? mark : []
  return { tools: [...tools, ...marks], ...(toolChoice && { toolChoice }) }
}

/**
 * API_runtime_ToolChoice: Claude, Nova and Mistral support `any`; Claude and Nova support `tool`; others always decide
 * for themselves.
 */
function encodeToolChoice({ request, family, traits }: Work, plan: ThinkingPlan): WireToolChoice | undefined {
  const { toolChoice } = request
  const canChoose = family === 'claude' || family === 'mistral' || family.startsWith('nova')
  // "Thinking may not be enabled when tool_choice forces tool use." Auto is the default.
  const isFree = family === 'claude' ? traits.forcing === 'always' : !plan.isOn
  const mayForce = canChoose && (isFree || (traits.forcing === 'unthinking' && !plan.isOn))
  if (toolChoice.type === 'auto' || toolChoice.type === 'none' || !mayForce) return undefined
  return toolChoice.type === 'tool' && family !== 'mistral'
    ? { tool: { name: encodeToolName(toolChoice.name) } }
    : { any: {} }
}

/** OutputConfig of client-bedrock-runtime 3.1163: the schema is a JSON string. */
function encodeOutput({ name, schema }: NonNullable<ModelRequest['output']>, compile: CompileSchema): JsonObject {
  const compiled = compile(schema, 'anthropic-strict').schema
  const jsonSchema = { name: encodeToolName(name), schema: JSON.stringify(compiled) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

/** Returns zero or one cache point. The prefix before it is cached. */
function buildMark(cache: BedrockEncodeOptions['cache'], traits: ModelTraits): readonly CachePoint[] {
  if (cache === undefined || cache === 'off' || !traits.cache) return []
  return [{ cachePoint: cache === '1h' ? { type: 'default', ttl: '1h' } : { type: 'default' } }]
}

/** One after the instructions and one after the tools. */
const FIXED_MARKS = 2

function markEnds(messages: readonly WireMessage[], mark: readonly CachePoint[], free: number): readonly WireMessage[] {
  const ends = findMarkedMessages(messages, free)
  return messages.map((message, index) =>
    ends.includes(index) && message.role === 'user' ? { ...message, content: [...message.content, ...mark] } : message,
  )
}
