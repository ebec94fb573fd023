// The parts of the Responses API that the adapter writes. Server data is read leniently, so only requests have types.
// Source: openai 7.57 responses.d.ts.
import type { Effort, JsonObject } from '@baton/core/internal'

/** Provider of `ProviderState`. */
export const PROVIDER = 'openai'

export type WireContentPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }
  | { readonly type: 'input_file'; readonly file_url: string }

export type WireSaidPart =
  { readonly type: 'output_text'; readonly text: string } | { readonly type: 'refusal'; readonly refusal: string }

/**
 * Items are sent without ids, because nothing is stored (`store: false`): an id makes the API look for related items
 * ("Item 'fc_x' of type 'function_call' was provided without its required 'reasoning' item: 'rs_x'").
 */
export type WireItem =
  | { readonly role: 'user'; readonly content: string | readonly WireContentPart[] }
  | { readonly role: 'assistant'; readonly content: readonly WireSaidPart[]; readonly phase?: string }
  | { readonly type: 'reasoning'; readonly summary: readonly JsonObject[]; readonly encrypted_content: string }
  | {
      readonly type: 'function_call'
      readonly call_id: string
      readonly name: string
      readonly arguments: string
    }
  | {
      readonly type: 'function_call_output'
      readonly call_id: string
      readonly output: string | readonly WireContentPart[]
    }
  | WireOwnItem

/** An OpenAI server tool item, sent back unchanged. */
export type WireOwnItem = JsonObject & { readonly type: string }

export interface WireTool {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  readonly parameters: JsonObject
  /** Always set: without it, the API assumes true and rejects a schema that cannot be strict. */
  readonly strict: boolean
}

export type WireToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: 'function' | 'custom'; readonly name: string }
  | { readonly type: 'mcp'; readonly server_label: string }
  /** An OpenAI server tool. */
  | { readonly type: string }

export interface WireTextFormat {
  readonly type: 'json_schema'
  readonly name: string
  readonly schema: JsonObject
  readonly strict: boolean
}

export interface OpenAiResponsesRequest {
  readonly model: string
  readonly stream: true
  /** OpenAI stores nothing: Baton keeps the history and sends all of it with every request. */
  readonly store: false
  readonly input: readonly WireItem[]
  readonly instructions?: string
  readonly include?: readonly ['reasoning.encrypted_content']
  readonly max_output_tokens?: number
  readonly tools?: readonly (WireTool | JsonObject)[]
  readonly tool_choice?: WireToolChoice
  readonly parallel_tool_calls?: false
  readonly temperature?: number
  readonly top_p?: number
  readonly service_tier?: string
  readonly prompt_cache_key?: string
  readonly reasoning?: {
    readonly effort?: Effort
    readonly summary?: 'auto' | 'concise' | 'detailed'
  }
  readonly text?: { readonly format: WireTextFormat }
}

/** `gpt-5-mini-2025-08-07` and `gpt-5-mini` are one family: each can read what the other encrypted. */
export function modelFamily(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
