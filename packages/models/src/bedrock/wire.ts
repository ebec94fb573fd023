// The parts of Bedrock's Converse API that the adapter reads and writes. Provider data is read leniently, so these
// types declare only what is checked. Source: @aws-sdk/client-bedrock-runtime 3.1163.
import type { JsonObject, JsonValue } from '@baton/core'

export const PROVIDER = 'bedrock'

/**
 * A message block, identified by its only key: `text`, `image`, `document`, `toolUse`, `toolResult`,
 * `reasoningContent`, `cachePoint`.
 */
export type WireBlock = JsonObject

export interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly WireBlock[]
}

export type WireTool =
  | {
      readonly toolSpec: {
        readonly name: string
        readonly description?: string
        readonly inputSchema: { readonly json: JsonObject }
      }
    }
  | CachePoint

export type CachePoint = { readonly cachePoint: JsonObject }

export type WireToolChoice = { readonly any: JsonObject } | { readonly tool: { readonly name: string } }

export interface WireToolConfig {
  readonly tools: readonly WireTool[]
  readonly toolChoice?: WireToolChoice
}

/** The body of POST /model/{modelId}/converse-stream. The model is part of the address. */
export interface BedrockRequest {
  readonly messages: readonly WireMessage[]
  readonly system?: readonly WireBlock[]
  readonly inferenceConfig: {
    readonly maxTokens?: number
    readonly temperature?: number
    readonly topP?: number
    readonly stopSequences?: readonly string[]
  }
  readonly toolConfig?: WireToolConfig
  readonly additionalModelRequestFields?: JsonObject
  readonly outputConfig?: JsonObject
  readonly serviceTier?: { readonly type: string }
}

/** One stream event, or an exception in its place. */
export interface WireEvent {
  /** For example `contentBlockDelta` or `throttlingException`. */
  readonly type: string
  readonly isException: boolean
  readonly payload: JsonValue
}
