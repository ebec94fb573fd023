// Jobs: pieces of work as plain data, so that another process can do them. The process that performs a job creates it
// from the session's state; the job itself holds none.
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
  /** Part of its calls' ids; see `nameCall`. */
  readonly birth: string
  readonly effect: CallModel | Summarise
  /** Id of the model to call. */
  readonly model: string
  /** The turn's settings; they win over the agent's. */
  readonly settings: ModelSettings
  /** JSON Schema for the turn's answer, replacing the agent's. */
  readonly output?: JsonObject
  /** Steps that the turn has completed; absent from a process of an older version. */
  readonly stepNumber?: number
  /** Steps with calls that the turn has completed; absent from a process of an older version. */
  readonly rounds?: number
  /** Pauses of the provider in the turn; absent from a process of an older version. */
  readonly pauses?: number
  /** Estimated tokens of the request; absent from a process of an older version. */
  readonly inputTokens?: number
  /** Tokens of the model's window, if a refusal has named them. */
  readonly contextTokens?: number
  /** Tools provided by clients. */
  readonly clientTools: readonly ClientToolSpec[]
  /** Tools with an `ok` result in the turn, and its rejected answers; absent if none. */
  readonly done?: readonly string[]
  readonly refusals?: number
}

/** One run of a server tool. */
export interface ToolJob {
  readonly session: string
  /** Owner of the session. */
  readonly principal: string
  readonly turn: number
  /** The last history entry that the model had read. */
  readonly toEntry: number
  readonly callId: string
  readonly attempt: number
  readonly name: string
  /** JSON text. */
  readonly arguments: string
  /** Ids of models that the tool may call, in fallback order; empty if no turn is running. */
  readonly models: readonly string[]
}
