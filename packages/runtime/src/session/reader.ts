// Reads a session's events: first the log, through a private projection, then the stream. A reader that was too slow for
// the stream, or missed records of another host, reads the log again from its last event.
import type {
  EventBatch,
  EventCursor,
  EventsOptions,
  EventStream,
  LiveFrame,
  RecordEvents,
  SessionEvent,
  SessionEventOf,
  SessionProjection,
} from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import type { SessionStream, StreamReader } from './stream.ts'

export interface ReadingOptions {
  /** The first event to read; only new ones if absent. */
  readonly from?: EventCursor | undefined
  /** The last record of the past; if present, `live` is emitted behind it. */
  readonly headPos?: number | undefined
  /** For a device: it learns that it missed events, not which. */
  readonly delivery?: boolean | undefined
  /** `EVENTS_MAX` by default. */
  readonly eventsMax?: number
  /** `TEXT_MAX` by default. */
  readonly textMax?: number
  /** Called once, when the reading has ended. */
  readonly onEnd?: ((reader: EventReader) => void) | undefined
}

export interface EventReading extends Pick<EventsOptions, 'from' | 'delivery'> {
  /** Whether to emit `live` where the past ends. */
  readonly tellsLive?: boolean
  readonly onEnd?: (reader: EventReader) => void
}

/** @throws BatonError `invalid_event` */
export function openEvents(
  engine: Pick<SessionEngine, 'session' | 'stream' | 'state' | 'history'>,
  { from = 'now', delivery, tellsLive, onEnd }: EventReading,
): EventReader {
  const { session, stream } = engine
  const headPos = engine.state().pos
  const more = { delivery, onEnd, ...(tellsLive && { headPos }) }
  const since = engine.history().lastTurn()?.pos
  // Before its first turn a session has nothing newer than now.
  if (from === 'now' || (from === 'turn' && since === undefined)) return new EventReader(stream, more)
  const cursor: EventCursor =
    from === 'start' ? { pos: 0 } : from === 'turn' ? { pos: since ?? 0, since: since ?? 0 } : from
  // While the session is being opened again, readers know more than its state.
  checkPlace(cursor, Math.max(headPos, stream.nextPos - 1), session)
  return new EventReader(stream, { from: cursor, ...more })
}

function checkPlace({ pos, since = 0 }: EventCursor, headPos: number, session: string): void {
  if (pos <= headPos + 1 && since <= pos) return
  throw createPlaceError(`session ${session} has no place ${pos} (since ${since}); its newest record is ${headPos}`)
}

function createPlaceError(message: string): BatonError {
  return new BatonError({
    code: 'invalid_event',
    message,
    hint: 'Pass the unchanged cursor of an event of this session.',
  })
}

/** Events that may wait for one reader; adjacent text counts as one. */
export const EVENTS_MAX = 10_000
/** UTF-16 units of live text that may wait for one reader. */
export const TEXT_MAX = 4 * 1024 * 1024

/** Not a generator: `return()` on a waiting generator takes effect with the next event, which may never come. */
export class EventReader implements EventStream, AsyncIterator<SessionEvent, undefined>, StreamReader {
  readonly #stream: SessionStream
  readonly #init: ReadingOptions
  readonly #queue = new EventQueue()
  readonly #eventsMax: number
  readonly #textMax: number
  /** Set until the reader can take the stream's events. */
  #own: OwnReading | undefined
  /** Takes events when they happen, instead of the queue. */
  #drain: Drain | undefined
  /** Whether the stream passes on new records; otherwise the log is read. */
  #hasJoined = false
  #log: AsyncIterator<SessionRecord, undefined> | undefined
  /** Cursors after the last taken event, and after the last unread one. */
  #taken: EventCursor
  #reached: EventCursor
  /** UTF-16 units of live text that wait. */
  #liveChars = 0
  #isLive: boolean
  #ended = false
  /** Events that the iterator took but has not returned. */
  #batch: readonly SessionEvent[] = []
  #handedOut = 0
  /** Shared by all callers who wait for the next event. */
  #filling: Promise<boolean> | undefined

  constructor(stream: SessionStream, init: ReadingOptions) {
    this.#stream = stream
    this.#init = init
    this.#eventsMax = init.eventsMax ?? EVENTS_MAX
    this.#textMax = init.textMax ?? TEXT_MAX
    this.#isLive = init.headPos === undefined
    const edge = init.from ? undefined : stream.joinNow(this)
    this.#hasJoined = edge !== undefined
    if (!edge) this.#own = init.from ? readFrom(stream, init.from) : startNow(stream)
    this.#taken = this.#reached = edge ?? this.#own?.from ?? { pos: 0 }
    if (!this.#isLive) this.#tellLive()
    if (this.#own && !init.from) this.#join(this.#own)
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionEvent, undefined> {
    return this
  }

  /** Returns undefined at the end. Without `waits`, also when the past and the current partial text were emitted. */
  async nextBatch(waits = true): Promise<EventBatch | undefined> {
    while (!this.#ended) {
      const events = this.#queue.takeAll()
      if (events.length > 0) {
        this.#liveChars = 0
        this.#taken = this.#reached
        return { events, next: this.#taken }
      }
      if (this.#queue.isEnded) this.leave()
      else if (this.#own && !this.#hasJoined) {
        if (await this.#readLog(this.#own)) continue
        if (!waits) return undefined
        await this.#opened()
      } else if (!waits) return undefined
      else await this.#queue.changed()
    }
    return undefined
  }

  /**
   * Passes the events of each record or piece to `take` when they happen, until it returns true or the reading ends. Then the
   * reader leaves.
   * @throws what `take` throws, and errors of the store
   */
  async drain(take: Drain['take']): Promise<void> {
    const drain: Drain = { take, isDone: false, failure: undefined }
    this.#drain = drain
    try {
      this.#pushAll(this.#queue.takeAll())
      while (!drain.isDone && !this.#ended && !this.#queue.isEnded)
        if (!this.#own || this.#hasJoined) await this.#queue.changed()
        else if (!(await this.#readLog(this.#own))) await this.#opened()
    } finally {
      this.leave()
    }
    if (drain.failure) throw drain.failure.cause
  }

  next(): Promise<IteratorResult<SessionEvent, undefined>> {
    return this.#takeNext() ?? this.#nextOfBatches()
  }

  return(): Promise<IteratorResult<SessionEvent, undefined>> {
    this.leave()
    return Promise.resolve(END)
  }

  /** Ends the reading at once, even while a caller waits for the next event. */
  leave(): void {
    if (this.#ended) return
    this.#ended = true
    this.#batch = []
    this.#stream.leave(this)
    this.#log?.return?.().catch(() => {}) // the reader has left, so a failure of the store no longer matters
    this.#queue.end()
    this.#init.onEnd?.(this)
  }

  takeRecord(record: SessionRecord, events: RecordEvents): void {
    const own = this.#own
    if (own) {
      this.#takeOwn(own, record)
      // A reader that has just become too slow reads the log.
      if (this.#own === own && this.#stream.isAtEdge(own.projection)) this.#own = undefined
    } else {
      this.#reached = events.after
      this.#pushAll(events.read(this.#init.delivery))
    }
  }

  takeLive(frame: LiveFrame, event: SessionEvent): void {
    const told = this.#own ? this.#own.projection.takeLive(frame) : event
    if (!told) return
    if ('text' in frame) this.#liveChars += frame.text.length
    this.#reached = told.cursor
    this.#pushAll([told])
  }

  /** Reads the log again from the last taken event. A device gets its unread events, then `behind`, and the reading ends. */
  miss(): void {
    this.#hasJoined = false
    this.#stream.leave(this)
    if (this.#init.delivery) {
      this.#queue.push([{ type: 'behind', cursor: this.#reached }])
      this.#queue.end()
      return
    }
    if (this.#drain) this.#taken = this.#reached
    this.#dropUnread()
    this.#own = readFrom(this.#stream, this.#taken)
    this.#tellLive()
    this.#queue.wake()
  }

  /** Ends the reading after the unread events. */
  end(): void {
    this.#queue.end()
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
      if (!(await (this.#filling ??= this.#fillBatch()))) return END
    }
  }

  /** Returns false at the end. */
  async #fillBatch(): Promise<boolean> {
    try {
      const batch = await this.nextBatch()
      this.#batch = batch?.events ?? []
      this.#handedOut = 0
      return batch !== undefined
    } finally {
      this.#filling = undefined
    }
  }

  /**
   * Takes the next record of the log, or joins the stream behind the newest one. Returns false while the session is
   * being opened again.
   */
  async #readLog(own: OwnReading): Promise<boolean> {
    try {
      this.#log ??= this.#stream.records(own.projection.pos)
      const { done, value } = await this.#log.next()
      if (this.#ended) return true
      if (done !== true) {
        this.#checkSince(own.from, value)
        this.#takeOwn(own, value)
        return true
      }
    } catch (cause) {
      this.leave()
      throw cause
    }
    this.#log = undefined
    return this.#join(own) || own.projection.pos < this.#stream.nextPos
  }

  /** Refuses the cursor of another session: only a projection that begins with a turn knows the turn's messages. */
  #checkSince({ since = 0 }: EventCursor, { pos, facts }: SessionRecord): void {
    if (pos !== since || since === 0 || facts.some(({ type }) => type === 'turn-started')) return
    throw createPlaceError(`no turn began at place ${since}`)
  }

  /** Resolves when the session is open again, and when the reader leaves. */
  async #opened(): Promise<void> {
    await Promise.race([this.#stream.changed(), this.#queue.changed()])
  }

  /** Returns false if the log has more records, or if the session is being opened again. */
  #join(own: OwnReading): boolean {
    if (!this.#stream.join(this, own.projection.pos)) return false
    resume(own)
    for (const frame of this.#stream.written?.frames() ?? []) this.#pushOwn(own.projection.takeLive(frame))
    this.#hasJoined = true
    if (this.#stream.isAtEdge(own.projection)) this.#own = undefined
    return true
  }

  #takeOwn(own: OwnReading, record: SessionRecord): void {
    const { pos, facts } = record
    const { projection, from } = own
    if (pos < projection.pos) return
    if (pos >= from.pos && !own.isResumed) {
      resume(own)
      // A cursor inside a record cannot place live pieces.
      if (from.read === undefined) this.#tellReasoning(own)
    }
    const told = projection.takeRecord(record).read(this.#init.delivery)
    this.#reached = pos < from.pos ? from : projection.cursor
    if (pos > from.pos) this.#pushAll(told)
    else if (pos === from.pos) {
      const { since, read = 0 } = from
      // Such a cursor belongs to a reading that began with this turn. A device gets all of the record.
      const beginsTurn = since === pos && !this.#init.delivery
      const kept = beginsTurn ? this.#dropFormerTurn(told, record) : told
      this.#pushAll(kept.filter(({ cursor }) => cursor.read === undefined || cursor.read > read))
    }
    if (this.#own !== own) return
    this.#tellLive()
    if (own.isResumed && facts.some(({ type }) => type === 'model-started')) this.#tellReasoning(own)
  }

  /** A queued message begins its turn in the record that ends the previous one; that end belongs to the older turn. */
  #dropFormerTurn(told: readonly SessionEvent[], { pos, facts }: SessionRecord): readonly SessionEvent[] {
    const begun = facts.findLast((fact) => fact.type === 'turn-started')?.turn ?? 0
    const former = told.findLastIndex((event) => event.type === 'turn-finished' && event.turn < begun)
    const isQuestion = (event: SessionEvent): boolean => event.type === 'message-added' && event.message.role === 'user'
    const isOwn = (one: SessionEvent): boolean => ('step' in one ? one.message === `t${begun}` : true)
    const kept = told.filter((event, index) => isOwn(event) && (index > former || isQuestion(event)))
    // A reading that continues behind one of them began with the turn too.
    return kept.map((event) => (event.cursor.pos > pos ? event : { ...event, cursor: { ...event.cursor, since: pos } }))
  }

  /**
   * Reasoning of the running attempt goes where the attempt begins, or where the reader resumes it: the log has only its
   * text.
   */
  #tellReasoning({ projection }: OwnReading): void {
    const { written } = this.#stream
    if (this.#hasJoined || !written || projection.written?.attempt !== written.attempt) return
    for (const frame of written.frames())
      if (frame.type === 'reasoning-delta') this.#pushOwn(projection.takeLive(frame))
  }

  #pushOwn(event: SessionEvent | undefined): void {
    if (!event) return
    this.#reached = event.cursor
    this.#pushAll([event])
  }

  #pushAll(events: readonly SessionEvent[]): void {
    if (this.#drain) this.#passOn(this.#drain, events)
    else if (this.#queue.push(events) > this.#eventsMax || this.#liveChars > this.#textMax) this.#overflow()
  }

  /** Never throws: the session passes its events on while it commits. */
  #passOn(drain: Drain, events: readonly SessionEvent[]): void {
    try {
      drain.isDone ||= drain.take(events)
    } catch (cause) {
      drain.failure = { cause }
      drain.isDone = true
    }
    if (drain.isDone) this.#queue.wake()
  }

  /** Past events do not overflow: they are taken one record at a time. */
  #overflow(): void {
    if (!this.#hasJoined) return
    this.#dropUnread()
    this.miss()
  }

  #dropUnread(): void {
    if (this.#queue.takeAll().some(({ type }) => type === 'live')) this.#isLive = false
    this.#liveChars = 0
    this.#reached = this.#taken
  }

  #tellLive(): void {
    const { headPos = -1 } = this.#init
    const { pos } = this.#reached
    if (this.#isLive || pos <= headPos) return
    this.#isLive = true
    this.#pushAll([{ type: 'live', cursor: this.#reached }])
  }
}

interface Drain {
  readonly take: (events: readonly SessionEvent[]) => boolean
  isDone: boolean
  failure: { readonly cause: unknown } | undefined
}

/** A reading through a private projection. */
interface OwnReading {
  readonly projection: SessionProjection
  /** Records before this cursor are read but not emitted. */
  readonly from: EventCursor
  /** The projection knows how much of an unfinished step the reader has. */
  isResumed: boolean
}

function readFrom(stream: SessionStream, from: EventCursor): OwnReading {
  return { projection: stream.projectAt(from), from, isResumed: false }
}

function startNow(stream: SessionStream): OwnReading {
  const projection = stream.projectNow()
  return { projection, from: projection.cursor, isResumed: true }
}

/** Called when the projection has reached the cursor. */
function resume(own: OwnReading): void {
  if (own.isResumed) return
  own.isResumed = true
  own.projection.resume(own.from)
}

const END = { done: true, value: undefined } as const

/** Unread events. Adjacent text is joined, so a long unread answer is one event. */
export class EventQueue {
  #waiting: SessionEvent[] = []
  #ended = false
  /** Shared by all waiting readers, so that none hangs at the end. */
  #change: PromiseWithResolvers<void> | undefined

  /** Whether no further events will be pushed. */
  get isEnded(): boolean {
    return this.#ended
  }

  /** Returns the number of waiting events. */
  push(events: readonly SessionEvent[]): number {
    for (const event of events) {
      const last = this.#waiting.length - 1
      const joined = 'offset' in event ? joinTexts(this.#waiting[last], event) : undefined
      if (joined) this.#waiting[last] = joined
      else this.#waiting.push(event)
    }
    if (this.#change) this.wake()
    return this.#waiting.length
  }

  /** Removes and returns all waiting events. */
  takeAll(): readonly SessionEvent[] {
    const events = this.#waiting
    this.#waiting = []
    return events
  }

  /** Keeps the newest of waiting events with the same key; events without a key all stay. Returns their number. */
  keepNewest(keyOf: (event: SessionEvent) => string | undefined): number {
    const newer = new Set<string>()
    const kept = this.#waiting.toReversed().filter((event) => {
      const key = keyOf(event)
      const isNewest = key === undefined || !newer.has(key)
      if (key !== undefined) newer.add(key)
      return isNewest
    })
    this.#waiting = kept.toReversed()
    return kept.length
  }

  end(): void {
    this.#ended = true
    this.wake()
  }

  /** Resolves with the next event, with `wake`, and at the end. */
  changed(): Promise<void> {
    return (this.#change ??= Promise.withResolvers()).promise
  }

  /** Resolves `changed` without an event. */
  wake(): void {
    this.#change?.resolve()
    this.#change = undefined
  }
}

/** Undefined if the event does not continue the last one. */
function joinTexts(
  last: SessionEvent | undefined,
  event: SessionEventOf<'text' | 'reasoning' | 'call-writing'>,
): SessionEvent | undefined {
  if (!last || last.type !== event.type || last.step !== event.step || last.offset + last.text.length !== event.offset)
    return undefined
  if (event.type === 'call-writing' && last.type === 'call-writing' && last.callId !== event.callId) return undefined
  return { ...last, text: last.text + event.text, cursor: event.cursor }
}
