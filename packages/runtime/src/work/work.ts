// Work and its needs. Work performs one effect from plain data: a job comes in, a report goes out, and nothing is thrown
// (`performModel`, `performTool`, `checkCall`). It runs in the process of an actor as well as in an activity of a workflow.
import type {
  AbortSignalLike,
  Agent,
  BlobStore,
  JsonObject,
  JsonValue,
  LiveFrame,
  Logger,
  Model,
  PlanEntry,
  Question,
  Timers,
  Tool,
  Usage,
} from '@baton/core'
import type { History, HostReport } from '@baton/core/machine'
import type { ArgumentValidator, ValidatedArguments } from './arguments.ts'
import type { ModelJob, ToolJob } from './jobs.ts'
import type { OutputReader } from './output.ts'
import type { RequestMessages } from './request.ts'
import type { ToolSearch } from './tool-search.ts'

/** The context of work besides its job; the same for all jobs of a session. */
export interface WorkContext {
  readonly agent: Agent
  /** The agent's tools, those of its sources, and `result.read`. */
  readonly tools: readonly Tool[]
  /** Absent: each request has all tools. */
  readonly toolSearch?: ToolSearch | undefined
  /**
   * The model of an id, or the given one, if the agent may use it.
   * @throws BatonError `unknown_model`, `model_not_configured`, `not_permitted`
   */
  readonly modelOf: (model: string | Model) => Model
  /** Millionths of a US dollar; undefined where the price is not known. */
  readonly priceOf: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly services: unknown
  /** Texts that no message of a failed tool or model may show, such as keys; `[redacted]` replaces each one. */
  readonly secrets?: readonly string[] | undefined
  readonly validator: ArgumentValidator
  readonly validated: ValidatedArguments
  readonly requestMessages: RequestMessages
  /** Reads answers of an agent with an output schema. */
  readonly output: OutputReader | undefined
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
  /**
   * Runs a tool's `execute` so that a late error, as in a timer of its own, can be traced to the tool. Absent: `execute` is called
   * directly.
   */
  readonly runTool?: RunTool
  /** SHA-256 in base64url, of a call's arguments. */
  readonly digest: (text: string) => string
  /** SHA-256 in hex, of the bytes that a base64 text holds. */
  readonly digestMedia: (base64: string) => string
}

export type RunTool = (
  job: ToolJob,
  execute: NonNullable<Tool['execute']>,
  ...given: Parameters<NonNullable<Tool['execute']>>
) => unknown

/** A model call's access to its session: the history, its signal and its stream. */
export interface ModelIo {
  readonly history: Pick<History, 'messages' | 'turnTexts' | 'turnMessages' | 'untrusted'>
  readonly signal: AbortSignalLike
  /** Aborts the signal: the rest of the answer is not needed. */
  abort(): void
  /** Called when a call is reported although its model may run on. `settled` never rejects. */
  outlive?(settled: Promise<void>): void
  /** Called synchronously for every piece. */
  live(frame: LiveFrame): void
}

export interface ToolIo {
  readonly history: Pick<History, 'messages'>
  /** If it aborts before the tool begins, the tool does not begin. Afterwards the tool has to check it. */
  readonly cancellation: AbortController
  /** The session left this process, so there is no need to keep a long result. */
  readonly isClosed: () => boolean
  live(frame: LiveFrame): void
  /** Replaces the session's plan. */
  plan(entries: readonly PlanEntry[]): void
  /** Counts what a model's answer cost. */
  used(model: string, usage: Usage): void
  /** Asks the session's user, and waits; an answer that was recorded before a restart is given at once. @throws BatonError */
  ask(question: AskedQuestion): Promise<JsonValue>
}

/** The nth question of a call, counted from 1. */
export interface AskedQuestion extends Question<JsonObject> {
  readonly n: number
}

/** Performs work: here by `performModel` and `performTool`, or in another process, since jobs are plain data. */
export interface Work {
  model(job: ModelJob, io: ModelIo): Promise<HostReport>
  tool(job: ToolJob, io: ToolIo): Promise<HostReport | undefined>
}
