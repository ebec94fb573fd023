// All readers of one session: every record reaches each of them once, also one whose actor died before it knew of it.
import type { Frame, Store } from '@baton/core'
import type { FactType, SessionRecord } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { createFrameReader } from './bounded-frames.ts'

export interface FrameHub {
  /** Live text and notes. */
  publish(frame: Frame): void
  /** A record of the log. One that was published before, as when the log is read again, is passed over. */
  publishRecord(record: SessionRecord): void
  /** Records up to this position are not published: who wants them reads them from the store. */
  startAfter(pos: number): void
  /** Frames from `fromPos` on, or from now on. */
  read(fromPos: number | undefined): FrameReader
  /** Ends every reading, also those that begin later. */
  end(): void
}

export function createFrameHub(store: Store, session: string): FrameHub {
  const readers = new Set<FrameReader>()
  let publishedPos = -1
  let ended = false
  /** What the running attempt has said, for a reader that comes in the middle of it. */
  let said: { readonly attempt: number; text: string } | undefined

  const publish = (frame: Frame): void => {
    if (frame.type === 'text-delta') {
      if (said?.attempt !== frame.attempt) said = { attempt: frame.attempt, text: '' }
      said.text += frame.text
    } else if (frame.type === 'fact' && ENDS_ATTEMPT.has(frame.fact.type)) said = undefined
    for (const reader of readers) reader.push(frame)
  }
  const publishRecord = (record: SessionRecord): void => {
    if (record.pos <= publishedPos) return
    publishedPos = record.pos
    framesOf(record).forEach(publish)
  }
  /** Old facts come from the store, new ones live; the reader is registered first, so that none falls between. */
  const read = (fromPos: number | undefined): FrameReader => {
    const nextPos = publishedPos + 1
    const reader = createFrameReader({
      nextPos,
      onEnd: () => readers.delete(reader),
      ...(fromPos !== undefined && fromPos < nextPos && { past: pastFrames(store, session, { fromPos, nextPos }) }),
    })
    readers.add(reader)
    if (said && fromPos !== undefined) reader.push({ type: 'text-delta', ...said, offset: 0 })
    if (ended) reader.end()
    return reader
  }
  const end = (): void => {
    ended = true
    for (const reader of readers) reader.end()
  }
  const startAfter = (pos: number): void => {
    publishedPos = Math.max(publishedPos, pos)
  }
  return { publish, publishRecord, startAfter, read, end }
}

/** After these, what an attempt said stands in the log or is void. */
const ENDS_ATTEMPT: ReadonlySet<string> = new Set<FactType>([
  'step-finished',
  'step-salvaged',
  'attempt-superseded',
  'attempt-failed',
  'turn-finished',
])

async function* pastFrames(
  store: Store,
  session: string,
  range: { readonly fromPos: number; readonly nextPos: number },
): AsyncGenerator<Frame> {
  for await (const record of store.read(session, range.fromPos)) {
    if (record.pos >= range.nextPos) return
    yield* framesOf(record)
  }
}

/** The frames of a record: a projection without memory, so that reading again from a position needs nothing else. */
export function framesOf(record: SessionRecord): readonly Frame[] {
  const { pos, nowMs } = record
  return record.facts.map((fact) => ({ type: 'fact', pos, nowMs, fact }))
}
