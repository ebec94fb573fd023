// The requests of wire version 2, as an app sends them, with the fields of their answers. `v2-schema.ts` describes them
// in JSON Schema; docs/protocol-2-reference.md is generated from both, so the comments here are the page's text.
import type {
  ChatMessage,
  ContentPart,
  Decision,
  Delivery,
  EventCursor,
  Heard,
  JsonObject,
  JsonValue,
  LeaseClientOptions,
  MessageId,
  ModelAnswer,
  ModelEvent,
  ModelSettings,
  QuestionAnswer,
  SessionAction,
  SessionDetails,
  SessionInfo,
  SpeechPlace,
  UserInput,
} from '@baton/core/internal'

/** A device: one running copy of an app, such as a page or a process. It holds calls by a lease. */
export type DeviceOptions = Omit<LeaseClientOptions, 'client' | 'leaseMs' | 'onlyResults'> & {
  /** Unique for each running copy of the app, and unchanged when it reconnects: 1 to 256 characters. */
  readonly name: string
  /** Milliseconds to reconnect after its connection broke: 5,000 to 3,600,000; 60,000 by default. */
  readonly leaseMs?: number
  /** Models that the app runs, by the names of the server's agent: it receives `model.run`. */
  readonly models?: readonly string[]
}

/** The end of a model call in an app: the whole answer, or the reason for the failure. */
export type ModelOutcome = { readonly answer: ModelAnswer } | { readonly error: ModelError }

export interface ModelError {
  readonly message: string
  /** A `model_*` code, or `context_overflow`; `model_provider_failed` by default. */
  readonly code?: string
  /** Whether the same request may succeed later; false by default. */
  readonly retryable?: boolean
}

/** The outcome of a client tool: JSON, parts (such as text and images), or why it failed. */
export type CallOutcome =
  { readonly output: JsonValue } | { readonly content: readonly ContentPart[] } | { readonly error: string }

/** A claimed call, with what its device needs to run it. */
export interface ClaimedCall {
  readonly callId: string
  readonly name: string
  /** The input written by the model, or by a person who replaced it. It has been validated. */
  readonly input: JsonObject
}

/** The position at which a connection continues. Store it unchanged and send it back as `from`. */
export interface V2Cursor extends EventCursor {
  /**
   * On a connection with `speech`: how far the sentences were sent. With `speech`, a cursor without it is refused in
   * the middle of a step's text.
   */
  readonly speech?: SpeechPlace
}

/**
 * With `from: 'now'` no past events are sent; `messages` returns the past as messages. A cursor continues after its
 * event.
 */
export type OpenFrom = V2Cursor | 'start' | 'turn' | 'now'

/** Each request by type: `given` are its fields in addition to `id` and `type`, `answer` the fields of its `ok`. */
export interface Requests {
  /** Checks whether the connection is alive: browsers cannot send the WebSocket's own pings. */
  readonly ping: { readonly given: object; readonly answer: object }
  /**
   * Follows a session: its events are sent until `session.close`. Without `session` a new one is created. A connection
   * follows one session at a time. With `messages`, the answer has that many of the newest messages, and the events
   * continue after them; without `messages` and `from`, events start at the beginning of the newest turn.
   */
  readonly 'session.open': {
    readonly given: {
      /** Its name, 1 to 256 characters. Created if it does not exist. */
      readonly session?: string
      /**
       * With `true`, a session that does not exist is refused with `unknown_session`, so that a deleted one is not
       * created again.
       */
      readonly existing?: boolean
      /** As for `session.describe`. */
      readonly title?: string
      /** As for `session.describe`. */
      readonly meta?: JsonObject
      /**
       * The first event: after a cursor, the first of all, that of the newest turn, or only new ones. `turn` by
       * default.
       */
      readonly from?: OpenFrom
      /** Number of newest messages in the answer; the events continue after them, unless `from` says otherwise. */
      readonly messages?: number
      /** Attaches this device, as `device.attach` does. */
      readonly device?: DeviceOptions
      /** Sends `sentence` frames for a voice. `only`: without `text` events. */
      readonly speech?: boolean | 'only'
    }
    readonly answer: {
      /** Its name. */
      readonly session: string
      /** Its current state. */
      readonly info: SessionDetails
      /** If `messages` asked for them: the current conversation, oldest first. */
      readonly messages?: readonly ChatMessage[]
      /** There are older messages; request them with `session.messages`. */
      readonly more?: boolean
      /** The cursor at which the events begin. */
      readonly next: V2Cursor
      /** The lease of the device: milliseconds to reconnect after its connection broke. */
      readonly leaseMs?: number
    }
  }
  /** Stops following the session; its turn continues. A device keeps its lease. */
  readonly 'session.close': { readonly given: object; readonly answer: object }
  /** Returns the session's current state. */
  readonly 'session.info': { readonly given: object; readonly answer: { readonly info: SessionDetails } }
  /** A page of the current conversation, oldest first, without rewound messages. */
  readonly 'session.messages': {
    readonly given: {
      /** Only messages before this one. */
      readonly before?: MessageId
      /** Number of newest messages to return; 50 by default. */
      readonly limit?: number
    }
    readonly answer: {
      readonly messages: readonly ChatMessage[]
      /** There are older ones. */
      readonly more: boolean
    }
  }
  /** Describes the open session, or another one of the same principal. */
  readonly 'session.describe': {
    readonly given: {
      /** The open session by default. */
      readonly session?: string
      /** At most 200 characters; null removes it. */
      readonly title?: string | null
      /** A program's metadata about the session; replaces earlier metadata. At most 8,192 characters as JSON. */
      readonly meta?: JsonObject
    }
    readonly answer: object
  }
  /** Sets the model and the settings from the next turn on. Refused if the server does not allow the choice. */
  readonly 'session.configure': {
    readonly given: {
      /** One of `info.models`. A running turn uses it from its next step on. */
      readonly model?: string
      /** Settings of all turns from the next one on; null removes them. */
      readonly settings?: ModelSettings | null
    }
    readonly answer: object
  }
  /** `pause` keeps the turn for `continue`; `stop` ends it, and inputs are refused until `start`. */
  readonly 'session.control': { readonly given: { readonly action: SessionAction }; readonly answer: object }
  /** Copies the session up to a message and answers with the copy's id; open the copy to continue there. */
  readonly 'session.fork': {
    readonly given: {
      /** Only the part before this message; absent: up to where the session last rested. */
      readonly before?: MessageId
    }
    readonly answer: {
      /** Id of the copy. */
      readonly session: string
    }
  }
  /** The principal's sessions, a page at a time. */
  readonly 'session.list': {
    readonly given: {
      /** The cursor from the previous page. */
      readonly cursor?: string
      /** 50 by default. */
      readonly limit?: number
      /** Only sessions whose `meta` has these fields with these values. */
      readonly meta?: JsonObject
    }
    readonly answer: {
      readonly sessions: readonly SessionInfo[]
      /** Present if there are more. */
      readonly cursor?: string
    }
  }
  /** Subscribes to changes of the principal's sessions, which are sent as `session.changed`. */
  readonly 'session.watch': { readonly given: object; readonly answer: object }
  /** Closes the session, and removes it with everything that belongs to it. Succeeds if it does not exist. */
  readonly 'session.delete': { readonly given: { readonly session: string }; readonly answer: object }
  /**
   * A user's message. It is answered once it is in the log. Repeating the same `input` has no effect and gets the same
   * answer.
   */
  readonly 'input.send': {
    readonly given: {
      /** The app's id of the message, 1 to 256 characters. It becomes the message's id. */
      readonly input: MessageId
      /** Text, or parts with images and files. */
      readonly content: UserInput
      /** The model of the turn that starts with it; refused if the server does not allow the choice. */
      readonly model?: string
      /** Settings of that turn, like `model`. */
      readonly settings?: ModelSettings
      /**
       * When the model reads it while a turn runs: `queue` (after it, the default), `steer` (with the next step), or
       * `interrupt`.
       */
      readonly delivery?: Delivery
      /** JSON Schema for the answer, replacing the agent's. */
      readonly output?: JsonObject
      /** With `delivery: 'interrupt'`: how much of the answer the user heard or read; `reported` by default. */
      readonly heard?: Heard
      /**
       * Whether a person is available for approvals and questions during the answer; true by default. If all inputs of
       * a turn say false, and no attached device has `asks`, calls that need an approval are denied at once.
       */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** A speaker's words in a conversation that the agent listens to. */
  readonly 'input.hear': {
    readonly given: {
      /** As for `input.send`. */
      readonly input: MessageId
      readonly speaker: string
      readonly text: string
      /** As for `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** An event outside the conversation. */
  readonly 'input.notify': {
    readonly given: {
      /** As for `input.send`. */
      readonly input: MessageId
      readonly name: string
      /**
       * Label in brackets that the model reads before the name: 1 to 64 characters without brackets and line breaks.
       * `Event` by default.
       */
      readonly label?: string
      readonly detail?: JsonValue
      /** Description for the model. */
      readonly message?: string
      /** As for `input.send`; `steer` by default. */
      readonly delivery?: Delivery
      /** As for `input.send`. */
      readonly heard?: Heard
      /** As for `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /**
   * Withdraws a queued input. Inputs that the model has read, or that were withdrawn before, are refused with
   * `unknown_input`.
   */
  readonly 'input.withdraw': { readonly given: { readonly input: MessageId }; readonly answer: object }
  /**
   * Rewinds the conversation to a message: removes it and everything after it. `replace` sends another message in its
   * place, `again` repeats it. Repeating the same `input` has no effect and gets the same answer.
   */
  readonly 'input.rewind': {
    readonly given: {
      /** The app's id of the request; the message's id if `replace` has one. */
      readonly input: MessageId
      /** The user's message, or an answer such as `t3`. */
      readonly message: MessageId
      /** Only for a user message. */
      readonly replace?: UserInput
      /** For an answer: the model answers once more. Not together with `replace`. */
      readonly again?: boolean
      /** Ends a running turn first; otherwise the request is refused while one runs. */
      readonly interrupt?: boolean
    }
    readonly answer: {
      /** The answer in progress; absent if no answer was requested. */
      readonly turn?: MessageId
    }
  }
  /** Ends the running turn. Its calls are cancelled, or finish silently, as their tools declare. */
  readonly 'turn.interrupt': {
    readonly given: {
      /**
       * The answer whose turn to end, such as `t1`; the newest by default. If a newer one has begun, nothing happens.
       */
      readonly turn?: MessageId
      /** For the log. */
      readonly reason?: string
      /** How much of the newest answer the user heard or read; `reported` by default. */
      readonly heard?: Heard
      /** Whether to keep or withdraw queued inputs; `keep` by default. */
      readonly queue?: 'keep' | 'withdraw'
    }
    readonly answer: {
      /** The answer whose turn was ended; absent if no turn was running, or not the named one. */
      readonly turn?: MessageId
    }
  }
  /**
   * Reports that a voice has played this many UTF-16 units of the answer `message`, such as up to the `end` of a
   * sentence; 0: it begins with the answer. It counts if an interrupt does not say how much was heard. The newest
   * report replaces the earlier ones, and need not be repeated.
   */
  readonly 'speech.played': {
    readonly given: { readonly message: MessageId; readonly chars: number }
    readonly answer: object
  }
  /**
   * Decides a call that waits for a person. Any connection of the session's principal may, with or without a device.
   */
  readonly 'approval.decide': { readonly given: Decision; readonly answer: object }
  /**
   * Answers a running tool's question to its user: with a `value` that fits the question's schema, or with `decline`.
   */
  readonly 'question.answer': { readonly given: QuestionAnswer; readonly answer: object }
  /**
   * Makes this connection a device. It replaces an older connection with the same name. Sent again over the same
   * connection, it replaces the attached device.
   */
  readonly 'device.attach': {
    readonly given: DeviceOptions
    readonly answer: {
      /** Milliseconds for the device to reconnect after its connection broke. */
      readonly leaseMs: number
    }
  }
  /** Detaches the device. Calls that it has not claimed may move to another device at once. */
  readonly 'device.release': { readonly given: object; readonly answer: object }
  /**
   * Claims a call before the device acts. Answered once the claim is in the log; the call then belongs to this device
   * alone. The same device may repeat its claim.
   */
  readonly 'call.claim': {
    readonly given: { readonly callId: string }
    /** `again`: this device had already claimed the call. If it has started it, it must not start it again. */
    readonly answer: { readonly call: ClaimedCall; readonly again?: true }
  }
  /** Ends a call. Answered once the result is in the log; repeating it has no effect. */
  readonly 'call.result': {
    readonly given: {
      readonly callId: string
      readonly outcome: CallOutcome
      /** The device that claimed the call, if it is not the attached one: for example before a page was reloaded. */
      readonly device?: string
    }
    readonly answer: {
      /**
       * Why the result changes nothing. `unknown`: the session has no such call, or had it long ago; `foreign`: another
       * device was asked; `late`, `duplicate`: the call was already settled. Accept unknown words.
       */
      readonly ignored?: string
    }
  }
  /**
   * Pieces of an answer that this device's model writes, in order. Pieces without a running `model.run` are dropped.
   */
  readonly 'model.pieces': {
    readonly given: { readonly run: string; readonly pieces: readonly ModelEvent[] }
    readonly answer: object
  }
  /** Ends a `model.run`. */
  readonly 'model.result': {
    readonly given: { readonly run: string; readonly outcome: ModelOutcome }
    readonly answer: {
      /** No caller waits for it. */
      readonly ignored?: 'late'
    }
  }
}

export type RequestType = keyof Requests

/** A request. `id` is the app's own, 1 to 128 characters; its answer repeats it. */
export type V2ClientFrame = {
  readonly [Type in RequestType]: { readonly id: string; readonly type: Type } & Requests[Type]['given']
}[RequestType]

export type AnswerOf<Type extends RequestType> = Requests[Type]['answer']
