// The requests of wire version 2, as an app sends them, with the fields of their answers: types, checks and JSON Schema.
// docs/protocol-2-reference.md is generated from here, so the comments are the page's text.
import type {
  CallView,
  ChatMessage,
  ContentPart,
  JsonValue,
  ModelAnswer,
  ModelEvent,
  SessionDetails,
  SessionInfo,
  SpeechPlace,
  UserInput,
  WaitingApproval,
} from '@baton/core/internal'
import {
  ClientTool,
  Delivery,
  EventCursor,
  Heard,
  isJsonObject,
  MessageId,
  ModelSettings,
  s,
  StoredPart,
  decodeWith,
} from '@baton/core/internal'
import { parseObject } from './v2.ts'

/** Maximum characters of a request's id. */
export const REQUEST_ID_LENGTH_MAX = 128

/** A device: one running copy of an app, such as a page or a process. It holds calls by a lease. */
export const DeviceOptions = s.fields({
  /** Unique for each running copy of the app, and unchanged when it reconnects: 1 to 256 characters. */
  name: s.name,
  /** Names of the agent's client tools that it can run; all by default. */
  runs: s.optional(s.list(s.text)),
  /** Tools that it provides: offered to the model while the client is known, and run only by it. */
  tools: s.optional(s.list(ClientTool)),
  /** Models that the app runs, by the names of the server's agent: it receives `model.run`. */
  models: s.optional(s.list(s.text)),
  /** Milliseconds to reconnect after its connection broke: 5,000 to 3,600,000; 60,000 by default. */
  leaseMs: s.optional(s.count),
  /** Whether a person behind it can be asked; true by default. */
  asks: s.optional(s.flag),
})
export interface DeviceOptions extends s.Infer<typeof DeviceOptions> {}

export const ModelError = s.fields({
  message: s.text,
  /** A `model_*` code, or `context_overflow`; `model_provider_failed` by default. */
  code: s.optional(s.text),
  /** Whether the same request may succeed later; false by default. */
  retryable: s.optional(s.flag),
})
export interface ModelError extends s.Infer<typeof ModelError> {}

/** The end of a model call in an app: the whole answer, or the reason for the failure. */
export const ModelOutcome = s.either(
  'error',
  s.fields({ answer: s.typed<ModelAnswer>(s.object) }),
  s.fields({ error: ModelError }),
)
export type ModelOutcome = s.Infer<typeof ModelOutcome>

const Part = s.named('part', s.typed<ContentPart>(StoredPart))

/** The outcome of a client tool: JSON, parts (such as text and images), or why it failed. */
export const CallOutcome = s.either(
  'error',
  s.either('content', s.fields({ output: s.json }), s.fields({ content: s.list(Part) })),
  s.fields({ error: s.text }),
)
export type CallOutcome = s.Infer<typeof CallOutcome>

/** A claimed call, with what its device needs to run it. */
export const ClaimedCall = s.fields({
  callId: s.text,
  name: s.text,
  /** The input written by the model, or by a person who replaced it. It has been validated. */
  input: s.object,
})
export interface ClaimedCall extends s.Infer<typeof ClaimedCall> {}

/** The position at which a connection continues. Store it unchanged and send it back as `from`. */
export const V2Cursor = s.fields({
  ...EventCursor.fields,
  /**
   * On a connection with `speech`: how far the sentences were sent. With `speech`, a cursor without it is refused in
   * the middle of a step's text.
   */
  speech: s.optional(s.typed<SpeechPlace>(s.object)),
})
export interface V2Cursor extends s.Infer<typeof V2Cursor> {}

/**
 * With `from: 'now'` no past events are sent; `messages` returns the past as messages. A cursor continues after its
 * event.
 */
export const OpenFrom = s.textOr(s.word('start', 'turn', 'now'), s.named('cursor', V2Cursor))
export type OpenFrom = s.Infer<typeof OpenFrom>

const UserInput: s.Shape<UserInput> = s.textOr(s.text, s.list(Part, Infinity, 'text or an array of parts'))

/** Each request by type: `given` are its fields in addition to `id` and `type`, `answer` the fields of its `ok`. */
export const REQUESTS = {
  /** Checks whether the connection is alive: browsers cannot send the WebSocket's own pings. */
  ping: { given: {}, answer: {} },
  /**
   * Follows a session: its events are sent until `session.close`. Without `session` a new one is created. A connection
   * follows one session at a time. With `messages`, the answer has that many of the newest messages, and the events
   * continue after them; without `messages` and `from`, events start at the beginning of the newest turn.
   */
  'session.open': {
    given: {
      /** Its name, 1 to 256 characters. Created if it does not exist. */
      session: s.optional(s.name),
      /**
       * With `true`, a session that does not exist is refused with `unknown_session`, so that a deleted one is not
       * created again.
       */
      existing: s.optional(s.flag),
      /** As for `session.describe`. */
      title: s.optional(s.text),
      /** As for `session.describe`. */
      meta: s.optional(s.object),
      /**
       * The first event: after a cursor, the first of all, that of the newest turn, or only new ones. `turn` by
       * default.
       */
      from: s.optional(OpenFrom),
      /** Number of newest messages in the answer; the events continue after them, unless `from` says otherwise. */
      messages: s.optional(s.integer(1, 200)),
      /** Attaches this device, as `device.attach` does. */
      device: s.optional(DeviceOptions),
      /**
       * Sends the events of delegated calls too, each with the `path` of calls that leads to it. Their texts are never
       * spoken. False by default.
       */
      children: s.optional(s.flag),
      /** Sends `sentence` frames for a voice. `only`: without `text` events. */
      speech: s.optional(s.word<boolean | 'only'>(true, false, 'only')),
    },
    answer: {
      /** Its name. */
      session: s.text,
      /** Its current state. */
      info: s.typed<SessionDetails>(s.object),
      /** If `messages` asked for them: the current conversation, oldest first. */
      messages: s.optional(s.list(s.typed<ChatMessage>(s.object))),
      /** There are older messages; request them with `session.messages`. */
      more: s.optional(s.flag),
      /** The cursor at which the events begin. */
      next: V2Cursor,
      /** The lease of the device: milliseconds to reconnect after its connection broke. */
      leaseMs: s.optional(s.count),
    },
  },
  /** Stops following the session; its turn continues. A device keeps its lease. */
  'session.close': { given: {}, answer: {} },
  /** Returns the session's current state. */
  'session.info': { given: {}, answer: { info: s.typed<SessionDetails>(s.object) } },
  /** A page of the current conversation, oldest first, without rewound messages. */
  'session.messages': {
    given: {
      /** Only messages before this one. */
      before: s.optional(MessageId),
      /** Number of newest messages to return; 50 by default. */
      limit: s.optional(s.integer(1, 200)),
    },
    answer: {
      messages: s.list(s.typed<ChatMessage>(s.object)),
      /** There are older ones. */
      more: s.flag,
    },
  },
  /** Describes the open session, or another one of the same principal. */
  'session.describe': {
    given: {
      /** The open session by default. */
      session: s.optional(s.name),
      /** At most 200 characters; null removes it. */
      title: s.optional(s.nullable(s.text)),
      /** A program's metadata about the session; replaces earlier metadata. At most 8,192 characters as JSON. */
      meta: s.optional(s.object),
    },
    answer: {},
  },
  /** Sets the model and the settings from the next turn on. Refused if the server does not allow the choice. */
  'session.configure': {
    given: {
      /** One of `info.models`. A running turn uses it from its next step on. */
      model: s.optional(s.text),
      /** Settings of all turns from the next one on; null removes them. */
      settings: s.optional(s.nullable(ModelSettings)),
    },
    answer: {},
  },
  /** `pause` keeps the turn for `continue`; `stop` ends it, and inputs are refused until `start`. */
  'session.control': { given: { action: s.word('pause', 'continue', 'stop', 'start') }, answer: {} },
  /** Copies the session up to a message and answers with the copy's id; open the copy to continue there. */
  'session.fork': {
    given: {
      /** Only the part before this message; absent: up to where the session last rested. */
      before: s.optional(MessageId),
    },
    answer: {
      /** Id of the copy. */
      session: s.text,
    },
  },
  /** The principal's sessions, a page at a time. */
  'session.list': {
    given: {
      /** The cursor from the previous page. */
      cursor: s.optional(s.text),
      /** 50 by default. */
      limit: s.optional(s.integer(1, 200)),
      /** By last use; `newest` first by default. */
      order: s.optional(s.word('newest', 'oldest')),
      /** Only sessions in this state. */
      activity: s.optional(s.word('idle', 'running', 'waiting', 'paused', 'stopped')),
      /** Only sessions of the agent with this name. */
      agent: s.optional(s.text),
      /** Only sessions used at this time or later, in milliseconds since 1970. */
      since: s.optional(s.ms),
      /** Only sessions whose `meta` has these fields with these values. */
      meta: s.optional(s.object),
    },
    answer: {
      sessions: s.list(s.typed<SessionInfo>(s.object)),
      /** Present if there are more. */
      cursor: s.optional(s.text),
    },
  },
  /** Subscribes to changes of the principal's sessions, which are sent as `session.changed`. */
  'session.watch': { given: {}, answer: {} },
  /** Closes the session, and removes it with everything that belongs to it. Succeeds if it does not exist. */
  'session.delete': { given: { session: s.name }, answer: {} },
  /**
   * A user's message. It is answered once it is in the log. Repeating the same `input` has no effect and gets the same
   * answer.
   */
  'input.send': {
    given: {
      /** The app's id of the message, 1 to 256 characters. It becomes the message's id. */
      input: s.name,
      /** Text, or parts with images and files. */
      content: UserInput,
      /** The model of the turn that starts with it; refused if the server does not allow the choice. */
      model: s.optional(s.text),
      /** Settings of that turn, like `model`. */
      settings: s.optional(ModelSettings),
      /**
       * When the model reads it while a turn runs: `queue` (after it, the default), `steer` (with the next step), or
       * `interrupt`.
       */
      delivery: s.optional(Delivery),
      /** JSON Schema for the answer, replacing the agent's. */
      output: s.optional(s.object),
      /** With `delivery: 'interrupt'`: how much of the answer the user heard or read; `reported` by default. */
      heard: s.optional(Heard),
      /**
       * Whether a person is available for approvals and questions during the answer; true by default. If all inputs of
       * a turn say false, and no attached device has `asks`, calls that need an approval are denied at once.
       */
      asks: s.optional(s.flag),
    },
    answer: {},
  },
  /** A speaker's words in a conversation that the agent listens to. */
  'input.hear': {
    given: {
      /** As for `input.send`. */
      input: s.name,
      speaker: s.text,
      text: s.text,
      /** As for `input.send`. */
      asks: s.optional(s.flag),
    },
    answer: {},
  },
  /** An event outside the conversation. */
  'input.notify': {
    given: {
      /** As for `input.send`. */
      input: s.name,
      name: s.text,
      /**
       * Label in brackets that the model reads before the name: 1 to 64 characters without brackets and line breaks.
       * `Event` by default.
       */
      label: s.optional(s.text),
      detail: s.optional(s.json),
      /** Description for the model. */
      message: s.optional(s.text),
      /** As for `input.send`; `steer` by default. */
      delivery: s.optional(Delivery),
      /** As for `input.send`. */
      heard: s.optional(Heard),
      /** As for `input.send`. */
      asks: s.optional(s.flag),
    },
    answer: {},
  },
  /**
   * Withdraws a queued input. Inputs that the model has read, or that were withdrawn before, are refused with
   * `unknown_input`.
   */
  'input.withdraw': { given: { input: s.name }, answer: {} },
  /**
   * Rewinds the conversation to a message: removes it and everything after it. `replace` sends another message in its
   * place, `again` repeats it. Repeating the same `input` has no effect and gets the same answer.
   */
  'input.rewind': {
    given: {
      /** The app's id of the request; the message's id if `replace` has one. */
      input: s.name,
      /** The user's message, or an answer such as `t3`. */
      message: MessageId,
      /** Only for a user message. */
      replace: s.optional(UserInput),
      /** For an answer: the model answers once more. Not together with `replace`. */
      again: s.optional(s.flag),
      /** Ends a running turn first; otherwise the request is refused while one runs. */
      interrupt: s.optional(s.flag),
    },
    answer: {
      /** The answer in progress; absent if no answer was requested. */
      turn: s.optional(MessageId),
    },
  },
  /** Ends the running turn. Its calls are cancelled, or finish silently, as their tools declare. */
  'turn.interrupt': {
    given: {
      /**
       * The answer whose turn to end, such as `t1`; the newest by default. If a newer one has begun, nothing happens.
       */
      turn: s.optional(MessageId),
      /** For the log. */
      reason: s.optional(s.text),
      /** How much of the newest answer the user heard or read; `reported` by default. */
      heard: s.optional(Heard),
      /** Whether to keep or withdraw queued inputs; `keep` by default. */
      queue: s.optional(s.word('keep', 'withdraw')),
      /** Whether calls in the background continue; `keep` by default. */
      tasks: s.optional(s.word('keep', 'cancel')),
    },
    answer: {
      /** The answer whose turn was ended; absent if no turn was running, or not the named one. */
      turn: s.optional(MessageId),
    },
  },
  /** Calls in the background: the open ones, and the last 32 that have ended, oldest first. */
  'call.tasks': { given: {}, answer: { tasks: s.list(s.typed<CallView>(s.object)) } },
  /** Ends a call in the background, or a delegated call of the running turn. The model learns of it with the next input. */
  'call.cancel': { given: { callId: s.name }, answer: {} },
  /**
   * Reports that a voice has played this many UTF-16 units of the answer `message`, such as up to the `end` of a
   * sentence; 0: it begins with the answer. It counts if an interrupt does not say how much was heard. The newest
   * report replaces the earlier ones, and need not be repeated.
   */
  'speech.played': {
    given: { message: MessageId, chars: s.count },
    answer: {},
  },
  /**
   * Lists the requests that this principal may decide, in all sessions of the server; with `asked`, those of the
   * principal's own sessions, whoever decides them.
   */
  'approval.list': {
    given: {
      asked: s.optional(s.flag),
      /** Name of the session's agent. */
      agent: s.optional(s.text),
      tool: s.optional(s.text),
      /** `newest` by default. */
      order: s.optional(s.word('newest', 'oldest')),
      /** The cursor from the previous page. */
      cursor: s.optional(s.text),
      /** 50 by default. */
      limit: s.optional(s.integer(1, 200)),
    },
    answer: {
      approvals: s.list(s.typed<WaitingApproval>(s.object)),
      /** Present if there are more. */
      cursor: s.optional(s.text),
    },
  },
  /**
   * Decides a call that waits for a person. Any connection of the session's principal may, with or without a device.
   */
  'approval.decide': {
    given: {
      /** Id of the request that was shown. */
      approvalId: s.text,
      decision: s.word('approve', 'deny', 'edit'),
      /** Only with `edit`: the input that replaces the model's. */
      input: s.optional(s.object),
      /** At most 4,096 characters; the model reads it. */
      reason: s.optional(s.text),
      /** At most 4,096 characters, for people: events and the log have it, and no model reads it. */
      note: s.optional(s.text),
      /** The session of a request from `approval.list`; the open session by default. */
      session: s.optional(s.name),
      /** Also decides later calls of the session without asking: all of the tool, or those with the same arguments. */
      remember: s.optional(s.word('tool', 'arguments')),
    },
    answer: {},
  },
  /**
   * Answers a running tool's question to its user: with a `value` that fits the question's schema, or with `decline`.
   */
  'question.answer': {
    given: {
      questionId: s.text,
      value: s.optional(s.json),
      decline: s.optional(s.word(true)),
      reason: s.optional(s.text),
    },
    answer: {},
  },
  /**
   * Makes this connection a device. It replaces an older connection with the same name. Sent again over the same
   * connection, it replaces the attached device.
   */
  'device.attach': {
    given: DeviceOptions.fields,
    answer: {
      /** Milliseconds for the device to reconnect after its connection broke. */
      leaseMs: s.count,
    },
  },
  /** Detaches the device. Calls that it has not claimed may move to another device at once. */
  'device.release': { given: {}, answer: {} },
  /**
   * Claims a call before the device acts. Answered once the claim is in the log; the call then belongs to this device
   * alone. The same device may repeat its claim.
   */
  'call.claim': {
    given: { callId: s.text },
    /** `again`: this device had already claimed the call. If it has started it, it must not start it again. */
    answer: { call: ClaimedCall, again: s.optional(s.word(true)) },
  },
  /** Ends a call. Answered once the result is in the log; repeating it has no effect. */
  'call.result': {
    given: {
      callId: s.text,
      outcome: CallOutcome,
      /** The device that claimed the call, if it is not the attached one: for example before a page was reloaded. */
      device: s.optional(s.name),
    },
    answer: {
      /**
       * Why the result changes nothing. `unknown`: the session has no such call, or had it long ago; `foreign`: another
       * device was asked; `late`, `duplicate`: the call was already settled. Accept unknown words.
       */
      ignored: s.optional(s.text),
    },
  },
  /**
   * Pieces of an answer that this device's model writes, in order. Pieces without a running `model.run` are dropped.
   */
  'model.pieces': {
    given: { run: s.name, pieces: s.list(s.typed<ModelEvent>(s.object)) },
    answer: {},
  },
  /** Ends a `model.run`. */
  'model.result': {
    given: { run: s.name, outcome: ModelOutcome },
    answer: {
      /** No caller waits for it. */
      ignored: s.optional(s.word('late')),
    },
  },
} satisfies Readonly<Record<string, { readonly given: s.Fields; readonly answer: s.Fields }>>

export type RequestType = keyof typeof REQUESTS
/** The types of the fields of each request and of its answer. */
export type Requests = {
  readonly [Type in RequestType]: {
    readonly given: s.InferFields<(typeof REQUESTS)[Type]['given']>
    readonly answer: s.InferFields<(typeof REQUESTS)[Type]['answer']>
  }
}

/** A request. `id` is the app's own, 1 to 128 characters; its answer repeats it. */
export type V2ClientFrame = {
  readonly [Type in RequestType]: { readonly id: string; readonly type: Type } & Requests[Type]['given']
}[RequestType]

export type AnswerOf<Type extends RequestType> = Requests[Type]['answer']

export type V2Decoded<Frame> =
  | { readonly ok: true; readonly frame: Frame }
  | {
      readonly ok: false
      /** The request's id, if it could be read. */
      readonly re?: string
      readonly code: 'invalid_event'
      readonly message: string
      /** The type of a request that does not exist. */
      readonly unknown?: string
    }

/**
 * Decodes an app's frame. Never throws. A request of an unknown type is an error: the app waits for an answer. Only the
 * envelope is checked: `findFieldIssue` checks the fields.
 */
export function decodeV2ClientFrame(text: string): V2Decoded<V2ClientFrame> {
  const fields = parseObject(text)
  if (!fields) return refuse('a frame must be the JSON text of an object')
  const { id, type } = fields
  if (typeof id !== 'string' || id === '' || id.length > REQUEST_ID_LENGTH_MAX)
    return refuse(`id must be text of 1 to ${REQUEST_ID_LENGTH_MAX} characters`)
  if (typeof type !== 'string') return refuse('type must be text', id)
  if (!Object.hasOwn(REQUESTS, type))
    return { ...refuse(`there is no request "${type.slice(0, 80)}"`, id), unknown: type }
  return { ok: true, frame: fields as unknown as V2ClientFrame } // its other fields are read one by one where they are used
}

function refuse(message: string, re?: string): V2Decoded<never> & { readonly ok: false } {
  return { ok: false, code: 'invalid_event', message, ...(re !== undefined && { re }) }
}

/**
 * Finds a fault in the fields of a request: a missing field, or a value of the wrong kind. The contents of objects and
 * lists are checked where they are used. Undefined if there is none.
 */
export function findFieldIssue(type: RequestType, given: Readonly<Record<string, unknown>>): string | undefined {
  for (const { name, isOptional, read, takesObjects, takesLists } of GIVEN.get(type) ?? []) {
    const value = given[name]
    if (value === undefined && isOptional) continue
    if (value === undefined) return `${name} is missing`
    if (typeof value === 'object' && value !== null && (Array.isArray(value) ? takesLists : takesObjects)) continue
    const decoded = decodeWith(name, value, read)
    if (!decoded.ok) return decoded.refusal.message
  }
  return undefined
}

/** The fields of each request, as `findFieldIssue` checks them. */
const GIVEN = new Map(
  Object.entries(REQUESTS).map(([type, { given }]) => [type, Object.entries(given).map(prepareField)]),
)

function prepareField([name, field]: readonly [string, s.Shape<unknown> | s.OptionalShape<unknown>]) {
  const isOptional = 'optional' in field
  const { read, describe } = isOptional ? field.optional : field
  const schema = describe()
  return { name, isOptional, read, takesObjects: takes(schema, false), takesLists: takes(schema, true) }
}

/** Names of the fields of each request, in addition to `id` and `type`. */
export const REQUEST_FIELDS = Object.fromEntries(
  Object.entries(REQUESTS).map(([type, { given }]) => [type, new Set(Object.keys(given))]),
) as unknown as Readonly<Record<RequestType, ReadonlySet<string>>> // the keys of REQUESTS

/** Whether values of the schema may be objects, or lists. */
function takes(schema: JsonValue, isList: boolean): boolean {
  if (!isJsonObject(schema)) return true
  const { type, anyOf, $ref } = schema
  if (Array.isArray(anyOf)) return anyOf.some((one) => takes(one as JsonValue, isList)) // schemas, as everything in anyOf
  return $ref === undefined ? [type].flat().includes(isList ? 'array' : 'object') : !isList
}
