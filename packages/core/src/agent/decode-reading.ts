// Decodes the position from which a program reads a session.
import type { EventCursor } from '../events/session-event.ts'
import { readBoolean, readFields, readInteger, readList, readOneOf, readSignal, readText } from './read-value.ts'
import type { EventsOptions, MessagesQuery } from './session-reading.ts'
import type { Decoded, Read } from './value-reader.ts'
import { decodeWith } from './value-reader.ts'

/** Maximum calls of one step, as a cursor counts them. */
const CALLS_MAX = 4096

const readCursor: Read<EventCursor> = readFields('a cursor of an event', {
  pos: readInteger(0),
  read: { optional: readInteger(0) },
  since: { optional: readInteger(0) },
  attempt: { optional: readInteger(0) },
  text: { optional: readInteger(0) },
  reasoning: { optional: readInteger(0) },
  inputs: { optional: readList(readInteger(0), CALLS_MAX) },
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
