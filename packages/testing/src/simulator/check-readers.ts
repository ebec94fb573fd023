// Checks readers at the end of a world. Readers that return to a cursor, or begin at a state, read the same events as a
// reader of the whole log.
import type { SessionEvent } from '@baton/core/internal'
import { readSince, readStart, SessionProjection } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, createHistory, initialState } from '@baton/core/machine'
import type { Random } from '@baton/core/testing'
import { createRandom } from '@baton/core/testing'
import { isDeepStrictEqual } from 'node:util'
import type { ObservedSession } from './observed-session.ts'

/** Readers of each kind for each session. */
const READERS = 3

/** @throws Error naming the session, the reader's start, and the events that differ */
export function checkReaders(sessions: Iterable<ObservedSession>): void {
  for (const { records, state } of sessions) {
    const random = createRandom(records.length)
    const whole = readAll(new SessionProjection(), records)
    for (let reader = 0; reader < READERS; reader++) {
      checkReturn(state.session, { records, whole, random })
      checkStart(state.session, { records, whole, random })
    }
  }
}

interface Reading {
  readonly records: readonly SessionRecord[]
  /** Events of each record, for a reader of the whole log. */
  readonly whole: readonly (readonly SessionEvent[])[]
  readonly random: Random
}

function readAll(
  projection: SessionProjection,
  records: readonly SessionRecord[],
): readonly (readonly SessionEvent[])[] {
  return records.map((record) => projection.takeRecord(record).read())
}

function checkReturn(session: string, { records, whole, random }: Reading): void {
  const [opened] = records[0]?.facts ?? []
  const all = whole.flat()
  const left = random.below(all.length)
  const cursor = all[left]?.cursor
  if (!cursor || opened?.type !== 'session-opened') return
  const { pos, read = 0 } = cursor
  const history = createHistory()
  for (const record of records) history.fold(record)
  const since = readSince(cursor, history)
  const projection = new SessionProjection({ birth: opened.birth, since })
  readAll(projection, records.slice(since ?? 0, pos))
  projection.resume(cursor)
  const told = readAll(projection, records.slice(pos)).map((events, index) =>
    index > 0 ? events : events.filter((event) => event.cursor.read === undefined || event.cursor.read > read),
  )
  const where = `a reader of ${session} that returns with ${JSON.stringify(cursor)}`
  compare(where, told.flat().map(withoutCursor), all.slice(left + 1).map(withoutCursor))
}

function checkStart(session: string, { records, whole, random }: Reading): void {
  const from = 1 + random.below(records.length)
  let state = initialState(session)
  const history = createHistory()
  for (const record of records.slice(0, from)) {
    state = applyRecord(state, record)
    history.fold(record)
  }
  const start = readStart(state, history)
  const late = readAll(new SessionProjection({ start }), records.slice(from))
  // It does not know calls of closed steps, whose children may still change.
  const known = new Set(start.calls.map(({ view }) => view.callId))
  const older = new Set(
    whole
      .slice(0, from)
      .flatMap((events) => events.flatMap((event) => (event.type === 'call' ? event.call.callId : []))),
  )
  const isLost = (id: string): boolean => older.has(id) && !known.has(id)
  for (const [index, events] of late.entries())
    compare(
      `a reader of ${session} that begins at record ${from}, at record ${from + index}`,
      describeRecord(events, isLost),
      describeRecord(whole[from + index] ?? [], isLost),
    )
}

/** Omits pieces of text, limits and usage, which a late reader does not know. */
function describeRecord(events: readonly SessionEvent[], isLost: (callId: string) => boolean): unknown {
  const calls = new Map(events.flatMap((event) => (event.type === 'call' ? [[event.call.callId, event.call]] : [])))
  const others = events.flatMap((event) => {
    if (event.type === 'step-reset' && event.reason === 'interrupted') return []
    if (PARTIAL.has(event.type)) return []
    return [event.type === 'turn-finished' ? { ...withoutCursor(event), usage: {} } : withoutCursor(event)]
  })
  return [others, Object.fromEntries([...calls].filter(([id]) => !isLost(id)))]
}

const PARTIAL: ReadonlySet<SessionEvent['type']> = new Set(['text', 'reasoning', 'text-cut', 'limit', 'call'])

function withoutCursor(event: SessionEvent): object {
  return { ...event, cursor: null }
}

function compare(where: string, told: unknown, should: unknown): void {
  if (!isDeepStrictEqual(told, should))
    throw new Error(`${where}, reads\n${JSON.stringify(told)}\nand not\n${JSON.stringify(should)}`)
}
