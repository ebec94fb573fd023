// All readers of one session: every record reaches each of them once, also one whose actor died before it knew of it.
import type { Frame, Store } from '@baton/core'
import type { FactType, SessionRecord } from '@baton/core/machine'
import type { FrameReader } from './bounded-frames.ts'
import { createFrameReader } from './bounded-frames.ts'

export class FrameHub {
  readonly #store: Store
  readonly #session: string
  readonly #readers = new Set<FrameReader>()
  #publishedPos = -1
  #ended = false
  /** What the running attempt has said, for a reader that comes in the middle of it. */
  #said: { readonly attempt: number; text: string } | undefined

  constructor(store: Store, session: string) {
    this.#store = store
    this.#session = session
  }

  /** Live text and notes, and the facts of records. */
  publish(frame: Frame): void {
    if (frame.type === 'text-delta') {
      if (this.#said?.attempt !== frame.attempt) this.#said = { attempt: frame.attempt, text: '' }
      this.#said.text += frame.text
    } else if (frame.type === 'fact' && ENDS_ATTEMPT.has(frame.fact.type)) this.#said = undefined
    for (const reader of this.#readers) reader.push(frame)
  }

  /** A record of the log. One that was published before, as when the log is read again, is passed over. */
  publishRecord(record: SessionRecord): void {
    if (record.pos <= this.#publishedPos) return
    this.#publishedPos = record.pos
    for (const frame of framesOf(record)) this.publish(frame)
  }

  /** Records up to this position are not published: who wants them reads them from the store. */
  startAfter(pos: number): void {
    this.#publishedPos = Math.max(this.#publishedPos, pos)
  }

  /**
   * Frames from `fromPos` on, or from now on. Old facts come from the store, new ones live; the reader is registered
   * first, so that none falls between. `onEnd` is told when the reading has ended, whoever ended it.
   */
  read(fromPos: number | undefined, onEnd?: (reader: FrameReader) => void): FrameReader {
    const nextPos = this.#publishedPos + 1
    const isBehind = fromPos !== undefined && fromPos < nextPos
    const reader = createFrameReader({
      nextPos,
      onEnd: () => {
        this.#readers.delete(reader)
        onEnd?.(reader)
      },
      ...(isBehind && { past: pastFrames(this.#store, this.#session, { fromPos, nextPos }) }),
    })
    this.#readers.add(reader)
    if (this.#said && fromPos !== undefined) reader.push({ type: 'text-delta', ...this.#said, offset: 0 })
    if (this.#ended) reader.end()
    return reader
  }

  /** Ends every reading, also those that begin later. */
  end(): void {
    this.#ended = true
    for (const reader of this.#readers) reader.end()
  }
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
