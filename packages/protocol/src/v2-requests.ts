// The requests of wire version 2, as an app sends them, with the fields of their answers. `v2-schema.ts` says the same in JSON
// Schema; docs/protocol-2-reference.md is made of both, so the comments here are the page's words.
import type {
  ChatMessage,
  ContentPart,
  Decision,
  Delivery,
  EventCursor,
  Heard,
  JsonObject,
  JsonValue,
  LeaseClientInit,
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
} from '@baton/core'

/** A device: one running copy of an app, such as a page or a process. It holds calls by a lease. */
export type DeviceInit = Omit<LeaseClientInit, 'client' | 'leaseMs' | 'onlyResults'> & {
  /** Unique for each running copy of the app, and the same when it connects again: 1 to 256 characters. */
  readonly name: string
  /** Milliseconds that it has to come back after its connection broke: 5,000 to 3,600,000; 60,000 by default. */
  readonly leaseMs?: number
  /** Models that the app runs, as the server's agent names them: it is sent `model.run`. */
  readonly models?: readonly string[]
}

/** How a model call ended in an app: with the whole answer, or with the reason. */
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
  /** The input that the model wrote, or that a person wrote in its place. It has been validated. */
  readonly input: JsonObject
}

/** The position at which a connection continues. Keep it unchanged and send it back as `from`. */
export interface Cursor2 extends EventCursor {
  /**
   * On a connection with `speech`: how far the sentences were sent. With `speech`, a cursor without it is refused in the middle of a
   * step's text.
   */
  readonly speech?: SpeechPlace
}

/** With `from: 'now'` no past events come; `messages` gives the past as messages. A cursor continues after its event. */
export type OpenFrom = Cursor2 | 'start' | 'turn' | 'now'

/** Each request by its type: `given` are its fields beside `id` and `type`, `answer` those of its `ok`. */
export interface Requests {
  /** Asks whether the connection lives: browsers cannot send the WebSocket's own pings. */
  readonly ping: { readonly given: object; readonly answer: object }
  /**
   * Follows a session: its events come until `session.close`. Without `session` a new one is created. A connection follows one
   * session at a time. With `messages`, the newest so many messages are in the answer, and the events go on after them;
   * without `messages` and `from`, events come from the beginning of the newest turn on.
   */
  readonly 'session.open': {
    readonly given: {
      /** Its name, 1 to 256 characters. One that does not exist is created. */
      readonly session?: string
      /** With `true`, a session that does not exist is refused with `unknown_session`, so that a deleted one is not created again. */
      readonly existing?: boolean
      /** As of `session.describe`. */
      readonly title?: string
      /** As of `session.describe`. */
      readonly meta?: JsonObject
      /** The first event: after a cursor, the first of all, that of the newest turn, or only new ones. `turn` by default. */
      readonly from?: OpenFrom
      /** The answer has the newest so many messages, and the events go on after them, unless `from` says otherwise. */
      readonly messages?: number
      /** Attaches this device, as `device.attach` does. */
      readonly device?: DeviceInit
      /** Sends `sentence` frames for a voice. `only`: without `text` events. */
      readonly speech?: boolean | 'only'
    }
    readonly answer: {
      /** Its name. */
      readonly session: string
      /** Its current state. */
      readonly info: SessionDetails
      /** If `messages` asked for them: the conversation as it stands, oldest first. */
      readonly messages?: readonly ChatMessage[]
      /** There are older messages; ask for them with `session.messages`. */
      readonly more?: boolean
      /** The cursor at which the events begin. */
      readonly next: Cursor2
      /** The lease of the device: how many milliseconds it has to come back after its connection broke. */
      readonly leaseMs?: number
    }
  }
  /** Follows the session no longer; its turn goes on. A device keeps its lease. */
  readonly 'session.close': { readonly given: object; readonly answer: object }
  /** Gives the session's current state. */
  readonly 'session.info': { readonly given: object; readonly answer: { readonly info: SessionDetails } }
  /** A page of the conversation as it stands, oldest first: what was taken back is not in it. */
  readonly 'session.messages': {
    readonly given: {
      /** Only messages before this one. */
      readonly before?: MessageId
      /** The newest so many of them; 50 by default. */
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
      /** The open one by default. */
      readonly session?: string
      /** At most 200 characters; null takes it away. */
      readonly title?: string | null
      /** A program's notes about the session; they replace earlier ones. At most 8,192 characters as JSON. */
      readonly meta?: JsonObject
    }
    readonly answer: object
  }
  /** Sets the model and the settings from the next turn on. Refused if the server does not allow the choice. */
  readonly 'session.configure': {
    readonly given: {
      /** One of `info.models`. A running turn asks it from its next step on. */
      readonly model?: string
      /** Settings of all turns from the next one on; null takes them away. */
      readonly settings?: ModelSettings | null
    }
    readonly answer: object
  }
  /** `pause` keeps the turn for `continue`; `stop` ends it, and what is said is refused until `start`. */
  readonly 'session.control': { readonly given: { readonly action: SessionAction }; readonly answer: object }
  /** Copies the session up to a message and answers with the copy's id; open the copy to continue there. */
  readonly 'session.fork': {
    readonly given: {
      /** Only what stands before this message; absent: up to where the session last rested. */
      readonly before?: MessageId
    }
    readonly answer: {
      /** The copy. */
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
      /** Present: there are more. */
      readonly cursor?: string
    }
  }
  /** From now on changes of the principal's sessions come as `session.changed`. */
  readonly 'session.watch': { readonly given: object; readonly answer: object }
  /** Closes the session, and removes it with all that belongs to it. One that does not exist is removed already. */
  readonly 'session.delete': { readonly given: { readonly session: string }; readonly answer: object }
  /** A user's message. It is answered when it is in the log. The same `input` again gets the same answer and does nothing. */
  readonly 'input.send': {
    readonly given: {
      /** The app's id of what is said, 1 to 256 characters. It becomes the message's id. */
      readonly input: MessageId
      /** Text, or parts with images and files. */
      readonly content: UserInput
      /** The model of the turn that begins with it; refused if the server does not allow the choice. */
      readonly model?: string
      /** As `model`. */
      readonly settings?: ModelSettings
      /** When the model reads it while a turn runs: `queue` (after it, the default), `steer` (with the next step), or `interrupt`. */
      readonly delivery?: Delivery
      /** JSON Schema that the answer fits, in place of the agent's. */
      readonly output?: JsonObject
      /** With `delivery: 'interrupt'`: how much of the answer was taken in; `reported` by default. */
      readonly heard?: Heard
      /**
       * Whether a person is there for approvals and questions while it is answered; true by default. If all inputs of a turn say false, and
       * no attached device has `asks`, calls that need an approval are denied at once.
       */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** Words of a speaker in a conversation that the agent listens to. */
  readonly 'input.hear': {
    readonly given: {
      /** As of `input.send`. */
      readonly input: MessageId
      readonly speaker: string
      readonly text: string
      /** As of `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** An event outside the conversation. */
  readonly 'input.notify': {
    readonly given: {
      /** As of `input.send`. */
      readonly input: MessageId
      readonly name: string
      /** The word in brackets that the model reads before the name: 1 to 64 characters without brackets and line breaks. `Event` by default. */
      readonly label?: string
      readonly detail?: JsonValue
      /** In words, for the model. */
      readonly message?: string
      /** As of `input.send`; `steer` by default. */
      readonly delivery?: Delivery
      /** As of `input.send`. */
      readonly heard?: Heard
      /** As of `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** Takes back what waits. What the model has read, and what was withdrawn before, is refused with `unknown_input`. */
  readonly 'input.withdraw': { readonly given: { readonly input: MessageId }; readonly answer: object }
  /**
   * Takes the conversation back to a message: it and all that follows leave. With `replace` something else is said in its place, with
   * `again` it is asked once more. The same `input` again gets the same answer and does nothing.
   */
  readonly 'input.rewind': {
    readonly given: {
      /** The app's id of the request; the message's id, if `replace` says one. */
      readonly input: MessageId
      /** The user's message, or an answer such as `t3`. */
      readonly message: MessageId
      /** Only of what a user said. */
      readonly replace?: UserInput
      /** For an answer: the model answers once more. Not together with `replace`. */
      readonly again?: boolean
      /** Ends a running turn first; without it, the request is refused while one runs. */
      readonly interrupt?: boolean
    }
    readonly answer: {
      /** The message that is answered now; absent if nothing is asked. */
      readonly turn?: MessageId
    }
  }
  /** Ends the running turn. Its calls are cancelled, or finish in silence, as their tools say. */
  readonly 'turn.interrupt': {
    readonly given: {
      /** The answer whose turn ends, such as `t1`. If a newer one has begun, nothing happens. Absent: the newest. */
      readonly turn?: MessageId
      /** For the log. */
      readonly reason?: string
      /** How much of the newest answer the user took in; `reported` by default. */
      readonly heard?: Heard
      /** Handling of waiting inputs: `keep` by default. */
      readonly queue?: 'keep' | 'withdraw'
    }
    readonly answer: {
      /** The answer whose turn was ended; absent where no turn ran, or another one than was named. */
      readonly turn?: MessageId
    }
  }
  /**
   * A voice has played so many UTF-16 units of the answer `message`, such as up to the `end` of a sentence; 0: it begins with the
   * answer. If an interrupt does not say what was heard, this counts. The newest one says it all: it need not be repeated.
   */
  readonly 'speech.played': {
    readonly given: { readonly message: MessageId; readonly chars: number }
    readonly answer: object
  }
  /** Decides a call that waits for a person. Any connection of the session's principal may, with a device or without one. */
  readonly 'approval.decide': { readonly given: Decision; readonly answer: object }
  /** Answers what a running tool asks its user: with a `value` that fits the question's schema, or with `decline`. */
  readonly 'question.answer': { readonly given: QuestionAnswer; readonly answer: object }
  /**
   * From now on this connection is a device. If an older connection has the same name, this one replaces it. Sent again over the same
   * connection, it replaces the device that was attached.
   */
  readonly 'device.attach': {
    readonly given: DeviceInit
    readonly answer: {
      /** Milliseconds that the device has to come back after its connection broke. */
      readonly leaseMs: number
    }
  }
  /** The connection is no device any more. Calls that it has not claimed may move to another device at once. */
  readonly 'device.release': { readonly given: object; readonly answer: object }
  /**
   * Before the device acts. Answered when the claim is in the log: from then on the call is this device's alone. The same
   * device may claim again what it holds.
   */
  readonly 'call.claim': {
    readonly given: { readonly callId: string }
    /** `again`: this device had claimed the call before. If it has begun to run it, it must not begin again. */
    readonly answer: { readonly call: ClaimedCall; readonly again?: true }
  }
  /** Ends a call. It is answered when the result is in the log; sent again, it changes nothing. */
  readonly 'call.result': {
    readonly given: {
      readonly callId: string
      readonly outcome: CallOutcome
      /** The device that claimed the call, if it is not the attached one: for example before a page was loaded again. */
      readonly device?: string
    }
    readonly answer: {
      /**
       * The result changes nothing. `unknown`: the session has no such call, or had it long ago; `foreign`: another device was asked;
       * `late`, `duplicate`: the call had been settled. Accept words that you do not know.
       */
      readonly ignored?: string
    }
  }
  /** Pieces of an answer that this device's model writes, in their order. What belongs to no running `model.run` is dropped. */
  readonly 'model.pieces': {
    readonly given: { readonly run: string; readonly pieces: readonly ModelEvent[] }
    readonly answer: object
  }
  /** Ends a `model.run`. */
  readonly 'model.result': {
    readonly given: { readonly run: string; readonly outcome: ModelOutcome }
    readonly answer: {
      /** Nobody waits for it any more. */
      readonly ignored?: 'late'
    }
  }
}

export type RequestType = keyof Requests

/** A request. `id` is the app's own, 1 to 128 characters; its answer names it. */
export type ClientFrame2 = {
  readonly [Type in RequestType]: { readonly id: string; readonly type: Type } & Requests[Type]['given']
}[RequestType]

export type AnswerOf<Type extends RequestType> = Requests[Type]['answer']
