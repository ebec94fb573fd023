// Encodes a neutral request as the body of POST …/responses. Pure. Any valid history, from this or another provider,
// yields a body that OpenAI accepts; each rule is documented with its source where it is applied.
import type { JsonObject, ModelRequest, ToolDeclaration } from '@baton/core/internal'
import { BatonError, nameServerTool } from '@baton/core/internal'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import { encodeOutputSchema } from '../openai-chat/encode-output.ts'
import { addProviderFields } from '../provider-fields.ts'
import { findChosenServerTool } from '../server-tools.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { isSayable } from '../schema/sayable-output.ts'
import { encodeToolName } from '../tool-names.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelTraits, SchemaLimits, TraitsOverride } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { createMessageEncoder } from './encode-messages.ts'
import type { OpenAiResponsesRequest, WireItem, WireTool, WireToolChoice } from './wire.ts'
import { PROVIDER } from './wire.ts'

export interface OpenAiResponsesEncodeOptions {
  readonly model: string
  /**
   * Requests a summary of the model's reasoning, if it reasons. None by default, because OpenAI summarizes only for
   * verified organizations and rejects such requests from others (400).
   */
  readonly reasoningSummary?: 'auto' | 'concise' | 'detailed'
  /** OpenAI's server tools (web search, code interpreter), in the API's format. */
  readonly serverTools?: readonly JsonObject[]
  /** Overrides for the model's row in the traits table. */
  readonly traits?: TraitsOverride
  /** Set to false to omit `prompt_cache_key`, which some gateways reject; true by default. */
  readonly promptCacheKey?: boolean
}

/** 400 "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16". */
const OUTPUT_TOKENS_MIN = 16
/** 400 "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64". */
const CACHE_KEY_LENGTH_MAX = 64

/** @throws BatonError `model_invalid_request` if `toolChoice` names a tool that is not in the request */
export function encodeOpenAiResponsesRequest(
  request: ModelRequest,
  options: OpenAiResponsesEncodeOptions,
  memory: RequestMemory<WireItem> = createRequestMemory(),
): OpenAiResponsesRequest {
  const { model, serverTools = [], promptCacheKey = true } = options
  const { settings, instructions, session } = request
  const { traits } = memory.traits(() => findTraits({ model, override: options.traits }))
  const plan = planThinking(traits, settings)
  const reasoning = encodeReasoning(plan, traits, options)
  // Reasoning counts as output, so its budget is added to the answer's limit.
  const tokens = limitOutput(traits, settings.maxOutputTokens, {
    plan,
    request,
  })
  const toolChoice = encodeToolChoice(request, serverTools)
  const limits = settings.strictTools === true ? traits.schemas : undefined
  const isSingle = settings.parallelCalls === false && traits.singleCalls
  const tools = [...serverTools, ...request.tools.map((tool) => encodeTool(tool, limits, memory.compile))]
  const { temperature, topP } = chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: 2 })
  const hasCacheKey = promptCacheKey && settings.cache !== 'off' && session !== ''
  const body: OpenAiResponsesRequest = {
    model,
    stream: true,
    store: false,
    // "Encrypted content is not supported with this model.": only requested from models that reason.
    ...((plan.isOn || traits.thinking.off === 'none') && { include: ['reasoning.encrypted_content'] as const }),
    ...(instructions.trim() !== '' && { instructions }),
    input: memory.histories.encode(request.messages, '', () => createMessageEncoder(model)),
    ...(tokens !== undefined && { max_output_tokens: Math.max(tokens, OUTPUT_TOKENS_MIN) }),
    ...(hasCacheKey && { prompt_cache_key: session.slice(-CACHE_KEY_LENGTH_MAX) }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(tools.length > 0 && isSingle && { parallel_tool_calls: false as const }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(settings.serviceTier !== undefined && { service_tier: settings.serviceTier }),
    ...(reasoning && { reasoning }),
    ...(request.output && {
      text: { format: { type: 'json_schema', ...encodeOutputSchema(request.output, memory.compile, traits.schemas) } },
    }),
  }
  return addProviderFields(body, settings, PROVIDER)
}

/** Unlike Chat Completions, this API supports reasoning together with tools, so tools do not matter here. */
function encodeReasoning(
  { effort }: ThinkingPlan,
  { thinking }: ModelTraits,
  { reasoningSummary }: OpenAiResponsesEncodeOptions,
): OpenAiResponsesRequest['reasoning'] {
  const summary = thinking.kind === 'none' || effort === 'none' || effort === 'minimal' ? undefined : reasoningSummary
  if (effort === undefined && summary === undefined) return undefined
  return { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) }
}

/** @param limits limits of a strict schema; `undefined` if the tool is not strict */
function encodeTool(tool: ToolDeclaration, limits: SchemaLimits | undefined, compile: CompileSchema): WireTool {
  const strict = limits !== undefined && isSayable(tool.inputSchema, 'openai-strict', compile, limits)
  return {
    type: 'function',
    name: encodeToolName(tool.name),
    ...(tool.description !== '' && { description: tool.description }),
    parameters: compile(tool.inputSchema, strict ? 'openai-strict' : 'openai').schema,
    strict,
  }
}

/** OpenAI's server tools that a request can force (ToolChoiceTypes, ToolChoiceShell and others of openai 7.57). */
const DEMANDABLE: ReadonlySet<unknown> = new Set([
  'web_search',
  'web_search_preview',
  'file_search',
  'code_interpreter',
  'image_generation',
  'computer',
  'computer_use',
  'computer_use_preview',
  'shell',
  'apply_patch',
])

/** Returns `undefined` if the model decides. */
function encodeToolChoice(request: ModelRequest, serverTools: readonly JsonObject[]): WireToolChoice | undefined {
  const { toolChoice, tools, settings } = request
  const chosen = findChosenServerTool(request, PROVIDER, serverTools)
  if (chosen) return demandServerTool(chosen)
  if (tools.length + serverTools.length + (settings.serverTools?.[PROVIDER]?.length ?? 0) === 0) return undefined
  switch (toolChoice.type) {
    case 'auto':
      return undefined
    case 'any':
      return 'required'
    case 'none':
      return 'none'
    case 'tool':
      return { type: 'function', name: encodeToolName(toolChoice.name) }
  }
}

function demandServerTool(tool: JsonObject): WireToolChoice {
  const { type, name, server_label: label } = tool
  if (type === 'mcp' && typeof label === 'string') return { type, server_label: label }
  if (type === 'custom' && typeof name === 'string') return { type, name }
  if (typeof type === 'string' && DEMANDABLE.has(type)) return { type }
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${nameServerTool(tool)}", an OpenAI server tool that the API cannot force`,
    hint: 'Leave the choice to the model (`auto`) and ask for the tool in the instructions.',
  })
}
