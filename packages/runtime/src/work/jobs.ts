// Jobs: one piece of work as plain data, so that another process can do it. The process that performs a job makes it from the state of
// the session; a job holds none of that state.
import type { JsonObject, ModelSettings } from '@baton/core'
import type { AwaitedEffect, ClientToolSpec } from '@baton/core/machine'

export type CallModel = Extract<AwaitedEffect, { readonly type: 'call-model' }>
export type Summarise = Extract<AwaitedEffect, { readonly type: 'summarise' }>
export type RunTool = Extract<AwaitedEffect, { readonly type: 'run-tool' }>

/** One model call: a step of a turn, or a summary. */
export interface ModelJob {
  readonly session: string
  /** Owner of the session. */
  readonly principal: string
  /** Part of the ids of its calls; see `nameCall`. */
  readonly birth: string
  readonly effect: CallModel | Summarise
  /** The id of the model to ask. */
  readonly model: string
  /** Those of the turn; they win over the agent's. */
  readonly settings: ModelSettings
  /** JSON Schema that the turn's answer fits, in place of the agent's. */
  readonly output?: JsonObject
  /** Steps that the turn has finished; absent from a process of an older version. */
  readonly stepNumber?: number
  /** Steps with calls that the turn has behind it; absent from a process of an older version. */
  readonly rounds?: number
  /** Estimated tokens of the request; absent from a process of an older version. */
  readonly inputTokens?: number
  /** Tokens of the model's window, where a refusal has named them. */
  readonly contextTokens?: number
  /** Tools that clients brought. */
  readonly clientTools: readonly ClientToolSpec[]
  /** Tools that have an `ok` result in the turn, and answers of it that were sent back; absent: none. */
  readonly done?: readonly string[]
  readonly refusals?: number
}

/** One run of a server tool. */
export interface ToolJob {
  readonly session: string
  /** Owner of the session. */
  readonly principal: string
  readonly turn: number
  /** The last entry of the history that the model had read. */
  readonly toEntry: number
  readonly callId: string
  readonly attempt: number
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** Ids of the models that the tool may ask, in the order of fallback; none where no turn runs. */
  readonly models: readonly string[]
}
