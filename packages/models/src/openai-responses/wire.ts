// The parts of the Responses API that the adapter writes. What comes from a server is read leniently, so there are types
// for requests only. Source: openai 7.57 responses.d.ts.
import type { Effort, JsonObject } from '@baton/core'

/** The provider of `ProviderState`. */
export const PROVIDER = 'openai'

export type WireContentPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }
  | { readonly type: 'input_file'; readonly file_url: string }

export type WireSaidPart =
  { readonly type: 'output_text'; readonly text: string } | { readonly type: 'refusal'; readonly refusal: string }

/**
 * Items go without their ids, as nothing is stored (`store: false`): an id makes the API look for the items that stood
 * beside it ("Item 'fc_x' of type 'function_call' was provided without its required 'reasoning' item: 'rs_x'").
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

/** An item of OpenAI's own tools; it goes back as it came. */
export type WireOwnItem = JsonObject & { readonly type: string }

export interface WireTool {
  readonly type: 'function'
  readonly name: string
  readonly description?: string
  readonly parameters: JsonObject
  /** If it is left out, the API assumes true and refuses a schema that cannot be strict. */
  readonly strict: boolean
}

export type WireToolChoice =
  | 'none'
  | 'auto'
  | 'required'
  | { readonly type: 'function' | 'custom'; readonly name: string }
  | { readonly type: 'mcp'; readonly server_label: string }
  /** A tool of OpenAI's own. */
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
  /** Nothing stays with OpenAI: the history is Baton's, and every request has all of it. */
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

/** `gpt-5-mini-2025-08-07` and `gpt-5-mini` are one family: what one has encrypted the other reads. */
export function modelFamily(model: string): string {
  return model.replace(/-\d{4}-\d{2}-\d{2}$/, '')
}
