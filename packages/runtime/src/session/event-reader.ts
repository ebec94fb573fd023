// Session events for one reader: an engine's frames, projected. A reader that was too slow for the feed reads the log
// again from where it was.
import type { EventBatch, EventCursor, EventStream, Frame, SessionEvent, SessionProjection } from '@baton/core/internal'
import type { Fact } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import type { FrameReader } from './frame-reader.ts'

export interface EventReaderOptions {
  readonly follow: SessionEngine['follow']
  readonly frames: FrameReader
  readonly projection: SessionProjection
  /** Records before this cursor are read but not emitted. */
  readonly from: EventCursor
  /** The last record of the past; if absent, `live` is not emitted. */
  readonly headPos?: number
  /** For a device: it learns that it missed events, not which. */
  readonly delivery?: boolean | undefined
  /** Called once, when the reading has ended. */
  readonly onEnd?: (reader: EventReader) => void
}

export class EventReader implements EventStream, AsyncIterator<SessionEvent, undefined> {
  readonly #init: EventReaderOptions
  #frames: FrameReader
  /** Facts of the record being read. */
  #facts: Fact[] = []
  #nextPos = 0
  #isResumed = false
  #isLive: boolean
  #ended = false
  /** Events that the iterator took but has not returned. */
  #batch: readonly SessionEvent[] = []
  #handedOut = 0

  constructor(init: EventReaderOptions) {
    this.#init = init
    this.#frames = init.frames
    this.#isLive = init.headPos === undefined
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, undefined> {
    return this
  }

  /** Returns undefined at the end. Without `waits`, also when the past and the current partial text were emitted. */
  async nextBatch(waits = true): Promise<EventBatch | undefined> {
    for (;;) {
      const events: SessionEvent[] = []
      if (!this.#isLive) this.#tellLive(events)
      if (events.length === 0) {
        const frames = await this.#frames.nextBatch(waits || !this.#isLive)
        if (!frames || this.#ended) {
          this.leave()
          return undefined
        }
        if (frames.length === 0) return undefined
        for (const frame of frames) this.#take(frame, events)
      }
      const last = events.at(-1)
      if (!last) continue
      const { projection } = this.#init
      // Records after the last event may have emitted nothing.
      return { events, next: last.cursor.pos === projection.pos ? last.cursor : projection.cursor }
    }
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    return this.#takeNext() ?? this.#nextOfBatches()
  }

  /** Returns events already taken, without an async call for each. */
  #takeNext(): Promise<IteratorResult<SessionEvent, undefined>> | undefined {
    const event = this.#batch[this.#handedOut]
    if (!event) return undefined
    this.#handedOut += 1
    return Promise.resolve({ done: false, value: event })
  }

  async #nextOfBatches(): Promise<IteratorResult<SessionEvent, undefined>> {
    for (;;) {
      const taken = this.#takeNext()
      if (taken) return await taken
      const batch = await this.nextBatch()
      if (!batch) return END
      this.#batch = batch.events
      this.#handedOut = 0
    }
  }

  return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.leave()
    return Promise.resolve(END)
  }

  leave(): void {
    if (this.#ended) return
    this.#ended = true
    this.#batch = []
    this.#frames.leave()
    this.#init.onEnd?.(this)
  }

  #take(frame: Frame, events: SessionEvent[]): void {
    const { projection, from, follow } = this.#init
    if (frame.type === 'lagged') {
      this.#facts = []
      if (this.#init.delivery) {
        events.push({ type: 'behind', cursor: projection.cursor })
        return // the last frame
      }
      this.#frames = follow(Math.max(frame.pos, this.#nextPos))
      return
    }
    if (frame.type !== 'fact') {
      // Repeated after the records that this reader skips.
      if (projection.pos < from.pos) return
      this.#resume()
      const event = projection.takeLive(frame)
      if (event) events.push(event)
      return
    }
    // Repeated after a reading that was too slow.
    if (frame.pos < this.#nextPos) return
    this.#facts.push(frame.fact)
    if (frame.more) return
    const { pos, nowMs, wallMs } = frame
    if (pos >= from.pos) this.#resume()
    const facts = this.#facts
    const told = projection.takeRecord({ pos, nowMs, ...(wallMs !== undefined && { wallMs }), facts })
    this.#facts = []
    this.#nextPos = pos + 1
    if (pos > from.pos) events.push(...told)
    else if (pos === from.pos) {
      // No event carries such a cursor: it is the start of a turn. A device gets all of the record.
      const beginsTurn = from.since === pos && from.read === undefined && !this.#init.delivery
      events.push(...(beginsTurn ? dropFormerTurn(told, facts) : told.slice(from.read ?? 0)))
    }
    if (!this.#isLive) this.#tellLive(events)
  }

  /** The projection knows how much of an unfinished step was sent once it has read this far. */
  #resume(): void {
    if (this.#isResumed) return
    this.#isResumed = true
    this.#init.projection.resume(this.#init.from)
  }

  #tellLive(events: SessionEvent[]): void {
    const { projection, headPos = -1 } = this.#init
    if (projection.cursor.pos <= headPos) return
    this.#isLive = true
    events.push({ type: 'live', cursor: projection.cursor })
  }
}

/** A queued message begins its turn in the record that ends the previous one; that end belongs to the older turn. */
function dropFormerTurn(told: readonly SessionEvent[], facts: readonly Fact[]): readonly SessionEvent[] {
  const begun = facts.findLast((fact) => fact.type === 'turn-started')?.turn ?? 0
  const former = told.findLastIndex((event) => event.type === 'turn-finished' && event.turn < begun)
  const isQuestion = (event: SessionEvent): boolean => event.type === 'message-added' && event.message.role === 'user'
  return told.filter((event, index) => index > former || isQuestion(event))
}

const END = { done: true, value: undefined } as const
