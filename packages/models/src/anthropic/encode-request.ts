// From a neutral request to the body of POST /v1/messages. Pure. Whatever legal history comes in, of this or another
// provider, a body comes out that Anthropic accepts; the rules and their sources stand where they are kept.
import type { JsonObject, ModelRequest } from '@baton/core'
import { BatonError, isJsonObject, outputTokensFor } from '@baton/core'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { withSayableOutput } from '../schema/sayable-output.ts'
import { encodeToolName } from '../tool-names.ts'
import { createMessageEncoder } from './encode-messages.ts'
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

export interface AnthropicEncodeOptions {
  readonly model: string
  /** How long the prompt cache keeps what is marked; `off` sets no marks. 5 minutes by default. */
  readonly cache?: 'off' | '5m' | '1h'
  /** `adaptive` for models that refuse a budget and decide themselves how much to think. `budget` by default. */
  readonly thinking?: 'budget' | 'adaptive'
  /**
   * What becomes of signed thinking whose conversation has changed before it (a window that moved, an edited message): newer
   * models refuse the request ("The block is bound to a different conversation", anomalyco/opencode#48637), which is the
   * default; `drop` asks the API to leave such blocks out.
   */
  readonly thinkingMismatch?: 'error' | 'drop'
  /** Anthropic's own tools (web search, code execution), as the API takes them. */
  readonly serverTools?: readonly JsonObject[]
}

/** The least that the API takes (docs.claude.com, extended thinking: "minimum budget is 1,024 tokens"). */
const THINKING_TOKENS_MIN = 1024

export function encodeAnthropicRequest(
  given: ModelRequest,
  options: AnthropicEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): AnthropicRequest {
  const request = withSayableOutput(given, 'anthropic-strict', memory.compile)
  const { settings } = request
  const { messages, thinking } = encodeHistory(request, options, memory)
  const tools = encodeTools(request, messages, memory.compile)
  const toolChoice = tools.length > 0 ? encodeToolChoice(request, thinking !== undefined) : undefined
  const answerTokens = outputTokensFor(settings, request.tools.length > 0)
  const mark = buildMark(options)
  return {
    model: options.model,
    // The budget is part of max_tokens and must be below it; what is left is for the answer.
    max_tokens: answerTokens + (thinking?.type === 'enabled' ? thinking.budget_tokens : 0),
    stream: true,
    ...(request.instructions.trim() !== '' && { system: marked([{ type: 'text', text: request.instructions }], mark) }),
    messages: markLast(messages, mark),
    ...(tools.length + (options.serverTools?.length ?? 0) > 0 && {
      tools: [...(options.serverTools ?? []), ...marked(tools, mark)],
    }),
    ...(toolChoice && { tool_choice: toolChoice }),
    ...(thinking && { thinking }),
    // Thinking is only allowed with the default temperature; Anthropic's scale ends at 1.
    ...(settings.temperature !== undefined && !thinking && { temperature: Math.min(settings.temperature, 1) }),
    ...(request.output && { output_config: { format: encodeOutput(request.output, memory.compile) } }),
  }
}

function encodeOutput({ schema }: NonNullable<ModelRequest['output']>, compile: CompileSchema): WireOutputFormat {
  return { type: 'json_schema', schema: compile(schema, 'anthropic-strict').schema }
}

interface History {
  readonly messages: readonly WireMessage[]
  readonly thinking: WireThinking | undefined
}

function encodeHistory(
  request: ModelRequest,
  options: AnthropicEncodeOptions,
  { histories }: RequestMemory<WireMessage>,
): History {
  const thinking = buildThinking(request, options)
  const encode = (keepThinking: boolean) =>
    histories.encode(request.messages, `${keepThinking}`, () =>
      createMessageEncoder({ model: options.model, keepThinking }),
    )
  const messages = encode(thinking !== undefined)
  if (!thinking || startsWithThinking(messages)) return { messages, thinking }
  return { messages: encode(false), thinking: undefined }
}

function buildThinking(request: ModelRequest, options: AnthropicEncodeOptions): WireThinking | undefined {
  const budget = request.settings.reasoningTokens ?? 0
  if (budget <= 0) return undefined
  const drop = { block_binding: { prefix_mismatch_behavior: 'drop_block' } } as const
  const binding = options.thinkingMismatch === 'drop' ? drop : {}
  if (options.thinking === 'adaptive') return { type: 'adaptive', ...binding }
  return { type: 'enabled', budget_tokens: Math.max(Math.floor(budget), THINKING_TOKENS_MIN), ...binding }
}

/**
 * Whether a request with thinking would be accepted: the assistant's turn that is still open (its last tool results have
 * just come) must begin with thinking, else 400 "Expected `thinking` or `redacted_thinking`, but found `tool_use`". It does
 * not where another provider, or this one without thinking, began the turn; then this request goes without.
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
  compile: CompileSchema,
): readonly WireTool[] {
  if (request.tools.length > 0)
    return request.tools.map((tool) => ({
      name: encodeToolName(tool.name),
      description: tool.description,
      input_schema: encodeInputSchema(tool.inputSchema, compile),
    }))
  // A history with calls needs declared tools: LiteLLM and others report a refusal without them. `none` forbids to call.
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
  // A tool that declares none has none: Anthropic asks for no empty list.
  const isEmpty = isJsonObject(properties) && Object.keys(properties).length === 0
  return isEmpty && schema['properties'] === undefined ? rest : compiled
}

function encodeToolChoice(request: ModelRequest, thinks: boolean): WireToolChoice {
  const { toolChoice, tools, settings } = request
  if (toolChoice.type === 'none' || tools.length === 0) return { type: 'none' }
  const single = settings.parallelCalls === false ? { disable_parallel_tool_use: true as const } : {}
  if (toolChoice.type === 'tool' && !tools.some((tool) => tool.name === toolChoice.name))
    throw new BatonError({
      code: 'model_invalid_request',
      message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
    })
  // "Thinking may not be enabled when tool_choice forces tool use" (400; anthropics/claude-code#18759).
  if (toolChoice.type === 'auto' || thinks) return { type: 'auto', ...single }
  if (toolChoice.type !== 'tool') return { type: 'any', ...single }
  return { type: 'tool', name: encodeToolName(toolChoice.name), ...single }
}

function buildMark(options: AnthropicEncodeOptions): CacheControl | undefined {
  if (options.cache === 'off') return undefined
  return options.cache === '1h' ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
}

function marked<Item extends object>(items: readonly Item[], mark: CacheControl | undefined): readonly Item[] {
  const last = items.at(-1)
  return last && mark ? [...items.slice(0, -1), { ...last, cache_control: mark }] : items
}

/** The end of the history: the next request begins with all of this. Thinking blocks may not carry a mark (400). */
function markLast(messages: readonly WireMessage[], mark: CacheControl | undefined): readonly WireMessage[] {
  const last = messages.at(-1)
  if (!last || !mark) return messages
  const index = last.content.findLastIndex((block) => MARKABLE.has(block.type))
  const block = last.content[index]
  if (!block) return messages
  const content: readonly WireBlock[] = last.content.with(index, { ...block, cache_control: { ...mark } })
  return [...messages.slice(0, -1), { ...last, content }]
}

const MARKABLE: ReadonlySet<string> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result'])
