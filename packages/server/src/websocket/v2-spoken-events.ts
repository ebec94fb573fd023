// Writes events to an app with a voice, each sentence before the event that completed it.
import type { Spoken, ToldEvent, V2Writer } from './v2-state.ts'
import type { EventBatch, EventCursor, FrontSession, SessionDetails, SessionEvent } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { V2Cursor, OpenFrom, SpeechPlace, SpokenAnswer } from '@baton/protocol'
import { encodeAppView } from '../shared/app-errors.ts'
import { Speech, WHOLE_LINE_CHARS } from '@baton/runtime'

interface SpokenStart {
  readonly start: OpenFrom
  /** The cursor where the events begin: `start`, resolved. */
  readonly cursor: EventCursor
  readonly isOnly: boolean
}

/**
 * With a cursor, continues where its sentences ended. Otherwise speaks only the running answer and later ones.
 * @throws BatonError `invalid_event`
 */
export async function openSpoken(
  session: FrontSession,
  { activity, head }: SessionDetails,
  { start, cursor, isOnly }: SpokenStart,
): Promise<Spoken> {
  const isIdle = activity === 'idle' || activity === 'stopped'
  const turn = session.lastTurn()
  const place =
    typeof start === 'object'
      ? start.speech === undefined
        ? await readPlace(session, cursor)
        : checkPlace(start.speech)
      : { silentTo: isIdle || !turn ? head.pos : turn.pos }
  return { speech: new Speech(place), isOnly, cursor }
}

/**
 * Reads the spoken part of the turn from the log, at a cursor without `speech`.
 * @throws BatonError `invalid_event` in the middle of a text, which may not be logged, so that the start of its
 * sentence is unknown
 */
async function readPlace(session: FrontSession, { read = 0, ...cursor }: EventCursor): Promise<SpeechPlace> {
  const { pos, since, text = 0 } = cursor
  if (text > 0 && read === 0)
    throw new BatonError({
      code: 'invalid_event',
      message: 'from is in the middle of a text and has no `speech`, so the next sentence is not known',
      hint: 'Send the `next` of a frame of a connection with speech, or "turn" to hear the answer from its beginning.',
    })
  const speech = new Speech()
  if (since === undefined || since >= pos) return speech.place
  await readEvents(session, { pos: since, since }, (event) => {
    const at = event.cursor
    if (at.pos > pos) return false
    // The record itself adds only the text that was sent live. Its events count from there.
    if (at.pos < pos || at.read === undefined) speech.take(event)
    else if (event.type === 'text') speech.take({ ...event, text: event.text.slice(0, text) })
    return true
  })
  if (read === 0) return speech.place
  await readEvents(session, cursor, (event) => {
    const isTold = event.cursor.pos === pos && (event.cursor.read ?? 0) <= read
    if (isTold) speech.take(event)
    return isTold
  })
  return speech.place
}

/** Reads past events until `take` returns false. */
async function readEvents(
  session: FrontSession,
  from: EventCursor,
  take: (event: SessionEvent) => boolean,
): Promise<void> {
  for await (const event of session.events({ from })) if (event.type === 'live' || !take(event)) return
}

export function placeOf({ cursor, speech }: Spoken): V2Cursor {
  return { ...cursor, speech: speech.place }
}

export function listTold({ events, next }: EventBatch): readonly ToldEvent[] {
  const last = events.length - 1
  const told = events.map((event, index) => ({
    event: encodeAppView(event),
    next: index === last ? next : event.cursor,
  }))
  const withdrawn = findWithdrawn(events)
  return withdrawn.size === 0 ? told : told.filter((_, index) => !withdrawn.has(index))
}

/**
 * Past offers that were withdrawn, for example by a restart: an app reading them now would claim the same call for
 * each.
 */
function findWithdrawn(events: EventBatch['events']): ReadonlySet<number> {
  const withdrawn = new Set<number>()
  const offers = new Map<string, number>()
  for (const [index, event] of events.entries()) {
    if (event.type !== 'call' || event.path) continue
    const { callId, status } = event.call
    const offer = offers.get(callId)
    if (offer !== undefined && (status === 'proposed' || status === 'waiting')) withdrawn.add(offer)
    if (status === 'waiting') offers.set(callId, index)
  }
  return withdrawn
}

export function tellSpoken(writer: V2Writer, spoken: Spoken, batch: EventBatch): void {
  let told: ToldEvent[] = []
  for (const { event, next } of listTold(batch)) {
    const said = event.path ? [] : spoken.speech.take(event)
    if (said.length > 0) {
      writer.writeEvents(told)
      told = []
    }
    for (const { frame, place } of said) writer.write({ ...frame, next: { ...spoken.cursor, speech: place } })
    spoken.cursor = next
    if (!spoken.isOnly || event.type !== 'text') told.push({ event, next: placeOf(spoken) })
  }
  writer.writeEvents(told)
}

/** Maximum UTF-16 units of a place from a client; the server's own places use about a quarter. */
const REST_CHARS = 4 * WHOLE_LINE_CHARS

/** @throws BatonError `invalid_event` */
function checkPlace(given: unknown): SpeechPlace {
  if (isRecord(given) && (given['silentTo'] === undefined || isCount(given['silentTo']))) {
    const { answer } = given
    if (answer === undefined) return pickFields(given, ['silentTo']) // field by field
    if (isRecord(answer) && isAnswer(answer)) {
      const checked = pickFields(answer, ANSWER_FIELDS) as unknown as SpokenAnswer // likewise
      return { ...pickFields(given, ['silentTo']), answer: checked }
    }
  }
  throw new BatonError({
    code: 'invalid_event',
    message: 'from.speech does not come from the `next` of a frame',
    hint: 'Send `next` back unchanged.',
  })
}

type Fields = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
const isTextTo = (most: number, value: unknown): boolean => typeof value === 'string' && value.length <= most
const COUNTS = ['step', 'base', 'index', 'first', 'from', 'at'] as const

function isAnswer({ message, rest, fence, inLine, ...counts }: Fields): boolean {
  return (
    isTextTo(NAME_CHARS, message) &&
    isTextTo(REST_CHARS, rest) &&
    (fence === undefined || isTextTo(WHOLE_LINE_CHARS, fence)) &&
    (inLine === undefined || inLine === true) &&
    COUNTS.every((name) => isCount(counts[name]))
  )
}

const ANSWER_FIELDS = ['message', 'rest', 'fence', 'inLine', ...COUNTS]

/** Other fields would be returned with every cursor. */
function pickFields(given: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
}

const NAME_CHARS = 256
