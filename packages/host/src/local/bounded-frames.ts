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

/** Not a generator: `return()` of one that waits only takes effect with the next frame, which may never come. */
export function createFrameReader(init: FrameReaderInit): FrameReader {
  const past = init.past?.[Symbol.asyncIterator]()
  const waiting = createWaiting(init.nextPos)
  let isPast = past !== undefined
  let ended = false
  /** Only while somebody waits: most frames come to a reader that is busy with the one before. */
  let wake: PromiseWithResolvers<void> | undefined

  const signal = (): void => {
    wake?.resolve()
    wake = undefined
  }
  const end = (): void => {
    if (ended) return
    ended = true
    init.onEnd()
    signal()
  }
  const leave = (): void => {
    waiting.clear()
    isPast = false
    end()
    past?.return?.().catch(() => {}) // a store that cannot be read any more has nothing to say to who left
  }
  const push = (frame: Frame): void => {
    if (ended) return
    if (!waiting.push(frame)) end()
    signal()
  }
  const next = async (): Promise<IteratorResult<Frame, undefined>> => {
    if (isPast && past) {
      const old = await past.next()
      if (isPast && old.done !== true) return old
      isPast = false
    }
    for (;;) {
      const frame = waiting.take()
      if (frame) return { done: false, value: frame }
      if (ended) return { done: true, value: undefined }
      wake ??= Promise.withResolvers()
      await wake.promise
    }
  }
  const iterator: AsyncIterator<Frame, undefined> = {
    next: () =>
      next().catch((cause: unknown) => {
        leave()
        throw cause
      }),
    return: () => {
      leave()
      return Promise.resolve({ done: true, value: undefined })
    },
  }
  return { push, end, leave, [Symbol.asyncIterator]: () => iterator }
}

interface Waiting {
  /** False when there is no more room: all that waited gave way to a `lagged`. */
  push(frame: Frame): boolean
  take(): Frame | undefined
  clear(): void
}

function createWaiting(firstPos: number): Waiting {
  let frames: Frame[] = []
  let taken = 0
  let textChars = 0
  let nextPos = firstPos

  const clear = (): void => {
    frames = []
    taken = 0
    textChars = 0
  }
  const push = (frame: Frame): boolean => {
    textChars += textOf(frame)
    const joined = taken < frames.length ? join(frames.at(-1), frame) : undefined
    if (textChars > TEXT_MAX || (!joined && frames.length - taken >= FRAMES_MAX)) {
      // Facts of a record that was read in part come again: told twice is better than never.
      const pos = [...frames.slice(taken), frame].find((one) => one.type === 'fact')?.pos ?? nextPos
      clear()
      frames = [{ type: 'lagged', pos }]
      return false
    }
    if (frame.type === 'fact') nextPos = frame.pos + 1
    if (joined) frames[frames.length - 1] = joined
    else frames.push(frame)
    return true
  }
  const take = (): Frame | undefined => {
    const frame = frames[taken]
    taken += 1
    if (!frame || taken === frames.length) clear()
    else textChars -= textOf(frame)
    return frame
  }
  return { push, take, clear }
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
