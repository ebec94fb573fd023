// The neutral messages that every model adapter reads and writes. Providers' own data rides along as opaque state.
import type { JsonValue } from './json.ts'

/**
 * What only one provider understands (signatures, wire ids, cache marks). It goes back unchanged to the same provider
 * and model family; any other provider gets the part without it.
 */
export interface ProviderState {
  readonly provider: string
  readonly model: string
  readonly data: JsonValue
}

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly state?: ProviderState
}

/** What the model thought. `text` may be empty where a provider shows only a signature. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly state?: ProviderState
}

/** Bytes as base64 without a `data:` prefix, or an address that the provider can fetch. */
export type MediaSource =
  { readonly type: 'base64'; readonly data: string } | { readonly type: 'url'; readonly url: string }

export interface ImagePart {
  readonly type: 'image'
  /** An IANA media type such as `image/png`. */
  readonly mediaType: string
  readonly source: MediaSource
  readonly state?: ProviderState
}

export interface FilePart {
  readonly type: 'file'
  readonly mediaType: string
  readonly name?: string
  readonly source: MediaSource
  readonly state?: ProviderState
}

export interface CallPart {
  readonly type: 'call'
  /** Baton's own id (`call_12_0`); a provider's wire id stands in `state`. */
  readonly callId: string
  /** The tool's name as its author wrote it. */
  readonly name: string
  /** JSON text of an object, exactly as the model wrote it; `{}` for a call that was cut off. */
  readonly arguments: string
  readonly state?: ProviderState
}

export interface ResultPart {
  readonly type: 'result'
  readonly callId: string
  readonly name: string
  readonly isError: boolean
  readonly content: readonly ContentPart[]
  /** Absent for a trusted tool of the agent's own. */
  readonly provenance?: Provenance
}

/** Where a result comes from, and whether it may be believed: data from outside can try to give orders. */
export interface Provenance {
  readonly trust: 'trusted' | 'untrusted'
  /** The source of tools that brought the tool. */
  readonly source?: string
}

/** A block that has no neutral meaning (a provider's own server tool, a citation): kept for that provider only. */
export interface ProviderPart {
  readonly type: 'provider'
  readonly state: ProviderState
}

/** What a user or a tool can say. */
export type ContentPart = TextPart | ImagePart | FilePart
/** What a model can say. */
export type AssistantPart = TextPart | ReasoningPart | CallPart | ProviderPart

export interface UserMessage {
  readonly role: 'user'
  readonly parts: readonly ContentPart[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
  /** What stood before it has changed since the model wrote it, so thoughts that are signed for that place are void. */
  readonly rebased?: true
}

/** The results of all calls of the assistant message before it, in the order of the calls. */
export interface ToolMessage {
  readonly role: 'tool'
  readonly parts: readonly ResultPart[]
}

export type Message = UserMessage | AssistantMessage | ToolMessage

/**
 * Why a model stopped. `pause`: send the answer back as it is and it goes on. `other`: a reason that this version of
 * the adapter does not know; it ends the step like `end`, and calls beside it are not executed.
 */
export type FinishReason =
  'end' | 'tool-calls' | 'max-tokens' | 'refusal' | 'pause' | 'context-full' | 'malformed-call' | 'other'

/** Tokens of one model call, in one meaning for every provider. A count that a provider does not give is absent. */
export interface Usage {
  /** All input tokens, those read from and written to a cache included. */
  readonly inputTokens?: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  /** All output tokens, reasoning included. */
  readonly outputTokens?: number
  readonly reasoningTokens?: number
  /** Millionths of a US dollar, whole ones; absent when the price is not known. */
  readonly costMicros?: number
}

/** The text of a message's text parts, joined without a separator. */
export function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text ?? ''
  return text
}
