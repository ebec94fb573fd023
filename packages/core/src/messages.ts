// The neutral messages that every model adapter reads and writes. Providers' own data is carried along as opaque state.
import { isJsonObject } from './json.ts'
import * as s from './shape/shape.ts'

/**
 * Opaque state of one provider (signatures, wire ids, cache marks). It is returned unchanged to the same provider and
 * model family; any other provider gets the part without it.
 */
export const ProviderState = s.fields('the state of a part', { provider: s.name, model: s.text, data: s.json })
export interface ProviderState extends s.Infer<typeof ProviderState> {}

const STATE = { state: s.optional(ProviderState) }

export const TextPart = s.fields('a text part', { type: s.word('text'), text: s.text, ...STATE })
export interface TextPart extends s.Infer<typeof TextPart> {}

/** The model's reasoning. `text` may be empty if a provider shows only a signature. */
export const ReasoningPart = s.fields({ type: s.word('reasoning'), text: s.text, ...STATE })
export interface ReasoningPart extends s.Infer<typeof ReasoningPart> {}

/** Bytes as base64 without a `data:` prefix, or an address that the provider can fetch. */
export type InlineSource =
  { readonly type: 'base64'; readonly data: string } | { readonly type: 'url'; readonly url: string }

/** Bytes in the session's blob store, under the name `media/<handle>` as base64. */
export const BlobSource = s.fields({
  type: s.word('blob'),
  /** SHA-256 of the bytes, in hex. */
  handle: s.text,
  bytes: s.count,
})
export interface BlobSource extends s.Infer<typeof BlobSource> {}

/** The bytes of an image or file, or their location. Records hold blobs (older ones base64); requests hold base64. */
export type MediaSource = InlineSource | BlobSource
export const MediaSource: s.Shape<MediaSource> = s.variant('type', {
  base64: s.fields({ data: s.text }),
  url: s.fields({ url: s.text }),
  blob: BlobSource,
})

export interface ImagePart<Source extends MediaSource = InlineSource> {
  readonly type: 'image'
  /** An IANA media type such as `image/png`. */
  readonly mediaType: string
  readonly source: Source
  readonly state?: ProviderState
}

/** A PDF, text, or a recording: `audio/wav` is a file too. */
export interface FilePart<Source extends MediaSource = InlineSource> {
  readonly type: 'file'
  readonly mediaType: string
  readonly name?: string
  readonly source: Source
  readonly state?: ProviderState
}

export const CallPart = s.fields({
  type: s.word('call'),
  /** Baton's own id (`call_12_0`); a provider's wire id is in `state`. */
  callId: s.text,
  /** The tool's name as its author wrote it. */
  name: s.text,
  /** JSON text of an object, exactly as the model wrote it; `{}` for a call that was cut off. */
  arguments: s.text,
  ...STATE,
})
export interface CallPart extends s.Infer<typeof CallPart> {}

export interface ResultPart<Source extends MediaSource = InlineSource> {
  readonly type: 'result'
  readonly callId: string
  readonly name: string
  readonly isError: boolean
  readonly content: readonly ContentPart<Source>[]
  /** Absent for a trusted tool of the agent itself. */
  readonly provenance?: Provenance
  /** Only in the history: a request has the beginning of the text, and a handle for reading the rest. */
  readonly moved?: true
}

/** The source of a result, and whether it can be trusted: data from outside may contain instructions. */
export const Provenance = s.fields({
  trust: s.word('trusted', 'untrusted'),
  /** The tool source that provides the tool. */
  source: s.optional(s.text),
})
export interface Provenance extends s.Infer<typeof Provenance> {}

/** A source cited by an answer, for people: a page, a document, a place in it. Not sent back to any provider. */
export const SourcePart = s.fields({
  type: s.word('source'),
  /** Unique among the sources of one answer. */
  id: s.text,
  url: s.optional(s.text),
  title: s.optional(s.text),
  /** For a document without an address. */
  mediaType: s.optional(s.text),
  /** The cited words. */
  quote: s.optional(s.text),
})
export interface SourcePart extends s.Infer<typeof SourcePart> {}

/** A block without a neutral meaning (a provider's own server tool, a citation), kept for that provider only. */
export const ProviderPart = s.fields({ type: s.word('provider'), state: ProviderState })
export interface ProviderPart extends s.Infer<typeof ProviderPart> {}

/** Content of a user or a tool. */
export type ContentPart<Source extends MediaSource = InlineSource> = TextPart | ImagePart<Source> | FilePart<Source>
/** The content as records hold it. */
export type StoredPart = ContentPart<MediaSource>
const MEDIA = { mediaType: s.text, source: MediaSource, ...STATE }
export const StoredPart: s.Shape<StoredPart> = s.variant('type', {
  text: TextPart,
  image: s.fields(MEDIA),
  file: s.fields({ ...MEDIA, name: s.optional(s.text) }),
})

/** Content of a model. */
export type AssistantPart = TextPart | ReasoningPart | CallPart | SourcePart | ProviderPart
export const AssistantPart: s.Shape<AssistantPart> = s.variant('type', {
  text: TextPart,
  reasoning: ReasoningPart,
  call: CallPart,
  source: SourcePart,
  provider: ProviderPart,
})

export interface UserMessage<Source extends MediaSource = InlineSource> {
  readonly role: 'user'
  readonly parts: readonly ContentPart<Source>[]
  /**
   * Names of untrusted tools whose late outcomes accompany the input, or whose results are in a summary. Not sent to
   * any provider.
   */
  readonly untrusted?: readonly string[]
  /**
   * Present for the task of a delegated call whose writer had read untrusted data: addresses in it that the writer had read,
   * and not made up. Not sent to the model.
   */
  readonly known?: readonly string[]
}

export interface AssistantMessage {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
  /**
   * The preceding history has changed since the model wrote the message, so thoughts signed for that place are void.
   */
  readonly rebased?: true
}

/** The results of all calls of the preceding assistant message, in the order of the calls. */
export interface ToolMessage<Source extends MediaSource = InlineSource> {
  readonly role: 'tool'
  readonly parts: readonly ResultPart<Source>[]
}

/** A message as sent to a model: every image and file is inline. */
export type Message<Source extends MediaSource = InlineSource> =
  UserMessage<Source> | AssistantMessage | ToolMessage<Source>
/** A message as a session's history holds it; the runtime makes a `Message` of it for each request. */
export type StoredMessage = Message<MediaSource>

/**
 * Why a model stopped. `pause`: send the answer back unchanged and the model continues. `other`: a reason unknown to
 * this version of the adapter; it ends the step like `end`, and its calls are not executed.
 */
export const FinishReason = s.word(
  'end',
  'tool-calls',
  'max-tokens',
  'refusal',
  'pause',
  'context-full',
  'malformed-call',
  'other',
)
export type FinishReason = s.Infer<typeof FinishReason>

/**
 * Tokens of one model call, with the same meaning for every provider. A count that a provider does not report is
 * absent.
 */
export const Usage = s.fields({
  /** All input tokens, including those read from and written to a cache. */
  inputTokens: s.optional(s.amount),
  cacheReadTokens: s.optional(s.amount),
  cacheWriteTokens: s.optional(s.amount),
  /** All output tokens, reasoning included. */
  outputTokens: s.optional(s.amount),
  reasoningTokens: s.optional(s.amount),
  /** Whole millionths of a US dollar; absent if the price is unknown. */
  costMicros: s.optional(s.amount),
})
export interface Usage extends s.Infer<typeof Usage> {}

/** Names of the counts of a `Usage`. */
export const USAGE_COUNTS = Object.keys(Usage.fields) as readonly (keyof Usage)[] // its own fields

/** The text of a message's text parts, joined without a separator. */
export function readText(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text ?? ''
  return text
}

/**
 * Names of tools whose untrusted results are in these messages: as results, as late outcomes, in a summary, or in an
 * answer for which the provider ran its own tool, such as a search.
 */
export function listUntrusted(messages: readonly StoredMessage[]): readonly string[] {
  const names = messages.flatMap((message) => {
    if (message.role === 'user') return message.untrusted ?? []
    if (message.role === 'assistant') return message.parts.flatMap(nameProviderTool)
    return message.parts.flatMap((part) => (part.provenance?.trust === 'untrusted' ? part.name : []))
  })
  return [...new Set(names)]
}

/**
 * Names the block by its field `type` (Anthropic, the AI SDK), by `item.type` (OpenAI Responses) or by a key of `part`
 * (Gemini).
 */
function nameProviderTool(part: AssistantPart): readonly string[] {
  if (part.type === 'source') return ['search of the provider']
  if (part.type !== 'provider') return []
  const data = isJsonObject(part.state.data) ? part.state.data : {}
  const { type, item, part: block } = data
  const said = [type, ...(isJsonObject(item) ? [item['type']] : []), ...(isJsonObject(block) ? Object.keys(block) : [])]
  return said.filter((one): one is string => typeof one === 'string' && OUTSIDE.test(one)).slice(0, 1)
}

const OUTSIDE = /search|fetch|result|mcp|browser|computer/i
