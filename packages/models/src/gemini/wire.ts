// The parts of Gemini's generateContent (v1beta, Vertex v1) that the adapter reads and writes. Provider data is read
// leniently, so these types declare only what is checked. Source: @google/genai, genai.d.ts.
import type { Effort, JsonObject, JsonValue } from '@baton/core/internal'

export const PROVIDER = 'gemini'

/** One kind of data and an optional signature. Parts that go back unchanged are never inspected. */
export type WirePart = JsonObject

export interface WireContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly WirePart[]
}

export interface WireFunction {
  readonly name: string
  readonly description?: string
  /** Omitted for a function without parameters. */
  readonly parameters?: JsonObject
}

export interface WireCallingConfig {
  readonly mode: 'ANY' | 'NONE'
  readonly allowedFunctionNames?: readonly string[]
}

export interface WireThinking {
  readonly includeThoughts?: true
  /** Gemini 2.5; 0 turns thinking off. */
  readonly thinkingBudget?: number
  /** Gemini 3 and later; never together with a budget (400). */
  readonly thinkingLevel?: Effort
}

export interface WireGenerationConfig {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  readonly thinkingConfig?: WireThinking
  readonly responseMimeType?: 'application/json'
  readonly responseSchema?: JsonObject
}

export interface GeminiRequest {
  readonly contents: readonly WireContent[]
  readonly systemInstruction?: { readonly parts: readonly WirePart[] }
  readonly tools?: readonly { readonly functionDeclarations: readonly WireFunction[] }[]
  readonly toolConfig?: { readonly functionCallingConfig: WireCallingConfig }
  readonly generationConfig: WireGenerationConfig
  readonly serviceTier?: string
}

/** A GenerateContentResponse; a stream has many. Each field is checked before use. */
export interface WireChunk {
  readonly candidates?: JsonValue
  readonly promptFeedback?: JsonValue
  readonly usageMetadata?: JsonValue
  readonly modelVersion?: JsonValue
  readonly responseId?: JsonValue
  readonly error?: JsonValue
}

/** Kinds of model parts, other than text and calls, that a request may repeat. */
export const REPLAYABLE: readonly string[] = [
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]

/** The signature that Google documents for calls made by another model: Gemini 3 rejects unsigned calls. */
export const NO_SIGNATURE = 'skip_thought_signature_validator'

/** `gemini-2.5-flash-001` and `gemini-2.5-flash` are one family: signatures of one are valid for the other. */
export function modelFamily(model: string): string {
  return model.replace(/^.*\//, '').replace(/-\d{3}$/, '')
}
