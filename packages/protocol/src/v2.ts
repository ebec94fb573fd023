// The frames of wire version 2, as they stand on the wire: requests of an app, one answer to each, and what the server tells
// unasked. `v2-schema.ts` says the same in JSON Schema. What happens in a session is told as session events, unchanged.
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
  ModelRequest,
  ModelSettings,
  QuestionAnswer,
  SessionAction,
  SessionChange,
  SessionDetails,
  SessionEvent,
  SessionInfo,
  SpeechPlace,
  UserInput,
} from '@baton/core'

export type { Heard, SpeechPlace, SpokenAnswer } from '@baton/core'

/** What a connection of this version offers as its WebSocket subprotocol; a connection that offers none speaks version 1. */
export const SUBPROTOCOL = 'baton.v2'
export const PROTOCOL_VERSION_2 = 2

/** Close codes of version 2, beside those of RFC 6455. */
export const CLOSE_CODES_2 = {
  /** The token or the principal of this connection is no longer valid. */
  unauthorized: 4401,
  /** Another connection has attached a device of the same name. */
  deviceTaken: 4409,
} as const

/** A device: one running copy of an app, such as a page or a process. It holds calls by a lease. */
export type DeviceInit = Omit<LeaseClientInit, 'client'> & {
  /** Unique for each running copy of the app, and the same when it connects again: 1 to 256 characters. */
  readonly name: string
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

/** Where a connection goes on. Keep it unchanged and send it back as `from`. */
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
      readonly session?: string
      /** With `true`, a session that does not exist is refused with `unknown_session`, so that a deleted one is not created again. */
      readonly existing?: boolean
      readonly title?: string
      readonly meta?: JsonObject
      readonly from?: OpenFrom
      readonly messages?: number
      readonly device?: DeviceInit
      /** Sends `sentence` frames for a voice. `only`: without `text` events. */
      readonly speech?: boolean | 'only'
    }
    readonly answer: {
      readonly session: string
      readonly info: SessionDetails
      readonly messages?: readonly ChatMessage[]
      /** There are older messages; ask for them with `session.messages`. */
      readonly more?: boolean
      /** Where the events begin. */
      readonly next: Cursor2
      /** The lease of the device: how many milliseconds it has to come back after its connection broke. */
      readonly leaseMs?: number
    }
  }
  readonly 'session.close': { readonly given: object; readonly answer: object }
  readonly 'session.info': { readonly given: object; readonly answer: { readonly info: SessionDetails } }
  readonly 'session.messages': {
    readonly given: { readonly before?: MessageId; readonly limit?: number }
    readonly answer: { readonly messages: readonly ChatMessage[]; readonly more: boolean }
  }
  /** Describes the open session, or another one of the same principal. */
  readonly 'session.describe': {
    readonly given: { readonly session?: string; readonly title?: string | null; readonly meta?: JsonObject }
    readonly answer: object
  }
  /** Refused if the server does not allow the choice. */
  readonly 'session.configure': {
    readonly given: { readonly model?: string; readonly settings?: ModelSettings | null }
    readonly answer: object
  }
  readonly 'session.control': { readonly given: { readonly action: SessionAction }; readonly answer: object }
  /** Copies the session up to a message and answers with the copy's id; open the copy to continue there. */
  readonly 'session.fork': {
    readonly given: { readonly before?: MessageId }
    readonly answer: { readonly session: string }
  }
  /** The principal's sessions, a page at a time. */
  readonly 'session.list': {
    readonly given: { readonly cursor?: string; readonly limit?: number; readonly meta?: JsonObject }
    readonly answer: { readonly sessions: readonly SessionInfo[]; readonly cursor?: string }
  }
  /** From now on changes of the principal's sessions come as `session.changed`. */
  readonly 'session.watch': { readonly given: object; readonly answer: object }
  readonly 'session.delete': { readonly given: { readonly session: string }; readonly answer: object }
  /** A user's message. It is answered when it is in the log. The same `input` again gets the same answer and does nothing. */
  readonly 'input.send': {
    readonly given: {
      readonly input: MessageId
      readonly content: UserInput
      readonly model?: string
      readonly settings?: ModelSettings
      readonly delivery?: Delivery
      /** JSON Schema that the answer fits, in place of the agent's. */
      readonly output?: JsonObject
      /** Of `delivery: 'interrupt'`: how much of the answer was taken in; `reported` by default. */
      readonly heard?: Heard
      /** Whether the person can be asked while it is answered; true by default. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** What a speaker said in a conversation that the agent listens to. */
  readonly 'input.hear': {
    readonly given: {
      readonly input: MessageId
      readonly speaker: string
      readonly text: string
      /** As of `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** What happened beside the conversation. */
  readonly 'input.notify': {
    readonly given: {
      readonly input: MessageId
      readonly name: string
      readonly label?: string
      readonly detail?: JsonValue
      readonly message?: string
      readonly delivery?: Delivery
      readonly heard?: Heard
      /** As of `input.send`. */
      readonly asks?: boolean
    }
    readonly answer: object
  }
  /** Takes back what waits. */
  readonly 'input.withdraw': { readonly given: { readonly input: MessageId }; readonly answer: object }
  /** Takes the conversation back to a message; `replace` says something else in its place, `again` asks it once more. */
  readonly 'input.rewind': {
    readonly given: {
      readonly input: MessageId
      readonly message: MessageId
      readonly replace?: UserInput
      readonly again?: boolean
      /** Ends a running turn first; without it, the request is refused while one runs. */
      readonly interrupt?: boolean
    }
    /** The message that is answered now; absent if nothing is asked. */
    readonly answer: { readonly turn?: MessageId }
  }
  readonly 'turn.interrupt': {
    /** `turn`: the answer whose turn ends. If a newer one has begun, nothing happens. */
    readonly given: {
      readonly turn?: MessageId
      readonly reason?: string
      readonly heard?: Heard
      readonly queue?: 'keep' | 'withdraw'
    }
    /** The answer whose turn was ended; absent where no turn ran, or another one than was named. */
    readonly answer: { readonly turn?: MessageId }
  }
  /**
   * A voice has played so many UTF-16 units of the answer `message`, such as up to the `end` of a sentence; 0: it begins with the
   * answer. If an interrupt does not say what was heard, this counts. The newest one says it all: it need not be repeated.
   */
  readonly 'speech.played': {
    readonly given: { readonly message: MessageId; readonly chars: number }
    readonly answer: object
  }
  readonly 'approval.decide': { readonly given: Decision; readonly answer: object }
  readonly 'question.answer': { readonly given: QuestionAnswer; readonly answer: object }
  /** From now on this connection is a device. If an older connection has the same name, this one replaces it. */
  readonly 'device.attach': { readonly given: DeviceInit; readonly answer: { readonly leaseMs: number } }
  /** Calls that it has not claimed may move to another device at once. */
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
  /** `device`: the device that claimed the call, if it is not the attached one: for example before a page was loaded again. */
  readonly 'call.result': {
    readonly given: { readonly callId: string; readonly outcome: CallOutcome; readonly device?: string }
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
    readonly answer: { /** Nobody waits for it any more. */ readonly ignored?: 'late' }
  }
}

export type RequestType = keyof Requests

/** A request. `id` is the app's own, 1 to 128 characters; its answer names it. */
export type ClientFrame2 = {
  readonly [Type in RequestType]: { readonly id: string; readonly type: Type } & Requests[Type]['given']
}[RequestType]

export type AnswerOf<Type extends RequestType> = Requests[Type]['answer']

/** The answer to the request `re`. */
export type OkFrame<Type extends RequestType = RequestType> = {
  readonly type: 'ok'
  readonly re: string
} & AnswerOf<Type>

/** A refused request; without `re`, an error that does not answer a request. */
export interface ErrorFrame2 {
  readonly type: 'error'
  readonly re?: string
  /** A snake_case word of docs/errors.md; accept codes that you do not know. */
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** The server may take the same request later. */
  readonly retryable?: true
  /** Milliseconds to wait before that, if known. */
  readonly retryAfterMs?: number
}

/** What a voice says next. Sentences come whole, in order and once; code blocks and text without words have none. */
export interface SentenceFrame {
  readonly type: 'sentence'
  readonly message: MessageId
  readonly step: number
  /** Counts the sentences of the answer, from 0. */
  readonly index: number
  /** Without Markdown, addresses and line breaks. */
  readonly text: string
  /**
   * The part of the answer's text that it covers, with unspoken text before it, in UTF-16 units. The answer's text is the Markdown of its
   * steps, joined by a blank line.
   */
  readonly start: number
  readonly end: number
  readonly next: Cursor2
}

/** The model's attempt was discarded: sentences of the answer from `index` on are void. The next attempt begins at `index` again. */
export interface SentencesDroppedFrame {
  readonly type: 'sentences.dropped'
  readonly message: MessageId
  readonly step: number
  readonly index: number
  readonly next: Cursor2
}

export type ServerFrame2 =
  /** The first frame of a connection. */
  | {
      readonly type: 'hello'
      readonly protocol: typeof PROTOCOL_VERSION_2
      /** Milliseconds since 1970, of the server's clock. */
      readonly nowMs: number
      readonly limits: { readonly frameBytes: number; readonly resultBytes: number }
    }
  | OkFrame
  | ErrorFrame2
  /** Events of the open session, at least one, in their order. `next`: where to continue after them. */
  | {
      readonly type: 'events'
      readonly events: readonly SessionEvent[]
      readonly next: Cursor2
    }
  | SentenceFrame
  | SentencesDroppedFrame
  /**
   * The device runs a model, and is asked to answer. It sends `model.pieces` as they come, and then one `model.result`. When its connection
   * breaks, the request is over: the session asks again, this device or another one.
   */
  | { readonly type: 'model.run'; readonly run: string; readonly model: string; readonly request: ModelRequest }
  /** Nobody waits for the answer of this `model.run` any more. */
  | { readonly type: 'model.cancel'; readonly run: string }
  /** The session is no longer followed, though nobody asked for that: it was deleted, or its host lost it. Open it again. */
  | { readonly type: 'session.closed'; readonly session: string }
  /** After `session.watch`. */
  | { readonly type: 'session.changed'; readonly change: SessionChange }
