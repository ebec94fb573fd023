// The subset of the AI SDK's LanguageModelV4 that the bridge uses, redeclared here so that the SDK is never loaded.
// Source: @ai-sdk/provider 4.0 (AI SDK 7), language-model/v4.
import type { Effort, JsonObject, JsonValue } from '@baton/core/internal'

export type Metadata = Readonly<Record<string, JsonObject>>

/** A prompt in the AI SDK's format, as produced by the bridge. */
export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user' | 'assistant' | 'tool'; readonly content: readonly PromptPart[] }

export type FileData = { readonly type: 'data'; readonly data: string } | { readonly type: 'url'; readonly url: URL }

export type PromptPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly providerOptions?: Metadata }
  | { readonly type: 'file'; readonly data: FileData; readonly mediaType: string; readonly filename?: string }
  | {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: JsonValue
      readonly providerExecuted?: boolean
      readonly providerOptions?: Metadata
    }
  | {
      readonly type: 'tool-result'
      readonly toolCallId: string
      readonly toolName: string
      readonly output: ResultOutput
      readonly providerOptions?: Metadata
    }

export type ResultOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: JsonValue }
  | { readonly type: 'content'; readonly value: readonly ResultContent[] }

export type ResultContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'file'; readonly data: FileData; readonly mediaType: string; readonly filename?: string }

export interface FunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly strict?: boolean
}

/** A provider-executed tool. */
export interface ProviderTool {
  readonly type: 'provider'
  /** For example `anthropic.web_search_20250305`. */
  readonly id: `${string}.${string}`
  readonly name: string
  readonly args: JsonObject
}

export interface CallOptions {
  readonly prompt: readonly PromptMessage[]
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  readonly providerOptions?: Metadata
  readonly tools?: readonly (FunctionTool | ProviderTool)[]
  readonly toolChoice?:
    { readonly type: 'auto' | 'none' | 'required' } | { readonly type: 'tool'; readonly toolName: string }
  readonly responseFormat?: { readonly type: 'json'; readonly schema: JsonObject; readonly name: string }
  readonly reasoning?: Effort
  readonly abortSignal?: unknown
}

/** Stream parts that the bridge reads. It ignores all others. */
export type StreamPart =
  | { readonly type: 'text-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'text-end'
      readonly id: string
      readonly citations?: readonly { readonly source: Source; readonly citedText?: string }[]
      readonly providerMetadata?: Metadata
    }
  | { readonly type: 'reasoning-start'; readonly id: string; readonly providerMetadata?: Metadata }
  | {
      readonly type: 'reasoning-delta'
      readonly id: string
      readonly delta: string
      readonly providerMetadata?: Metadata
    }
  | { readonly type: 'reasoning-end'; readonly id: string; readonly providerMetadata?: Metadata }
  | {
      readonly type: 'tool-input-start'
      readonly id: string
      readonly toolName: string
      readonly providerExecuted?: boolean
    }
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly delta: string }
  | {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: string
      readonly providerExecuted?: boolean
      readonly providerMetadata?: Metadata
    }
  | {
      readonly type: 'tool-result'
      readonly toolCallId: string
      readonly toolName: string
      readonly result: unknown
      readonly isError?: boolean
      readonly preliminary?: boolean
      readonly providerMetadata?: Metadata
    }
  | { readonly type: 'stream-start'; readonly warnings?: readonly Warning[] }
  | Source
  | { readonly type: 'response-metadata'; readonly id?: string; readonly modelId?: string }
  | {
      readonly type: 'finish'
      readonly finishReason: { readonly unified: string; readonly raw?: string | undefined }
      readonly usage: ModelUsage
    }
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'other' }

/** A part of the request that the provider left out. */
export interface Warning {
  readonly type: string
  readonly feature?: string
  readonly details?: string
}

/** A web page or a document, depending on `sourceType`. */
export interface Source {
  readonly type: 'source'
  readonly id: string
  readonly url?: string
  readonly title?: string
  readonly mediaType?: string
}

export interface ModelUsage {
  readonly inputTokens?: { readonly total?: number; readonly cacheRead?: number; readonly cacheWrite?: number }
  readonly outputTokens?: { readonly total?: number; readonly reasoning?: number }
}

/** A model from any AI SDK provider: `openai('gpt-5')`, `xai('grok-4')`. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  // The SDK's own options type is mutable and wider; the bridge's options satisfy both.
  doStream(options: never): PromiseLike<{ readonly stream: AsyncIterable<unknown> }>
}
