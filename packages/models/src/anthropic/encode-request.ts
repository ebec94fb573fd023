// Encodes a neutral request as the body of POST /v1/messages. Pure. Any valid history, from this or another provider,
// yields a body that Anthropic accepts; each rule is documented with its source where it is applied.
import type { JsonObject, ModelRequest } from '@baton/core/internal'
import { isJsonObject, nameServerTool } from '@baton/core/internal'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { isSayable, withSayableOutput } from '../schema/sayable-output.ts'
import { countFreeMarks, findMarkedMessages } from '../cache-marks.ts'
import { addProviderFields } from '../provider-fields.ts'
import { findChosenServerTool } from '../server-tools.ts'
import { encodeToolName } from '../tool-names.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelTraits, TraitsOverride } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { createMessageEncoder, readContainerId } from './encode-messages.ts'
import type {
  AnthropicRequest,
  CacheControl,
  WireBlock,
  WireMessage,
  WireOutputFormat,
  WireThinking,
  WireTool,
  WireToolChoice,
} from './wire.ts'
import { PROVIDER, isServerCall } from './wire.ts'

export interface AnthropicEncodeOptions {
  readonly model: string
  /** How long the prompt cache keeps marked prefixes; `off` sets no marks. 5 minutes by default. */
  readonly cache?: 'off' | '5m' | '1h'
  /** Overrides for the model's row in the traits table. */
  readonly traits?: TraitsOverride
  /**
   * Handling of signed thinking when the conversation before it has changed (the window moved, a message was edited).
   * Newer models reject such a request ("The block is bound to a different conversation", anomalyco/opencode#48637),
   * which is the default; `drop` asks the API to leave those blocks out.
   */
  readonly thinkingMismatch?: 'error' | 'drop'
  /** Anthropic's server tools (web search, code execution), in the API's format. */
  readonly serverTools?: readonly JsonObject[]
}

/** `max_tokens` for models missing from the table. The API requires a value, and every model supports this one. */
const UNKNOWN_OUTPUT_TOKENS = 8192

export function encodeAnthropicRequest(
  given: ModelRequest,
  options: AnthropicEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): AnthropicRequest {
  const { traits } = memory.traits(() =>
    findTraits({ model: options.model, family: 'messages', override: options.traits }),
  )
  const { serverTools = [] } = options
  const hasServerTools = serverTools.length + (given.settings.serverTools?.[PROVIDER]?.length ?? 0) > 0
  const request = withChoiceInWords(
    withSayableOutput(given, 'anthropic-strict', memory.compile, traits.schemas),
    traits,
    hasServerTools,
  )
  const { settings } = request
  const { messages, plan } = encodeHistory(request, { options, traits }, memory)
  const maxTokens = limitOutput(traits, settings.maxOutputTokens, { plan, request }) ?? UNKNOWN_OUTPUT_TOKENS
  const thinking = encodeThinking(plan, { options, traits }, maxTokens)
  const tools = encodeTools(request, messages, { compile: memory.compile, traits })
  const chosen = findChosenServerTool(request, PROVIDER, serverTools)
  const toolChoice =
    tools.length > 0 || hasServerTools
      ? encodeToolChoice(request, { traits, plan, hasServerTools, chosen: chosen && nameServerTool(chosen) })
      : undefined
  const { temperature, topP } = chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: 1 })
  const mark = buildMark(settings.cache ?? options.cache, traits)
  const others = [serverTools, settings.serverTools?.[PROVIDER], settings.provider?.[PROVIDER]]
  const outputConfig = encodeOutputConfig(request, traits, { plan, compile: memory.compile })
  const body: { -readonly [Field in keyof AnthropicRequest]: AnthropicRequest[Field] } = {
    model: options.model,
    max_tokens: maxTokens,
    stream: true,
    messages: mark ? markEnds(messages, mark, countFreeMarks(FIXED_MARKS, 'cache_control', ...others)) : messages,
  }
  const { instructions } = request
  if (instructions.trim() !== '') body.system = marked([{ type: 'text', text: instructions }], mark)
  if (tools.length + serverTools.length > 0) body.tools = [...serverTools, ...marked(tools, mark)]
  if (toolChoice) body.tool_choice = toolChoice
  if (thinking) body.thinking = thinking
  if (temperature !== undefined) body.temperature = temperature
  if (topP !== undefined) body.top_p = topP
  if (settings.stop && traits.stop) body.stop_sequences = settings.stop
  if (settings.serviceTier !== undefined) body.service_tier = settings.serviceTier
  if (outputConfig) body.output_config = outputConfig
  const container = encodeContainer(request, messages, hasServerTools)
  if (container !== undefined) body.container = container
  return addProviderFields(body, settings, PROVIDER)
}

/**
 * Container of the latest answer that had one, while server tools may still use it: 400 "container_id is required when
 * there are pending tool uses generated by code execution with tools" (anthropics/anthropic-sdk-typescript#1114).
 */
function encodeContainer(
  { messages, settings }: ModelRequest,
  wire: readonly WireMessage[],
  hasServerTools: boolean,
): AnthropicRequest['container'] {
  const newest = messages.findLast((message) => message.role === 'assistant' && readContainerId(message) !== undefined)
  const id = newest?.role === 'assistant' ? readContainerId(newest) : undefined
  if (id === undefined) return undefined
  const isUsed = hasServerTools || wire.some(({ content }) => content.some(({ type }) => isServerCall(type)))
  if (!isUsed) return undefined
  // Merged into a container from the user's own settings, such as one with skills.
  return isJsonObject(settings.provider?.[PROVIDER]?.['container']) ? { id } : id
}

interface Choosing {
  readonly options: AnthropicEncodeOptions
  readonly traits: ModelTraits
}

/**
 * Models that reject forced tool calls are asked in words: 400 "tool_choice.type \"any\" is not supported"
 * (claude-cookbooks#854).
 */
function withChoiceInWords(request: ModelRequest, { forcing }: ModelTraits, hasServerTools: boolean): ModelRequest {
  const { toolChoice, tools, instructions } = request
  const isForced = toolChoice.type === 'any' || toolChoice.type === 'tool'
  if (forcing !== 'never' || (tools.length === 0 && !hasServerTools) || !isForced) return request
  const which = toolChoice.type === 'tool' ? `your tool ${encodeToolName(toolChoice.name)}` : 'one of your tools'
  const asked = `Answer this with a call of ${which}.`
  return { ...request, instructions: [instructions, asked].filter((part) => part.trim() !== '').join('\n\n') }
}

function encodeOutputConfig(
  { output }: ModelRequest,
  { thinking }: ModelTraits,
  { plan, compile }: { readonly plan: ThinkingPlan; readonly compile: CompileSchema },
): AnthropicRequest['output_config'] {
  const effort = thinking.kind === 'adaptive' ? plan.effort : undefined
  if (effort === undefined && !output) return undefined
  return { ...(effort !== undefined && { effort }), ...(output && { format: encodeOutput(output, compile) }) }
}

function encodeOutput({ schema }: NonNullable<ModelRequest['output']>, compile: CompileSchema): WireOutputFormat {
  return { type: 'json_schema', schema: compile(schema, 'anthropic-strict').schema }
}

interface History {
  readonly messages: readonly WireMessage[]
  readonly plan: ThinkingPlan
}

function encodeHistory(
  request: ModelRequest,
  { options, traits }: Choosing,
  { histories }: RequestMemory<WireMessage>,
): History {
  const plan = planThinking(traits, request.settings)
  const encode = (keepThinking: boolean) =>
    histories.encode(request.messages, `${keepThinking}`, () =>
      createMessageEncoder({ model: options.model, keepThinking, prefill: traits.prefill }),
    )
  const messages = encode(plan.isOn)
  if (!plan.isOn || traits.thinking.kind === 'adaptive' || startsWithThinking(messages)) return { messages, plan }
  return { messages: encode(false), plan: planThinking(traits, request.settings, false) }
}

/** `undefined` if the model should not think unless asked to. */
function encodeThinking(
  plan: ThinkingPlan,
  { options, traits }: Choosing,
  maxTokens: number,
): WireThinking | undefined {
  const { kind, off } = traits.thinking
  const drop = { block_binding: { prefix_mismatch_behavior: 'drop_block' } } as const
  const binding = options.thinkingMismatch === 'drop' ? drop : {}
  // The budget is part of max_tokens and must be smaller.
  if (plan.isOn && kind === 'budget')
    return { type: 'enabled', budget_tokens: Math.min(plan.budget, maxTokens - 1), ...binding }
  if (kind !== 'adaptive') return undefined
  // Since Opus 4.7, thinking is omitted unless requested.
  if (plan.isAsked) return { type: 'adaptive', display: 'summarized', ...binding }
  if (off === 'never') return { type: 'adaptive', ...binding }
  if (off === 'between-tools') return { type: 'between_tools' }
  return off === 'disabled' ? { type: 'disabled' } : undefined
}

/**
 * Whether the API would accept a thinking budget: the open assistant turn, whose tool results were just added, must
 * start with thinking, or the API responds 400 "Expected `thinking` or `redacted_thinking`, but found `tool_use`". A
 * turn started by another provider, or without thinking, does not; such a request is sent without thinking.
 */
function startsWithThinking(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (!message.content.some((block) => block.type === 'tool_result')) break
  }
  if (!first) return true
  return first.content[0]?.type === 'thinking' || first.content[0]?.type === 'redacted_thinking'
}

function encodeTools(
  request: ModelRequest,
  messages: readonly WireMessage[],
  { compile, traits }: { readonly compile: CompileSchema; readonly traits: ModelTraits },
): readonly WireTool[] {
  // Models that enforce output schemas also support strict tool use ("Structured outputs").
  const mayBeStrict = request.settings.strictTools === true && traits.output === 'native'
  if (request.tools.length > 0)
    return request.tools.map(({ name, description, inputSchema }) => {
      const isStrict = mayBeStrict && isSayable(inputSchema, 'anthropic-strict', compile, traits.schemas)
      return {
        name: encodeToolName(name),
        description,
        input_schema: isStrict
          ? compile(inputSchema, 'anthropic-strict').schema
          : encodeInputSchema(inputSchema, compile),
        ...(isStrict && { strict: true as const }),
      }
    })
  // A history with calls requires declared tools: LiteLLM and others report an error without them. `none` forbids
  // calls.
  const called = new Set<string>()
  for (const message of messages) {
    for (const block of message.content)
      if (block.type === 'tool_use' && typeof block['name'] === 'string') called.add(block['name'])
  }
  return [...called].map((name) => ({
    name,
    description: 'This tool is no longer available.',
    input_schema: { type: 'object' },
  }))
}

function encodeInputSchema(schema: JsonObject, compile: CompileSchema): JsonObject {
  const { schema: compiled } = compile(schema, 'anthropic')
  const { properties, ...rest } = compiled
  // Omits an empty `properties` that the tool did not declare; Anthropic does not require it.
  const isEmpty = isJsonObject(properties) && Object.keys(properties).length === 0
  return isEmpty && schema['properties'] === undefined ? rest : compiled
}

interface ChoosingTool {
  readonly traits: ModelTraits
  readonly plan: ThinkingPlan
  readonly hasServerTools: boolean
  /** Name of the Anthropic server tool that must be called. */
  readonly chosen: string | undefined
}

/** Returns `undefined` if the model decides. */
function encodeToolChoice(
  { toolChoice, tools, settings }: ModelRequest,
  { traits: { forcing }, plan, hasServerTools, chosen }: ChoosingTool,
): WireToolChoice | undefined {
  if (toolChoice.type === 'none' || (tools.length === 0 && !hasServerTools)) return { type: 'none' }
  const single = settings.parallelCalls === false ? { disable_parallel_tool_use: true as const } : {}
  // "Thinking may not be enabled when tool_choice forces tool use" (400; anthropics/claude-code#18759).
  const mayForce = forcing === 'always' || (forcing === 'unthinking' && !plan.isOn)
  if (toolChoice.type === 'auto' || !mayForce)
    return tools.length === 0 && settings.parallelCalls !== false ? undefined : { type: 'auto', ...single }
  if (toolChoice.type !== 'tool') return { type: 'any', ...single }
  return { type: 'tool', name: chosen ?? encodeToolName(toolChoice.name), ...single }
}

function buildMark(cache: AnthropicEncodeOptions['cache'], traits: ModelTraits): CacheControl | undefined {
  if (cache === 'off' || !traits.cache) return undefined
  return cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function marked<Item extends object>(items: readonly Item[], mark: CacheControl | undefined): readonly Item[] {
  const last = items.at(-1)
  return last && mark ? [...items.slice(0, -1), { ...last, cache_control: mark }] : items
}

/** One after the instructions and one after the tools. */
const FIXED_MARKS = 2

function markEnds(messages: readonly WireMessage[], mark: CacheControl, free: number): readonly WireMessage[] {
  const ends = findMarkedMessages(messages, free)
  return messages.map((message, index) => (ends.includes(index) ? markEnd(message, mark) : message))
}

/** Thinking blocks cannot carry a cache mark (400). */
function markEnd(message: WireMessage, mark: CacheControl): WireMessage {
  const index = message.content.findLastIndex((block) => MARKABLE.has(block.type))
  const block = message.content[index]
  if (!block) return message
  const content: readonly WireBlock[] = message.content.with(index, { ...block, cache_control: { ...mark } })
  return { ...message, content }
}

const MARKABLE: ReadonlySet<string> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result'])
