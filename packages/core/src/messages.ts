// The neutral messages that every model adapter reads and writes. Providers' own data rides along as opaque state.
import type { JsonValue } from './json.ts'
import { isJsonObject } from './json.ts'

/**
 * Opaque state of one provider (signatures, wire ids, cache marks). It goes back unchanged to the same provider
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

/** The model's reasoning. `text` may be empty where a provider shows only a signature. */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly state?: ProviderState
}

/** Bytes as base64 without a `data:` prefix, or an address that the provider can fetch. */
export type InlineSource =
  { readonly type: 'base64'; readonly data: string } | { readonly type: 'url'; readonly url: string }

/** Bytes in the session's blob store, under the name `media/<handle>` as base64. */
export interface BlobSource {
  readonly type: 'blob'
  /** SHA-256 of the bytes, in hex. */
  readonly handle: string
  readonly bytes: number
}

/** The bytes of a picture or a file, or their place. Records hold blobs (older ones base64); a model is asked with base64. */
export type MediaSource = InlineSource | BlobSource

export interface ImagePart<Source extends MediaSource = InlineSource> {
  readonly type: 'image'
  /** An IANA media type such as `image/png`. */
  readonly mediaType: string
  readonly source: Source
  readonly state?: ProviderState
}

/** A PDF, a text, or a recording: `audio/wav` is a file too. */
export interface FilePart<Source extends MediaSource = InlineSource> {
  readonly type: 'file'
  readonly mediaType: string
  readonly name?: string
  readonly source: Source
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

export interface ResultPart<Source extends MediaSource = InlineSource> {
  readonly type: 'result'
  readonly callId: string
  readonly name: string
  readonly isError: boolean
  readonly content: readonly ContentPart<Source>[]
  /** Absent for a trusted tool of the agent's own. */
  readonly provenance?: Provenance
  /** Only in the history: a request has the beginning of the text, and a handle by which the rest is read. */
  readonly moved?: true
}

/** The source of a result, and whether it may be believed: data from outside can try to give orders. */
export interface Provenance {
  readonly trust: 'trusted' | 'untrusted'
  /** The source of tools that brought the tool. */
  readonly source?: string
}

/** A source that an answer cites, for people: a page, a document, a place in it. No provider is sent it back. */
export interface SourcePart {
  readonly type: 'source'
  /** Tells the sources of one answer apart. */
  readonly id: string
  readonly url?: string
  readonly title?: string
  /** For a document that has no address. */
  readonly mediaType?: string
  /** The words that are cited. */
  readonly quote?: string
}

/** A block that has no neutral meaning (a provider's own server tool, a citation): kept for that provider only. */
export interface ProviderPart {
  readonly type: 'provider'
  readonly state: ProviderState
}

/** Content of a user or a tool. */
export type ContentPart<Source extends MediaSource = InlineSource> = TextPart | ImagePart<Source> | FilePart<Source>
/** The same as records hold it. */
export type StoredPart = ContentPart<MediaSource>
/** Content of a model. */
export type AssistantPart = TextPart | ReasoningPart | CallPart | SourcePart | ProviderPart

export interface UserMessage<Source extends MediaSource = InlineSource> {
  readonly role: 'user'
  readonly parts: readonly ContentPart<Source>[]
  /** Names of untrusted tools whose late outcomes are told beside what was said, or whose results a summary has. No provider is sent them. */
  readonly untrusted?: readonly string[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
  /** The history before it has changed since the model wrote it, so thoughts that are signed for that place are void. */
  readonly rebased?: true
}

/** The results of all calls of the assistant message before it, in the order of the calls. */
export interface ToolMessage<Source extends MediaSource = InlineSource> {
  readonly role: 'tool'
  readonly parts: readonly ResultPart<Source>[]
}

/** A message as a model is asked with it: every picture and file is inline. */
export type Message<Source extends MediaSource = InlineSource> =
  UserMessage<Source> | AssistantMessage | ToolMessage<Source>
/** A message as a session's history holds it; the runtime makes a `Message` of it for each request. */
export type StoredMessage = Message<MediaSource>

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

/** The names of the counts of a `Usage`. */
export const USAGE_COUNTS = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'costMicros',
] as const satisfies readonly (keyof Usage)[]

/** The text of a message's text parts, joined without a separator. */
export function readText(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text ?? ''
  return text
}

/**
 * Names of tools whose untrusted results these messages tell: as results, as late outcomes, in a summary, or in an answer for which
 * the provider ran a tool of its own, such as a search.
 */
export function listUntrusted(messages: readonly StoredMessage[]): readonly string[] {
  const names = messages.flatMap((message) => {
    if (message.role === 'user') return message.untrusted ?? []
    if (message.role === 'assistant') return message.parts.flatMap(nameProviderTool)
    return message.parts.flatMap((part) => (part.provenance?.trust === 'untrusted' ? part.name : []))
  })
  return [...new Set(names)]
}

/** By what the block calls itself: a field `type` (Anthropic, the AI SDK), `item.type` (OpenAI Responses), a key of `part` (Gemini). */
function nameProviderTool(part: AssistantPart): readonly string[] {
  if (part.type === 'source') return ['search of the provider']
  if (part.type !== 'provider') return []
  const data = isJsonObject(part.state.data) ? part.state.data : {}
  const { type, item, part: block } = data
  const said = [type, ...(isJsonObject(item) ? [item['type']] : []), ...(isJsonObject(block) ? Object.keys(block) : [])]
  return said.filter((one): one is string => typeof one === 'string' && OUTSIDE.test(one)).slice(0, 1)
}

const OUTSIDE = /search|fetch|result|mcp|browser|computer/i
