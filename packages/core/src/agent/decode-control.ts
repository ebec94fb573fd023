// How programs steer and read a session: the options of its methods, and their decoders.
import { CONFIGURE_ELSEWHERE, MESSAGE_ELSEWHERE } from './names-elsewhere.ts'
import { Content } from './decode-content.ts'
import { HeardOption, ModelId, Reason, Settings, Signal, SPOKEN, URGENT } from './decode-command.ts'
import { EventCursor } from '../events/session-event.ts'
import * as s from '../shape/shape.ts'
import type { Decoded } from '../shape/value-reader.ts'
import { decodeWith } from '../shape/value-reader.ts'

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
    inputId: s.optional(s.name),
  },
  MESSAGE_ELSEWHERE,
)
export interface DecodedRewind extends s.Infer<typeof Rewind> {}

/** Decodes the target of a rewind. Never throws. */
export function decodeRewind(value: unknown): Decoded<DecodedRewind> {
  return decodeWith('the rewind', value, Rewind.read)
}

const REPORTED = {
  /** Sending the same id again has no effect and returns the same answer. */
  inputId: s.optional(s.name),
  /** Whether the sender can answer approvals and questions during the answer; true by default. */
  asks: s.optional(s.flag),
}
const Transcript = s.fields('a transcript entry', { ...SPOKEN, ...REPORTED })
/** A speaker's words in a conversation that the agent listens to. */
export interface TranscriptEntry extends s.Infer<typeof Transcript> {}

/** Decodes a speaker's words. Never throws. */
export function decodeTranscript(value: unknown): Decoded<TranscriptEntry> {
  return decodeWith('the entry', value, Transcript.read)
}

const Urgent = s.fields('an urgent event', { ...URGENT, ...REPORTED })
/** An event outside the conversation. */
export interface UrgentEvent extends s.Infer<typeof Urgent> {}

/** Decodes an event. Never throws. */
export function decodeUrgent(value: unknown): Decoded<UrgentEvent> {
  return decodeWith('the event', value, Urgent.read)
}

const Action = s.word('pause', 'continue', 'stop', 'start')
/** `stop` ends the turn and refuses inputs until `start`; `pause` keeps the turn for `continue`. */
export type SessionAction = s.Infer<typeof Action>

/** Decodes a control action. Never throws. */
export function decodeAction(value: unknown): Decoded<SessionAction> {
  return decodeWith('the action', value, Action.read)
}

const Configuration = s.fields(
  'a configuration',
  { model: s.optional(ModelId), settings: s.optional(s.nullable(Settings)) },
  CONFIGURE_ELSEWHERE,
)
/** Changes for `session.configure`. Absent fields stay; `settings: null` returns to those of the agent. */
export interface SessionConfiguration extends s.Infer<typeof Configuration> {}

/** Decodes a session's configuration. Never throws. */
export function decodeConfiguration(value: unknown): Decoded<SessionConfiguration> {
  return decodeWith('the configuration', value, Configuration.read)
}

const Fork = s.fields(
  'the options of fork',
  { before: s.optional(s.name) },
  { messageId: 'before', message: 'before', upTo: 'before' },
)

/** Decodes the options of `fork`. Never throws. */
export function decodeForkOptions(value: unknown): Decoded<{ readonly before?: string }> {
  return decodeWith('the options', value, Fork.read)
}

const From = s.textOr(s.word('start', 'turn', 'now'), EventCursor)
const Events = s.fields('the options of events', {
  /** `now` by default. Begins with the partial text of a running step. */
  from: s.optional(From),
  /** Ends the reading. */
  signal: s.optional(Signal),
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
export function decodeEventsOptions(options: unknown): Decoded<EventsOptions> {
  return decodeWith('the options', options, Events.read)
}

const Query = s.fields('a page of messages', {
  /** Only messages before this one. */
  before: s.optional(s.text),
  /** Number of newest messages to return; 1 to 200, 50 by default. */
  limit: s.optional(s.integer(1, 200)),
})
export interface MessagesQuery extends s.Infer<typeof Query> {}

/** Decodes a query of `messages`. Never throws. */
export function decodeMessagesQuery(query: unknown): Decoded<MessagesQuery> {
  return decodeWith('the page', query, Query.read)
}
