// Decodes how programs steer a session: interrupts, rewinds and configuration.
import { ANSWER_LIMITS } from './decode-answer.ts'
import { CONFIGURE_ELSEWHERE, MESSAGE_ELSEWHERE } from './names-elsewhere.ts'
import type { StoredPart } from '../messages.ts'
import { readContent } from './decode-content.ts'
import { readDelivery, readHeard, readModelId, readReason, readSettings } from './decode-command.ts'
import {
  readBoolean,
  readFields,
  readJson,
  readLabel,
  readName,
  readOneOf,
  readText,
  readInteger,
  readList,
  readSignal,
} from './read-value.ts'
import type {
  InterruptOptions,
  RewindOptions,
  SessionAction,
  SessionConfiguration,
  TranscriptEntry,
  UrgentEvent,
} from './session-control.ts'
import type { Decoded, Read } from './value-reader.ts'
import { decodeWith } from './value-reader.ts'
import type { EventCursor } from '../events/session-event.ts'
import type { EventsOptions, MessagesQuery } from './session-reading.ts'

const readInterruptOptions: Read<InterruptOptions> = readFields('the options of interrupt', {
  turn: { optional: readName },
  reason: { optional: readReason },
  heard: { optional: readHeard },
  queue: { optional: readOneOf('keep', 'withdraw') },
})

/** Decodes the options of `interrupt`; `undefined` means none. Never throws. */
export function decodeInterruptOptions(value: unknown): Decoded<InterruptOptions> {
  return value === undefined ? { ok: true, value: {} } : decodeWith('the options', value, readInterruptOptions)
}

export interface DecodedRewind extends Omit<RewindOptions, 'replace'> {
  readonly replace?: readonly StoredPart[]
}

const readRewind: Read<DecodedRewind> = readFields(
  'a rewind',
  {
    message: readName,
    replace: {
      optional: (reader, value) =>
        readContent(reader, typeof value === 'string' ? [{ type: 'text', text: value }] : value),
    },
    again: { optional: readBoolean },
    interrupt: { optional: readBoolean },
    inputId: { optional: readName },
  },
  MESSAGE_ELSEWHERE,
)

/** Decodes the target of a rewind. Never throws. */
export function decodeRewind(value: unknown): Decoded<DecodedRewind> {
  return decodeWith('the rewind', value, readRewind)
}

const REPORTED = { inputId: { optional: readName }, asks: { optional: readBoolean } }

const readTranscript: Read<TranscriptEntry> = readFields('a transcript entry', {
  speaker: readText,
  text: readText,
  ...REPORTED,
})

/** Decodes a speaker's words. Never throws. */
export function decodeTranscript(value: unknown): Decoded<TranscriptEntry> {
  return decodeWith('the entry', value, readTranscript)
}

const readUrgent: Read<UrgentEvent> = readFields('an urgent event', {
  name: readName,
  label: { optional: readLabel },
  detail: { optional: readJson },
  message: { optional: readText },
  delivery: { optional: readDelivery },
  heard: { optional: readHeard },
  ...REPORTED,
})

/** Decodes an event. Never throws. */
export function decodeUrgent(value: unknown): Decoded<UrgentEvent> {
  return decodeWith('the event', value, readUrgent)
}

/** Decodes a control action. Never throws. */
export function decodeAction(value: unknown): Decoded<SessionAction> {
  return decodeWith('the action', value, readOneOf('pause', 'continue', 'stop', 'start'))
}

const readConfiguration: Read<SessionConfiguration> = readFields(
  'a configuration',
  {
    model: { optional: readModelId },
    settings: { optional: (reader, value) => (value === null ? null : readSettings(reader, value)) },
  },
  CONFIGURE_ELSEWHERE,
)

/** Decodes a session's configuration. Never throws. */
export function decodeConfiguration(value: unknown): Decoded<SessionConfiguration> {
  return decodeWith('the configuration', value, readConfiguration)
}

const readForkOptions = readFields(
  'the options of fork',
  { before: { optional: readName } },
  { messageId: 'before', message: 'before', upTo: 'before' },
)

/** Decodes the options of `fork`. Never throws. */
export function decodeForkOptions(value: unknown): Decoded<{ readonly before?: string }> {
  return decodeWith('the options', value, readForkOptions)
}

const readCursor: Read<EventCursor> = readFields('a cursor of an event', {
  pos: readInteger(0),
  read: { optional: readInteger(0) },
  since: { optional: readInteger(0) },
  attempt: { optional: readInteger(0) },
  text: { optional: readInteger(0) },
  reasoning: { optional: readInteger(0) },
  inputs: { optional: readList(readInteger(0), ANSWER_LIMITS.parts) },
})
const readPlace = readOneOf('start', 'turn', 'now')

const readOptions = readFields('the options of events', {
  from: { optional: (reader, value) => (typeof value === 'string' ? readPlace : readCursor)(reader, value) },
  signal: { optional: readSignal },
  delivery: { optional: readBoolean },
})

/** Decodes the options of `events`; the signal is passed through. Never throws. */
export function decodeEventsOptions(options: unknown): Decoded<EventsOptions> {
  return decodeWith('the options', options, readOptions)
}

/** Maximum messages of a page. */
const PAGE_MAX = 200

const readQuery = readFields('a page of messages', { before: { optional: readText }, limit: { optional: readLimit } })

function readLimit(...[reader, value]: Parameters<Read<unknown>>): number {
  const limit = readInteger(1)(reader, value)
  return limit <= PAGE_MAX ? limit : reader.refuse(`must be from 1 to ${PAGE_MAX}, not ${limit}`)
}

/** Decodes a query of `messages`. Never throws. */
export function decodeMessagesQuery(query: unknown): Decoded<MessagesQuery> {
  return decodeWith('the page', query, readQuery)
}
