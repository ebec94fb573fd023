// All readers of one session in this process. Every record reaches each reader once, with live frames in their place
// among the records, in whatever order an engine learns of them.
import type { Frame, LiveFrame } from '@baton/core/internal'
import type { Fact, FactType, SessionRecord } from '@baton/core/machine'
import { FrameReader, joinFrames, TEXT_MAX } from './frame-reader.ts'

export interface FeedOptions {
  /** Reads records published before a reader joined. */
  readonly readPast: (fromPos: number) => AsyncIterable<SessionRecord>
}

type Piece = Exclude<LiveFrame, { readonly type: 'tool-progress' | 'server-tool' }>

/**
 * Bounds on attempt pieces, and on UTF-16 units of their text, that wait for the record that begins the attempt;
 * adjacent text counts as one piece. More is dropped, which shows in the offsets.
 */
const EARLY_MAX = 10_000
const EARLY_CHARS_MAX = TEXT_MAX

export class SessionFeed {
  readonly #init: FeedOptions
  readonly #readers = new Set<FrameReader>()
  #publishedPos = -1
  #ended = false
  /** The attempt being written and its text so far, for a reader that joins midway. */
  #written: WrittenAttempt | undefined
  #lastAttempt = 0
  #early: Piece[] = []
  #earlyChars = 0

  constructor(init: FeedOptions) {
    this.#init = init
  }

  /** Drops a piece of a finished attempt; holds a piece that arrives before its attempt's record. */
  publishLive(frame: LiveFrame): void {
    if (frame.type === 'tool-progress') {
      this.#push(frame)
      return
    }
    const written = this.#written
    if (frame.type === 'server-tool') {
      if (written?.attempt === frame.attempt) this.#push(frame)
      return
    }
    if (written?.attempt === frame.attempt) {
      if (write(written, frame)) this.#push(frame)
    } else if (frame.attempt > this.#lastAttempt) this.#keepEarly(frame)
  }

  /** Skips a record that was already published, for example when the log is read again. */
  publishRecord(record: SessionRecord): void {
    const { pos, facts } = record
    if (pos <= this.#publishedPos) return
    this.#publishedPos = pos
    const last = facts.length - 1
    for (let index = 0; index <= last; index++) {
      const fact = facts[index]
      if (!fact) continue
      if (this.#readers.size > 0) this.#push(toFrame(record, fact, index < last))
      if (fact.type === 'model-started') {
        this.#written = {
          attempt: fact.attempt,
          text: new GrowingText(),
          reasoning: new GrowingText(),
          calls: new Map(),
        }
        this.#lastAttempt = fact.attempt
        if (this.#early.length > 0) this.#publishEarly(fact.attempt)
      } else if (ENDS_ATTEMPT.has(fact.type)) this.#written = undefined
    }
  }

  /**
   * Records up to this position are not published: readers get them from `readPast`. A reader that was present before
   * another host wrote them is sent the position to read again.
   */
  startAfter(pos: number): void {
    const missedPos = this.#publishedPos + 1
    if (pos < missedPos) return
    this.#publishedPos = pos
    this.#written = undefined
    for (const reader of this.#readers) reader.lag(missedPos)
  }

  /** The text streamed by an attempt so far. */
  textOfAttempt(attempt: number): string {
    return this.#written?.attempt === attempt ? this.#written.text.read() : ''
  }

  /**
   * Frames from `fromPos`, or only future ones. Old facts come from `readPast`, new ones live; the reader is registered
   * first, so none is lost. Calls `onEnd` when the reading ends for any reason.
   */
  read(fromPos: number | undefined, onEnd?: (reader: FrameReader) => void): FrameReader {
    const nextPos = this.#publishedPos + 1
    const isBehind = fromPos !== undefined && fromPos < nextPos
    const reader = new FrameReader({
      nextPos,
      past: isBehind ? readFacts(this.#init, { fromPos, nextPos, written: listReasoning(this.#written) }) : undefined,
      onEnd: (ended) => {
        this.#readers.delete(ended)
        onEnd?.(ended)
      },
    })
    this.#readers.add(reader)
    if (fromPos !== undefined && this.#written) for (const frame of listWritten(this.#written)) reader.push(frame)
    if (this.#ended) reader.end()
    return reader
  }

  /** Ends every reading, including later ones. */
  end(): void {
    this.#ended = true
    for (const reader of this.#readers) reader.end()
  }

  #push(frame: Frame): void {
    for (const reader of this.#readers) reader.push(frame)
  }

  #keepEarly(piece: Piece): void {
    if (this.#earlyChars + piece.text.length > EARLY_CHARS_MAX) return
    const last = this.#early.length - 1
    const joined = joinFrames(this.#early[last], piece)
    if (!joined && last + 1 >= EARLY_MAX) return
    this.#earlyChars += piece.text.length
    if (joined)
      this.#early[last] = joined as Piece // two pieces make one
    else this.#early.push(piece)
  }

  #publishEarly(attempt: number): void {
    const early = this.#early
    this.#early = []
    this.#earlyChars = 0
    for (const piece of early) if (piece.attempt >= attempt) this.publishLive(piece)
  }
}

/** After these, an attempt's text is in the log or void. */
const ENDS_ATTEMPT: ReadonlySet<string> = new Set<FactType>([
  'step-finished',
  'step-salvaged',
  'attempt-superseded',
  'attempt-failed',
  'turn-finished',
])

interface WrittenAttempt {
  readonly attempt: number
  readonly text: GrowingText
  readonly reasoning: GrowingText
  /** Calls by index. */
  readonly calls: Map<number, { readonly name: string; readonly text: GrowingText }>
}

function listReasoning(written: WrittenAttempt | undefined): Piece | undefined {
  if (!written || written.reasoning.length === 0) return undefined
  return { type: 'reasoning-delta', attempt: written.attempt, offset: 0, text: written.reasoning.read() }
}

function listWritten(written: WrittenAttempt): readonly LiveFrame[] {
  const { attempt, text, calls } = written
  const said = listReasoning(written)
  const frames: LiveFrame[] = said ? [said] : []
  if (text.length > 0) frames.push({ type: 'text-delta', attempt, offset: 0, text: text.read() })
  for (const [index, call] of calls)
    frames.push({ type: 'call-delta', attempt, index, name: call.name, offset: 0, text: call.text.read() })
  return frames
}

/** Returns false if the piece is a repeat or leaves a gap. Text with a hole could never be shown correctly. */
function write(attempt: WrittenAttempt, piece: Piece): boolean {
  const { offset, text } = piece
  const call =
    'index' in piece ? (attempt.calls.get(piece.index) ?? { name: piece.name, text: new GrowingText() }) : undefined
  const written = call?.text ?? (piece.type === 'text-delta' ? attempt.text : attempt.reasoning)
  if (offset > written.length || (text !== '' && offset + text.length <= written.length)) return false
  if (call && 'index' in piece) attempt.calls.set(piece.index, call)
  written.add(text.slice(written.length - offset))
  return true
}

interface PastOptions {
  readonly fromPos: number
  readonly nextPos: number
  /** Reasoning of the running attempt, which its records do not have. */
  readonly written: Piece | undefined
}

/**
 * The running attempt's reasoning goes where the attempt begins. The log has only its text, which would otherwise
 * precede it.
 */
async function* readFacts(
  { readPast }: FeedOptions,
  { fromPos, nextPos, written }: PastOptions,
): AsyncGenerator<Frame> {
  for await (const record of readPast(fromPos)) {
    if (record.pos >= nextPos) return
    for (const [index, fact] of record.facts.entries()) yield toFrame(record, fact, index < record.facts.length - 1)
    if (written && record.facts.some((fact) => begins(fact, written.attempt))) yield written
  }
}

function begins(fact: Fact, attempt: number): boolean {
  return fact.type === 'model-started' && fact.attempt === attempt
}

/** Builds a frame with few fields: one is made per fact and session. */
function toFrame({ pos, nowMs, wallMs }: SessionRecord, fact: Fact, more: boolean): Frame {
  const shown = hideBindings(fact)
  if (wallMs !== undefined) return { type: 'fact', pos, nowMs, fact: shown, wallMs, ...(more && { more }) }
  return more ? { type: 'fact', pos, nowMs, fact: shown, more } : { type: 'fact', pos, nowMs, fact: shown }
}

/** Facts as readers see them: what binds an approval to its arguments stays inside. */
function hideBindings(fact: Fact): Fact {
  switch (fact.type) {
    case 'step-finished':
      return fact.calls.length === 0 ? fact : { ...fact, calls: fact.calls.map(hideBinding) }
    case 'approval-requested':
      return { ...fact, argumentsHash: '' }
    case 'approval-decided':
      return fact.edited ? { ...fact, edited: hideBinding(fact.edited) } : fact
    default:
      return fact
  }
}

function hideBinding<Bound extends { readonly argumentsHash: string; readonly tokenHash?: string }>(
  bound: Bound,
): Bound {
  if (bound.tokenHash === undefined) return { ...bound, argumentsHash: '' }
  const { tokenHash: _, ...rest } = bound
  return { ...rest, argumentsHash: '' } as Bound // the hashes are hidden, the rest is unchanged
}

/** UTF-16 units of pieces to join at once. */
const JOINED_CHARS = 2048

/**
 * Text that grows in small pieces, in the memory of a whole string. A string built with `+=` keeps every piece and a
 * node for each, about ten times the text; a slice of it keeps all of it.
 */
export class GrowingText {
  readonly #chunks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  /** UTF-16 units; changed only by `add`. */
  length = 0

  add(piece: string): void {
    this.#pieces.push(piece)
    this.#pieceChars += piece.length
    this.length += piece.length
    if (this.#pieceChars >= JOINED_CHARS) this.#join()
  }

  /** The text from an offset to the end. */
  read(from = 0): string {
    this.#join()
    // Most readers want the newest text, and a slice of the whole would retain the whole.
    let at = this.#chunks.length
    let start = this.length
    while (start > from) {
      at -= 1
      start -= this.#chunks[at]?.length ?? 0
    }
    return this.#chunks
      .slice(at)
      .join('')
      .slice(from - start)
  }

  #join(): void {
    if (this.#pieces.length === 0) return
    this.#chunks.push(this.#pieces.join(''))
    this.#pieces = []
    this.#pieceChars = 0
  }
}
