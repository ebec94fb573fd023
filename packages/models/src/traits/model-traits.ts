// Traits of a model and restrictions of its provider: the types of the table's rows. The rows are in this folder, by
// family; find-traits.ts looks up a model in them.
import type { Effort } from '@baton/core/internal'

export interface ThinkingTraits {
  /**
   * How a request controls thinking. `none`: the model does not think. `untold`: it thinks, and nothing is sent unless
   * asked for. `budget`: in tokens. `adaptive`: on or off, with an effort. `effort`: an effort alone. `switch`: on or
   * off.
   */
  readonly kind: 'none' | 'untold' | 'budget' | 'adaptive' | 'effort' | 'switch'
  /** Efforts that the model accepts, lowest first; includes `none` if it is one of them. */
  readonly efforts: readonly Effort[]
  /**
   * How to turn thinking off: by sending nothing (`absent`), by the effort `none`, by `disabled`, by `between-tools`
   * (short notes between calls remain), by a budget of 0 (`zero`), or not at all (`never`).
   */
  readonly off: 'absent' | 'none' | 'disabled' | 'between-tools' | 'zero' | 'never'
  /** Minimum and maximum tokens of a budget. */
  readonly budget?: { readonly least: number; readonly most: number }
}

/** Limits of a provider's strict dialect on a schema; an omitted number means no limit. */
export interface SchemaLimits {
  /** Maximum nesting of objects. */
  readonly depth?: number
  readonly enumValues?: number
  /** Number of `anyOf`s and lists of types. */
  readonly unions?: number
  /** Number of optional properties. */
  readonly optional?: number
  /** Whether patterns may use lookaround. */
  readonly lookaround: boolean
  /** Whether schemas may be recursive. */
  readonly recursion: boolean
}

export interface ModelTraits {
  /** Context window in tokens, input and output together; if omitted, taken from the price list, or unknown. */
  readonly contextTokens?: number
  /** Maximum tokens of one answer, including thinking; omitted if unknown. */
  readonly outputTokens?: number
  readonly thinking: ThinkingTraits
  /**
   * Whether temperature, top_p and top_k may be set. `unthinking`: only while the model does not think; `one`:
   * likewise, and only one of temperature and top_p; `refused`: never.
   */
  readonly sampling: 'free' | 'unthinking' | 'one' | 'refused'
  /** Whether a call can be forced. `unthinking`: only while the model does not think. */
  readonly forcing: 'always' | 'unthinking' | 'never'
  /**
   * Whether Chat Completions accepts tools for this model while it thinks; `unthinking`: only with the effort `none`.
   */
  readonly chatTools: 'always' | 'unthinking'
  readonly images: boolean
  readonly files: boolean
  /** Whether requests mark the prompt cache. */
  readonly cache: boolean
  /** Whether output schemas are enforced; `without-tools`: not together with tools. */
  readonly output: 'native' | 'without-tools' | 'none'
  /** Whether answers can be limited to one call. */
  readonly singleCalls: boolean
  /** Whether stop sequences are supported. */
  readonly stop: boolean
  /** Whether a request may end with an assistant message for the model to continue. */
  readonly prefill: boolean
  /** Whether calls in the history need a thought signature (Gemini 3). */
  readonly signedCalls: boolean
  readonly schemas: SchemaLimits
}

/** Families of models with the same request format; `messages`: others on Anthropic's API; `other`: not in any row. */
export type ModelFamily =
  | 'claude'
  | 'messages'
  | 'gpt'
  | 'gpt-oss'
  | 'gemini'
  | 'nova'
  | 'nova-2'
  | 'grok'
  | 'deepseek'
  | 'mistral'
  | 'qwen'
  | 'other'

export interface TraitsRow {
  readonly family: ModelFamily
  /** Display name: `Claude Opus 5.5`. */
  readonly name: string
  /** Matches a model's name without vendor and region, in lower case. */
  readonly pattern: RegExp
  /** Month in which the row was last compared with its source. */
  readonly checked: string
  /** Sources of the facts. */
  readonly source: string
  readonly traits: ModelTraits
}

/** A user's overrides of the table, or traits of a model that is not in it. */
export type TraitsOverride = Partial<Omit<ModelTraits, 'thinking' | 'schemas'>> & {
  readonly thinking?: Partial<ThinkingTraits>
  readonly schemas?: Partial<SchemaLimits>
}

export const NO_THINKING: ThinkingTraits = { kind: 'none', efforts: [], off: 'absent' }

/** Traits of an unknown model: most servers accept these for most models, and no server is known to reject them. */
export const PLAIN_TRAITS: ModelTraits = {
  thinking: NO_THINKING,
  sampling: 'free',
  forcing: 'always',
  chatTools: 'always',
  images: true,
  files: false,
  cache: false,
  output: 'native',
  singleCalls: true,
  stop: true,
  prefill: true,
  signedCalls: false,
  schemas: { lookaround: true, recursion: true },
}
