// Options of an agent with a shape of their own: `checkAnswer`, which sees an answer before it is accepted; `prepareStep`,
// which may change a step before its model call; sources, whose tools change during a session; and profiles, which set
// limits and settings for a kind of program.
import type { JsonValue } from '../json.ts'
import type { ContentPart, Message } from '../messages.ts'
import type { Principal } from './policy.ts'
import type { FieldIsNamed } from '../shape/known-fields.ts'
import type { Model } from './model.ts'
import type { ModelSettings, ToolChoice } from '../model-settings.ts'
import type { Schema } from './schema.ts'
import type { Tool } from './tool.ts'
import type { BatchSpec, Limits, RetrySpec, WindowSpec } from '../machine/spec.ts'

export interface AnswerToCheck<Output = unknown> {
  /** The answer as it would be accepted: the model's JSON if there is an output schema, else the texts of all steps. */
  readonly text: string
  /** The value that fits the output schema of the agent or the turn; undefined without one. */
  readonly output: Output
}

/** A settled call of the turn. */
export interface AnsweredCall {
  readonly callId: string
  readonly name: string
  /** The arguments; text if they are not JSON. */
  readonly input: JsonValue
  /** False if the call was denied, failed, was cancelled or timed out; `content` says which. */
  readonly ok: boolean
  /** The result as the model read it. */
  readonly content: readonly ContentPart[]
}

/** Context of a check. It is a copy: changing it has no effect. */
export interface AnswerContext<Services = unknown> {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly services: Services
  /** Answers of this turn that were already sent back, other than for not matching the schema. */
  readonly refusals: number
  /** Calls of this turn, in order. */
  readonly calls: readonly AnsweredCall[]
  /** The conversation that the model had read. */
  readonly messages: readonly Message[]
}

/**
 * `again`: the model reads the reason and answers once more. `ask`: a person approves or denies the answer and sees
 * `title`; `by` names the principals who may decide, instead of the session's own.
 */
export type AnswerVerdict =
  | 'accept'
  | { readonly again: string }
  | { readonly ask: string; readonly title?: string; readonly by?: readonly Principal[] }

export interface StepToPrepare<Name extends string = string> {
  readonly session: string
  /** Position of the step in its turn, from 0. Retries and fallback models of a step have the same number. */
  readonly stepNumber: number
  /** Steps of this turn that had calls; 0 for its first step. `limits.toolRounds` counts these. */
  readonly rounds: number
  /** The step's number in the session, from 1: the number that events have. */
  readonly step: number
  /** Model calls of the session so far, including this one. A retry or a fallback counts. */
  readonly attempt: number
  /** The model that would be called. */
  readonly model: string
  /** The request's messages, oldest first. They are a copy. */
  readonly messages: readonly Message[]
  /** Names of the tools that would be offered. */
  readonly tools: readonly Name[]
}

/** Changes to a step; absent fields change nothing. */
export interface StepChange<Name extends string = string> {
  /** Names of the tools in force; calls of others are denied. An unknown name fails the turn. */
  readonly tools?: readonly Name[]
  /** Ignored once the turn has used up its tool rounds: then it is always `none`. */
  readonly toolChoice?: ToolChoice<Name>
  /** A model, or the id of one. */
  readonly model?: string | Model
  readonly instructions?: string
  /** Overrides single settings; the others stay. */
  readonly settings?: ModelSettings
  /**
   * The messages of this request; the session keeps its own. A tool message must have the result of each call of the
   * assistant message before it, and no others.
   */
  readonly messages?: readonly Message[]
  /** @deprecated The field is `tools`. */
  readonly activeTools?: FieldIsNamed<'tools'>
  /** @deprecated The field is `instructions`. */
  readonly system?: FieldIsNamed<'instructions'>
}

/**
 * Called before each model call. Times out after 30 seconds. If it throws or returns an invalid change, the turn fails
 * with `prepare_step_failed` and its message.
 */
export type PrepareStep<Name extends string = string> = (
  step: StepToPrepare<Name>,
) => StepChange<Name> | undefined | Promise<StepChange<Name> | undefined>

/**
 * Tools from elsewhere, such as an MCP server, listed when a session opens. `createMcpServers` of
 * @baton/mcp gives an agent's `sources`.
 */
export interface ToolSource {
  /** Name of the source in logs, collisions and the provenance of results; 1 to 64 characters. */
  readonly name: string
  /**
   * False: neither the source nor its tools reach beyond this machine. Absent: they may, so an agent without network
   * access does not get it.
   */
  readonly network?: boolean
  /**
   * Lists the current tools. Called when a session opens, and after each change. Times out after 10 s; a source that
   * fails or is too slow has no tools until its next change, which is logged.
   */
  list(): Promise<readonly Tool[]>
  /** Calls the listener after every change; returns a function that unsubscribes it. */
  onChange?(listener: () => void): () => void
  /** Called once, when the session leaves the process. Times out after 10 s. */
  close?(): Promise<void>
}

/**
 * How to handle a tool whose name is taken. `refuse` (default): a session does not open, and a tool added later is
 * skipped. `first`: the tool is skipped. `prefix`: it is renamed to `<source>.<tool>`. The agent's own tools have
 * priority, then the sources in order.
 */
export type CollisionPolicy = 'refuse' | 'first' | 'prefix'

/** One kind of event in an agent's `events`: `{ data: schema }`. */
export interface EventKind {
  /** Schema of the event's `detail`, an object at the root. Without it, any object is accepted. */
  readonly data?: Schema
  /** `untrusted`: strangers may have written the data, so it counts as an untrusted result. `trusted` by default. */
  readonly trust?: 'trusted' | 'untrusted'
}

/** Defaults for an agent. The agent's own values win. */
export type AgentProfile = {
  readonly limits?: Partial<Limits>
  readonly window?: Partial<WindowSpec>
  readonly retry?: Partial<RetrySpec>
  readonly batch?: Partial<BatchSpec>
  readonly settings?: ModelSettings
  /** How to handle an empty answer: ask once more (default), or treat it as silence. */
  readonly emptyAnswer?: 'retry' | 'silence'
}

/**
 * For voice: answers short enough to be spoken (512 tokens; more while tools are active), the last 20 exchanges without
 * summaries, 8 tool rounds, and 30 seconds for the first word of an answer.
 */
export const voice: AgentProfile = {
  settings: { maxOutputTokens: 512, moreForTools: true },
  window: { exchanges: 20, summarise: false },
  limits: { toolRounds: 8, callsPerTurn: 64, firstWordMs: 30_000 },
}
