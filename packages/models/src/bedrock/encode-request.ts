// From a neutral request to the body of Converse. Pure. Whatever legal history comes in, of this or another provider, a body
// comes out that Bedrock accepts; the rules and their sources stand where they are kept.
import type { JsonObject, ModelRequest } from '@baton/core'
import { BatonError, outputTokensFor } from '@baton/core'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import { withSayableOutput } from '../schema/sayable-output.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { encodeToolName } from '../tool-names.ts'
import { documentsLeftOut } from './encode-content.ts'
import { createMessageEncoder } from './encode-messages.ts'
import { hasCalls } from './flatten-history.ts'
import type { BedrockFamily } from './model-traits.ts'
import { findFamily } from './model-traits.ts'
import type { BedrockRequest, CachePoint, WireMessage, WireTool, WireToolChoice, WireToolConfig } from './wire.ts'

export interface BedrockEncodeOptions {
  /** The id of a model or of an inference profile, or the ARN of one. */
  readonly model: string
  /** What kind of model it is, where its id does not say so (the ARN of an own profile); read from the id by default. */
  readonly family?: BedrockFamily
  /** How long the prompt cache keeps what is marked; `off`, the default, sets no marks, which older models refuse. */
  readonly cache?: 'off' | '5m' | '1h'
}

/** The least that Claude takes ("minimum budget is 1,024 tokens"). */
const THINKING_TOKENS_MIN = 1024

export function encodeBedrockRequest(
  given: ModelRequest,
  options: BedrockEncodeOptions,
  memory: RequestMemory<WireMessage> = createRequestMemory(),
): BedrockRequest {
  const request = withSayableOutput(given, 'anthropic-strict', memory.compile)
  const family = options.family ?? findFamily(options.model)
  checkChoice(request)
  const mayCall = request.tools.length > 0 && request.toolChoice.type !== 'none'
  const isFlat = !mayCall && hasCalls(request.messages)
  const work: Work = { request, family, options, memory, mayCall, isFlat }
  const { messages, thinking } = encodeHistory(work)
  const mark = buildMark(options)
  const { instructions, output, settings } = request
  const answerTokens = outputTokensFor(settings, request.tools.length > 0)
  const temperature = chooseTemperature(work, thinking !== undefined)
  const fields = modelFields(work, thinking)
  return {
    messages: marked(messages, mark),
    ...(instructions.trim() !== '' && { system: [{ text: instructions }, ...mark] }),
    inferenceConfig: {
      // Claude's budget is part of maxTokens; what is left is for the answer.
      maxTokens: answerTokens + (thinking?.tokens ?? 0),
      ...(temperature !== undefined && { temperature }),
    },
    ...(mayCall && { toolConfig: encodeTools(work, thinking !== undefined, mark) }),
    ...(fields && { additionalModelRequestFields: fields }),
    ...(output && { outputConfig: encodeOutput(output, memory.compile) }),
  }
}

interface Work {
  readonly request: ModelRequest
  readonly family: BedrockFamily
  readonly options: BedrockEncodeOptions
  readonly memory: RequestMemory<WireMessage>
  /** Whether the model may call; else its tools are not declared. */
  readonly mayCall: boolean
  readonly isFlat: boolean
}

function checkChoice({ toolChoice, tools }: ModelRequest): void {
  if (toolChoice.type !== 'tool' || tools.some(({ name }) => name === toolChoice.name)) return
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
  })
}

interface Thinking {
  /** Tokens that count into maxTokens. */
  readonly tokens: number
  readonly fields: JsonObject
}

function buildThinking({ request, family }: Work): Thinking | undefined {
  const budget = Math.floor(request.settings.reasoningTokens ?? 0)
  if (budget <= 0) return undefined
  if (family === 'claude') {
    const tokens = Math.max(budget, THINKING_TOKENS_MIN)
    return { tokens, fields: { thinking: { type: 'enabled', budget_tokens: tokens } } }
  }
  // Nova 2 knows three efforts; `high` would forbid maxTokens (Nova 2 user guide, extended thinking).
  if (family !== 'nova-2') return undefined
  const maxReasoningEffort = budget <= 4096 ? 'low' : 'medium'
  return { tokens: budget, fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } } }
}

interface History {
  readonly messages: readonly WireMessage[]
  readonly thinking: Thinking | undefined
}

function encodeHistory(work: Work): History {
  const { request, family, options, memory, isFlat } = work
  const { model } = options
  const thinking = buildThinking(work)
  const leftOut = documentsLeftOut(request.messages, isFlat)
  const encode = (keepThinking: boolean) =>
    memory.histories.encode(request.messages, `${keepThinking} ${isFlat} ${leftOut}`, () =>
      createMessageEncoder({ model, family, keepThinking, isFlat, documentsLeftOut: leftOut }),
    )
  const messages = encode(thinking !== undefined)
  if (!thinking || family !== 'claude' || startsWithThinking(messages)) return { messages, thinking }
  return { messages: encode(false), thinking: undefined }
}

/**
 * Claude: the assistant's turn that is still open (its last tool results have just come) must begin with thinking, else
 * "Expected `thinking` or `redacted_thinking`, but found `tool_use`". Where it does not, this request goes without.
 */
function startsWithThinking(messages: readonly WireMessage[]): boolean {
  let first: WireMessage | undefined
  for (const message of messages.toReversed()) {
    if (message.role === 'assistant') first = message
    else if (!message.content.some((block) => block['toolResult'] !== undefined)) break
  }
  return first?.content[0] === undefined || first.content[0]['reasoningContent'] !== undefined
}

/** Nova calls better by greedy decoding (Nova user guide, "Troubleshooting tool calls"); what the user sets wins. */
function chooseTemperature({ request, family, mayCall }: Work, thinks: boolean): number | undefined {
  // Claude thinks with the default temperature only; Converse's scale ends at 1.
  if (thinks) return undefined
  const { temperature } = request.settings
  if (temperature !== undefined) return Math.min(Math.max(temperature, 0), 1)
  return isGreedy(family, mayCall) ? 0 : undefined
}

function isGreedy(family: BedrockFamily, mayCall: boolean): boolean {
  return family === 'nova' && mayCall
}

function modelFields({ request, family, mayCall }: Work, thinking: Thinking | undefined): JsonObject | undefined {
  const greedy = isGreedy(family, mayCall) && (request.settings.temperature ?? 0) === 0
  const fields = {
    ...thinking?.fields,
    ...(greedy && { inferenceConfig: { topK: 1 } }),
  }
  return Object.keys(fields).length > 0 ? fields : undefined
}

function encodeTools(work: Work, thinks: boolean, mark: readonly CachePoint[]): WireToolConfig {
  const { request, family, memory } = work
  const dialect = family === 'nova' || family === 'nova-2' ? 'nova' : 'bedrock'
  const tools = request.tools.map(({ name, description, inputSchema }): WireTool => {
    const { schema } = memory.compile(inputSchema, dialect)
    const toolSpec = { name: encodeToolName(name), inputSchema: { json: schema } }
    // A description has at least one character (API_runtime_ToolSpecification).
    return { toolSpec: description.trim() === '' ? toolSpec : { ...toolSpec, description } }
  })
  const toolChoice = encodeToolChoice(work, thinks)
  // Nova takes no mark among its tools (Bedrock user guide, prompt caching).
  const marks = family === 'claude' ? mark : []
  return { tools: [...tools, ...marks], ...(toolChoice && { toolChoice }) }
}

/** API_runtime_ToolChoice: `any` for Claude, Nova and Mistral, `tool` for Claude and Nova; the others decide themselves. */
function encodeToolChoice({ request, family }: Work, thinks: boolean): WireToolChoice | undefined {
  const { toolChoice } = request
  // "Thinking may not be enabled when tool_choice forces tool use." Auto is the default.
  if (toolChoice.type === 'auto' || toolChoice.type === 'none' || thinks || family === 'other') return undefined
  return toolChoice.type === 'tool' && family !== 'mistral'
    ? { tool: { name: encodeToolName(toolChoice.name) } }
    : { any: {} }
}

/** OutputConfig of client-bedrock-runtime 3.1163: the schema is a text. */
function encodeOutput({ name, schema }: NonNullable<ModelRequest['output']>, compile: CompileSchema): JsonObject {
  const compiled = compile(schema, 'anthropic-strict').schema
  const jsonSchema = { name: encodeToolName(name), schema: JSON.stringify(compiled) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

/** None or one cache point: what stands before it is kept. */
function buildMark({ cache = 'off' }: BedrockEncodeOptions): readonly CachePoint[] {
  if (cache === 'off') return []
  return [{ cachePoint: cache === '1h' ? { type: 'default', ttl: '1h' } : { type: 'default' } }]
}

/** The end of the history: the next request begins with all of this. */
function marked(messages: readonly WireMessage[], mark: readonly CachePoint[]): readonly WireMessage[] {
  const last = messages.at(-1)
  return last?.role === 'user' ? [...messages.slice(0, -1), { ...last, content: [...last.content, ...mark] }] : messages
}
