// A model: its requests and its streamed answers. Adapters implement `Model`.
import type { EffectClass } from '../machine/values.ts'
import type { JsonObject } from '../json.ts'
import type {
  FinishReason,
  Message,
  ProviderPart,
  ProviderState,
  ReasoningPart,
  SourcePart,
  TextPart,
  Usage,
} from '../messages.ts'
import type { AbortSignalLike } from './environment.ts'
import type { ModelSettings, ToolChoice } from '../model-settings.ts'

export interface ToolDeclaration {
  /** Name chosen by the author; adapters encode it for their wire. */
  readonly name: string
  readonly description: string
  /** JSON Schema (draft 2020-12) of the arguments; its root is an object. */
  readonly inputSchema: JsonObject
  /** How often the tool may run. Not sent to providers; a planner without judgement calls only `pure` tools. */
  readonly effect?: EffectClass
}

/**
 * One request to a model, in Baton's vocabulary. An adapter encodes it for its provider; `prepareStep` may change it.
 */
export interface ModelRequest {
  readonly instructions: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDeclaration[]
  readonly toolChoice: ToolChoice
  readonly settings: ModelSettings
  /** JSON Schema that the answer's text must fit; only for models whose capability `output` is native. */
  readonly output?: { readonly name: string; readonly schema: JsonObject }
  /** Stable for a session: providers with a prompt cache use it as the cache key. */
  readonly session: string
}

/** A piece of an answer, as it arrives. `index` numbers the calls of one answer from 0. */
export type ModelEvent =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'call-start'; readonly index: number; readonly name: string }
  | { readonly type: 'call-delta'; readonly index: number; readonly text: string }
  | { readonly type: 'call-end'; readonly index: number }
  /** A tool that the provider runs (see `serverTools`), under the provider's name for it. */
  | { readonly type: 'server-tool'; readonly name: string; readonly status: 'started' | 'finished' }
  | { readonly type: 'usage'; readonly usage: Usage }

/** A call as requested by a model; the machine gives it Baton's own id. */
export interface ModelCallPart {
  readonly type: 'call'
  /** Decoded: the name that the tool's author wrote, or that the model invented. */
  readonly name: string
  /**
   * The raw JSON text; `{}` for no arguments. Empty if they never arrived: such a call settles as `arguments_cut_off`.
   */
  readonly arguments: string
  readonly state?: ProviderState
  /** Repairs by the adapter in the text of the call, such as `trailing-comma`, for the log. At most 16 words. */
  readonly repairs?: readonly string[]
  /**
   * Why the call cannot be read, in words for the model. If present, the call never runs, and the model gets them as
   * its result.
   */
  readonly unreadable?: string
}

export type ModelPart = TextPart | ReasoningPart | ModelCallPart | SourcePart | ProviderPart

/** The whole answer of one model call. */
export interface ModelAnswer {
  readonly parts: readonly ModelPart[]
  readonly finish: FinishReason
  readonly usage: Usage
  /** The model that answered, in the provider's words. */
  readonly model: string
  /** The provider's request id, for its support. */
  readonly requestId?: string
  /** Only for `refusal`: the provider's category, if it gives one. */
  readonly refusal?: string
}

export interface ModelCapabilities {
  /** Tokens of input and output together; absent when unknown. */
  readonly contextTokens?: number
  /** `unknown` if it depends on a self-hosted server, its model and its flags; `withToolProbe` finds out. */
  readonly tools: 'native' | 'none' | 'unknown'
  /**
   * Whether the provider enforces an output schema; `without-tools`: not while tools are offered. `none` by default.
   */
  readonly output?: 'native' | 'without-tools' | 'none'
  readonly images: boolean
  /** False: runs on this machine, in the process or at a loopback address. Absent: requests may leave the machine. */
  readonly network?: boolean
  /** The table row assumed for an unknown model name: the newest of its family. */
  readonly assumedTraits?: string
  /** The id that was probably meant if this one looks misspelt. */
  readonly meantId?: string
}

/** A model that an agent can use. `@baton/models` has adapters of providers; write `run` to add your own. */
export interface Model {
  /** Id as the user writes it: `anthropic/claude-haiku-4-5`. */
  readonly id: string
  /** The provider that `ProviderState` is matched with. */
  readonly provider: string
  readonly capabilities: ModelCapabilities
  /**
   * Makes one model call. `sink` is called synchronously for each piece; the promise resolves with the whole answer.
   * It never retries.
   * @throws BatonError with a `model_*` code, or `cancelled` when `signal` aborts
   */
  run(request: ModelRequest, sink: (event: ModelEvent) => void, signal: AbortSignalLike): Promise<ModelAnswer>
}

/** Output tokens of a call if they are set; undefined for the model's maximum. */
export function outputTokensFor(
  { maxOutputTokens, moreForTools = false, serverTools }: ModelSettings,
  hasTools: boolean,
): number | undefined {
  if (maxOutputTokens === undefined || !moreForTools) return maxOutputTokens
  const hasServerTools = Object.values(serverTools ?? {}).some((tools) => tools.length > 0)
  if (!hasTools && !hasServerTools) return maxOutputTokens
  return Math.max(maxOutputTokens, Math.min(4 * maxOutputTokens, 4096))
}

/** Answers model calls, as `Model.run` does. */
export type ModelRunner = Pick<Model, 'run'>

/** A model that runs in an app, from `clientModel`. */
export interface ClientModel extends Model {
  /**
   * Lets an app of this session run the model; the latest app wins. The returned function removes the app: its pending
   * requests fail with `model_network_failed`, so that another attempt asks another app.
   */
  attach(session: string, runner: ModelRunner): () => void
}

export function isClientModel(model: Model): model is ClientModel {
  return 'attach' in model && typeof model.attach === 'function'
}

/** The agent's models that apps run, excluding those inside another model. */
export function listClientModels({ models }: { readonly models: readonly (string | Model)[] }): readonly ClientModel[] {
  return models.filter((model): model is ClientModel => typeof model !== 'string' && isClientModel(model))
}
