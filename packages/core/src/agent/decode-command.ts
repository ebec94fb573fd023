// Decodes what people and programs submit through a session: commands, and arguments of the Session API. Inputs
// reserved to clients or the host are refused, whatever their fields. The machine decides whether a command is allowed
// in the session's state.
import * as s from '../shape/shape.ts'
import type { JsonObject } from '../json.ts'
import { ModelSettings } from '../model-settings.ts'
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import { readTurnOf } from '../machine/state.ts'
import { findReservedStart } from '../machine/check.ts'
import { Delivery, Heard, ReminderEvent, ReminderRule } from '../machine/values.ts'
import type { Decoded, ValueReader } from '../shape/value-reader.ts'
import { decoder, decodeWith, describeValue } from '../shape/value-reader.ts'
import { Content } from './decode-content.ts'
import {
  SEND_ELSEWHERE,
  SETTINGS_ELSEWHERE,
  CONFIGURE_ELSEWHERE,
  EVENT_ELSEWHERE,
  MESSAGE_ELSEWHERE,
} from './names-elsewhere.ts'
import type { AbortSignalLike } from './environment.ts'
import type { Schema } from './schema.ts'
import { describeForeignSchema, isStandardSchema, toObjectSchema } from './schema.ts'
import { EventCursor } from '../events/session-event.ts'

/** The inputs of one speaker, distinguished by `type`. */
export function inputs<const V extends s.Variants>(forms: V): ReturnType<typeof s.variant<'type', V>> {
  const shape = s.variant('type', forms)
  return {
    ...shape,
    read: (reader, value) => {
      const type = s.peek(reader, value, 'type')
      if (typeof type === 'string' && !Object.hasOwn(forms, type)) refuseSpeaker(reader, type)
      return shape.read(reader, value)
    },
  }
}

/** Refuses an input of another speaker. Returns for an unknown type, which is refused as such. */
function refuseSpeaker(reader: ValueReader, type: string): void {
  const isAmong = (types: ReadonlySet<string>): boolean => types.has(type)
  if (isAmong(HOST_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" comes from the host; a program or client cannot submit it`)
  if (isAmong(CLIENT_REPORTS))
    reader.refuseAll('illegal_input', `"${type}" is a report of an attached client, not a command`)
  if (isAmong(USER_COMMANDS))
    reader.refuseAll('illegal_input', `"${type}" is a command of a person or program, not a client's report`)
}

/** A reason of at most 4,096 UTF-16 units. */
export const Reason = s.textBetween(0, 4096)
/** At most 4,096 UTF-16 units: the id of a file-based model is as long as the file's path. */
export const ModelId = s.textBetween(1, 4096)

/** Maximum UTF-16 units of an event's label. */
const LABEL_CHARS_MAX = 64

/** The label in brackets before an event's name. */
export const Label: s.Shape<string> = {
  ...s.textBetween(1, LABEL_CHARS_MAX),
  read: (reader, value) => {
    if (s.isLegalName(value) && value.length <= LABEL_CHARS_MAX && !/[[\]]/.test(value)) return value
    return reader.refuse(`must have 1 to ${LABEL_CHARS_MAX} characters without brackets, not ${describeValue(value)}`)
  },
}

export const Signal = s.opaque<AbortSignalLike>((reader, value) => {
  const isSignal = typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
  return isSignal ? (value as AbortSignalLike) : reader.refuse('must be an AbortSignal') // it has what Baton uses
})

/** W3C Trace Context 1, 3.2: version, trace, parent and flags; ids of zeros only are invalid, and so is version ff. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/

/** An id that a program chooses for its input. Ids of tasks' ends are reserved, and an answer's id would name two messages. */
const InputId = s.refine(s.name, (id, reader) => {
  const reserved = findReservedStart(id)
  if (reserved !== undefined) return reader.refuseAll('illegal_input', reserved)
  return readTurnOf(id) === undefined ? id : reader.refuse(`must not be "${id}", which is the id of an answer`)
})

const Traceparent = s.refine(s.text, (text, reader) =>
  TRACEPARENT.test(text) ? text : reader.refuse('must be a W3C traceparent, such as 00-<32 hex>-<16 hex>-01'),
)

export const HeardOption = s.explain(
  Heard,
  "heard is { type: 'all' }, { type: 'none' }, { type: 'reported' }, { type: 'chars', chars: 35 }, { type: 'words', words: 12 } or { type: 'sentence', index: 2, words: 4 }",
)

export const Settings = s.fields('the settings of a model', ModelSettings.fields, SETTINGS_ELSEWHERE)

/** Decodes the settings of an agent or a step. Never throws. */
export const decodeModelSettings = decoder<ModelSettings>('settings', Settings)

const Remember = s.word('tool', 'arguments')

/** New arguments are validated before they are approved; an input could claim that for any. */
const PlainDecision: s.Shape<'approve' | 'deny'> = {
  ...s.word('approve', 'deny'),
  read: (reader, value) =>
    value === 'edit'
      ? reader.refuse('may not be "edit" here; session.decide takes new arguments, and validates them')
      : s.word('approve', 'deny').read(reader, value),
}

export const SPOKEN = { speaker: s.text, text: s.text }
export const URGENT = {
  name: s.name,
  /**
   * Label in brackets before the name, for the model: 1 to 64 characters without brackets and line breaks. `Event` by
   * default.
   */
  label: s.optional(Label),
  detail: s.optional(s.json),
  /** Description for the model. */
  message: s.optional(s.text),
  /** `steer` by default: the running turn's next step reads it. `interrupt` ends the turn. */
  delivery: s.optional(Delivery),
  /** With `interrupt`: how much of the answer the user heard or read; `reported` by default. */
  heard: s.optional(HeardOption),
}

const DESCRIPTION = { title: s.optional(s.nullable(s.text)), meta: s.optional(s.object) }
const ANSWERED = { value: s.json }
const DECLINED = { decline: s.word(true), reason: s.optional(Reason) }
const ANSWERING = { type: s.word('question-answer'), questionId: s.name, principal: s.name }

const Command = inputs({
  'user-input': s.fields('a user-input', {
    inputId: InputId,
    parts: Content,
    delivery: s.optional(Delivery),
    model: s.optional(ModelId),
    settings: s.optional(Settings),
    output: s.optional(s.object),
    heard: s.optional(HeardOption),
    asks: s.optional(s.flag),
    more: s.optional(s.word(true)),
    traceparent: s.optional(Traceparent),
  }),
  transcript: s.fields('a transcript', { inputId: InputId, ...SPOKEN, asks: s.optional(s.flag) }),
  'urgent-event': s.fields('an urgent-event', { inputId: InputId, ...URGENT, asks: s.optional(s.flag) }),
  interrupt: s.fields('an interrupt', { reason: Reason, heard: HeardOption }),
  'cancel-call': s.fields('a cancel-call', { callId: s.name, principal: s.name }),
  rewind: s.fields('a rewind', {
    inputId: InputId,
    exchange: s.count,
    fromEntry: s.optional(s.count),
    again: s.flag,
    interrupt: s.optional(s.word(true)),
    replace: s.optional(
      s.fields('what replaces a message', {
        parts: Content,
        model: s.optional(ModelId),
        settings: s.optional(Settings),
      }),
    ),
  }),
  'set-model': s.fields('a set-model', { model: ModelId }),
  'set-settings': s.fields('a set-settings', { settings: s.nullable(Settings) }),
  withdraw: s.fields('a withdraw', { target: s.name }),
  pause: s.fields('a pause', {}),
  continue: s.fields('a continue', {}),
  stop: s.fields('a stop', {}),
  start: s.fields('a start', {}),
  approval: s.fields('an approval', {
    approvalId: s.name,
    principal: s.name,
    roles: s.optional(s.list(s.name)),
    decision: PlainDecision,
    reason: s.optional(Reason),
    note: s.optional(Reason),
    remember: s.optional(Remember),
  }),
  'question-answer': s.either(
    'decline',
    s.fields('a question-answer', { ...ANSWERING, ...ANSWERED }),
    s.fields('a question-answer that declines', { ...ANSWERING, ...DECLINED }),
  ),
  describe: s.fields('a describe', DESCRIPTION),
  'set-reminder': s.fields('a set-reminder', {
    reminder: s.name,
    dueMs: s.date,
    rule: s.optional(ReminderRule),
    zone: s.textBetween(1, 64),
    event: ReminderEvent,
    asks: s.optional(s.flag),
  }),
  'cancel-reminder': s.fields('a cancel-reminder', { reminder: s.name }),
})

export type DecodedCommand = s.Infer<typeof Command>

/**
 * Decodes a command of a person or a program. An approval with edits and the index of a rewind are refused: only the
 * host makes them. Never throws; `invalid_event` names the field, `illegal_input` says who may submit such an input,
 * `input_too_large` names the limit.
 */
export const decodeUserCommand = decoder<DecodedCommand>('the command', Command)

/** A schema as the caller gave it, and as JSON Schema. */
export interface DecodedOutput {
  readonly schema: Schema
  readonly described: JsonObject
}

const OutputSchema = s.opaque<DecodedOutput>((reader, value) => {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null))
    return reader.refuseForm(`must be a schema of a library, or JSON Schema, not ${describeValue(value)}`)
  const foreign = describeForeignSchema(value)
  if (foreign !== undefined) return reader.refuseAll('invalid_schema', `output: ${foreign}`)
  // Its kind is checked next; `toObjectSchema` refuses anything else.
  const given = value as Schema
  const schema = isStandardSchema(given) ? given : s.object.read(reader, given)
  let described: JsonObject
  try {
    // Drops what the library left undefined or hid.
    described = JSON.parse(JSON.stringify(toObjectSchema('output', schema))) as JsonObject // it was JSON before
  } catch (cause) {
    return reader.refuseAll('invalid_schema', cause instanceof Error ? cause.message : 'output: it cannot be described')
  }
  return { schema, described }
})

const SENT = {
  /** Sending the same id again has no effect and returns the same answer. */
  inputId: s.optional(InputId),
  /** Whether the sender can answer approvals and questions during the answer; true by default. */
  asks: s.optional(s.flag),
}

const Send = s.fields(
  'the options of send',
  {
    model: s.optional(ModelId),
    settings: s.optional(Settings),
    output: s.optional(OutputSchema),
    ...SENT,
    delivery: s.optional(Delivery),
    /** With `delivery: 'interrupt'`: how much of the newest answer the user heard or read; `reported` by default. */
    heard: s.optional(HeardOption),
    /**
     * Cancels the input: while it is queued, it is withdrawn and `answer` rejects with `cancelled`; once its turn runs,
     * the turn is interrupted, and its answer has `stop: 'cancelled'` with the partial text.
     */
    signal: s.optional(Signal),
    /** W3C `traceparent` of the sender: its span becomes the parent of the turn's. Stored in the log. */
    traceparent: s.optional(Traceparent),
  },
  SEND_ELSEWHERE,
)
export interface DecodedSendOptions extends s.Infer<typeof Send> {}
/** Options of `session.send`; `OutputOptions` adds the schema. */
export interface SendOptions extends Omit<DecodedSendOptions, 'output'> {}

/** Decodes the options of `send`; `undefined` means none. Never throws. */
export function decodeSendOptions(value: unknown): Decoded<DecodedSendOptions> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, Send.read)
}

const TurnOptions = s.fields('the options of turn', { output: s.optional(OutputSchema) })

/** Decodes the options of `turn`; `undefined` means none. Never throws. */
export function decodeTurnOptions(value: unknown): Decoded<{ readonly output?: DecodedOutput }> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, TurnOptions.read)
}

const DECISION = { approvalId: s.name, reason: s.optional(Reason), note: s.optional(Reason) }

const Decision = s.explain(
  s.variant('decision', {
    approve: s.fields('an approval', { ...DECISION, remember: s.optional(Remember) }),
    deny: s.fields('a denial', { ...DECISION, remember: s.optional(Remember) }),
    edit: s.fields('an edit', {
      ...DECISION,
      // An edit says nothing about other input, which the person has not seen.
      remember: s.optional(s.word('arguments')),
      input: s.object,
    }),
  }),
  "a decision is { approvalId, decision: 'approve' }",
)
export type DecodedDecision = s.Infer<typeof Decision>

/** Decodes a person's decision about a call; `input` is present exactly for an edit. Never throws. */
export const decodeDecision = decoder<DecodedDecision>('the decision', Decision)

const QuestionAnswer = s.either(
  'decline',
  s.fields('an answer without `decline: true`', { questionId: s.name, ...ANSWERED }),
  s.fields('an answer that declines', { questionId: s.name, ...DECLINED }),
)
export type DecodedQuestionAnswer = s.Infer<typeof QuestionAnswer>

/** Decodes the answer to a tool's question: a value or a refusal to answer. Never throws. */
export const decodeQuestionAnswer = decoder<DecodedQuestionAnswer>('the answer', QuestionAnswer)

const Description = s.fields('a description', DESCRIPTION)
export interface DecodedDescription extends s.Infer<typeof Description> {}

/** Decodes a session's title and the program's notes about it. A null title removes it. Never throws. */
export const decodeDescription = decoder<DecodedDescription>('the description', Description)

const Interrupt = s.fields('the options of interrupt', {
  /**
   * The answer whose turn to end, such as `t1`; the newest by default. If a newer turn has begun, nothing happens, so
   * that a repeated interrupt does not end the next turn.
   */
  turn: s.optional(s.name),
  reason: s.optional(Reason),
  /** How much of the newest answer the user heard or read; `reported` by default. */
  heard: s.optional(HeardOption),
  /** Whether to keep or withdraw queued inputs; `keep` by default. */
  queue: s.optional(s.word('keep', 'withdraw')),
  /** Whether calls in the background continue; `keep` by default. */
  tasks: s.optional(s.word('keep', 'cancel')),
})
/**
 * Options of `session.interrupt`. Without any, the newest turn ends, and the history keeps what the user was shown.
 */
export interface InterruptOptions extends s.Infer<typeof Interrupt> {}

/** Decodes the options of `interrupt`; `undefined` means none. Never throws. */
export function decodeInterruptOptions(value: unknown): Decoded<InterruptOptions> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, Interrupt.read)
}

/** Text alone is one text part. */
const Replacement: typeof Content = {
  ...Content,
  read: (reader, value) => Content.read(reader, typeof value === 'string' ? [{ type: 'text', text: value }] : value),
}
const Rewind = s.fields(
  'a rewind',
  {
    message: s.name,
    replace: s.optional(Replacement),
    again: s.optional(s.flag),
    interrupt: s.optional(s.flag),
    inputId: s.optional(InputId),
  },
  MESSAGE_ELSEWHERE,
)
export interface DecodedRewind extends s.Infer<typeof Rewind> {}

/** Decodes the target of a rewind. Never throws. */
export const decodeRewind = decoder<DecodedRewind>('the rewind', Rewind)

const Transcript = s.fields('a transcript entry', { ...SPOKEN, ...SENT })
/** A speaker's words in a conversation that the agent listens to. */
export interface TranscriptEntry extends s.Infer<typeof Transcript> {}

/** Decodes a speaker's words. Never throws. */
export const decodeTranscript = decoder<TranscriptEntry>('the entry', Transcript)

const Urgent = s.fields('an urgent event', { ...URGENT, ...SENT }, EVENT_ELSEWHERE)
/** An event outside the conversation. */
export interface UrgentEvent extends s.Infer<typeof Urgent> {}

/** Decodes an event. Never throws. */
export const decodeUrgent = decoder<UrgentEvent>('the event', Urgent)

const Action = s.word('pause', 'continue', 'stop', 'start')
/** `stop` ends the turn and refuses inputs until `start`; `pause` keeps the turn for `continue`. */
export type SessionAction = s.Infer<typeof Action>

/** Decodes a control action. Never throws. */
export const decodeAction = decoder<SessionAction>('the action', Action)

const Configuration = s.fields(
  'a configuration',
  { model: s.optional(ModelId), settings: s.optional(s.nullable(Settings)) },
  CONFIGURE_ELSEWHERE,
)
/** Changes for `session.configure`. Absent fields stay; `settings: null` returns to those of the agent. */
export interface SessionConfiguration extends s.Infer<typeof Configuration> {}

/** Decodes a session's configuration. Never throws. */
export const decodeConfiguration = decoder<SessionConfiguration>('the configuration', Configuration)

const Fork = s.fields(
  'the options of fork',
  { before: s.optional(s.name) },
  { messageId: 'before', message: 'before', upTo: 'before' },
)

/** Decodes the options of `fork`. Never throws. */
export const decodeForkOptions = decoder<{ readonly before?: string }>('the options', Fork)

const From = s.textOr(s.word('start', 'turn', 'now'), EventCursor)
const Events = s.fields('the options of events', {
  /** `now` by default. Begins with the partial text of a running step. */
  from: s.optional(From),
  /** Ends the reading. */
  signal: s.optional(Signal),
  /**
   * Adds the events of agents below, each with the `path` of calls that leads to its session. What these agents ask comes from this
   * session in any case. Not with `delivery`. False by default.
   */
  children: s.optional(s.flag),
  /**
   * For fronts that write to devices: adds events about which client a call was offered to, who spoke an answer and who
   * interrupted, and the log position (`at`) of each event from a record, from which a front may derive stable ids.
   * Cursors of such a reading are valid only for such readings. False by default.
   */
  delivery: s.optional(s.flag),
})
/** The first event to read: after a cursor, from the first record, from the newest turn, or only new ones. */
export interface EventsOptions extends s.Infer<typeof Events> {}

/** Decodes the options of `events`; the signal is passed through. Never throws. */
export const decodeEventsOptions = decoder<EventsOptions>('the options', Events)

const Query = s.fields('a page of messages', {
  /** Only messages before this one. */
  before: s.optional(s.text),
  /** Number of newest messages to return; 1 to 200, 50 by default. */
  limit: s.optional(s.integer(1, 200)),
})
export interface MessagesQuery extends s.Infer<typeof Query> {}

/** At least one call, and no more than a tree has levels. */
const Path = s.refine(s.list(s.name, 5), (path, reader) => (path.length > 0 ? path : reader.refuse('is empty')))

/** Decodes the path of `session.child`. Never throws. */
export const decodeChildPath = decoder<readonly string[]>('the path', Path)

/** Decodes a query of `messages`. Never throws. */
export const decodeMessagesQuery = decoder<MessagesQuery>('the page', Query)
