// The parts of the Chat Completions API that the adapter reads and writes. Server data is read leniently, so only
// requests have types. Source: openai 7.57 completions.d.ts.
import type { Effort, JsonObject } from '@baton/core/internal'

/** Provider of `ProviderState` unless a preset sets another. */
export const PROVIDER = 'openai-chat'

export type WireContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'file'; readonly file: { readonly filename: string; readonly file_data: string } }

export interface WireCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  /** Gemini's endpoint: `google.thought_signature`, which must be sent back (recorded). */
  readonly extra_content?: JsonObject
  /** LiteLLM's proxy: Gemini's `thought_signature`. */
  readonly provider_specific_fields?: JsonObject
}

export interface WireAssistant {
  readonly role: 'assistant'
  readonly content: string | null
  readonly tool_calls?: readonly WireCall[]
  readonly reasoning_content?: string
  readonly reasoning?: string
  readonly reasoning_details?: readonly JsonObject[]
  /** LiteLLM's proxy: Claude's signed thinking, without which Claude rejects results. */
  readonly thinking_blocks?: readonly JsonObject[]
  readonly extra_content?: JsonObject
  /** Mistral only: continues this answer. */
  readonly prefix?: true
}

export interface WireUser {
  readonly role: 'user'
  readonly content: string | readonly WireContentPart[]
}

export type WireMessage =
  | { readonly role: 'system'; readonly content: string }
  | WireUser
  | WireAssistant
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

export interface WireTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters: JsonObject
    readonly strict?: true
  }
}

export type WireToolChoice =
  'none' | 'auto' | 'required' | { readonly type: 'function'; readonly function: { readonly name: string } }

/** `max_tokens`, `max_completion_tokens` and the reasoning fields depend on the server. */
export interface OpenAiChatRequest {
  readonly model: string
  readonly stream: true
  readonly messages: readonly WireMessage[]
  readonly stream_options?: { readonly include_usage: true }
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly tools?: readonly WireTool[]
  readonly tool_choice?: WireToolChoice
  readonly parallel_tool_calls?: false
  readonly temperature?: number
  readonly top_p?: number
  readonly stop?: readonly string[]
  readonly seed?: number
  readonly random_seed?: number
  readonly service_tier?: string
  readonly prompt_cache_key?: string
  /** `default` is specific to Groq. */
  readonly reasoning_effort?: Effort | 'default'
  readonly reasoning?: { readonly max_tokens: number } | { readonly effort: Effort } | { readonly enabled: false }
  readonly thinking?: { readonly type: 'enabled' | 'disabled' }
  readonly response_format?: {
    readonly type: 'json_schema'
    readonly json_schema: { readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
  }
}
