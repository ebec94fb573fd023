// The parts of the Anthropic Messages API (version 2023-06-01) that the adapter reads and writes. Provider data is read
// leniently, so these types declare only what is checked. Source: @anthropic-ai/sdk 1.12 messages.d.ts.
import type { Effort, JsonObject, JsonValue } from '@baton/core/internal'

export const PROVIDER = 'anthropic'

/** Accepts `https://host`, `https://host/` and `https://host/v1`, which mean the same. */
export function messagesUrl(baseUrl = 'https://api.anthropic.com'): string {
  return `${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
}

export interface CacheControl {
  readonly type: 'ephemeral'
  readonly ttl?: '5m' | '1h'
}

/** A message block. Blocks that go back unchanged are never inspected, so this is all they have in common. */
export type WireBlock = JsonObject & { readonly type: string }

export interface WireMessage {
  readonly role: 'user' | 'assistant'
  readonly content: readonly WireBlock[]
}

export interface WireTool {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
  readonly strict?: true
  readonly cache_control?: CacheControl
}

export type WireToolChoice =
  | { readonly type: 'auto' | 'any'; readonly disable_parallel_tool_use?: true }
  | { readonly type: 'tool'; readonly name: string; readonly disable_parallel_tool_use?: true }
  | { readonly type: 'none' }

export type WireThinking = (
  | { readonly type: 'enabled'; readonly budget_tokens: number }
  | { readonly type: 'adaptive'; readonly display?: 'summarized' | 'omitted' }
  | { readonly type: 'between_tools' | 'disabled' }
) & { readonly block_binding?: { readonly prefix_mismatch_behavior: 'drop_block' } }

/** Enables `block_binding` (BetaThinkingBlockBinding of SDK 1.12). */
export const THINKING_BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/** Constrains answers to a schema during generation (JSONOutputFormat of SDK 1.12). */
export interface WireOutputFormat {
  readonly type: 'json_schema'
  readonly schema: JsonObject
}

export interface AnthropicRequest {
  readonly model: string
  readonly max_tokens: number
  readonly stream: true
  readonly system?: readonly WireBlock[]
  readonly messages: readonly WireMessage[]
  readonly tools?: readonly (WireTool | JsonObject)[]
  readonly tool_choice?: WireToolChoice
  readonly thinking?: WireThinking
  readonly temperature?: number
  readonly top_p?: number
  readonly stop_sequences?: readonly string[]
  readonly service_tier?: string
  /** Id of the container in which Anthropic's server tools run, or the settings for a new one. */
  readonly container?: string | JsonObject
  readonly output_config?: { readonly effort?: Effort; readonly format?: WireOutputFormat }
}

/** Fields of a stream event. Each one is checked before use. */
export interface WireEvent {
  readonly type?: JsonValue
  readonly index?: JsonValue
  readonly message?: JsonValue
  readonly content_block?: JsonValue
  readonly delta?: JsonValue
  readonly usage?: JsonValue
  readonly error?: JsonValue
  readonly request_id?: JsonValue
  /** In `delta`; some gateways put it here. */
  readonly stop_reason?: JsonValue
  readonly container?: JsonValue
}

/**
 * Block types that a request may repeat (ContentBlockParam); `fallback` and unknown ones may not. Results of all server
 * tools, including future ones, may be repeated, but only after their `server_tool_use` or `mcp_tool_use`, so neither
 * goes without the other.
 */
export function isReplayable(type: string): boolean {
  return isServerCall(type) || isServerResult(type) || type === 'redacted_thinking' || type === 'container_upload'
}

/** Whether the block is a call of a tool that Anthropic runs. */
export function isServerCall(type: string): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use'
}

export function isServerResult(type: string): boolean {
  return type.endsWith('_tool_result')
}

/** `claude-haiku-4-5-20251001` and `claude-haiku-4-5` are one family: signatures of one are valid for the other. */
export function modelFamily(model: string): string {
  return model.replace(/(-\d{8}|-latest|@\d{8})$/, '')
}
