// From a neutral request to the body of POST …/chat/completions. Pure. Whatever legal history comes in, of this or another
// provider, a body comes out that the server accepts; what servers take differently is in quirks.ts.
import type { ModelRequest, ToolDeclaration } from '@baton/core'
import { BatonError, outputTokensFor } from '@baton/core'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { encodeToolName } from '../tool-names.ts'
import { createMessageEncoder } from './encode-messages.ts'
import { encodeOutputSchema } from './encode-output.ts'
import { deepSeekThinks, encodeReasoning, isOpenAiReasoningModel } from './encode-reasoning.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { OPENAI_QUIRKS } from './quirks.ts'
import type { OpenAiChatRequest, WireMessage, WireTool, WireToolChoice } from './wire.ts'
import { PROVIDER } from './wire.ts'

export interface OpenAiChatEncodeOptions {
  readonly model: string
  /** Whose state in the history goes back; `openai-chat` by default. */
  readonly provider?: string
  /** Where the server differs; OpenAI itself by default. */
  readonly quirks?: OpenAiChatQuirks
}

/** 400 "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64". */
const CACHE_KEY_LENGTH_MAX = 64

/** @throws BatonError `model_invalid_request` when `toolChoice` names a tool that the request does not have */
export function encodeOpenAiChatRequest(
  request: ModelRequest,
  options: OpenAiChatEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): OpenAiChatRequest {
  const { model, provider = PROVIDER, quirks = OPENAI_QUIRKS } = options
  const { settings, instructions } = request
  const budget = Math.max(settings.reasoningTokens ?? 0, 0)
  const choice = encodeToolChoice(request, buildToolChoice(quirks, model, budget))
  const hasTools = choice.tools.length > 0
  const isForced = hasTools && (request.toolChoice.type === 'any' || request.toolChoice.type === 'tool')
  const reasoning = encodeReasoning({ model, budget, hasTools, isForced }, quirks.reasoning)
  // Reasoning counts as output, so what the model may think is added to what it may answer.
  const maxTokens = outputTokensFor(settings, request.tools.length > 0) + reasoning.extraTokens
  const isOpenAiReasoning = quirks.reasoning === 'openai' && isOpenAiReasoningModel(model)
  return {
    model,
    stream: true,
    ...(quirks.streamOptions && { stream_options: { include_usage: true } }),
    ...(quirks.promptCacheKey && request.session !== '' && { prompt_cache_key: buildCacheKey(request.session) }),
    [quirks.maxTokensField]: maxTokens,
    messages: memory.histories.encode(request.messages, instructions, () =>
      createMessageEncoder({ provider, model, instructions, quirks }),
    ),
    ...(hasTools && { tools: choice.tools.map((tool) => encodeTool(tool, memory.compile)) }),
    ...(choice.field !== undefined && { tool_choice: choice.field }),
    // "Unsupported parameter: 'parallel_tool_calls' is not supported with this model": o1 and its successors.
    ...(hasTools && settings.parallelCalls === false && !/^o\d/.test(model) && { parallel_tool_calls: false }),
    // "'temperature' does not support 0.2 with this model. Only the default (1) value is supported."
    ...(settings.temperature !== undefined && !isOpenAiReasoning && { temperature: Math.min(settings.temperature, 2) }),
    ...reasoning.fields,
    ...(request.output && {
      response_format: { type: 'json_schema', json_schema: encodeOutputSchema(request.output, memory.compile) },
    }),
  }
}

function buildCacheKey(session: string): string {
  // The end of an id tells sessions apart better than its beginning.
  return session.slice(-CACHE_KEY_LENGTH_MAX)
}

function encodeTool(tool: ToolDeclaration, compile: CompileSchema): WireTool {
  return {
    type: 'function',
    function: {
      name: encodeToolName(tool.name),
      ...(tool.description !== '' && { description: tool.description }),
      parameters: compile(tool.inputSchema, 'openai').schema,
    },
  }
}

/** `forced`: only a call that must be made can be asked for. */
type ChoiceField = OpenAiChatQuirks['toolChoice'] | 'forced'

/** DeepSeek takes no choice beside thinking; a tool that must be called turns thinking off, see encode-reasoning.ts. */
function buildToolChoice(quirks: OpenAiChatQuirks, model: string, budget: number): ChoiceField {
  return quirks.reasoning === 'deepseek' && deepSeekThinks({ model, budget }) ? 'forced' : quirks.toolChoice
}

interface EncodedChoice {
  /** The tools that the request declares: fewer where the server has no other way to choose. */
  readonly tools: readonly ToolDeclaration[]
  /** Absent: the model decides. */
  readonly field: WireToolChoice | undefined
}

function encodeToolChoice(request: ModelRequest, how: ChoiceField): EncodedChoice {
  const { toolChoice, tools } = request
  if (toolChoice.type === 'tool' && !tools.some((tool) => tool.name === toolChoice.name))
    throw new BatonError({
      code: 'model_invalid_request',
      message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
    })
  if (tools.length === 0) return { tools, field: undefined }
  const isIgnored = how === 'ignored'
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
