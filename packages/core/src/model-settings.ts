// Settings of a model call: one definition for programs, the wire and the log.
import type { JsonObject, JsonValue } from './json.ts'
import { isJsonObject } from './json.ts'
import * as s from './shape/shape.ts'

export type ToolChoice<Name extends string = string> =
  { readonly type: 'auto' | 'any' | 'none' } | { readonly type: 'tool'; readonly name: Name }
const ToolChoice: s.Shape<ToolChoice> = s.variant('type', {
  auto: s.fields('a tool choice', {}),
  any: s.fields('a tool choice', {}),
  none: s.fields('a tool choice', {}),
  tool: s.fields('a tool choice', { name: s.name }),
})

/** How much a model thinks. A model that lacks a level uses the next higher one, or else its highest. */
export const Effort = s.word('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
export type Effort = s.Infer<typeof Effort>

const TopP = s.refine(s.amount, (share, reader) =>
  share > 0 && share <= 1 ? share : reader.refuse('must be above 0 and at most 1'),
)

const ProviderFields = s.refine(s.object, (fields, reader) => {
  for (const [provider, body] of Object.entries(fields))
    if (!isJsonObject(body)) reader.refuse(`must hold an object for each provider; "${provider}" has none`)
  return fields as Readonly<Record<string, JsonObject>> // each was checked
})

const ServerTools = s.refine(s.object, (lists, reader) => {
  for (const [provider, tools] of Object.entries(lists))
    if (!Array.isArray(tools) || !(tools as readonly JsonValue[]).every(isJsonObject))
      reader.refuse(`must hold a list of objects for each provider; "${provider}" has none`)
  return lists as Readonly<Record<string, readonly JsonObject[]>> // each was checked
})

/** Settings of a model call, for an agent, a session or a single turn. An absent field means the model's default. */
export const ModelSettings = s.fields('the settings of a model', {
  /**
   * Maximum tokens of one answer without its thoughts; defaults to the model's maximum. Adapters add room for
   * thoughts, and never request more than the model can write or its window leaves.
   */
  maxOutputTokens: s.optional(s.integer(1)),
  /**
   * While tools are active, including the provider's own, an answer may have four times `maxOutputTokens`, up to 4,096
   * and never less than `maxOutputTokens`: arguments are longer than spoken text. The profile `voice` sets it.
   */
  moreForTools: s.optional(s.flag),
  temperature: s.optional(s.amount),
  /** Tokens that the model may think; 0 or absent means off, or the model's minimum if it always thinks. */
  reasoningTokens: s.optional(s.count),
  /** Overrides `reasoningTokens`. */
  effort: s.optional(Effort),
  /** Nucleus sampling, above 0 and up to 1. Like `temperature`, omitted if the model refuses it. */
  topP: s.optional(TopP),
  /** Stop sequences, at most 4 of 256 characters each; omitted if the model refuses them. */
  stop: s.optional(s.list(s.textBetween(1, 256), 4)),
  /** Makes answers repeatable if the model supports it: Chat Completions, Gemini, GGUF files and the AI SDK. */
  seed: s.optional(s.count),
  /** The provider's own value: `flex`, `priority`, `standard_only`. */
  serviceTier: s.optional(s.textBetween(1, 64)),
  /** How long the provider's prompt cache keeps marked content; `off` sends no cache marks and no session key. */
  cache: s.optional(s.word('off', '5m', '1h')),
  /** Applies to the first step of each turn; later steps choose themselves. */
  toolChoice: s.optional(ToolChoice),
  /** Whether the model may make several calls in one answer; true by default. */
  parallelCalls: s.optional(s.flag),
  /** Whether the provider enforces the schemas of call arguments, where its strict dialect can express them. */
  strictTools: s.optional(s.flag),
  /**
   * Fields added unchanged to the request's body for one provider, overriding Baton's own, by provider name: `{
   * anthropic: { metadata: { user_id: 'u' } } }`. Baton keeps control of the history, the model, tools and streaming.
   */
  provider: s.optional(ProviderFields),
  /**
   * Tools that the provider runs itself within an answer, by provider name and in its API's format: `{ anthropic: [{
   * type: 'web_search_20250305', name: 'web_search' }], gemini: [{ googleSearch: {} }] }`. Citations become `source`
   * parts; the provider's own blocks are sent back with the history.
   */
  serverTools: s.optional(ServerTools),
})
export interface ModelSettings extends s.Infer<typeof ModelSettings> {}
