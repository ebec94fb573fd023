// Decodes how programs steer a session: interrupts, rewinds and configuration.
import { CONFIGURE_ELSEWHERE, MESSAGE_ELSEWHERE } from './names-elsewhere.ts'
import { Content } from './decode-content.ts'
import { HeardOption, Label, ModelId, Reason, Settings, Signal } from './decode-command.ts'
import { EventCursor } from '../events/session-event.ts'
import { Delivery } from '../machine/values.ts'
import * as s from '../shape/shape.ts'
import type { Decoded } from '../shape/value-reader.ts'
import { decodeWith } from '../shape/value-reader.ts'
import type { EventsOptions, MessagesQuery } from './session-reading.ts'
import type {
  InterruptOptions,
  SessionAction,
  SessionConfiguration,
  TranscriptEntry,
  UrgentEvent,
} from './session-control.ts'

const Interrupt = s.fields('the options of interrupt', {
  turn: s.optional(s.name),
  reason: s.optional(Reason),
  heard: s.optional(HeardOption),
  queue: s.optional(s.word('keep', 'withdraw')),
})

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

const REPORTED = { inputId: s.optional(s.name), asks: s.optional(s.flag) }
const Transcript = s.fields('a transcript entry', { speaker: s.text, text: s.text, ...REPORTED })

/** Decodes a speaker's words. Never throws. */
export function decodeTranscript(value: unknown): Decoded<TranscriptEntry> {
  return decodeWith('the entry', value, Transcript.read)
}

const Urgent = s.fields('an urgent event', {
  name: s.name,
  label: s.optional(Label),
  detail: s.optional(s.json),
  message: s.optional(s.text),
  delivery: s.optional(Delivery),
  heard: s.optional(HeardOption),
  ...REPORTED,
})

/** Decodes an event. Never throws. */
export function decodeUrgent(value: unknown): Decoded<UrgentEvent> {
  return decodeWith('the event', value, Urgent.read)
}

/** Decodes a control action. Never throws. */
export function decodeAction(value: unknown): Decoded<SessionAction> {
  return decodeWith('the action', value, s.word('pause', 'continue', 'stop', 'start').read)
}

const Configuration = s.fields(
  'a configuration',
  { model: s.optional(ModelId), settings: s.optional(s.nullable(Settings)) },
  CONFIGURE_ELSEWHERE,
)

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
  from: s.optional(From),
  signal: s.optional(Signal),
  delivery: s.optional(s.flag),
})

/** Decodes the options of `events`; the signal is passed through. Never throws. */
export function decodeEventsOptions(options: unknown): Decoded<EventsOptions> {
  return decodeWith('the options', options, Events.read)
}

const Query = s.fields('a page of messages', { before: s.optional(s.text), limit: s.optional(s.integer(1, 200)) })

/** Decodes a query of `messages`. Never throws. */
export function decodeMessagesQuery(query: unknown): Decoded<MessagesQuery> {
  return decodeWith('the page', query, Query.read)
}
