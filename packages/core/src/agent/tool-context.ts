// The context of a running tool: its caller, the conversation, and ways to inform and ask people and models.
import type { JsonObject, JsonValue } from '../json.ts'
import type { PlanEntry } from '../machine/values.ts'
import type { ContentPart, Message, Usage } from '../messages.ts'
import type { PlatformAbortSignal } from './environment.ts'
import type { OutputOf, Schema } from './schema.ts'
import type { Principal } from './policy.ts'
import type { Session, SessionOptions } from './session-api.ts'
import type { KnownAgent } from './typed-calls.ts'

/**
 * Takes log lines with structured data, such as `createLogger()` or a pino logger. Secrets are removed before a line
 * reaches it. What it throws is ignored.
 */
export interface Logger {
  info(message: string, data?: JsonObject): void
  warn(message: string, data?: JsonObject): void
}

export interface Question<Answer extends Schema = Schema> {
  /** The question, at most 4,000 characters. */
  readonly message: string
  /** Schema of the answer, an object at the root. A Standard Schema fills in defaults and transforms. */
  readonly schema: Answer
  /** Milliseconds until it counts as declined; 10 minutes by default. */
  readonly timeoutMs?: number
}

/** One request of a tool to a model. */
export interface GenerateRequest<Output extends Schema = Schema> {
  /** Text, or text, image and file parts. */
  readonly prompt: string | readonly ContentPart[]
  /** None by default: the model does not get the agent's. */
  readonly instructions?: string
  /** Schema of the answer, an object at the root. */
  readonly output?: Output
  /** The id of a model; by default the turn's, and its fallbacks after a transient failure. */
  readonly model?: string
  /** The agent's setting by default. */
  readonly maxOutputTokens?: number
}

export interface Generated<Value = unknown> {
  readonly text: string
  /** The value that fits `output`; undefined without a schema. */
  readonly value: Value
  /** The id of the model that answered. */
  readonly model: string
  /** Total of all answers that were needed. */
  readonly usage: Usage
}

/**
 * The second argument of `execute`: who calls, a signal that aborts with the call, and what the tool may do meanwhile
 * (ask its user, report progress, use a model).
 */
export interface ToolContext<Services = unknown> {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly callId: string
  /** Number of the turn that made the call. */
  readonly turn: number
  /** 1 for the first start of this call, counted across restarts. */
  readonly attempt: number
  /**
   * The same for every attempt of this call: pass it to the system that the tool changes. That of a `pure` call also
   * names its arguments, because a call that is lost before it is stored leaves its id to the next one.
   */
  readonly idempotencyKey: string
  /** A real AbortSignal; aborts if the call ends before the tool does. */
  readonly signal: PlatformAbortSignal
  readonly services: Services
  readonly log: Logger
  /**
   * The conversation that led to this call, oldest first: the contents of the session's window, without the
   * instructions and the answer that made the call. Loaded on demand; images and files include their bytes. The
   * messages are a copy. @throws BatonError `store_failed`
   */
  messages(): Promise<readonly Message[]>
  /** Shows progress to watching clients; at most 4 KiB, never seen by the model. */
  progress(note: JsonValue): void
  /** Replaces the session's plan, which people see; at most 100 entries of 1,000 characters. */
  plan(entries: readonly PlanEntry[]): void
  /**
   * Asks the user during the call and waits for the answer; the tool's timeout pauses meanwhile. Durable: after a restart
   * a pure or idempotent tool runs again, and its nth question returns the recorded answer.
   * @throws BatonError `question_declined` (by the user, by its deadline, or because no user can be asked), `question_refused`
   * (the question is invalid, or its Standard Schema refuses the user's answer)
   */
  ask<const Answer extends Schema>(question: Question<Answer>): Promise<OutputOf<Answer>>
  /**
   * Calls a model, without the conversation and without tools; at most 20 times in one run. Its cost counts towards the turn's usage and
   * limits. The tool's timeout keeps running, so allow for the time.
   * @throws BatonError `invalid_option`, `invalid_schema`, `unknown_model`, `model_not_configured`, `not_permitted`, `invalid_output`
   * (neither the answer nor a second one fits `output`), `cancelled`, or the code of the model's failure
   */
  generate<const Output extends Schema = Schema>(request: GenerateRequest<Output>): Promise<Generated<OutputOf<Output>>>
  /**
   * Opens the reminders of this call's session: sets, lists and cancels them. After the model has read untrusted text, a new
   * reminder is marked as untrusted.
   * @throws BatonError `illegal_input` (the session of a call has none), `cancelled` (the run has ended)
   */
  reminders(): Promise<Pick<Session, 'at' | 'every' | 'reminders' | 'cancelReminder'>>
  /**
   * Opens another session of the same host, or creates one, as `host.session` does; it belongs to the call's principal
   * unless `principal` says otherwise. Its turns have separate limits and costs. The handle is closed when the
   * tool's run ends, and a turn that still runs goes on. Pass `signal` to `send` to end that turn with the call.
   * @throws BatonError `illegal_input` (it is the session of this call, whose turn would wait for itself), `cancelled` (the
   * run has ended), and as `host.session` does
   */
  openSession<A extends KnownAgent = KnownAgent>(id?: string, options?: SessionOptions<A>): Promise<Session<A>>
}

/** The call that an `approval` function decides on. */
export type AskedCall = Pick<ToolContext, 'session' | 'agent' | 'principal' | 'callId' | 'services' | 'messages'>
