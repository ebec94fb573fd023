// Work: one effect performed from plain data. A job comes in, a report goes out, and nothing is thrown: it runs in the
// process of an actor as well as in an activity of a workflow.
import type {
  AbortSignalLike,
  Agent,
  BlobStore,
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
import type { CallCheck, History, HostReport } from '@baton/core/machine'
import type { ArgumentValidator } from './arguments.ts'
import type { CheckedCall } from './call-check.ts'
import { checkCall } from './call-check.ts'
import type { Cancellation } from './cancellation.ts'
import type { ModelJob, ToolJob } from './jobs.ts'
import { performModel } from './model-work.ts'
import type { OutputReader } from './output.ts'
import { RequestMessages } from './request-messages.ts'
import { performTool } from './tool-work.ts'
import { ValidatedArguments } from './validated-arguments.ts'

/** What work needs beside its job; the same for all jobs of a session. */
export interface WorkContext {
  readonly agent: Agent
  /** The agent's tools, those of its sources, and `result.read`. */
  readonly tools: () => readonly Tool[]
  /** @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf: (id: string) => Model
  /** Millionths of a US dollar; undefined where the price is not known. */
  readonly priceOf: ((model: string, usage: Usage) => number | undefined) | undefined
  readonly services: unknown
  readonly validator: ArgumentValidator
  /** Of an agent with an output schema. */
  readonly output: OutputReader | undefined
  readonly blobs: BlobStore
  readonly timers: Timers
  readonly log: Logger
  /** SHA-256 in base64url, of a call's arguments. */
  readonly digest: (text: string) => string
  /** SHA-256 in hex, of the bytes that a base64 text holds. */
  readonly digestMedia: (base64: string) => string
}

/** What a model call reads of its session, and where it streams to. */
export interface ModelIo {
  readonly history: Pick<History, 'messages' | 'turnTexts'>
  readonly signal: AbortSignalLike
  /** Called synchronously for every piece. */
  live(frame: LiveFrame): void
}

export interface ToolIo {
  /** Aborted before the tool began: it does not begin. Later it is the tool's to look. */
  readonly cancellation: Cancellation
  /** The session left this process: a long result would be kept for nobody. */
  isClosed(): boolean
  live(frame: LiveFrame): void
  /** Replaces the session's plan. */
  plan(entries: readonly PlanEntry[]): void
  /** Asks the session's user, and waits; an answer that was recorded before a restart is given at once. @throws BatonError */
  ask(question: AskedQuestion): Promise<JsonValue>
}

/** The nth question of a call, counted from 1. */
export interface AskedQuestion extends Question {
  readonly n: number
}

export interface Work {
  /** Never rejects. Reports `model-finished` or `model-failed`, of a summary `summary-finished` or `summary-failed`. */
  model(job: ModelJob, io: ModelIo): Promise<HostReport>
  /** What is found out about a call, as `model` does for the calls of an answer. Never rejects. */
  check(call: CheckedCall): CallCheck | Promise<CallCheck>
  /** Never rejects. Reports `tool-finished`; undefined when the call was over before the tool began. */
  tool(job: ToolJob, io: ToolIo): Promise<HostReport | undefined>
}

/** What all work of a session shares. */
export interface SharedWork {
  readonly context: WorkContext
  readonly validated: ValidatedArguments
  readonly requestMessages: RequestMessages
}

export function createWork(context: WorkContext): Work {
  const shared: SharedWork = { context, validated: new ValidatedArguments(), requestMessages: new RequestMessages() }
  // Bound, so that a stack shows no detour.
  return {
    model: performModel.bind(undefined, shared),
    tool: performTool.bind(undefined, shared),
    check: checkCall.bind(undefined, shared),
  }
}
