// The parts of Gemini's generateContent (v1beta, Vertex v1) that the adapter reads and writes. What comes from the provider is
// read leniently, so those types say only what is checked. Source: @google/genai, genai.d.ts.
import type { Effort, JsonObject, JsonValue } from '@baton/core'

export const PROVIDER = 'gemini'

/** One kind of data, and perhaps a signature. Parts that go back as they came are not looked into. */
export type WirePart = JsonObject

export interface WireContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly WirePart[]
}

export interface WireFunction {
  readonly name: string
  readonly description?: string
  /** Absent for a function that takes nothing. */
  readonly parameters?: JsonObject
}

export interface WireCallingConfig {
  readonly mode: 'ANY' | 'NONE'
  readonly allowedFunctionNames?: readonly string[]
}

export interface WireThinking {
  readonly includeThoughts?: true
  /** Gemini 2.5; 0 is off. */
  readonly thinkingBudget?: number
  /** Gemini 3 and later; never beside a budget (400). */
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

/** A GenerateContentResponse, of which a stream has many; every field is checked before it is used. */
export interface WireChunk {
  readonly candidates?: JsonValue
  readonly promptFeedback?: JsonValue
  readonly usageMetadata?: JsonValue
  readonly modelVersion?: JsonValue
  readonly responseId?: JsonValue
  readonly error?: JsonValue
}

/** Kinds of data of a model's part that a request may repeat, beside text and calls. */
export const REPLAYABLE: readonly string[] = [
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]

/** The signature that Google documents for calls that another model made: Gemini 3 refuses a call without any signature. */
export const NO_SIGNATURE = 'skip_thought_signature_validator'

/** `gemini-2.5-flash-001` and `gemini-2.5-flash` are one: a signature of one is good for the other. */
export function modelFamily(model: string): string {
  return model.replace(/^.*\//, '').replace(/-\d{3}$/, '')
}
