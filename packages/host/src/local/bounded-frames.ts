// What one reader of a session has not read yet. It is bounded; a reader that is too slow is told where to read again.
import type { Frame } from '@baton/core'

/** Frames that may wait for one reader; neighbouring text counts as one. */
export const FRAMES_MAX = 10_000
/** UTF-16 units of text that may wait for one reader. */
export const TEXT_MAX = 4 * 1024 * 1024

export interface FrameReader extends AsyncIterable<Frame> {
  push(frame: Frame): void
  /** Ends the reading after what waits. */
  end(): void
  /** Ends the reading at once, also while somebody waits for the next frame. */
  leave(): void
}

export interface FrameReaderInit {
  /** The position of the next record. */
  readonly nextPos: number
  /** What is told before the live frames. */
  readonly past?: AsyncIterable<Frame>
  readonly onEnd: () => void
}

export function createFrameReader(init: FrameReaderInit): FrameReader {
  return new BoundedReader(init)
}

/** Not a generator: `return()` of one that waits only takes effect with the next frame, which may never come. */
class BoundedReader implements FrameReader, AsyncIterator<Frame, undefined> {
  readonly #waiting: Waiting
  readonly #onEnd: () => void
  /** Until all of it was told. */
  #past: AsyncIterator<Frame> | undefined
  #ended = false
  /** Only while somebody waits: most frames come to a reader that is busy with the one before. */
  #wake: PromiseWithResolvers<void> | undefined

  constructor({ nextPos, past, onEnd }: FrameReaderInit) {
    this.#waiting = new Waiting(nextPos)
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

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#onEnd()
    this.#signal()
  }

  leave(): void {
    const past = this.#past
    this.#past = undefined
    this.#waiting.clear()
    this.end()
    past?.return?.().catch(() => {}) // a store that cannot be read any more has nothing to say to who left
  }

  async next(): Promise<IteratorResult<Frame, undefined>> {
    if (this.#past) {
      const old = await this.#nextOld(this.#past)
      if (old) return { done: false, value: old }
    }
    for (;;) {
      const frame = this.#waiting.take()
      if (frame) return { done: false, value: frame }
      if (this.#ended) return { done: true, value: undefined }
      this.#wake ??= Promise.withResolvers()
      await this.#wake.promise
    }
  }

  return(): Promise<IteratorResult<Frame, undefined>> {
    this.leave()
    return Promise.resolve({ done: true, value: undefined })
  }

  /** Undefined after the last one, and for who has left meanwhile. */
  async #nextOld(past: AsyncIterator<Frame>): Promise<Frame | undefined> {
    try {
      const old = await past.next()
      if (old.done !== true && this.#past) return old.value
    } catch (cause) {
      this.leave()
      throw cause
    }
    this.#past = undefined
    return undefined
  }

  #signal(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }
}

class Waiting {
  #frames: Frame[] = []
  #taken = 0
  #textChars = 0
  #nextPos: number

  constructor(nextPos: number) {
    this.#nextPos = nextPos
  }

  /** False when there is no more room: all that waited gave way to a `lagged`. */
  push(frame: Frame): boolean {
    this.#textChars += textOf(frame)
    const count = this.#frames.length - this.#taken
    const joined = count > 0 ? join(this.#frames.at(-1), frame) : undefined
    if (this.#textChars > TEXT_MAX || (!joined && count >= FRAMES_MAX)) {
      // Facts of a record that was read in part come again: told twice is better than never.
      const left = [...this.#frames.slice(this.#taken), frame]
      const pos = left.find((one) => one.type === 'fact')?.pos ?? this.#nextPos
      this.clear()
      this.#frames = [{ type: 'lagged', pos }]
      return false
    }
    if (frame.type === 'fact') this.#nextPos = frame.pos + 1
    if (joined) this.#frames[this.#frames.length - 1] = joined
    else this.#frames.push(frame)
    return true
  }

  take(): Frame | undefined {
    const frame = this.#frames[this.#taken]
    this.#taken += 1
    if (!frame || this.#taken === this.#frames.length) this.clear()
    else this.#textChars -= textOf(frame)
    return frame
  }

  clear(): void {
    this.#frames = []
    this.#taken = 0
    this.#textChars = 0
  }
}

function textOf(frame: Frame): number {
  return frame.type === 'text-delta' || frame.type === 'reasoning-delta' ? frame.text.length : 0
}

/** A long answer that nobody reads yet is one frame. */
function join(last: Frame | undefined, frame: Frame): Frame | undefined {
  if (last?.type === 'text-delta' && frame.type === 'text-delta' && last.attempt === frame.attempt)
    return { ...last, text: last.text + frame.text }
  if (last?.type === 'reasoning-delta' && frame.type === 'reasoning-delta' && last.attempt === frame.attempt)
    return { ...last, text: last.text + frame.text }
  return undefined
}
