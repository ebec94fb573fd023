// Encodes a request as an AI SDK prompt. Provider metadata returns on the same part it arrived with.
import type {
  AssistantPart,
  ContentPart,
  InlineSource,
  JsonObject,
  Message,
  ModelRequest,
  ModelSettings,
  ProviderState,
  ResultPart,
  ToolDeclaration,
} from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { encodeOutputSchema } from '../openai-chat/encode-output.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import type { DialectName } from '../schema/dialects.ts'
import { isSayable } from '../schema/sayable-output.ts'
import type { ToolNames } from '../tool-names.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelTraits, TraitsOverride } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'
import { chooseEffortFor, limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { buildProviderOptions, chooseStrictDialect, listProviderTools } from './encode-settings.ts'
import type {
  CallOptions,
  FileData,
  FunctionTool,
  Metadata,
  PromptMessage,
  PromptPart,
  ProviderTool,
  ResultContent,
  ResultOutput,
} from './language-model.ts'

export interface EncodingFor {
  readonly provider: string
  readonly model: string
  readonly traits?: TraitsOverride | undefined
  readonly names: ToolNames
}

/** @throws BatonError `model_invalid_request` if the tool choice names a tool that is not in the request */
export function encodeCallOptions(request: ModelRequest, target: EncodingFor): CallOptions {
  const { settings, tools, output } = request
  const { traits } = findTraits({ model: target.model, override: target.traits })
  const plan = planThinking(traits, settings)
  const sampling = chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: 2 })
  const asking = { provider: target.provider, traits }
  const providerTools = listProviderTools(request, target.provider, target.names.encode)
  const strict = chooseStrictDialect(request, asking)
  const hasTools = tools.length + providerTools.length > 0
  const maxOutputTokens = limitOutput(traits, settings.maxOutputTokens, { plan, request })
  return {
    prompt: encodePrompt(request, target),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...sampling,
    ...(settings.stop && traits.stop && { stopSequences: settings.stop }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
    ...buildReasoning(traits, settings, plan),
    ...buildProviderOptions(request, asking),
    ...(hasTools && {
      tools: [...providerTools, ...tools.map((tool) => encodeTool(tool, target.names, strict && { strict, traits }))],
      toolChoice: buildToolChoice(request, target.names, providerTools),
    }),
    ...(output && {
      responseFormat: {
        type: 'json' as const,
        name: output.name,
        schema: encodeOutputSchema(output).schema,
      },
    }),
  }
}

/** The AI SDK's reasoning scale consists of named levels; its adapters map them to each model. */
function buildReasoning(
  { thinking }: ModelTraits,
  { effort, reasoningTokens = 0 }: ModelSettings,
  plan: ThinkingPlan,
): Pick<CallOptions, 'reasoning'> {
  if (plan.effort !== undefined) return { reasoning: plan.effort }
  if (plan.isAsked) return { reasoning: effort ?? chooseEffortFor(reasoningTokens) }
  // Turns thinking off for models that think by default; otherwise keeps the provider's default.
  return thinking.kind === 'none' || thinking.off === 'absent' || thinking.off === 'never' ? {} : { reasoning: 'none' }
}

/** @param strictly `undefined` if the tool is not strict */
function encodeTool(
  { name, description, inputSchema }: ToolDeclaration,
  names: ToolNames,
  strictly: { readonly strict: DialectName; readonly traits: ModelTraits } | undefined,
): FunctionTool {
  const isStrict = strictly && isSayable(inputSchema, strictly.strict, compileSchema, strictly.traits.schemas)
  return {
    type: 'function',
    name: names.encode(name),
    description,
    // Most AI SDK providers reject unions at the root and arrays without `items`.
    inputSchema: compileSchema(inputSchema, isStrict ? strictly.strict : 'openai').schema,
    ...(isStrict && { strict: true }),
  }
}

function buildToolChoice(
  { toolChoice, tools }: ModelRequest,
  names: ToolNames,
  providerTools: readonly ProviderTool[],
): NonNullable<CallOptions['toolChoice']> {
  if (toolChoice.type === 'any') return { type: 'required' }
  if (toolChoice.type !== 'tool') return { type: toolChoice.type }
  if (tools.some((tool) => tool.name === toolChoice.name))
    return { type: 'tool', toolName: names.encode(toolChoice.name) }
  if (providerTools.some(({ name }) => name === toolChoice.name)) return { type: 'tool', toolName: toolChoice.name }
  throw new BatonError({
    code: 'model_invalid_request',
    message: `toolChoice names "${toolChoice.name}", which is not among the request’s tools`,
  })
}

function encodePrompt({ instructions, messages }: ModelRequest, target: EncodingFor): readonly PromptMessage[] {
  const said = messages.flatMap((message): PromptMessage[] => {
    const content = encodeMessage(message, target)
    return content.length === 0 ? [] : [{ role: message.role, content }]
  })
  return instructions.trim() === '' ? said : [{ role: 'system', content: instructions }, ...said]
}

function encodeMessage(message: Message, target: EncodingFor): readonly PromptPart[] {
  if (message.role === 'user') return message.parts.flatMap(encodeContent)
  if (message.role === 'tool') return message.parts.map((part) => encodeResult(part, target))
  const isRebased = message.rebased === true
  return message.parts.flatMap((part) => encodeAssistantPart(part, target, isRebased))
}

function encodeContent(part: ContentPart): readonly PromptPart[] {
  if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
  return [buildFile(part)]
}

function buildFile(part: Exclude<ContentPart, { readonly type: 'text' }>) {
  const filename = part.type === 'file' ? part.name : undefined
  const data = buildData(part.source)
  if (!data) return { type: 'text' as const, text: `[Not shown, because its address is not a URL: ${part.type}]` }
  return {
    type: 'file' as const,
    data,
    mediaType: part.mediaType,
    ...(filename !== undefined && { filename }),
  }
}

/** `undefined` if the address is not a valid URL, since AI SDK prompts hold parsed URLs. */
function buildData(source: InlineSource): FileData | undefined {
  if (source.type === 'base64') return { type: 'data', data: source.data }
  const url = URL.parse(source.url)
  return url ? { type: 'url', url } : undefined
}

function encodeAssistantPart(part: AssistantPart, target: EncodingFor, isRebased: boolean): readonly PromptPart[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...buildOptions(part.state, target) }]
    case 'reasoning': {
      // Reasoning without its provider's signature, or signed for a different history, is useless to the provider.
      const options = isRebased ? {} : buildOptions(part.state, target)
      return options.providerOptions ? [{ type: 'reasoning', text: part.text, ...options }] : []
    }
    case 'call':
      return [
        {
          type: 'tool-call',
          toolCallId: part.callId,
          toolName: target.names.encode(part.name),
          input: readInput(part.arguments),
          ...buildOptions(part.state, target),
        },
      ]
    case 'source':
      return [] // AI SDK prompts cannot hold sources
    case 'provider':
      // A provider-executed tool call with its result. Blocks from other providers are dropped.
      return isOwn(part.state, target) ? [part.state.data as unknown as PromptPart] : [] // produced by the decoder
    default:
      return part satisfies never
  }
}

function readInput(argumentsText: string): JsonObject {
  const parsed = parseJson(argumentsText)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

function buildOptions(state: ProviderState | undefined, target: EncodingFor): { readonly providerOptions?: Metadata } {
  return isOwn(state, target) ? { providerOptions: state.data as Metadata } : {} // as the provider sent it
}

function isOwn(state: ProviderState | undefined, { provider, model }: EncodingFor): state is ProviderState {
  return state?.provider === provider && state.model === model && isJsonObject(state.data)
}

function encodeResult(result: ResultPart, { names }: EncodingFor): PromptPart {
  const { callId, name } = result
  return { type: 'tool-result', toolCallId: callId, toolName: names.encode(name), output: readOutput(result) }
}

function readOutput({ isError, content }: ResultPart): ResultOutput {
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (isError) return { type: 'error-text', value: texts.join('\n') || 'error' }
  if (texts.length === content.length) return { type: 'text', value: texts.join('\n') }
  const value = content.map((part): ResultContent =>
    part.type === 'text' ? { type: 'text', text: part.text } : buildFile(part),
  )
  return { type: 'content', value }
}
