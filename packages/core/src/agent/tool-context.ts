// The context of a running tool: who called it, the conversation, and ways to tell and ask people and models.
import type { JsonObject, JsonValue } from '../json.ts'
import type { PlanEntry } from '../machine/spec.ts'
import type { ContentPart, Message, Usage } from '../messages.ts'
import type { PlatformAbortSignal } from './environment.ts'
import type { OutputOf, Schema } from './schema.ts'

export interface Principal {
  /** Who is behind a session; `anonymous` where nobody logged in. */
  readonly id: string
}

export interface Logger {
  info(message: string, data?: JsonObject): void
  warn(message: string, data?: JsonObject): void
}

export interface Question<Answer extends Schema = Schema> {
  /** The question, at most 4,000 characters. */
  readonly message: string
  /** The schema of the answer, an object at the root. A Standard Schema fills in defaults and transforms. */
  readonly schema: Answer
  /** Milliseconds until it counts as declined; 10 minutes by default. */
  readonly timeoutMs?: number
}

/** One question of a tool to a model. */
export interface GenerateRequest<Output extends Schema = Schema> {
  /** A text, or texts, pictures and files. */
  readonly prompt: string | readonly ContentPart[]
  /** None by default: the model is not told the agent's. */
  readonly instructions?: string
  /** A schema with an object at the root: the answer is a value of it. */
  readonly output?: Output
  /** The id of a model; by default the turn's, and its fallbacks after a failure that may go away. */
  readonly model?: string
  /** The agent's setting by default. */
  readonly maxOutputTokens?: number
}

export interface Generated<Value = unknown> {
  readonly text: string
  /** The value of the schema `output`; undefined without one. */
  readonly value: Value
  /** The id of the model that answered. */
  readonly model: string
  /** Summed over all answers that were needed. */
  readonly usage: Usage
}

export interface ToolContext<Services = unknown> {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly callId: string
  /** The number of the turn that asked for the call. */
  readonly turn: number
  /** 1 for the first start of this call, counted across restarts. */
  readonly attempt: number
  /** The same for every attempt of this call: hand it to the system that the tool changes. */
  readonly idempotencyKey: string
  /** A real AbortSignal: aborted when the call is over before the tool ends. */
  readonly signal: PlatformAbortSignal
  readonly services: Services
  readonly log: Logger
  /**
   * The conversation that led to this call, oldest first: what the session's window has of it, without the instructions and without
   * the answer that has the call. Read when it is asked for; pictures and files come with their bytes. The messages are a copy.
   * @throws BatonError `store_failed`
   */
  messages(): Promise<readonly Message[]>
  /** Tells watching clients how far the tool is; at most 4 KiB, never seen by the model. */
  progress(note: JsonValue): void
  /** Replaces the session's plan, which people see; at most 100 entries of 1,000 characters. */
  plan(entries: readonly PlanEntry[]): void
  /**
   * Asks the user in mid-call and waits for the answer; the tool's clock stands still meanwhile. Durable: after a restart
   * a pure or idempotent tool runs again, and its nth question has the recorded answer.
   * @throws BatonError `question_declined` (by the user, by its deadline, or nobody can be asked), `question_refused` (it
   * cannot be asked, or its Standard Schema refuses what the user answered)
   */
  ask<const Answer extends Schema>(question: Question<Answer>): Promise<OutputOf<Answer>>
  /**
   * Asks a model, without the conversation and without tools; at most 20 times in one run. What it costs counts in the turn's usage and
   * limits. The tool's clock goes on meanwhile, so give it time.
   * @throws BatonError `invalid_option`, `invalid_schema`, `unknown_model`, `model_not_configured`, `not_permitted`, `invalid_output` (the answer does not fit
   * `output`, not the second one either), `cancelled`, or the code of the model's failure
   */
  generate<const Output extends Schema = Schema>(request: GenerateRequest<Output>): Promise<Generated<OutputOf<Output>>>
}

/** The call that an `approval` function is asked about. */
export type AskedCall = Pick<ToolContext, 'session' | 'agent' | 'principal' | 'callId' | 'services' | 'messages'>
