// What one reader of a session has not read yet. It is bounded; a reader that is too slow is told where to read again.
import type { Frame } from '@baton/core'

/** Frames that may wait for one reader; neighbouring text counts as one. */
export const FRAMES_MAX = 10_000
/** UTF-16 units of text that may wait for one reader. */
export const TEXT_MAX = 4 * 1024 * 1024

export interface FrameReaderInit {
  /** The position of the next record. */
  readonly nextPos: number
  /** What is told before the live frames. */
  readonly past?: AsyncIterable<Frame>
  readonly onEnd: () => void
}

export function createFrameReader(init: FrameReaderInit): FrameReader {
  return new FrameReader(init)
}

/** Not a generator: `return()` of one that waits only takes effect with the next frame, which may never come. */
export class FrameReader implements AsyncIterable<Frame>, AsyncIterator<Frame, undefined> {
  readonly #waiting: WaitingFrames
  readonly #onEnd: () => void
  /** Until all of it was told. */
  #past: AsyncIterator<Frame> | undefined
  #ended = false
  /** Only while somebody waits: most frames come to a reader that is busy with the one before. */
  #wake: PromiseWithResolvers<void> | undefined
  /** What the iterator took and has not handed out. */
  #batch: readonly Frame[] = []
  #handedOut = 0

  constructor({ nextPos, past, onEnd }: FrameReaderInit) {
    this.#waiting = new WaitingFrames(nextPos)
    this.#past = past?.[Symbol.asyncIterator]()
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): AsyncIterator<Frame, undefined> {
    return this
  }

  push(frame: Frame): void {
    if (this.#ended) return
    if (!this.#waiting.push(frame)) this.end()
    this.#signal()
  }

  /** Ends the reading after what waits. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd()
    this.#signal()
  }

  /** Ends the reading at once, also while somebody waits for the next frame. */
  leave(): void {
    const past = this.#past
    this.#past = undefined
    this.#waiting.clear()
    this.#batch = []
    this.end()
    past?.return?.().catch(() => {}) // a store that cannot be read any more has nothing to say to a reader that left
  }

  /** All frames that are there, at least one; undefined at the end. */
  async nextBatch(): Promise<readonly Frame[] | undefined> {
    while (this.#past) {
      const old = await this.#nextOld(this.#past)
      if (old.length > 0) return old
    }
    for (;;) {
      const frames = this.#waiting.takeAll()
      if (frames.length > 0) return frames
      if (this.#ended) return undefined
      this.#wake ??= Promise.withResolvers()
      await this.#wake.promise
    }
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

  /** Empty after the last one, and for a reader that left meanwhile. */
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

  #signal(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }
}

class WaitingFrames {
  #frames: Frame[] = []
  #textChars = 0
  #nextPos: number

  constructor(nextPos: number) {
    this.#nextPos = nextPos
  }

  /** False when there is no more room: all that waited gave way to a `lagged`. */
  push(frame: Frame): boolean {
    this.#textChars += countChars(frame)
    const last = this.#frames.length - 1
    const joined = last >= 0 ? joinFrames(this.#frames[last], frame) : undefined
    if (this.#textChars > TEXT_MAX || (!joined && last + 1 >= FRAMES_MAX)) {
      // Facts of a record that was read in part come again: told twice is better than never.
      const pos = [...this.#frames, frame].find((one) => one.type === 'fact')?.pos ?? this.#nextPos
      this.#frames = [{ type: 'lagged', pos }]
      this.#textChars = 0
      return false
    }
    if (frame.type === 'fact') this.#nextPos = frame.pos + 1
    if (joined) this.#frames[last] = joined
    else this.#frames.push(frame)
    return true
  }

  takeAll(): readonly Frame[] {
    const frames = this.#frames
    if (frames.length === 0) return frames
    this.#frames = []
    this.#textChars = 0
    return frames
  }

  clear(): void {
    this.#frames = []
    this.#textChars = 0
  }
}

function countChars(frame: Frame): number {
  return frame.type === 'text-delta' || frame.type === 'reasoning-delta' || frame.type === 'call-delta'
    ? frame.text.length
    : 0
}

/** A long answer that nobody reads yet is one frame. A piece that does not follow the last one stands alone. */
export function joinFrames(last: Frame | undefined, frame: Frame): Frame | undefined {
  if (!last || !('offset' in last) || !('offset' in frame)) return undefined
  const isSame =
    last.type === frame.type &&
    last.attempt === frame.attempt &&
    (last.type !== 'call-delta' || frame.type !== 'call-delta' || last.index === frame.index)
  const follows = frame.offset === last.offset + last.text.length
  return isSame && follows ? { ...last, text: last.text + frame.text } : undefined
}
