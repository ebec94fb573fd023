// The Session API: the only way that fronts and programs reach a session, on any host. It sends, steers, and reads a
// session: its events, its messages, its state, and what waits for a person.
import type { JsonObject, JsonValue } from '../json.ts'
import type { Accepted, Refused } from '../machine/input.ts'
import type { Principal, AskedFor } from './policy.ts'
import type { Client, HandlersOf } from './client-handlers.ts'
import type { OutputOf, Schema } from './schema.ts'
import type {
  MessageId,
  CallView,
  ContextUse,
  EventCursor,
  SessionActivity,
  SessionEvent,
  LimitName,
  TurnStop,
} from '../events/session-event.ts'
import type {
  SendOptions,
  EventsOptions,
  InterruptOptions,
  MessagesQuery,
  SessionConfiguration,
  UrgentEvent,
} from './decode-command.ts'
import type { Reminder, ReminderInput, ReminderOptions } from './decode-reminder.ts'
import type { AgentCall, AgentOutput, KnownAgent } from './typed-calls.ts'
import type { ChatMessage } from '../events/conversation.ts'
import type { PathStep } from '../machine/tree-values.ts'
import type { Deciders, Delivery, PlanEntry } from '../machine/values.ts'
import type { CallDescription, ToolKind } from './tool-options.ts'
import type { ContentPart, SourcePart, Usage } from '../messages.ts'
import type { TurnOutcome } from '../machine/fact.ts'

/** Options of `host.session`: `host.session(id, { agent: 'writer', principal: { id: 'ann' } })`. */
export interface SessionOptions<A extends KnownAgent = KnownAgent> {
  /** The session's agent, or the name of one in `agent` or `agents` of a host without `agentOf`. By default the host chooses it. */
  readonly agent?: A | string
  /** The person or service that the session belongs to; `{ id: 'anonymous' }` by default. */
  readonly principal?: Principal
  /**
   * The operator who acts in the owner's name, whom the program has authenticated: it has the owner's rights, and the log names
   * it for decisions, interrupts, rewinds and cancelled calls.
   */
  readonly by?: Principal
  /** Applies to a new session; an existing one keeps its own. */
  readonly description?: SessionDescription
  /** Refuses a session that does not exist with `unknown_session`, instead of creating it. False by default. */
  readonly existing?: boolean
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
  /** Calls in the background: the open ones, and the last 32 that have ended. */
  tasks(): Promise<readonly CallView[]>
  /**
   * Ends a task, or a delegated call of the running turn, as this handle's principal. The model learns of it with the next
   * input. A client or an agent that works on it is told to stop; what it may have done stays done.
   * @throws BatonError `call_over` if it has settled, `illegal_input` for another call of the running turn
   */
  cancel(callId: string): Promise<Accepted>
  /**
   * Sets a reminder: an input at a moment of the wall clock. `time` is a date, milliseconds since 1970, or ISO 8601 text,
   * which is local to `zone` without an offset. The session may be closed, and its host may restart meanwhile; a reminder that
   * was missed fires once at the next start, marked as late. At most 32 reminders of a session wait.
   * @throws BatonError `invalid_event` (an invalid time, a time more than a minute ago, an unknown zone), `rate_limited` (too
   * many reminders), `input_too_large`, `illegal_input` (the session of a call)
   */
  at(time: Date | number | string, input: ReminderInput, options?: ReminderOptions): Promise<Reminder>
  /**
   * Sets a repeated reminder: by a cron expression with five fields, in local times of `zone`, or by an interval in
   * milliseconds, at least 60,000. Missed times fire once.
   */
  every(rule: string | number, input: ReminderInput, options?: ReminderOptions): Promise<Reminder>
  /** Reminders that wait, the next one first. */
  reminders(): Promise<readonly Reminder[]>
  /** Cancels a reminder. @throws BatonError `unknown_input` if none of this name waits */
  cancelReminder(id: string): Promise<Accepted>
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
  /**
   * Opens the session of a delegated call for reading, while it works and after it. `path` has the ids of the calls that lead to
   * it, this session's own first. Its events end when the call does. Waits up to 5 seconds for a session that is being opened.
   * @throws BatonError `invalid_option`; `unknown_session` if the call has none; `illegal_input` if this kind of host cannot
   * read it; `store_failed`, `log_damaged`
   */
  child(path: readonly string[]): Promise<Pick<Session, 'id' | 'events' | 'messages' | 'media' | 'info' | 'close'>>
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
  /** At most 4,096 characters, for people: events and the log have it, and no model reads it. */
  readonly note?: string
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

/** Events one by one or in batches; use one way or the other, not both. */
export interface EventStream<Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** All available events, at least one; the events of a record stay together. Undefined at the end. */
  nextBatch(): Promise<EventBatch<Call> | undefined>
  /** Ends the reading at once. */
  leave(): void
}

export interface EventBatch<Call extends CallView = CallView> {
  readonly events: readonly SessionEvent<Call>[]
  /** The cursor after them. */
  readonly next: EventCursor
}

/** A page of `session.messages`, oldest message first. */
export interface MessagesPage {
  readonly messages: readonly ChatMessage[]
  /** There are older ones: query again with `before`. */
  readonly more: boolean
  /** Pass it to `events` to continue after this page. */
  readonly next: EventCursor
}

/** A call that waits for a person's decision, as it is shown to them. */
export interface PendingApproval extends CallDescription {
  /** Id of this request: an edit or a new request has another one. */
  readonly approvalId: string
  readonly callId: string
  /** The tool's name. */
  readonly name: string
  readonly kind?: ToolKind
  readonly input: JsonObject
  /** Why a policy asks; absent if the tool itself asks. */
  readonly asked?: AskedFor
  /** Session time at which it was asked; absent where only its event is known. */
  readonly askedMs?: number
  /** Session time at which the call is denied. */
  readonly expiresAtMs: number
  /** People who decide; absent: the session's own principal. */
  readonly deciders?: Deciders
  /** Those of them who have approved it, if it needs several. */
  readonly given?: readonly Principal[]
  /** For a call of an agent below: the delegated calls down to it, and the agents that they call. */
  readonly path?: readonly PathStep[]
}

/** A question of a running tool. */
export interface PendingQuestion {
  readonly questionId: string
  readonly callId: string
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  /** Session time at which it counts as declined. */
  readonly expiresAtMs: number
  /** See `PendingApproval.path`. */
  readonly path?: readonly PathStep[]
}

/** The state of a session, from `session.info()`: one look, without its messages. */
export interface SessionDetails {
  readonly id: string
  readonly agent: string
  readonly principal: Principal
  readonly title?: string
  readonly meta: JsonObject
  readonly activity: SessionActivity
  /** The model of the next turn, and the ids of all candidates, in order. */
  readonly model: string
  readonly models: readonly string[]
  /** Queued inputs, oldest first. */
  readonly queued: readonly { readonly inputId: MessageId; readonly delivery: Delivery }[]
  readonly approvals: readonly PendingApproval[]
  readonly questions: readonly PendingQuestion[]
  /** Open calls in the background, oldest first. */
  readonly tasks: readonly CallView[]
  readonly plan: readonly PlanEntry[]
  /** Estimated tokens of the next request; `size` is the model's window, if known. */
  readonly context: ContextUse
  /** Time of the newest record, in milliseconds since 1970. */
  readonly lastMs: number
  /** The cursor at which `events` continues from now. */
  readonly head: EventCursor
}

/** Text, or parts for images and files. */
export type UserInput = string | readonly ContentPart[]

export interface Interrupted {
  /** The answer whose turn was ended; absent if no turn was running, or not the named one. */
  readonly turn?: MessageId
}

/**
 * Options of `session.rewind`: removes a message and all later ones, and asks again (`again`) or with another message
 * (`replace`). A message of the assistant is asked again with its turn.
 */
export interface RewindOptions {
  readonly message: MessageId
  /** Only for a user message. */
  readonly replace?: UserInput
  readonly again?: boolean
  /** Ends a running turn first; otherwise a rewind is refused while one runs. */
  readonly interrupt?: boolean
  /** Sending the same id again has no effect. It becomes the id of the replacing message. */
  readonly inputId?: MessageId
}

/** `turn` is the answer in progress, for `session.turn`; absent if no answer was requested. */
export type Rewound = Accepted & { readonly turn?: MessageId }

/**
 * Events from the moment the model gets the input until the turn ends: `for await (const event of turn)`. After the
 * last event the loop throws what `answer` rejects with. Unread text is joined, so an unread turn stays small. Await
 * its `answer`, not the turn itself.
 */
export interface Turn<Output = unknown, Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** Id of the input that started it. */
  readonly id: MessageId
  /** @throws BatonError with the code of a failed turn, or of the refusal if the input is not accepted */
  readonly answer: Promise<Answer<Output>>
}

/**
 * `stop` says why the turn ended: `end`, or the reason it was cut short. With `end`, an agent with an output schema has
 * an `output`.
 */
export type Answer<Output = unknown> = AnswerParts &
  (
    | { readonly stop: 'end'; readonly output: Output }
    /** The calls of the last step, with their results. */
    | { readonly stop: 'tool'; readonly calls: readonly CallView[]; readonly output?: undefined }
    /** The value. Also present after a limit ended a complete answer; absent for an interrupted or silent turn. */
    | { readonly stop: Exclude<TurnStop, 'failed' | 'end' | 'tool'>; readonly output?: Output }
  )

interface AnswerParts {
  readonly outcome: Exclude<TurnOutcome, 'failed'>
  /** The full text. For an interrupted or stopped turn, the part that stays in the conversation. */
  readonly text: string
  /** Total over all steps of the turn. */
  readonly usage: Usage
  /**
   * Pages and documents cited by the turn's steps, without duplicates, numbered (`source-1`) in order of citation. At
   * most `ANSWER_SOURCES_MAX` (200); the events have all of them.
   */
  readonly sources: readonly SourcePart[]
  /** Limits that were reached. */
  readonly limits: readonly LimitName[]
  /** The oldest messages no longer reach the model: they were summarised or dropped. */
  readonly forgotten: boolean
}

/** Maximum sources of an `Answer`. */
export const ANSWER_SOURCES_MAX = 200
