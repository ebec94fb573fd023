// The Session API: the one way in which fronts and programs reach a session, whatever host runs it.
import type { JsonObject, JsonValue } from '../json.ts'
import type { ContentPart } from '../messages.ts'
import type { Fact, IgnoreReason } from '../machine/fact.ts'
import type { OpenCall } from '../machine/history.ts'
import type { ClientReport, Delivery, Outcome, UserCommand } from '../machine/input.ts'
import type { Accepted, Refused } from '../machine/refusal.ts'
import type { Phase } from '../machine/state.ts'
import type { Agent, AgentOutput } from './agent.ts'
import type { AskedFor } from './policy.ts'
import type { Turn } from './answer.ts'
import type { ClientConnection, ConnectionInit } from './client-connection.ts'
import type { Client, HandlersOf } from './client-handlers.ts'
import type { AbortSignalLike } from './environment.ts'
import type { ModelSettings } from './model.ts'
import type { Heard } from '../machine/input.ts'
import type { OutputOf, Schema } from './schema.ts'
import type { MessageId } from '../events/session-event.ts'
import type {
  InterruptOptions,
  RewindOptions,
  Interrupted,
  Rewound,
  SessionAction,
  SessionConfiguration,
  TranscriptEntry,
  UrgentEvent,
} from './session-control.ts'
import type { EventsOptions, EventStream, MessagesPage, MessagesQuery, SessionDetails } from './session-reading.ts'
import type { AgentCall } from './typed-calls.ts'
import type { CallDescription, EffectClass, Principal, ToolKind } from './tool.ts'

export interface Host<A extends Agent = Agent> {
  /**
   * Opens a session, or makes a new one when `id` is absent or unknown.
   * @throws BatonError `unauthorized` (it belongs to another principal), `session_held` (another host holds it),
   * `host_stopped`, `store_failed`, `store_conflict`, `unknown_model`, `invalid_agent`
   */
  session<B extends Agent = A>(id?: string, init?: SessionInit<B>): Promise<Session<B>>
  /** Lets running turns end for `drainMs` (0 by default), and tools that interrupted turns left behind, then closes every session. */
  stop(options?: { readonly drainMs?: number }): Promise<void>
}

export type { SessionChange, SessionDirectory, SessionInfo, SessionPage, SessionQuery } from './session-directory.ts'

export interface SessionInit<A extends Agent = Agent> {
  readonly agent?: A
  readonly principal?: Principal
  /** For a new session; an existing one keeps its own. */
  readonly description?: SessionDescription
}

export type { Accepted, Refused }

/** Text, or parts for images and files. */
export type UserInput = string | readonly ContentPart[]

export interface SendOptions {
  readonly model?: string
  readonly settings?: ModelSettings
  /** The same id again is answered as before and does nothing. */
  readonly inputId?: string
  readonly delivery?: Delivery
  /** With `delivery: 'interrupt'`: how much of the newest answer the user took in; `reported` by default. */
  readonly heard?: Heard
  /** Whether whoever sends this can be asked for approvals and questions while it is answered; true by default. */
  readonly asks?: boolean
  /**
   * Takes the question back: an input that waits is withdrawn, and `answer` rejects with `cancelled`; a turn that runs is
   * interrupted, and its answer has `stop: 'cancelled'` with what was said.
   */
  readonly signal?: AbortSignalLike
  /** W3C `traceparent` of the sender: its span becomes the parent of the turn's. Kept in the log. */
  readonly traceparent?: string
}

export interface OutputOptions<Output extends Schema = Schema> extends SendOptions {
  /**
   * The answer is a value of this schema, in place of the agent's `output`: `answer.output`. An object at the root, of at most
   * 32,768 characters as JSON Schema. The host checks the JSON Schema, and asks once more for an answer that does not fit.
   * Checks that only the schema's library can do, such as a refinement, run in this process; then the answer rejects with
   * `invalid_output`. Inputs that want different outputs never share a turn: their turns come one after the other.
   */
  readonly output: Output
}

/**
 * A session rejects what it does not accept: every method rejects with a `BatonError` whose code says why, and `submit` and the
 * methods of a connection answer with the refusal as data. Whatever is handed in is decoded: a value of the wrong shape is refused with the field's name. Its
 * methods work on their own: `const { send } = session`.
 */
export interface Session<A extends Agent = Agent> {
  readonly id: string
  /**
   * Sends what a user says; it is answered by a turn of its own or, while one runs, with the next. Images and files are
   * stored first: refused with `input_too_large` over `limits.mediaBytes`, with `store_failed` when the store fails. What this
   * handle says afterwards comes after them; an interrupt does not wait. An `output` that cannot be said as JSON Schema is
   * refused with `invalid_schema`, one that is too large with `input_too_large`.
   */
  send<const Output extends Schema>(
    input: UserInput,
    options: OutputOptions<Output>,
  ): Turn<OutputOf<Output>, AgentCall<A>>
  send(input: UserInput, options?: SendOptions): Turn<AgentOutput<A>, AgentCall<A>>
  /**
   * Takes in what a speaker said in a conversation that the agent listens to. Entries are answered together, after a silence
   * (`batch` of the agent). @throws BatonError `invalid_transcript` (no words), and as `send`
   */
  hear(entry: TranscriptEntry): Promise<Accepted>
  /** Tells the agent what happened; what waits of a batch goes in before it. @throws BatonError as `send` */
  notify(event: UrgentEvent): Promise<Accepted>
  /** @throws BatonError `illegal_input` for `continue` and `start` of a session that is not paused or stopped */
  control(action: SessionAction): Promise<Accepted>
  /**
   * Hands in a command, or a report of a client that was attached through this handle. What only a host may say (results
   * of server tools, answers of models, timers) is refused with `illegal_input`, and a report in the name of another
   * client with `unauthorized`. An input that is not allowed never rejects: the refusal is the answer. For tests and tools that
   * look at the log; fronts use `connect`.
   */
  submit(input: UserCommand | ClientReport): Promise<Accepted | Refused>
  /**
   * The user interrupts; `heard` says how much of the answer was taken in: by default what a
   * voice has reported, and all where none has. `queue: 'withdraw'` takes back
   * what waits, in the same commit. The promise says which turn it ended.
   * @throws BatonError `invalid_event` for a `turn` that the session does not have
   */
  interrupt(options?: InterruptOptions): Promise<Interrupted>
  /**
   * Takes the conversation back to a message, in one commit: it and all that follows leave, also behind the window. With
   * `replace` something else is said in its place, with `again` what was asked is asked once more (of an answer: another
   * one).
   * @throws BatonError `turn_in_progress` while a turn runs, unless `interrupt` ends it; `unknown_input` for a message that is
   * not in the conversation
   */
  rewind(at: RewindOptions): Promise<Rewound>
  /**
   * Makes a new session of the same principal that has this conversation up to a message, or up to where it last rested. It
   * has the images and files too, and an agent of its own. Gives its id.
   * @throws BatonError `unknown_input`, `store_failed`; `illegal_input` where this kind of host cannot copy a session
   */
  fork(options?: { readonly before?: MessageId }): Promise<string>
  /** Takes back an input that waits. @throws BatonError `unknown_input` once the model has read it */
  withdraw(inputId: MessageId): Promise<Accepted>
  /**
   * Sets the model and settings from the next turn on: another model (a running turn's next step too), and settings that stand
   * below those of `send`. Null takes the settings away.
   * @throws BatonError `unknown_model`, `model_not_configured`
   */
  configure(patch: SessionConfiguration): Promise<Accepted>
  /**
   * Makes this program the client that runs the client tools that it has handlers for; without handlers, all of them, by
   * `toolResult`. A call that no attached client can run waits for `limits.awayMs` (10 minutes by default), and the log
   * and the call's event say so at once.
   * @throws BatonError `rate_limited` when the session has too many clients, `invalid_option` for a handler of a tool that
   * the agent does not have, or that the host runs
   */
  attach(handlers?: HandlersOf<A>): Promise<Client>
  /**
   * A client without a connection, as behind HTTP: it holds its place and its calls by a lease that it renews, and may
   * bring tools of its own. Called again with the same name, by the same principal, it goes on where it was.
   * @throws BatonError `invalid_event`, `invalid_option` (`runs` names something that is not a client tool of the agent), `rate_limited`
   * (too many clients or tools), `unauthorized`
   */
  client(init: LeaseClientInit): Promise<LeaseClient>
  /** An app with a connection of its own, for a front that hands on what it says. */
  connect(init: ConnectionInit): ClientConnection
  /** Answers a client tool's call by hand; this program is attached as that tool's client if it is not yet. */
  toolResult(callId: string, outcome: Outcome): Promise<Accepted>
  /** Calls that wait for a decision, oldest first. */
  approvals(): Promise<readonly PendingApproval[]>
  /**
   * Decides one request, as this handle's principal; with `options.principal` in the name of a person whom the program has asked. Never
   * take that principal from what a client sends.
   * @throws BatonError `approval_refused` when the request is stale, was replaced, has expired or is of another principal's
   * session; `invalid_arguments` for an edit whose input does not fit the tool: the request stays open
   */
  decide(decision: Decision, options?: { readonly principal?: Principal }): Promise<Accepted>
  /** Open questions of running tools, oldest first. */
  questions(): Promise<readonly PendingQuestion[]>
  /** Answers a question, as this handle's principal. @throws BatonError `question_refused`, as `decide` does */
  answer(answer: QuestionAnswer): Promise<Accepted>
  /** Names the session, and keeps what a program notes about it. */
  describe(patch: SessionDescription): Promise<Accepted>
  /**
   * Events of the session, as messages, steps, calls and turns: the past from `from` on, `live`, then new ones.
   * A reader that is slow misses nothing: it reads the log again. Ends when the session is closed, or `signal` aborts.
   * @throws BatonError `invalid_event` for a place that this session has not reached
   */
  events(options?: EventsOptions): EventStream<AgentCall<A>>
  /**
   * The conversation as it stands, oldest first: what was taken back is not in it, and of an answer that is being written
   * what was said so far is. Reads the log.
   * @throws BatonError `invalid_option`, `store_failed`, `log_damaged`
   */
  messages(page?: MessagesQuery): Promise<MessagesPage>
  /**
   * The bytes of an image or a file of the session, as base64, by the `handle` of its source in a message or a result.
   * Undefined where the session has none of this handle. @throws BatonError `store_failed`
   */
  media(handle: string): Promise<string | undefined>
  /** The session's current state. */
  info(): Promise<SessionDetails>
  /**
   * A turn that was begun before, here or elsewhere, by the id of its input: its events from its beginning, and its answer.
   * If it has an output schema of its own, the answer is read by the JSON Schema in the log, or by `output` where that is
   * given: then it has its type. It rejects with `unknown_input` where the session has taken no input of this id.
   */
  turn<const Output extends Schema>(
    inputId: string,
    options: { readonly output: Output },
  ): Turn<OutputOf<Output>, AgentCall<A>>
  turn(inputId: string): Turn<AgentOutput<A>, AgentCall<A>>
  /** Every fact from `cursor` on (from now on without one), then as they come, with live text between them. */
  frames(cursor?: Cursor): FrameStream
  /** A call that is not settled, with what the client needs to run it. */
  openCall(callId: string): OpenCall | undefined
  /** The newest turn, and the position from which its frames can be read. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  readonly phase: Phase
  /** Ends this handle's reading and its client; the session itself lives on. */
  close(): Promise<void>
}

/** Frames one by one, or as many as there are: read it one way or the other, and not both. */
export interface FrameStream extends AsyncIterable<Frame> {
  /** All frames that have come and were not read, at least one; undefined at the end. Costs one promise for all of them. */
  nextBatch(): Promise<readonly Frame[] | undefined>
  /** Ends the reading at once. */
  leave(): void
}

export interface LeaseClientInit {
  /** Its name, the same each time: 1 to 256 characters. */
  readonly client: string
  /** Milliseconds after which it counts as gone without a renewal; 30 s by default, an hour at most. */
  readonly leaseMs?: number
  /** Names of the agent's client tools that it can run; all by default. */
  readonly runs?: readonly string[]
  /** Tools that it brings: offered to the model while it is known, and run by it alone. */
  readonly tools?: readonly ClientTool[]
  /** Whether a person behind it can be asked; true by default. */
  readonly asks?: boolean
  /** It only brings results, and runs nothing: a client of this name that is attached stays as it is. False by default. */
  readonly onlyResults?: boolean
}

export interface ClientTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, an object at its root. */
  readonly inputSchema: JsonObject
  /** `once` by default. */
  readonly effect?: EffectClass
  /** Milliseconds; 30 s by default. */
  readonly timeoutMs?: number
}

export interface TakenResult extends Accepted {
  /**
   * Why the result changes nothing. `unknown`: the session has no such call, or had it long ago; `foreign`: another client was asked;
   * `late`, `duplicate`: the call had been settled.
   */
  readonly ignored?: IgnoreReason
}

export interface ClientClaim extends OpenCall {
  /** The client had claimed the call before: if it has begun to run it, it must not begin again. */
  readonly again?: true
}

export interface LeaseClient {
  readonly client: string
  /** Prolongs the lease by its length. @throws BatonError when the session takes it no more */
  renew(): Promise<void>
  /** Calls that it is asked to run and has not claimed. */
  calls(): readonly OpenCall[]
  /** Before it acts: from now on the call is its own. Gives what it needs to run it. */
  claim(callId: string): Promise<ClientClaim>
  /** `ignored`: it changes nothing. */
  result(callId: string, outcome: Outcome): Promise<TakenResult>
  /** It is gone, with the tools that it brought: what it did not claim may move to another client. */
  release(): Promise<void>
}

/** A call that waits for a person, as it is shown to them. */
export interface PendingApproval extends CallDescription {
  /** Names this request: an edit or a new request has another one. */
  readonly approvalId: string
  readonly callId: string
  /** The tool's name. */
  readonly name: string
  readonly kind?: ToolKind
  readonly input: JsonObject
  /** Why a policy asks; absent where the tool itself asks. */
  readonly asked?: AskedFor
  /** In the session's time; then the call is denied. */
  readonly expiresAtMs: number
}

export type Decision = {
  /** The id of the request that was shown. */
  readonly approvalId: string
  /** At most 4,096 characters; the model is told. */
  readonly reason?: string
  /** Decides later calls of the session too, without asking: all of the tool, or those with the same arguments. */
  readonly remember?: 'tool' | 'arguments'
} & (
  | { readonly decision: 'approve' | 'deny' }
  /** Approves the call with this input in place of the model's. It must fit the tool; it is remembered only for the same arguments. */
  | {
      readonly decision: 'edit'
      /** Only with `edit`: what the tool gets in place of the model's input. */
      readonly input: JsonObject
    }
)

/** A question of a running tool. */
export interface PendingQuestion {
  readonly questionId: string
  readonly callId: string
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  /** In the session's time; then it counts as declined. */
  readonly expiresAtMs: number
}

export type QuestionAnswer = { readonly questionId: string } & (
  { readonly value: JsonValue } | { readonly decline: true; readonly reason?: string }
)

export interface SessionDescription {
  /** At most 200 characters; null takes it away. */
  readonly title?: string | null
  /** Replaces what was noted; at most 8,192 characters as JSON. */
  readonly meta?: JsonObject
}

/** The next position to read. */
export interface Cursor {
  readonly pos: number
}

export type Frame =
  | {
      readonly type: 'fact'
      readonly pos: number
      /** The session's time, in which the deadlines of facts are. */
      readonly nowMs: number
      /** Wall-clock time, if it is a second or more apart from `nowMs`. */
      readonly wallMs?: number
      readonly fact: Fact
      /** Further facts of the same record follow. */
      readonly more?: true
    }
  | LiveFrame
  /** The reader was too slow, or another host had the session for a while: it missed frames. Read again from `pos`. */
  | { readonly type: 'lagged'; readonly pos: number }

/**
 * Frames between records. Pieces of an attempt are provisional until its step ends: superseded with it. They come
 * after the record that began their attempt. Offsets count UTF-16 units of that text, so that a repeat is harmless.
 */
export type LiveFrame =
  | { readonly type: 'text-delta'; readonly attempt: number; readonly offset: number; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly attempt: number; readonly offset: number; readonly text: string }
  /** A tool's input as the model writes it: JSON text. The first one of a call may have no text. */
  | {
      readonly type: 'call-delta'
      readonly attempt: number
      /** Numbers the calls of the answer from 0. */
      readonly index: number
      readonly name: string
      readonly offset: number
      readonly text: string
    }
  /** A tool that the provider runs in the midst of an answer: its name in the provider's words. */
  | {
      readonly type: 'server-tool'
      readonly attempt: number
      readonly name: string
      readonly status: 'started' | 'finished'
    }
  | { readonly type: 'tool-progress'; readonly callId: string; readonly note: JsonValue }
