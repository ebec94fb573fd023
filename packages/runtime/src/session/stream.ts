// The stream of one open session, for all its readers in this process: records in order, with live pieces of the running
// answer in their place among them. Each record is projected once, at the edge; readers share the events.
import type { EventCursor, LiveFrame, ProjectionOptions, RecordEvents, SessionEvent } from '@baton/core/internal'
import { BatonError, readSince, readStart, SessionProjection } from '@baton/core/internal'
import type { History, SessionRecord, State } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { IndexSizes } from './message-index.ts'
import { MessageIndex } from './message-index.ts'
import { inTime } from '../work/media.ts'

/** A session's folded records, up to the newest that reached this process. */
export interface SessionReplica {
  state(): State
  history(): History
}

export interface SessionStreamOptions extends SessionReplica {
  readonly session: string
  readonly world: () => SessionWorld
  /** Reads the log from a position. */
  readonly readLog: (fromPos: number) => AsyncIterable<SessionRecord>
  /** `INDEX_SIZES` by default. */
  readonly indexSizes?: IndexSizes
}

/** A reader that has joined the stream. */
export interface StreamReader {
  takeRecord(record: SessionRecord, events: RecordEvents): void
  takeLive(frame: LiveFrame, event: SessionEvent): void
  /** The reader missed records that another host wrote; the log has them. */
  miss(): void
  end(): void
}

type Piece = Exclude<LiveFrame, { readonly type: 'tool-progress' | 'server-tool' }>

/**
 * UTF-16 units that may wait for the record that begins their attempt; each piece counts this much for itself. More is
 * dropped, which shows in the offsets.
 */
const EARLY_CHARS_MAX = 4 * 1024 * 1024
const PIECE_CHARS = 32

/** Its name in errors of the store. */
const INDEX = 'the index of messages'

export class SessionStream {
  readonly #init: SessionStreamOptions
  readonly #readers = new Set<StreamReader>()
  /** Callbacks of `onRecord`. */
  readonly #followers = new Set<(record: SessionRecord) => void>()
  /** Callbacks of `onClientsGone`. */
  readonly #clients = new Set<() => void>()
  /** Has taken every published record. Created for the first reader or live piece, and after records were missed. */
  #edge: SessionProjection | undefined
  #publishedPos = -1
  #publishedEpoch = 0
  #lastAttempt = 0
  #ended = false
  #early: Piece[] = []
  #earlyChars = 0
  #index: MessageIndex | undefined
  /** Set while a reader waits for the next record. */
  #change: PromiseWithResolvers<void> | undefined

  constructor(init: SessionStreamOptions) {
    this.#init = init
  }

  /** Position of the next record. */
  get nextPos(): number {
    return this.#publishedPos + 1
  }

  /** Finds the records of messages. */
  get index(): MessageIndex {
    const { session, state, world, indexSizes } = this.#init
    return (this.#index ??= new MessageIndex({
      session,
      birth: () => state().birth,
      blobs: {
        get: (name, key) => inTime(world().timers, () => world().blobs.get(name, key), INDEX),
        put: (name, key, text) => inTime(world().timers, () => world().blobs.put(name, key, text), INDEX),
      },
      log: () => world().log,
      records: (fromPos) => this.records(fromPos),
      ...(indexSizes && { sizes: indexSizes }),
    }))
  }

  /** The step being written. */
  get written(): SessionProjection['written'] {
    return this.#edge?.written
  }

  /** Skips a record that was already published, for example when the log is read again. */
  publishRecord(record: SessionRecord): void {
    if (record.pos <= this.#publishedPos) return
    this.#publishedPos = record.pos
    this.#publishedEpoch = record.epoch
    const events = this.#edge?.takeRecord(record)
    if (events) for (const reader of this.#readers) reader.takeRecord(record, events)
    for (const follow of this.#followers) follow(record)
    for (const fact of record.facts) {
      if (fact.type === 'model-started') this.#lastAttempt = fact.attempt
      if (fact.type === 'host-restarted') this.#tellClients()
    }
    if (this.#early.length > 0) this.#publishEarly()
    if (this.#change) this.notice()
  }

  /** Drops a piece of a finished attempt; holds a piece that arrives before its attempt's record. */
  publishLive(frame: LiveFrame): void {
    const edge = this.#openEdge()
    const isPiece = frame.type !== 'tool-progress' && frame.type !== 'server-tool'
    if (isPiece && frame.attempt > this.#lastAttempt && edge?.written?.attempt !== frame.attempt) this.#keepEarly(frame)
    else {
      const event = edge?.takeLive(frame)
      if (event) for (const reader of this.#readers) reader.takeLive(frame, event)
    }
  }

  /** Records up to this position were published elsewhere: readers get them from the log. */
  startAfter(pos: number): void {
    if (pos <= this.#publishedPos) return
    this.#publishedPos = pos
    this.#edge = undefined
    for (const reader of this.#readers) reader.miss()
    this.#tellClients()
  }

  /** See `FrontSession.onClientsGone`. The records missed by this process may have it too. */
  onClientsGone(callback: () => void): () => void {
    const own = (): void => callback()
    this.#clients.add(own)
    return () => void this.#clients.delete(own)
  }

  /** Calls back with each record that is published from now on; returns what ends it. */
  onRecord(callback: (record: SessionRecord) => void): () => void {
    this.#followers.add(callback)
    return () => void this.#followers.delete(callback)
  }

  /** Wakes readers that wait for a record, or for the session to be opened again. */
  notice(): void {
    this.#change?.resolve()
    this.#change = undefined
  }

  /** Resolves with the next record, when the session is open again, and at the end. */
  changed(): Promise<void> {
    return (this.#change ??= Promise.withResolvers()).promise
  }

  /** The text that an attempt has streamed so far. */
  textOfAttempt(attempt: number): string {
    return this.written?.attempt === attempt ? this.written.text : ''
  }

  /** Ends every reading, including later ones. */
  end(): void {
    this.#ended = true
    for (const reader of this.#readers) reader.end()
    this.notice()
  }

  /** The log's records from a position up to the newest published one. @throws BatonError `store_failed`, `session_closed` */
  async *records(fromPos: number): AsyncGenerator<SessionRecord, undefined> {
    const endPos = this.#publishedPos
    let nextPos = fromPos
    if (nextPos > endPos) return
    for await (const record of this.#init.readLog(fromPos)) {
      if (record.pos > endPos) return
      if (this.#ended && this.#isForeign(record)) throw createEndedError(this.#init.session)
      nextPos = record.pos + 1
      yield record
    }
    if (nextPos > endPos) return
    const { session } = this.#init
    if (this.#ended) throw createEndedError(session)
    const message = `the log of session ${session} ends before record ${nextPos}, which was already published`
    throw new BatonError({ code: 'store_failed', message, retryable: true })
  }

  /** Whether it belongs to another session, which got the name after this one was removed: its epochs are newer. */
  #isForeign({ epoch }: SessionRecord): boolean {
    return epoch > Math.max(this.#publishedEpoch, this.#init.state().epoch)
  }

  /** Undefined if it is not published yet. @throws BatonError `store_failed` */
  async recordAt(pos: number): Promise<SessionRecord | undefined> {
    // Left by returning, so that the store closes what it has opened.
    for await (const record of this.records(pos)) return record
    return undefined
  }

  /**
   * Passes everything new on to a reader that has read up to this position. Returns false if there is more in the log,
   * or if the session is being opened again.
   */
  join(reader: StreamReader, nextPos: number): boolean {
    if (nextPos < this.nextPos) return false
    if (this.#ended) reader.end()
    else if (this.#openEdge()) this.#readers.add(reader)
    else return false
    return true
  }

  /** Passes on only what is new, unless a step is being written. Returns the reader's cursor. */
  joinNow(reader: StreamReader): EventCursor | undefined {
    const edge = this.#ended ? undefined : this.#openEdge()
    if (!edge || edge.written) return undefined
    this.#readers.add(reader)
    return edge.cursor
  }

  leave(reader: StreamReader): void {
    this.#readers.delete(reader)
  }

  /** Whether a reader's projection has become equal to the edge, so that the stream's events are the reader's. */
  isAtEdge({ cursor, isWhole }: Pick<SessionProjection, 'cursor' | 'isWhole'>): boolean {
    const edge = this.#edge
    // Only a projection that has read the whole turn knows the turn's usage and limits.
    return edge !== undefined && (edge.isWhole || !isWhole) && isSameCursor(edge.cursor, cursor)
  }

  /** A projection behind the newest record. */
  projectNow(): SessionProjection {
    const { state, history } = this.#init
    return new SessionProjection({ ...this.#projectionOptions(), start: readStart(state(), history()) })
  }

  /** A projection that reads the log for a reader at a cursor. */
  projectAt(cursor: EventCursor): SessionProjection {
    const since = readSince(cursor, this.#init.history())
    return new SessionProjection({ ...this.#projectionOptions(), since })
  }

  /** A projection that reads the log, from the record that began the cursor's turn. */
  projectFrom({ since }: EventCursor): SessionProjection {
    return new SessionProjection({ ...this.#projectionOptions(), since })
  }

  #projectionOptions(): ProjectionOptions {
    const { state, world } = this.#init
    // Read when they are needed, since the agent may change while the stream lives.
    return {
      birth: state().birth,
      limits: () => world().spec.limits,
      contextTokens: () => world().spec.window.contextTokens,
    }
  }

  /** Undefined while the session is being opened again: then its state is older than what was published. */
  #openEdge(): SessionProjection | undefined {
    const { state, history } = this.#init
    if (this.#edge || state().pos !== this.#publishedPos) return this.#edge
    this.#edge = this.projectNow()
    const { written } = this.#edge
    const text = history().progressText()
    if (written && text !== '') this.#edge.takeLive({ type: 'text-delta', attempt: written.attempt, offset: 0, text })
    return this.#edge
  }

  #tellClients(): void {
    for (const callback of this.#clients) callback()
  }

  #keepEarly(piece: Piece): void {
    const chars = PIECE_CHARS + piece.text.length
    if (this.#earlyChars + chars > EARLY_CHARS_MAX) return
    this.#earlyChars += chars
    this.#early.push(piece)
  }

  /** Pieces of a later attempt wait again. */
  #publishEarly(): void {
    const early = this.#early
    this.#early = []
    this.#earlyChars = 0
    for (const piece of early) this.publishLive(piece)
  }
}

function createEndedError(session: string): BatonError {
  return new BatonError({
    code: 'session_closed',
    message: `session ${session} was closed here, and its log is gone: it was removed`,
  })
}

function isSameCursor(one: EventCursor, other: EventCursor): boolean {
  return (
    one.pos === other.pos &&
    one.since === other.since &&
    one.attempt === other.attempt &&
    one.text === other.text &&
    one.reasoning === other.reasoning &&
    (one.inputs ?? []).join() === (other.inputs ?? []).join()
  )
}
