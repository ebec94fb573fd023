// Encodes a neutral request as the body of POST …/chat/completions. Pure. Any valid history, from this or another
// provider, yields a body that the server accepts; differences between servers are listed in quirks.ts.
import type { ModelRequest, ToolDeclaration } from '@baton/core/internal'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { addProviderFields } from '../provider-fields.ts'
import { refuseChosenServerTool } from '../server-tools.ts'
import { isSayable } from '../schema/sayable-output.ts'
import { encodeToolName } from '../tool-names.ts'
import type { TraitsQuery } from '../traits/find-traits.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelTraits, SchemaLimits, TraitsOverride } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { limitOutput } from '../traits/thinking-plan.ts'
import { createMessageEncoder } from './encode-messages.ts'
import { encodeOutputSchema } from './encode-output.ts'
import type { Reasoning } from './encode-reasoning.ts'
import { encodeReasoning } from './encode-reasoning.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { OPENAI_QUIRKS } from './quirks.ts'
import type { OpenAiChatRequest, WireMessage, WireTool, WireToolChoice } from './wire.ts'
import { PROVIDER } from './wire.ts'

export interface OpenAiChatEncodeOptions {
  readonly model: string
  /** Provider whose state in the history is sent back; `openai-chat` by default. */
  readonly provider?: string
  /** How the server differs from OpenAI; no differences by default. */
  readonly quirks?: OpenAiChatQuirks
  /** Overrides for the model's row in the traits table. */
  readonly traits?: TraitsOverride
}

/** 400 "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64". */
const CACHE_KEY_LENGTH_MAX = 64

/**
 * @throws BatonError `model_invalid_request` if `toolChoice` names a tool that is not in the request, or the model does
 * not support tools in Chat Completions with these settings
 */
export function encodeOpenAiChatRequest(
  request: ModelRequest,
  options: OpenAiChatEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): OpenAiChatRequest {
  const { model, provider = PROVIDER, quirks = OPENAI_QUIRKS } = options
  const { settings, instructions, session } = request
  refuseChosenServerTool(request, provider)
  const { traits } = memory.traits(() => findTraits(findQuery({ ...options, quirks })))
  const reasoning = planReasoning(request, { model, quirks, traits })
  const { plan } = reasoning
  const choice = encodeToolChoice(request, chooseField(quirks, traits, plan))
  const hasTools = choice.tools.length > 0
  // Reasoning counts as output, so its budget is added to the answer's limit.
  const maxTokens = limitOutput(traits, settings.maxOutputTokens, { plan, request })
  const { temperature, topP } = chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: 2 })
  const hasCacheKey = quirks.promptCacheKey && settings.cache !== 'off' && session !== ''
  const body: OpenAiChatRequest = {
    model,
    stream: true,
    ...(quirks.streamOptions && { stream_options: { include_usage: true } }),
    ...(hasCacheKey && { prompt_cache_key: buildCacheKey(session) }),
    ...(maxTokens !== undefined && { [quirks.maxTokensField]: maxTokens }),
    messages: memory.histories.encode(request.messages, instructions, () =>
      createMessageEncoder({ provider, model, instructions, quirks }),
    ),
    ...(hasTools && {
      tools: choice.tools.map((tool) =>
        encodeTool(tool, settings.strictTools === true ? traits.schemas : undefined, memory.compile),
      ),
    }),
    ...(choice.field !== undefined && { tool_choice: choice.field }),
    ...(hasTools && settings.parallelCalls === false && traits.singleCalls && { parallel_tool_calls: false }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(settings.stop && traits.stop && { stop: settings.stop }),
    ...(settings.seed !== undefined && { [quirks.seedField]: settings.seed }),
    ...(settings.serviceTier !== undefined && { service_tier: settings.serviceTier }),
    ...reasoning.fields,
    ...(request.output && {
      response_format: {
        type: 'json_schema',
        json_schema: encodeOutputSchema(request.output, memory.compile, traits.schemas),
      },
    }),
  }
  return addProviderFields(body, settings, provider)
}

/** DeepSeek's own server has only DeepSeek models; other addresses may be a gateway or a deployment of any model. */
export function findQuery(options: Pick<OpenAiChatEncodeOptions, 'model' | 'quirks' | 'traits'>): TraitsQuery {
  const { model, quirks = OPENAI_QUIRKS, traits } = options
  return { model, family: quirks.reasoning === 'deepseek' ? 'deepseek' : 'other', override: traits }
}

interface Server {
  readonly model: string
  readonly quirks: OpenAiChatQuirks
  readonly traits: ModelTraits
}

function planReasoning({ toolChoice, tools, settings }: ModelRequest, { model, quirks, traits }: Server): Reasoning {
  const isForced = tools.length > 0 && (toolChoice.type === 'any' || toolChoice.type === 'tool')
  const hasTools = tools.length > 0 && !(toolChoice.type === 'none' && quirks.toolChoice === 'ignored')
  return encodeReasoning({ model, traits, settings, hasTools, isForced }, quirks.reasoning)
}

function buildCacheKey(session: string): string {
  // The end of a session id distinguishes sessions better than its start.
  return session.slice(-CACHE_KEY_LENGTH_MAX)
}

/** @param limits limits of a strict schema; `undefined` if the tool is not strict */
function encodeTool(tool: ToolDeclaration, limits: SchemaLimits | undefined, compile: CompileSchema): WireTool {
  const isStrict = limits !== undefined && isSayable(tool.inputSchema, 'openai-strict', compile, limits)
  return {
    type: 'function',
    function: {
      name: encodeToolName(tool.name),
      ...(tool.description !== '' && { description: tool.description }),
      parameters: compile(tool.inputSchema, isStrict ? 'openai-strict' : 'openai').schema,
      ...(isStrict && { strict: true }),
    },
  }
}

/** `forced`: the server can only be told to make a call; `unforced`: not even that. */
type ChoiceField = OpenAiChatQuirks['toolChoice'] | 'forced' | 'unforced'

/**
 * DeepSeek accepts no choice while thinking. A tool that must be called turns thinking off; see encode-reasoning.ts.
 */
function chooseField(quirks: OpenAiChatQuirks, { forcing }: ModelTraits, { isOn }: ThinkingPlan): ChoiceField {
  if (quirks.reasoning === 'deepseek' && isOn) return 'forced'
  return forcing === 'never' || (forcing === 'unthinking' && isOn) ? 'unforced' : quirks.toolChoice
}

interface EncodedChoice {
  /** The declared tools. Fewer than requested if the server has no other way to choose one. */
  readonly tools: readonly ToolDeclaration[]
  /** Omitted if the model decides. */
  readonly field: WireToolChoice | undefined
}

function encodeToolChoice(request: ModelRequest, how: ChoiceField): EncodedChoice {
  const { toolChoice, tools } = request
  if (tools.length === 0) return { tools, field: undefined }
  const isIgnored = how === 'ignored'
  if (how === 'unforced' && toolChoice.type !== 'none') return { tools, field: undefined }
  switch (toolChoice.type) {
    case 'auto':
      return { tools, field: undefined }
    case 'any':
      return { tools, field: isIgnored ? undefined : 'required' }
    case 'none':
      return isIgnored || how === 'forced' ? { tools: [], field: undefined } : { tools, field: 'none' }
    case 'tool': {
      const only = tools.filter((tool) => tool.name === toolChoice.name)
      if (isIgnored) return { tools: only, field: undefined }
      if (how === 'words') return { tools: only, field: 'required' }
      return { tools, field: { type: 'function', function: { name: encodeToolName(toolChoice.name) } } }
    }
  }
}
