// Work and its context. Work performs one effect from plain data: a job comes in, a report goes out, and nothing is
// thrown (`performModel`, `performTool`, `checkCall`). It runs in an actor's process as well as in a workflow activity.
import type {
  AbortSignalLike,
  Agent,
  BlobStore,
  Host,
  JsonObject,
  JsonValue,
  LiveFrame,
  Logger,
  Message,
  Model,
  PlanEntry,
  Question,
  StoredMessage,
  Timers,
  Tool,
  Usage,
} from '@baton/core/internal'
import type { History, HostReport } from '@baton/core/machine'
import type { ArgumentValidator, ValidatedArguments } from './arguments.ts'
import type { ModelJob, ToolJob } from './jobs.ts'
import type { OutputReader } from './output.ts'
import type { ToolSearch } from './tool-search.ts'

/** The context shared by all jobs of a session. */
export interface WorkContext {
  readonly agent: Agent
  /** The agent's tools, those of its sources, and `result.read`. */
  readonly tools: readonly Tool[]
  /** Absent if each request has all tools. */
  readonly toolSearch?: ToolSearch | undefined
  /**
   * Returns the model with this id, or the given one, if the agent may use it.
   * @throws BatonError `unknown_model`, `model_not_configured`, `not_permitted`
   */
  readonly modelOf: (model: string | Model) => Model
  /** Returns millionths of a US dollar, or undefined if the price is unknown. */
  readonly priceOf: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly services: unknown
  /** Texts, such as keys, to hide in error messages of tools and models; `[redacted]` replaces each one. */
  readonly secrets?: readonly string[] | undefined
  readonly validator: ArgumentValidator
  readonly validated: ValidatedArguments
  /** Gives messages the bytes of their images and files. @throws BatonError `store_failed` */
  readonly requestMessages: {
    load(session: string, messages: readonly StoredMessage[], context: WorkContext): Promise<readonly Message[]>
  }
  /** Reads answers of an agent with an output schema. */
  readonly output: OutputReader | undefined
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
  /**
   * Runs a tool's `execute` so that a late error, for example from a timer, can be traced to the tool. If absent,
   * `execute` is called directly.
   */
  readonly runTool?: RunTool
  /** Opens a session of the host for a running tool. Absent where tools cannot open any. */
  readonly openSession?: Host['session']
  /** SHA-256 of a call's arguments, in base64url. */
  readonly digest: (text: string) => string
  /** SHA-256 in hex of the bytes that a base64 text encodes. */
  readonly digestMedia: (base64: string) => string
}

export type RunTool = (
  job: ToolJob,
  execute: NonNullable<Tool['execute']>,
  ...given: Parameters<NonNullable<Tool['execute']>>
) => unknown

/** A model call's access to its session: history, signal and stream. */
export interface ModelIo {
  readonly history: Pick<History, 'messages' | 'turnTexts' | 'turnMessages' | 'untrusted'>
  readonly signal: AbortSignalLike
  /** Aborts the signal: the rest of the answer is not needed. */
  abort(): void
  /** Called when a call is reported while its model may still run. `settled` never rejects. */
  outlive?(settled: Promise<void>): void
  /** Called synchronously for every piece. */
  live(frame: LiveFrame): void
}

export interface ToolIo {
  readonly history: Pick<History, 'messages' | 'untrusted'>
  /** Aborted before the tool begins, it keeps the tool from starting. Afterwards the tool has to check it. */
  readonly cancellation: AbortController
  /** Whether the session has left this process, so there is no need to keep a long result. */
  readonly isClosed: () => boolean
  live(frame: LiveFrame): void
  /** Replaces the session's plan. */
  plan(entries: readonly PlanEntry[]): void
  /** Counts the cost of a model's answer. */
  used(model: string, usage: Usage): void
  /** Asks the session's user and waits; an answer recorded before a restart is returned at once. @throws BatonError */
  ask(question: AskedQuestion): Promise<JsonValue>
}

/** The nth question of a call, starting at 1. */
export interface AskedQuestion extends Question<JsonObject> {
  readonly n: number
}

/** Performs work: `performModel` and `performTool` here, or another process, since jobs are plain data. */
export interface Work {
  model(job: ModelJob, io: ModelIo): Promise<HostReport>
  tool(job: ToolJob, io: ToolIo): Promise<HostReport | undefined>
}
