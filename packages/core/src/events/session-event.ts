// Session events, as programs and fronts see them: messages, steps, calls, approvals, turns. One pure projection makes
// them from records and live frames. They contain nothing that binds an approval or names a process, and none depends
// on an older event.
import * as s from '../shape/shape.ts'
import { AskedFor, Principal } from '../agent/policy.ts'
import { CallDescription, ToolKind, WaitingWords } from '../agent/tool-options.ts'
import type { ErrorCode } from '../errors.ts'
import type { SupersedeReason } from '../machine/fact.ts'
import { AnswerRefuser } from '../machine/fact.ts'
import { PathStep, Spent } from '../machine/tree-values.ts'
import { Deciders, EffectClass, PlanEntry } from '../machine/values.ts'
import type { FinishReason } from '../messages.ts'
import { Provenance, SourcePart, StoredPart, Usage } from '../messages.ts'
import { ModelSettings } from '../model-settings.ts'
import type { JsonObject } from '../json.ts'

/** Version of session events. New event types and fields do not change it: ignore unknown ones. */
export const EVENTS_VERSION = 1

const PLACE = {
  /** Position of the next record. */
  pos: s.count,
  /** Number of events of that record already read. */
  read: s.optional(s.count),
  /** Position of the record that began the newest turn: earlier records need not be read again. */
  since: s.optional(s.count),
  /** The attempt being written. */
  attempt: s.optional(s.count),
  /** UTF-16 units read of its text, of its reasoning, and of the input of each of its calls. */
  text: s.optional(s.count),
  reasoning: s.optional(s.count),
  inputs: s.optional(s.list(s.count, 10_000)),
}
/**
 * The position at which a reader continues after an event. Store it and pass it back unchanged; it is plain JSON,
 * so it can be sent to a browser and back. The text fields are present while a step is being written.
 */
export const EventCursor = s.fields('a cursor of an event', {
  ...PLACE,
  /** Places in the sessions of open delegated calls, by the ids of the calls that lead to them. */
  children: s.optional(s.list(s.fields({ path: s.list(s.text, 5), ...PLACE }), 1000)),
})
export interface EventCursor extends s.Infer<typeof EventCursor> {}

/** Position of an event in the log. Present for readers that ask for `delivery`; live pieces of an answer have none. */
export const EventPlace = s.fields({
  /** Position of its record. */
  pos: s.count,
  /** Index of the fact in its record, from 0; several events may share one. */
  fact: s.count,
  /** Session time, which deadlines use. */
  nowMs: s.date,
  /** Wall-clock time, if it differs by a second or more. */
  wallMs: s.optional(s.date),
})
export interface EventPlace extends s.Infer<typeof EventPlace> {}

/** Id of the input for a user message, `t<turn>` for an answer: permanent and the same on every front. */
export type MessageId = string

export const MessageId = s.textOf<MessageId>()

/** A message to the agent. */
export const UserMessageView = s.fields({
  role: s.word('user'),
  id: MessageId,
  /** `transcript`: a speaker's words in a call that the agent listens to. `event`: an urgent event of a program. */
  from: s.word('user', 'transcript', 'event'),
  /** Text, images and files; `source` names the bytes, which `session.media` reads. */
  parts: s.list(s.named('part', StoredPart)),
  /** Speaker of a transcript. */
  speaker: s.optional(s.text),
  /** Name of an event. */
  name: s.optional(s.text),
  /** Label in brackets that the model reads before an event's name; `Event` by default. */
  label: s.optional(s.text),
  /** Details of an event. */
  detail: s.optional(s.json),
  /** Milliseconds since 1970. */
  atMs: s.date,
})
export interface UserMessageView extends s.Infer<typeof UserMessageView> {}

/** An answer as it begins; its text and calls follow. */
export const AnswerView = s.fields({
  role: s.word('assistant'),
  id: MessageId,
  turn: s.count,
  /** Number of the question and its answers; `messages-removed` refers to it. */
  exchange: s.count,
  /** Milliseconds since 1970. */
  atMs: s.date,
})
export interface AnswerView extends s.Infer<typeof AnswerView> {}

/** A message as it is added. */
export const MessageView = s.variant('role', { user: UserMessageView, assistant: AnswerView })
export type MessageView = UserMessageView | AnswerView

const Failed = { code: s.textOf<ErrorCode>(), message: s.text }
const Begun = {
  /** It was running and may have had an effect. */
  begun: s.optional(s.word(true)),
}

/** The outcome of a settled call. Branch on `type`. */
export const CallResult = s.variant('type', {
  ok: s.fields({ content: s.list(s.named('part', StoredPart)), value: s.optional(s.json) }),
  denied: s.fields({
    ...Failed,
    /** A person denied it. `message` ends with the reason, if any. */
    byPerson: s.optional(s.word(true)),
  }),
  error: s.fields(Failed),
  cancelled: s.fields({
    ...Failed,
    ...Begun,
    /**
     * The user interrupted the turn, and the tool is still running; the model learns its outcome with the next input
     * after that.
     */
    detached: s.optional(s.word(true)),
  }),
  /** No result arrived in time. */
  'timed-out': s.fields({ ...Failed, ...Begun }),
  /** It may have had its effect, which must not happen twice. */
  unknown: s.fields(Failed),
})
export type CallResult = s.Infer<typeof CallResult>

export const CallStatus = s.word('proposed', 'awaiting-approval', 'waiting', 'running', 'settled')
export type CallStatus = s.Infer<typeof CallStatus>

/** The child session that runs a call. */
export const ChildView = s.fields({
  agent: s.text,
  /** Levels below the first session. */
  depth: s.count,
  /**
   * `opening`: it has not reported yet; a report takes up to a second. `waiting`: only people can continue it. `ending`: it
   * has to end. `lost`: its log is missing or damaged.
   */
  status: s.word('opening', 'running', 'waiting', 'ending', 'ended', 'lost'),
  /** Tokens, cost, rounds and calls of it and everything below it, as of its last report. */
  spent: s.optional(Spent),
})
export interface ChildView extends s.Infer<typeof ChildView> {}

const PATH = {
  /** The delegated calls that lead to the session that it comes from, this session's own first. */
  path: s.optional(s.list(PathStep)),
}

/** A complete call: each event about it has all of it. */
export const CallView = s.fields({
  callId: s.text,
  message: MessageId,
  step: s.count,
  name: s.text,
  kind: s.optional(ToolKind),
  ...CallDescription.fields,
  /** Why a policy asks for approval. */
  asked: s.optional(AskedFor),
  /** If it must be approved: people who decide, instead of the session's own principal. */
  deciders: s.optional(Deciders),
  /**
   * Words for a voice to say when the call runs longer than `afterMs` milliseconds. They are not part of the
   * conversation.
   */
  waiting: s.optional(WaitingWords),
  /** The input written by the model, or by a person who replaced it; a string if it is not JSON. */
  input: s.json,
  inputEdited: s.optional(s.word(true)),
  runs: s.word('server', 'client'),
  effect: EffectClass,
  /** The source of its result; absent for the agent's own tools, which are trusted. */
  provenance: s.optional(Provenance),
  /**
   * `proposed`: not started or offered yet. `waiting`: offered to a client. `running`: it may already have an effect.
   */
  status: CallStatus,
  /** The client that the call was offered to. */
  holder: s.optional(s.text),
  /** In session time. */
  deadlineMs: s.optional(s.ms),
  /** No connected client can run it: it waits for a client until its deadline. */
  waitsForClient: s.optional(s.word(true)),
  /** It runs in the background, whatever happens to its turn. `settled`: it has its one result. */
  task: s.optional(s.word('running', 'settled')),
  /** With `task`: session time at which it went into the background. */
  begunMs: s.optional(s.ms),
  /** Present once a child session runs it. */
  child: s.optional(ChildView),
  ...PATH,
  /** Present once it is settled. */
  result: s.optional(s.named('result', CallResult)),
})
export interface CallView extends s.Infer<typeof CallView> {}

/**
 * Why a turn ended. `tool`: a tool with `endsTurn` or the agent's `stopWhen` ended it, without another answer.
 * `limit`: the answer is complete, but a limit of the turn kept the model from calling more tools. `max-tokens`: the
 * answer is cut at the model's output limit. `cancelled`: the user interrupted it. `stopped`: the session was stopped.
 * `silent`: the agent chose to say nothing.
 */
export const TurnStop = s.word(
  'end',
  'tool',
  'max-tokens',
  'limit',
  'refused',
  'cancelled',
  'stopped',
  'failed',
  'silent',
)
export type TurnStop = s.Infer<typeof TurnStop>

export const EventError = s.fields({
  ...Failed,
  /** With `invalid_output`: what the last answer lacked of the output schema. At most 4,000 characters. */
  issues: s.optional(s.text),
})
export interface EventError extends s.Infer<typeof EventError> {}

/**
 * `rounds`: steps with calls. `calls`: calls of the turn. `tokens`, `cost`, `time`: of the turn. `output`: the model's
 * output limit cut the answer. `messages`: messages that a request may hold. `wakes`: turns in a row that tasks began.
 */
export const LimitName = s.word('rounds', 'calls', 'tokens', 'cost', 'time', 'output', 'messages', 'wakes')
export type LimitName = s.Infer<typeof LimitName>

export const ContextUse = s.fields({
  /** Tokens of the last request and its answer, as counted by the provider. */
  used: s.amount,
  /** Tokens of the model's window; absent if unknown. */
  size: s.optional(s.amount),
})
export interface ContextUse extends s.Infer<typeof ContextUse> {}

/**
 * Why a step's output is void. `gave-up`: it failed for good, and the turn ends. `interrupted`: nothing of it is kept.
 * `refused`: the answer was not accepted, as `output-refused` says; another step follows, unless the turn ends. After
 * all others the model is called again: transient failure (`failed`), another model (`fallback`, `model-set`), dead
 * process (`restart`), empty answer (`empty`), paused session (`paused`), or a request too long for its window
 * (`context-full`).
 */
export type StepResetReason = SupersedeReason | 'gave-up' | 'interrupted' | 'refused'

export type StepFinish = FinishReason | 'interrupted'

export const SessionActivity = s.word('idle', 'running', 'waiting', 'paused', 'stopped')
export type SessionActivity = s.Infer<typeof SessionActivity>

const STEP = { message: MessageId, step: s.count }
const CALL = { call: s.named('call', CallView) }
const TURN = { message: MessageId, turn: s.count }
const PIECE = {
  ...STEP,
  /** Offset in the text of this step, not of the whole answer. */
  offset: s.count,
  text: s.text,
}
const Errored = s.named('error', EventError)
const Used = s.named('usage', Usage)

/** The fields of each event, apart from its `type` and its `cursor`. */
export const EVENTS = {
  /**
   * A user message was accepted, or an answer begins. A user message waits until `message-entered`. A turn's events
   * start with the message that asked for it.
   */
  'message-added': { message: s.named('message', MessageView) },
  /** The message has become visible to the model. This is its place in the conversation. */
  'message-entered': {
    message: MessageId,
    /** Number of the question and its answers, from 1; `messages-removed` refers to it. */
    exchange: s.count,
  },
  /** A queued message was withdrawn before the model read it. */
  'message-withdrawn': { message: MessageId },
  /**
   * The conversation was rewound: this exchange and all later ones are removed, except its messages and steps that stay
   * or enter again.
   */
  'messages-removed': {
    fromExchange: s.count,
    /** User messages of the exchange that stay, including repeated ones, which get a new `message-entered`. */
    keep: s.list(MessageId),
    /** Steps of the exchange that stay, with their answer; all other answers from the exchange on are removed. */
    keepSteps: s.list(s.count),
  },
  /** The model is called. A repeated step has a new attempt. */
  'step-started': {
    ...STEP,
    /** Number of the model call in the session. */
    attempt: s.count,
    model: s.text,
  },
  /** More of the step's text. `offset` counts its UTF-16 units, so that a repeat is harmless. */
  text: {
    ...PIECE,
    /**
     * Library only, in events of a turn with an output schema: the unvalidated value that the step's text has so far.
     * Present as often as parsing is cheap, not in every event.
     */
    partial: s.optional(s.object),
  },
  /** More of the step's reasoning. `offset` counts its UTF-16 units, so that a repeat is harmless. */
  reasoning: PIECE,
  /** A call's input as the model writes it: incomplete JSON text. The call itself follows as `call`. */
  'call-writing': { ...STEP, callId: s.text, name: s.text, offset: s.count, text: s.text },
  /** A tool that the provider runs within an answer, under the provider's name for it. */
  'server-tool': { ...STEP, name: s.text, status: s.word('started', 'finished') },
  /** The output of this step is void; it is repeated, unless the turn ends. */
  'step-reset': {
    ...STEP,
    reason: s.textOf<StepResetReason>(),
    error: s.optional(Errored),
    /** Session time at which the model is called again; absent: at once, or not at all. */
    retryAtMs: s.optional(s.ms),
  },
  /** The step's text was cut where the user interrupted it. A character that `keepChars` would halve stays whole. */
  'text-cut': { ...STEP, keepChars: s.count },
  /** The sources of the step's text. */
  sources: { ...STEP, sources: s.list(s.named('source', SourcePart)) },
  /** A call is new or has changed. */
  call: CALL,
  /** A progress note of a running server tool, in the tool's own format. */
  'call-progress': { callId: s.text, note: s.json },
  /** A call waits for a person. A new request for the same call has a new id, and the old one is void. */
  'approval-requested': {
    approvalId: s.text,
    ...CALL,
    /** Session time at which the call is denied. */
    expiresAtMs: s.ms,
  },
  /** One of several people whom the call needs has approved it. */
  'approval-given': {
    approvalId: s.text,
    callId: s.text,
    principal: Principal,
    note: s.optional(s.text),
    /** How many more have to approve it. */
    left: s.count,
  },
  /** A person has decided the call. */
  'approval-decided': {
    approvalId: s.text,
    callId: s.text,
    /** `edit`: approved with a different input, which the `call` event has. */
    decision: s.word('approve', 'deny', 'edit'),
    /** Principal who decided. */
    principal: Principal,
    reason: s.optional(s.text),
    /** For people: the model does not read it. */
    note: s.optional(s.text),
    remember: s.optional(s.word('tool', 'arguments')),
  },
  /** A running tool asks its user. */
  'question-asked': {
    questionId: s.text,
    callId: s.text,
    message: s.text,
    /** JSON Schema of the answer. */
    schema: s.object,
    /** Session time at which it counts as declined. */
    expiresAtMs: s.ms,
  },
  /** The question is closed: it has a value, or says why not. If its call ends first, it closes without this event. */
  'question-answered': {
    questionId: s.text,
    callId: s.text,
    value: s.optional(s.json),
    /** `expired`: not answered in time. `nobody`: no user could be asked. */
    declined: s.optional(s.word('person', 'expired', 'nobody')),
  },
  /** A request of a session below was withdrawn: it can no longer be decided, answered or run. */
  'request-withdrawn': {
    /** Id of the approval, the question, or the call for a client. */
    requestId: s.text,
    callId: s.text,
    /** `closed`: by the session below. `ended`: that session has to end. */
    reason: s.word('closed', 'ended', 'expired', 'nobody'),
  },
  /**
   * Emitted once when four fifths of a limit are used (unless all of it is), and again when it applies. `used` and `max` are rounds, calls,
   * tokens, millionths of a US dollar, or milliseconds; `output` only has `used`, and `messages` (the limit of the
   * window) only `max`: older messages leave.
   */
  limit: { limit: LimitName, used: s.optional(s.amount), max: s.optional(s.amount), reached: s.flag },
  /** The model has finished the step. Its calls, if any, are open now. */
  'step-finished': {
    ...STEP,
    /** Why the model ended it. `interrupted`: the user interrupted it, or the session was stopped. */
    finish: s.textOf<StepFinish>(),
    /** Usage of this answer, without abandoned attempts. */
    usage: Used,
    context: s.optional(ContextUse),
    /** It was interrupted, and has no calls. */
    interrupted: s.optional(s.word(true)),
  },
  /** All calls of the step have settled. */
  'step-closed': STEP,
  /**
   * The step's answer was not accepted, for this reason: the model reads it and is called again, unless the turn ends.
   * A `step-reset` follows although the step has finished: its output is void. Without `by`, it does not fit the output
   * schema.
   */
  'output-refused': { ...STEP, issue: s.text, by: s.optional(AnswerRefuser) },
  /** The turn has ended. If inputs are queued, the next turn begins. */
  'turn-finished': {
    ...TURN,
    stop: TurnStop,
    /**
     * The texts of all steps joined by a blank line (`\n\n`). For a failed, interrupted or stopped turn, the part that
     * stays in the conversation.
     */
    text: s.text,
    /**
     * The providers' counts for the turn: its steps, discarded answers, summaries, and model requests of its tools. A
     * count is present if any of them has it, a cost if all of them have one.
     */
    usage: Used,
    /** Why it failed, or was refused. */
    error: s.optional(Errored),
  },
  /** Changes of the session as a whole. `waiting`: only for a person or a client. */
  session: {
    activity: s.optional(SessionActivity),
    agent: s.optional(s.text),
    model: s.optional(s.text),
    title: s.optional(s.nullable(s.text)),
    meta: s.optional(s.object),
    plan: s.optional(s.list(PlanEntry)),
    /** Settings of all turns from the next one on. */
    settings: s.optional(ModelSettings),
  },
  /** Older messages are no longer sent to the model; a summary may replace them. */
  compacted: { how: s.word('summary', 'dropped'), text: s.optional(s.text) },
  /** A provider refused images or files permanently: a note replaces them. */
  'content-left-out': { messages: s.list(MessageId), reason: s.text },
  /** The past is complete; later events are live. */
  live: {},

  // For readers that ask for `delivery`.
  /** Its answer begins as `message-added` once the messages it answers have entered. */
  'turn-started': TURN,
  /**
   * A front begins to speak the answer, or displays all of it: any later interrupt counts all of it as heard. With
   * `chars`, a voice has played that many UTF-16 units of its text, and an interrupt counts those as heard.
   */
  'answer-spoken': { ...TURN, chars: s.optional(s.count) },
  /** The user interrupted; the outcome of a running turn follows. */
  interrupted: { reason: s.text },
  /** A call is offered to a client. `offer` numbers the offers of the call; the client's reports refer to it. */
  'call-offered': { callId: s.text, client: s.text, offer: s.count },
  /** A late result, or one from the wrong client, changes nothing. */
  'result-ignored': { callId: s.text, reason: s.text },
  /** The session was reopened from its log: no client is attached. Connected clients attach again. */
  'clients-gone': {},
  /**
   * The reader was too slow, or another host had the session for a while, and the reading ends. It may have missed more
   * than a device that shows the newest turn can receive, so the device starts over.
   */
  behind: {},
} satisfies Readonly<Record<string, s.Fields>>

export type SessionEventType = keyof typeof EVENTS

/** One event without its cursor. `Call`: the calls of the session's agent, with the names and types of its tools. */
export type EventBody<Call extends CallView = CallView> = {
  readonly [Type in SessionEventType]: s.Tagged<'type', Type, WithCall<s.InferFields<(typeof EVENTS)[Type]>, Call>>
}[SessionEventType] &
  s.InferFields<typeof PATH>
type WithCall<Body, Call> = { readonly [Name in keyof Body]: Name extends 'call' ? Call : Body[Name] }

/** `cursor`: where to continue after it. */
export type SessionEvent<Call extends CallView = CallView> = {
  readonly cursor: EventCursor
  readonly at?: EventPlace
} & EventBody<Call>
export type SessionEventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>

const OF_EVERY_EVENT = {
  cursor: s.named('cursor', EventCursor),
  at: s.optional(s.named('place', EventPlace)),
  ...PATH,
}

/** One session event. An unknown type is from a newer version. */
export const SESSION_EVENT_SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'SessionEvent',
  oneOf: Object.entries(EVENTS).map(([type, fields]) =>
    s.fields({ type: s.word(type), ...OF_EVERY_EVENT, ...fields }).describe(),
  ),
  $defs: {
    cursor: EventCursor.describe(),
    place: EventPlace.describe(),
    message: MessageView.describe(),
    part: StoredPart.describe(),
    call: CallView.describe(),
    result: CallResult.describe(),
    source: SourcePart.describe(),
    usage: Usage.describe(),
    error: EventError.describe(),
  },
}
