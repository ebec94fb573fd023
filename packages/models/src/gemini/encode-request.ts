// Encodes a neutral request as the body of POST …/models/<model>:streamGenerateContent. Pure. Any valid history, from
// this or another provider, yields a body that Gemini accepts; each rule is documented with its source where it is
// applied.
import type { JsonObject, ModelRequest, ToolDeclaration } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { RequestMemory } from '../request-memory.ts'
import { createRequestMemory } from '../request-memory.ts'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { withSayableOutput } from '../schema/sayable-output.ts'
import { addProviderFields } from '../provider-fields.ts'
import { refuseChosenServerTool } from '../server-tools.ts'
import { encodeToolName } from '../tool-names.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelTraits, TraitsOverride } from '../traits/model-traits.ts'
import { chooseSampling } from '../traits/sampling.ts'
import { limitOutput, planThinking } from '../traits/thinking-plan.ts'
import { createMessageEncoder } from './encode-messages.ts'
import type {
  GeminiRequest,
  WireCallingConfig,
  WireContent,
  WireFunction,
  WireGenerationConfig,
  WireThinking,
} from './wire.ts'
import { PROVIDER } from './wire.ts'
import type { ThinkingPlan } from '../traits/thinking-plan.ts'

export interface GeminiEncodeOptions {
  /** For example `gemini-2.5-flash`. Part of the address, not of the body. */
  readonly model: string
  /** Overrides for the model's row in the traits table. */
  readonly traits?: TraitsOverride
}

/** Higher values: 400 "temperature must be in the range [0.0, 2.0]". */
const TEMPERATURE_MAX = 2

/** @throws BatonError `model_invalid_request` if `toolChoice` names a tool that is not in the request */
export function encodeGeminiRequest(
  given: ModelRequest,
  options: GeminiEncodeOptions,
  memory: RequestMemory<WireContent> = createRequestMemory(),
): GeminiRequest {
  const request = withSayableOutput(given, 'gemini', memory.compile)
  const { instructions, tools } = request
  refuseChosenServerTool(request, PROVIDER)
  const config = encodeToolChoice(request)
  const { traits } = memory.traits(() =>
    findTraits({ model: options.model, family: 'gemini', override: options.traits }),
  )
  const body: GeminiRequest = {
    contents: memory.histories.encode(request.messages, '', () =>
      createMessageEncoder(options.model, traits.signedCalls),
    ),
    ...(instructions.trim() !== '' && { systemInstruction: { parts: [{ text: instructions }] } }),
    ...(tools.length > 0 && {
      tools: [{ functionDeclarations: tools.map((tool) => encodeTool(tool, memory.compile)) }],
    }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
    generationConfig: encodeGeneration(request, traits, memory.compile),
    ...(request.settings.serviceTier !== undefined && { serviceTier: request.settings.serviceTier }),
  }
  return addProviderFields(body, request.settings, PROVIDER)
}

function encodeTool(tool: ToolDeclaration, compile: CompileSchema): WireFunction {
  const parameters = buildSchema(tool.inputSchema, compile)
  return {
    name: encodeToolName(tool.name),
    ...(tool.description !== '' && { description: tool.description }),
    ...(parameters && { parameters }),
  }
}

/**
 * Returns `undefined` if the root has no properties: 400 "parameters.properties: should be non-empty for OBJECT type".
 */
function buildSchema(schema: JsonObject, compile: CompileSchema): JsonObject | undefined {
  const compiled = compile(schema, 'gemini').schema
  const { properties } = compiled
  return isJsonObject(properties) && Object.keys(properties).length > 0 ? compiled : undefined
}

/** Returns `undefined` if the model decides. Gemini has no option to limit an answer to one call. */
function encodeToolChoice({ toolChoice, tools }: ModelRequest): WireCallingConfig | undefined {
  if (tools.length === 0 || toolChoice.type === 'auto') return undefined
  if (toolChoice.type === 'tool') return { mode: 'ANY', allowedFunctionNames: [encodeToolName(toolChoice.name)] }
  return { mode: toolChoice.type === 'any' ? 'ANY' : 'NONE' }
}

function encodeGeneration(request: ModelRequest, traits: ModelTraits, compile: CompileSchema): WireGenerationConfig {
  const { settings, tools, output } = request
  const plan = planThinking(traits, settings)
  const maxOutputTokens = limitOutput(traits, settings.maxOutputTokens, { plan, request })
  const thinkingConfig = encodeThinking(traits, plan)
  const sampling = chooseSampling(traits, settings, { thinks: plan.isOn, temperatureMax: TEMPERATURE_MAX })
  // 400 "Function calling with a response mime type: 'application/json' is unsupported", from models before Gemini 3.
  const isJson = output !== undefined && (tools.length === 0 || traits.output === 'native')
  const responseSchema = isJson ? buildSchema(output.schema, compile) : undefined
  return {
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...sampling,
    ...(settings.stop && traits.stop && { stopSequences: settings.stop }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
    ...(thinkingConfig && { thinkingConfig }),
    ...(isJson && { responseMimeType: 'application/json' }),
    ...(responseSchema && { responseSchema }),
  }
}

/**
 * Encodes how much Gemini should think: 2.5 takes a budget, 3 and later a level, older models nothing.
 * Returns `undefined` for models without the field (400 "Thinking budget is not supported").
 */
function encodeThinking({ thinking }: ModelTraits, plan: ThinkingPlan): WireThinking | undefined {
  const shown = plan.isAsked ? { includeThoughts: true as const } : {}
  if (thinking.kind === 'budget') return { ...shown, thinkingBudget: plan.budget }
  if (thinking.kind !== 'effort' || plan.effort === undefined) return undefined
  return { ...shown, thinkingLevel: plan.effort }
}
