// The slice of the AI SDK's LanguageModelV4 that the bridge uses, as types of its own: nothing of that SDK is loaded here.
// Source: @ai-sdk/provider 4.0 (AI SDK 7), language-model/v4.
import type { Effort, JsonObject, JsonValue } from '@baton/core'

export type Metadata = Readonly<Record<string, JsonObject>>

/** The bridge's output: a prompt in the SDK's terms. */
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

/** A tool that the provider runs. */
export interface ProviderTool {
  readonly type: 'provider'
  /** `anthropic.web_search_20250305` */
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

/** Parts of the stream that the bridge reads; it ignores others. */
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

/** The parts of a request that were left out. */
export interface Warning {
  readonly type: string
  readonly feature?: string
  readonly details?: string
}

/** A page, or a document, by its `sourceType`. */
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

/** A model of any provider of the AI SDK: `openai('gpt-5')`, `xai('grok-4')`. */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  // Their options are mutable and wider than ours; what the bridge gives fits both.
  doStream(options: never): PromiseLike<{ readonly stream: AsyncIterable<unknown> }>
}
