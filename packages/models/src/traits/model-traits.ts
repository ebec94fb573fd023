// Traits of a model, and refusals of its provider: the type of the table's rows. The rows are beside this file, by
// family; find-traits.ts looks a model up in them.
import type { Effort } from '@baton/core'

export interface ThinkingTraits {
  /**
   * How a request says how much to think. `none`: the model does not think. `untold`: it thinks, and is
   * told nothing where nobody asks. `budget`: in tokens. `adaptive`: on or off, with an effort beside it. `effort`: an effort alone. `switch`: on
   * or off.
   */
  readonly kind: 'none' | 'untold' | 'budget' | 'adaptive' | 'effort' | 'switch'
  /** The words that the model takes, least first; `none` is among them where it is one. */
  readonly efforts: readonly Effort[]
  /**
   * How the model is kept from thinking: by saying nothing (`absent`), by the effort `none`, by `disabled`, by
   * `between-tools` (short notes between calls remain), by a budget of 0 (`zero`), or not at all (`never`).
   */
  readonly off: 'absent' | 'none' | 'disabled' | 'between-tools' | 'zero' | 'never'
  /** The least and the most tokens of a budget. */
  readonly budget?: { readonly least: number; readonly most: number }
}

/** Limits of a provider's strict dialect on a schema; absent numbers have no limit. */
export interface SchemaLimits {
  /** Objects inside of objects. */
  readonly depth?: number
  readonly enumValues?: number
  /** `anyOf` and types beside others. */
  readonly unions?: number
  /** Properties that may be left out. */
  readonly optional?: number
  /** Whether a pattern may look ahead or behind. */
  readonly lookaround: boolean
  /** Whether a schema may stand inside itself. */
  readonly recursion: boolean
}

export interface ModelTraits {
  /** Tokens of input and output together; absent: what the list of prices says, or unknown. */
  readonly contextTokens?: number
  /** Most tokens of one answer, thoughts included; absent when unknown. */
  readonly outputTokens?: number
  readonly thinking: ThinkingTraits
  /**
   * Whether temperature, top_p and top_k may be set. `unthinking`: only while the model does not think; `one`: the same, and
   * temperature or top_p but not both; `refused`: never.
   */
  readonly sampling: 'free' | 'unthinking' | 'one' | 'refused'
  /** Whether a call can be forced. `unthinking`: only while the model does not think. */
  readonly forcing: 'always' | 'unthinking' | 'never'
  /** Whether Chat Completions takes tools of this model beside its thoughts; `unthinking`: only with the effort `none`. */
  readonly chatTools: 'always' | 'unthinking'
  readonly images: boolean
  readonly files: boolean
  /** Whether the prompt cache is marked in the request. */
  readonly cache: boolean
  /** Whether answers are kept to a schema; `without-tools`: not beside tools. */
  readonly output: 'native' | 'without-tools' | 'none'
  /** Whether several calls in one answer can be forbidden. */
  readonly singleCalls: boolean
  /** Whether texts can be named at which an answer ends. */
  readonly stop: boolean
  /** Whether a request may end with what the model itself has said, for it to go on from there. */
  readonly prefill: boolean
  /** Whether calls of the history need a signature of the model's thoughts (Gemini 3). */
  readonly signedCalls: boolean
  readonly schemas: SchemaLimits
}

/** Families of models that are written to in the same way; `messages`: others by Anthropic's API; `other`: known to no row. */
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
  /** For people: `Claude Opus 5.5`. */
  readonly name: string
  /** Matches a model's name without its vendor and region, in lower case. */
  readonly pattern: RegExp
  /** When somebody last compared the row with its source: a month. */
  readonly checked: string
  /** Sources of the facts. */
  readonly source: string
  readonly traits: ModelTraits
}

/** A user's corrections of the table, or traits of a model that is not in it. */
export type TraitsOverride = Partial<Omit<ModelTraits, 'thinking' | 'schemas'>> & {
  readonly thinking?: Partial<ThinkingTraits>
  readonly schemas?: Partial<SchemaLimits>
}

export const NO_THINKING: ThinkingTraits = { kind: 'none', efforts: [], off: 'absent' }

/** Traits of an unknown model: most servers accept these for most models, and no server is known to refuse them. */
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
