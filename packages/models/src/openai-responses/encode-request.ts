// From a neutral request to the body of POST …/responses. Pure. Whatever legal history comes in, of this or another
// provider, a body comes out that OpenAI accepts; the rules and their sources stand where they are kept.
import type { JsonObject, ModelRequest, ToolDeclaration } from '@baton/core'
import { BatonError, outputTokensFor } from '@baton/core'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import { encodeOutputSchema } from '../openai-chat/encode-output.ts'
import { encodeReasoning, isOpenAiReasoningModel } from '../openai-chat/encode-reasoning.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { encodeToolName } from '../tool-names.ts'
import { createMessageEncoder } from './encode-messages.ts'
import type { OpenAiResponsesRequest, WireItem, WireTool, WireToolChoice } from './wire.ts'

export interface OpenAiResponsesEncodeOptions {
  readonly model: string
  /**
   * Asks for a summary of what the model thinks, where it thinks. Absent: none, because OpenAI gives summaries only to
   * organizations that are verified, and refuses the request of others (400).
   */
  readonly reasoningSummary?: 'auto' | 'concise' | 'detailed'
  /** OpenAI's own tools (web search, code interpreter), as the API takes them. */
  readonly serverTools?: readonly JsonObject[]
}

/** 400 "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16". */
const OUTPUT_TOKENS_MIN = 16
/** 400 "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64". */
const CACHE_KEY_LENGTH_MAX = 64

/** @throws BatonError `model_invalid_request` when `toolChoice` names a tool that the request does not have */
export function encodeOpenAiResponsesRequest(
  request: ModelRequest,
  options: OpenAiResponsesEncodeOptions,
  memory: RequestMemory<WireItem> = createRequestMemory(),
): OpenAiResponsesRequest {
  const { model, serverTools = [] } = options
  const { settings, instructions, session } = request
  const thinks = isOpenAiReasoningModel(model)
  const reasoning = encodeThinking(request, options)
  // Reasoning counts as output, so what the model may think is added to what it may answer.
  const tokens = outputTokensFor(settings, request.tools.length > 0) + reasoning.extraTokens
  const toolChoice = encodeToolChoice(request)
  const tools = [...serverTools, ...request.tools.map((tool) => encodeTool(tool, memory.compile))]
  return {
    model,
    stream: true,
    store: false,
    // "Encrypted content is not supported with this model.": only those that think.
    ...(thinks && { include: ['reasoning.encrypted_content'] as const }),
    ...(instructions.trim() !== '' && { instructions }),
    input: memory.histories.encode(request.messages, '', () => createMessageEncoder(model)),
    max_output_tokens: Math.max(tokens, OUTPUT_TOKENS_MIN),
    ...(session !== '' && { prompt_cache_key: session.slice(-CACHE_KEY_LENGTH_MAX) }),
    ...(tools.length > 0 && { tools }),
    ...(toolChoice !== undefined && { tool_choice: toolChoice }),
    ...(tools.length > 0 && settings.parallelCalls === false && { parallel_tool_calls: false as const }),
    // "Unsupported parameter: 'temperature' is not supported with this model."
    ...(settings.temperature !== undefined && !thinks && { temperature: Math.min(settings.temperature, 2) }),
    ...(reasoning.field && { reasoning: reasoning.field }),
    ...(request.output && {
      text: { format: { type: 'json_schema', ...encodeOutputSchema(request.output, memory.compile) } },
    }),
  }
}

interface Thinking {
  readonly field: OpenAiResponsesRequest['reasoning']
  readonly extraTokens: number
}

/** Reasoning beside tools is what this API takes and Chat Completions does not, so tools play no part here. */
function encodeThinking(request: ModelRequest, { model, reasoningSummary }: OpenAiResponsesEncodeOptions): Thinking {
  const budget = Math.max(request.settings.reasoningTokens ?? 0, 0)
  const { fields, extraTokens } = encodeReasoning({ model, budget, hasTools: false, isForced: false }, 'openai')
  const effort = fields.reasoning_effort
  const summary = effort === 'none' || effort === 'minimal' ? undefined : reasoningSummary
  const field = { ...(effort !== undefined && { effort }), ...(summary !== undefined && { summary }) }
  const isAsked = isOpenAiReasoningModel(model) && Object.keys(field).length > 0
  return { field: isAsked ? field : undefined, extraTokens }
}

function encodeTool(tool: ToolDeclaration, compile: CompileSchema): WireTool {
  return {
    type: 'function',
    name: encodeToolName(tool.name),
    ...(tool.description !== '' && { description: tool.description }),
    parameters: compile(tool.inputSchema, 'openai').schema,
    strict: false,
  }
}

/** Absent: the model decides. */
function encodeToolChoice({ toolChoice, tools }: ModelRequest): WireToolChoice | undefined {
  if (toolChoice.type === 'tool' && !tools.some((tool) => tool.name === toolChoice.name))
    throw new BatonError({
      code: 'model_invalid_request',
      message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
    })
  if (tools.length === 0) return undefined
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
