// Unread frames of one reader of a session. The buffer is bounded; a slow reader learns where to read again.
import type { Frame } from '@baton/core/internal'

/** Frames that may wait for one reader; adjacent text counts as one. */
export const FRAMES_MAX = 10_000
/** UTF-16 units of text that may wait for one reader. */
export const TEXT_MAX = 4 * 1024 * 1024

export interface FrameReaderOptions {
  /** Position of the next record. */
  readonly nextPos: number
  /** Frames that precede the live ones. */
  readonly past?: AsyncIterable<Frame> | undefined
  /** Called when the reading ends for any reason. */
  readonly onEnd: (reader: FrameReader) => void
}

/** Not a generator: `return()` on a waiting generator takes effect with the next frame, which may never come. */
export class FrameReader implements AsyncIterable<Frame>, AsyncIterator<Frame, undefined> {
  readonly #onEnd: (reader: FrameReader) => void
  #waiting: Frame[] = []
  /** UTF-16 units of the waiting text. */
  #textChars = 0
  #nextPos: number
  /** Set until the past is read. */
  #past: AsyncIterator<Frame> | undefined
  #ended = false
  /** Set only while a reader waits: most frames arrive while it is busy with the previous one. */
  #wake: PromiseWithResolvers<void> | undefined
  /** Frames that the iterator took but has not returned. */
  #batch: readonly Frame[] = []
  #handedOut = 0

  constructor({ nextPos, past, onEnd }: FrameReaderOptions) {
    this.#nextPos = nextPos
    this.#past = past?.[Symbol.asyncIterator]()
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): AsyncIterator<Frame, undefined> {
    return this
  }

  /** Adds a frame. If there is no room, a `lagged` frame replaces everything that waits and is the last one. */
  push(frame: Frame): void {
    if (this.#ended) return
    const waiting = this.#waiting
    const joined = waiting.length > 0 && 'text' in frame ? joinFrames(waiting.at(-1), frame) : undefined
    if ('text' in frame) this.#textChars += frame.text.length
    if (this.#textChars > TEXT_MAX || (!joined && waiting.length >= FRAMES_MAX)) {
      // Facts of a partly read record are repeated: twice is better than never.
      const pos = [...waiting, frame].find((one) => one.type === 'fact')?.pos ?? this.#nextPos
      this.#waiting = [{ type: 'lagged', pos }]
      this.end()
      return
    }
    if (frame.type === 'fact') this.#nextPos = frame.pos + 1
    if (joined) waiting[waiting.length - 1] = joined
    else waiting.push(frame)
    this.#wake?.resolve()
    this.#wake = undefined
  }

  /** Ends the reading with a `lagged` frame after the waiting ones: the reader missed everything from this position. */
  lag(pos: number): void {
    if (this.#ended) return
    this.#waiting.push({ type: 'lagged', pos })
    this.end()
  }

  /** Ends the reading after the waiting frames. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd(this)
    this.#wake?.resolve()
    this.#wake = undefined
  }

  /** Ends the reading at once, even while a caller waits for the next frame. */
  leave(): void {
    const past = this.#past
    this.#past = undefined
    this.#waiting = []
    this.#batch = []
    this.end()
    past?.return?.().catch(() => {}) // the reader has left, so a failure of the store no longer matters
  }

  /**
   * All available frames; undefined at the end. With `waits` it resolves with at least one, otherwise possibly with
   * none.
   */
  async nextBatch(waits = true): Promise<readonly Frame[] | undefined> {
    while (this.#past) {
      const old = await this.#nextOld(this.#past)
      if (old.length > 0) return old
    }
    while (this.#waiting.length === 0) {
      if (this.#ended) return undefined
      if (!waits) return []
      this.#wake ??= Promise.withResolvers()
      await this.#wake.promise
    }
    const frames = this.#waiting
    this.#waiting = []
    this.#textChars = 0
    return frames
  }

  async next(): Promise<IteratorResult<Frame, undefined>> {
    for (;;) {
      const frame = this.#batch[this.#handedOut]
      this.#handedOut += 1
      if (frame) return { done: false, value: frame }
      const batch = await this.nextBatch()
      if (!batch) return { done: true, value: undefined }
      this.#batch = batch
      this.#handedOut = 0
    }
  }

  return(): Promise<IteratorResult<Frame, undefined>> {
    this.leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Returns an empty list after the last frame, and if the reader left meanwhile. */
  async #nextOld(past: AsyncIterator<Frame>): Promise<readonly Frame[]> {
    try {
      const old = await past.next()
      if (old.done !== true && this.#past) return [old.value]
    } catch (cause) {
      this.leave()
      throw cause
    }
    this.#past = undefined
    return []
  }
}

/**
 * Joins text, so that a long unread answer is one frame. Returns undefined if the piece does not continue the last one.
 */
export function joinFrames(last: Frame | undefined, frame: Frame): Frame | undefined {
  if (!last || !('offset' in last) || !('offset' in frame)) return undefined
  const isSame =
    last.type === frame.type &&
    last.attempt === frame.attempt &&
    (last.type !== 'call-delta' || frame.type !== 'call-delta' || last.index === frame.index)
  const follows = frame.offset === last.offset + last.text.length
  return isSame && follows ? { ...last, text: last.text + frame.text } : undefined
}
