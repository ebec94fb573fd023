// An app's handle of a session: its state, its methods and its events.
import type {
  Agent,
  AgentCall,
  AbortSignalLike,
  AssistantChatMessage,
  ModelAnswer,
  ModelEvent,
  ModelRequest,
  TurnStop,
  Usage,
  CallView,
  Decision,
  Delivery,
  JsonObject,
  JsonValue,
  MessageId,
  ModelSettings,
  QuestionAnswer,
  SessionAction,
  SessionDetails,
  SessionEvent,
  StepView,
  UserChatMessage,
  UserInput,
} from '@baton/core/internal'
import type { CallOutcome, ClaimedCall, Heard, Requests, SentenceFrame, SentencesDroppedFrame } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import type { ConnectionState, ReconnectOptions } from '../connection.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { World } from '../world.ts'
import type { BroughtTool, ToolHandler } from './client-tools.ts'
import type { OpenCallView, ViewState } from './session-view.ts'

/** A model that an app runs: any `Model`, such as `loadGgufModel(file)` in Node. */
export interface AppModel {
  /**
   * `sink` takes pieces of the answer as they arrive; the promise resolves with all of it. Errors are sent to the
   * server.
   */
  run(request: ModelRequest, sink: (piece: ModelEvent) => void, signal: AbortSignalLike): Promise<ModelAnswer>
}

/** Options of `openSession` and `useSession`: `{ url, session, tools: { 'place.find': findPlace } }`. */
export interface OpenSessionOptions<Handlers = Readonly<Record<string, ToolHandler>>> {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  /** Id of the session. Without it, the client creates a session and chooses its id: `client.id`. */
  readonly session?: string
  /** Applies to a new session; an existing one keeps its own. */
  readonly title?: string
  readonly meta?: JsonObject
  /** Number of newest messages to show at first; 50 by default, at most 200. `older` reads more. */
  readonly messages?: number
  /** The agent's client tools that this app runs, by name. Calls of other tools are not offered to this app. */
  readonly tools?: Handlers
  /** Runs calls of the agent's client tools that `tools` does not name, for example a console that asks a person. */
  readonly otherTool?: ToolHandler
  /** Tools that the agent does not have: the app provides them while it is connected. */
  readonly ownTools?: Readonly<Record<string, BroughtTool>>
  /**
   * Models that this app runs, by the names of the server's agent (`clientModel` of @baton/models/client). They receive
   * requests while the app is connected; if its connection breaks, an unfinished answer is void, and the server asks
   * again.
   */
  readonly models?: Readonly<Record<string, AppModel>>
  /** Whether a person behind the app can answer approvals and questions; true by default. */
  readonly asks?: boolean
  /** Follows delegated calls too: `children` of the snapshot has what their agents say. False by default. */
  readonly children?: boolean
  /** Turns on `sentence` events, for a voice; off by default. `only`: a new answer's text in `messages` stays empty. */
  readonly speech?: true | 'only'
  /** Milliseconds that calls wait for this app after its connection broke; the server decides by default. */
  readonly leaseMs?: number
  /** Storage of messages and results that wait for the server. By default IndexedDB in pages, memory elsewhere. */
  readonly outbox?: Outbox
  readonly reconnect?: ReconnectOptions
  readonly world?: World
}

/** A message that the server does not show yet. */
export interface PendingMessage extends UserChatMessage {
  /**
   * `failed`: the server refused it, for the reason in `error`. Send it again with `retry`, or drop it with `withdraw`.
   */
  readonly delivery: 'pending' | 'failed'
  readonly error?: ClientError
}

/**
 * A message in the snapshot of a client. One that the server has not accepted yet has a `delivery`, `pending` or `failed`.
 */
export type SessionMessage<Call extends CallView = CallView> =
  | PendingMessage
  | (UserChatMessage & { readonly delivery?: undefined })
  | (Omit<AssistantChatMessage, 'steps'> & {
      readonly steps: readonly (Omit<StepView, 'calls'> & { readonly calls: readonly Call[] })[]
    })

/**
 * The state of a session for display. It is replaced when something changes, and so is each array in it; unchanged
 * parts stay the same.
 */
export interface SessionSnapshot<Call extends CallView = CallView> extends Omit<ViewState, 'calls'> {
  readonly session: string
  /** `waiting`: the connection broke, and is tried again after a pause. */
  readonly status: ConnectionState
  /** Whether the session has been read. Without a connection, its last known state is shown. */
  readonly isLoaded: boolean
  /** Oldest first, followed by queued messages and messages that the server does not show yet. */
  readonly messages: readonly SessionMessage<Call>[]
  /** Whether there are older messages: `older` reads them. */
  readonly more: boolean
  /** Unsettled calls. */
  readonly calls: readonly OpenCallView<Call>[]
  /** The newest error outside a request. Cleared when the session is followed again. */
  readonly error: ClientError | undefined
}

/** Events of a session client, by name: `client.on('event', (event) => …)`. */
export interface SessionClientEvents<Call extends CallView = CallView> {
  /** Each event of the session once, after the snapshot includes it. */
  readonly event: SessionEvent<Call>
  /** Sentences for a voice: each sentence once, in order. */
  readonly sentence: SentenceFrame
  /**
   * The model's attempt was discarded: do not say sentences of `message` from `index` on. The next attempt begins at
   * `index` again.
   */
  readonly 'sentences.dropped': SentencesDroppedFrame
  readonly status: ConnectionState
  /** An error outside a request. With `unauthorized` the server rejects this client, and it stays closed. */
  readonly error: ClientError
  /** This app starts to run a call. */
  readonly call: ClaimedCall
  /** The outcome of this app's tool. */
  readonly outcome: { readonly callId: string; readonly outcome: CallOutcome }
}

/** Options of `client.send`. Without any, the message waits for its turn in the queue. */
export interface SendOptions {
  /** The message's id; generated by default. Sending the same id again has no effect. */
  readonly id?: MessageId
  readonly model?: string
  readonly settings?: ModelSettings
  /** When the model reads it while a turn runs; the server decides by default. */
  readonly delivery?: Delivery
  /** A JSON Schema that the answer must fit, replacing the agent's. */
  readonly output?: JsonObject
  /** With `delivery: 'interrupt'`: how much of the answer the user has heard or seen; defaults as for `interrupt`. */
  readonly heard?: Heard
}

export interface NotifyOptions {
  readonly name: string
  /** Label in brackets before the name, for the model; `Event` by default. */
  readonly label?: string
  readonly detail?: JsonValue
  /** Description for the model. */
  readonly message?: string
  readonly delivery?: Delivery
  readonly heard?: Heard
}

export interface SessionAnswer {
  readonly stop: Exclude<TurnStop, 'failed'>
  /** The texts of all steps joined by a blank line. */
  readonly text: string
  readonly usage: Usage
}

/** A sent message. You need not await either promise: a failure also shows in the message, or as `error`. */
export interface SentInput {
  readonly id: MessageId
  /** Resolves when the server has it in its log; rejects if the server refuses it. */
  readonly accepted: Promise<void>
  /**
   * Resolves when its turn has ended. Rejects with the turn's error, or with `cancelled` if the message was withdrawn.
   */
  readonly answer: Promise<SessionAnswer>
}

export interface RewindInput {
  readonly message: MessageId
  /** Replaces the message, which must be a user's. */
  readonly replace?: UserInput
  /** Requests the answer once more. */
  readonly again?: true
  /** Ends a running turn; otherwise the server refuses it with `turn_in_progress`. */
  readonly interrupt?: true
}

/**
 * A session, over any number of connections. Its methods work detached: `const { send } = client`. Promises reject with
 * a `ClientError`: branch on its `code`. A request waits up to 30 seconds for a connection.
 */
export interface SessionClient<A extends Agent = Agent> {
  readonly id: string
  /** The `speech` option of `openSession`; false by default. */
  readonly speech: boolean | 'only'
  getSnapshot(): SessionSnapshot<AgentCall<A>>
  /** Calls the listener after each change of the snapshot; the returned function removes it. */
  subscribe(listener: () => void): () => void
  on<Name extends keyof SessionClientEvents>(
    name: Name,
    listener: (event: SessionClientEvents<AgentCall<A>>[Name]) => void,
  ): () => void
  /**
   * Sends a message. It is shown at once, kept until the server has it, and sent again under the same id after a connection broke.
   * @throws ClientError `queue_full` if 100 inputs are already waiting, `session_closed`
   */
  send(content: UserInput, options?: SendOptions): SentInput
  /** Sends a speaker's words in a conversation that the agent listens to. @throws ClientError as `send` */
  hear(speaker: string, text: string): SentInput
  /** Reports an event outside the conversation. @throws ClientError as `send` */
  notify(event: NotifyOptions): SentInput
  /** Sends a refused message again. @throws ClientError as `send` */
  retry(message: MessageId): void
  /** Withdraws a queued or refused message. */
  withdraw(message: MessageId): Promise<void>
  /** Rewinds the conversation to a message. @throws ClientError as `send` */
  rewind(to: RewindInput): SentInput
  /** Replaces a message; ends a running turn. @throws ClientError as `send` */
  edit(message: MessageId, content: UserInput): SentInput
  /** Requests an answer once more, the newest one by default. @throws ClientError as `send`, `unknown_input` */
  regenerate(message?: MessageId): SentInput
  /**
   * Ends the running turn. `heard`: how much of the answer the user has heard or seen; by default what `played`
   * reported, or everything without a report.
   */
  interrupt(options?: Requests['turn.interrupt']['given']): Promise<void>
  /**
   * Reports how far a voice has played an answer: `end` of a sentence, or 0 when it begins. The newest report replaces
   * the earlier ones.
   */
  played(place: Requests['speech.played']['given']): Promise<void>
  decide(decision: Decision): Promise<void>
  /** Calls in the background: the open ones, and the last 32 that have ended. `calls` of a snapshot has the open ones too. */
  tasks(): Promise<readonly CallView[]>
  /** Ends a call in the background, or a delegated call of the running turn. */
  cancel(callId: string): Promise<void>
  answer(answer: QuestionAnswer): Promise<void>
  describe(patch: { readonly title?: string | null; readonly meta?: JsonObject }): Promise<void>
  /** Sets the model and the settings from the next turn on. */
  configure(patch: { readonly model?: string; readonly settings?: ModelSettings | null }): Promise<void>
  control(action: SessionAction): Promise<void>
  /**
   * Copies the session, up to a message or as a whole, and returns the copy's id. If the connection breaks, the request
   * is not repeated.
   */
  fork(options?: { readonly before?: MessageId }): Promise<string>
  /** Returns the server's current state of the session, including the size of its context. */
  info(): Promise<SessionDetails>
  /** Reads older messages, 50 by default. Returns false if there are no others. */
  older(limit?: number): Promise<boolean>
  /** Closes the client. Unsent messages stay in the outbox; calls that run here are aborted. */
  close(): void
}
