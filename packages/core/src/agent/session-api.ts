// The Session API: the only way that fronts and programs reach a session, on any host.
import type { JsonObject, JsonValue } from '../json.ts'
import type { Accepted, Refused } from '../machine/input.ts'
import type { Principal } from './policy.ts'
import type { Turn } from './answer.ts'
import type { Client, HandlersOf } from './client-handlers.ts'
import type { OutputOf, Schema } from './schema.ts'
import type { MessageId } from '../events/session-event.ts'
import type {
  SendOptions,
  EventsOptions,
  InterruptOptions,
  MessagesQuery,
  SessionConfiguration,
  UrgentEvent,
} from './decode-command.ts'
import type { RewindOptions, Interrupted, Rewound, UserInput } from './session-control.ts'
import type { EventStream, MessagesPage, PendingApproval, PendingQuestion, SessionDetails } from './session-reading.ts'
import type { AgentCall, AgentOutput, KnownAgent } from './typed-calls.ts'

/** Options of `host.session`: `host.session(id, { agent: 'writer', principal: { id: 'ann' } })`. */
export interface SessionOptions<A extends KnownAgent = KnownAgent> {
  /** The session's agent, or the name of one in `agent` or `agents` of a host without `agentOf`. By default the host chooses it. */
  readonly agent?: A | string
  /** The person or service that the session belongs to; `{ id: 'anonymous' }` by default. */
  readonly principal?: Principal
  /** Applies to a new session; an existing one keeps its own. */
  readonly description?: SessionDescription
}

export type { Accepted, Refused }

export type { SendOptions } from './decode-command.ts'

export interface OutputOptions<Output extends Schema = Schema> extends SendOptions {
  /**
   * Schema of the answer, replacing the agent's `output`: `answer.output`. An object at the root, at most 32,768
   * characters as JSON Schema. The host checks the JSON Schema and asks once more for an answer that does not fit.
   * Checks that only the schema's library can do, such as refinements, run in this process; if they fail, the answer
   * rejects with `invalid_output`. Inputs with different outputs never share a turn: their turns follow one another.
   */
  readonly output: Output
}

/**
 * One conversation with an agent. Every method rejects with a `BatonError` whose code says why an input is not accepted.
 * Arguments are decoded: a value of the wrong shape is refused with the field's name. Methods work detached:
 * `const { send } = session`. Fronts find more members with `frontOf(session)`.
 */
export interface Session<A extends KnownAgent = KnownAgent> {
  readonly id: string
  /**
   * Sends a user message. It is answered by its own turn or, while one runs, with the next. Images and files are stored
   * first: refused with `input_too_large` over `limits.mediaBytes`, with `store_failed` if the store fails. Later
   * messages of this handle follow it; an interrupt does not wait. An `output` schema is refused with `invalid_schema`
   * if JSON Schema cannot express it, and with `input_too_large` if it is too large.
   */
  send<const Output extends Schema>(
    input: UserInput,
    options: OutputOptions<Output>,
  ): Turn<OutputOf<Output>, AgentCall<A>>
  send(input: UserInput, options?: SendOptions): Turn<AgentOutput<A>, AgentCall<A>>
  /** Tells the agent about an event; waiting entries of a batch precede it. @throws BatonError as `send` */
  notify(event: UrgentEvent): Promise<Accepted>
  /**
   * Interrupts the running turn; `heard` says how much of the answer the user heard or read: by default what a voice
   * has reported, or everything without a voice. `queue: 'withdraw'` also withdraws queued inputs, in the same commit.
   * The promise says which turn ended. @throws BatonError `invalid_event` for a `turn` that the session does not have
   */
  interrupt(options?: InterruptOptions): Promise<Interrupted>
  /**
   * Rewinds the conversation to a message in one commit: removes it and everything after it, even outside the window.
   * `replace` sends another message in its place; `again` repeats the question (for an answer: requests another one).
   * @throws BatonError `turn_in_progress` while a turn runs, unless `interrupt` ends it; `unknown_input` for a message that is
   * not in the conversation
   */
  rewind(at: RewindOptions): Promise<Rewound>
  /**
   * Creates a session for the same principal with this conversation up to a message, or up to where it last rested,
   * including images and files. It has its own agent. Returns its id.
   * @throws BatonError `unknown_input`, `store_failed`; `illegal_input` if this kind of host cannot copy a session
   */
  fork(options?: { readonly before?: MessageId }): Promise<string>
  /** Withdraws a queued input. @throws BatonError `unknown_input` once the model has read it */
  withdraw(inputId: MessageId): Promise<Accepted>
  /**
   * Sets the model and settings: the model from the next step on, the settings from the next turn on, below those of
   * `send`. Null removes the settings.
   * @throws BatonError `unknown_model`, `model_not_configured`
   */
  configure(patch: SessionConfiguration): Promise<Accepted>
  /**
   * Makes this program the client for the client tools that it has handlers for; without handlers, for all of them,
   * which it claims and answers with the returned client. A call that no attached client can run waits for `limits.awayMs` (10 minutes by default), which
   * the log and the call's event report at once.
   * @throws BatonError `rate_limited` if the session has too many clients, `invalid_option` for a handler of a tool that
   * the agent does not have, or that the host runs
   */
  attach(handlers?: HandlersOf<A>): Promise<Client>
  /** Calls that wait for a decision, oldest first. */
  approvals(): Promise<readonly PendingApproval[]>
  /**
   * Decides one request as this handle's principal, or as `options.principal` for a person whom the program has asked. Never
   * take that principal from a client's message.
   * @throws BatonError `approval_refused` if the request is stale, was replaced, has expired or belongs to another principal's
   * session; `invalid_arguments` for an edit whose input does not fit the tool: the request stays open
   */
  decide(decision: Decision, options?: { readonly principal?: Principal }): Promise<Accepted>
  /** Open questions of running tools, oldest first. */
  questions(): Promise<readonly PendingQuestion[]>
  /** Answers a question, as this handle's principal. @throws BatonError `question_refused`, as `decide` does */
  answer(answer: QuestionAnswer): Promise<Accepted>
  /** Sets the session's title and the program's metadata. */
  describe(patch: SessionDescription): Promise<Accepted>
  /**
   * Events of the session, as messages, steps, calls and turns: the past from `from` on, `live`, then new ones.
   * A slow reader misses nothing: it reads the log again. Ends when the session is closed or `signal` aborts.
   * @throws BatonError `invalid_event` for a position that this session has not reached
   */
  events(options?: EventsOptions): EventStream<AgentCall<A>>
  /**
   * The current conversation, oldest first: without rewound messages, and with the partial text of a running answer.
   * Reads the log.
   * @throws BatonError `invalid_option`, `store_failed`, `log_damaged`
   */
  messages(page?: MessagesQuery): Promise<MessagesPage>
  /**
   * The bytes of an image or file of the session as base64, by the `handle` of its source in a message or result;
   * undefined for an unknown handle. @throws BatonError `store_failed`
   */
  media(handle: string): Promise<string | undefined>
  /** The session's current state. */
  info(): Promise<SessionDetails>
  /**
   * An existing turn, started here or elsewhere, by the id of its input: its events from the beginning, and its answer.
   * If it has its own output schema, the answer is read with the JSON Schema in the log, or with `output`, which also
   * gives it a type. Rejects with `unknown_input` if the session never accepted an input with this id.
   */
  turn<const Output extends Schema>(
    inputId: string,
    options: { readonly output: Output },
  ): Turn<OutputOf<Output>, AgentCall<A>>
  turn(inputId: string): Turn<AgentOutput<A>, AgentCall<A>>
  /** Ends this handle's reading and its client; the session itself lives on. */
  close(): Promise<void>
}

/**
 * The answer to an approval request: `{ approvalId, decision: 'approve' }`, `'deny'` with a reason that the model
 * reads, or `'edit'` with other arguments.
 */
export type Decision = {
  /** Id of the request that was shown. */
  readonly approvalId: string
  /** At most 4,096 characters; the model reads it. */
  readonly reason?: string
  /** Also decides later calls of the session without asking: all of the tool, or those with the same arguments. */
  readonly remember?: 'tool' | 'arguments'
} & (
  | { readonly decision: 'approve' | 'deny' }
  /**
   * Approves the call with this input instead of the model's. It must fit the tool; it is remembered only for the same
   * arguments.
   */
  | {
      readonly decision: 'edit'
      /** Only with `edit`: the input that replaces the model's. */
      readonly input: JsonObject
    }
)

export type QuestionAnswer = { readonly questionId: string } & (
  { readonly value: JsonValue } | { readonly decline: true; readonly reason?: string }
)

export interface SessionDescription {
  /** At most 200 characters; null removes it. */
  readonly title?: string | null
  /** Replaces the metadata; at most 8,192 characters as JSON. */
  readonly meta?: JsonObject
}
