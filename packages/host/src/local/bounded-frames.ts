// What one reader of a session has not read yet. It is bounded; a reader that is too slow is told where to read again.
import type { Frame } from '@baton/core'

/** Frames that may wait for one reader; joined text counts as one. */
const FRAMES_MAX = 10_000
/** UTF-16 units of text that may wait for one reader. */
const TEXT_MAX = 4 * 1024 * 1024

export interface FrameReader extends AsyncIterable<Frame> {
  push(frame: Frame): void
  /** Ends the reading after what waits. */
  end(): void
}

export function createFrameReader(firstPos: number, onEnd: () => void): FrameReader {
  let waiting: Frame[] = []
  let textChars = 0
  let nextPos = firstPos
  let ended = false
  let wake: (() => void) | undefined

  const end = (): void => {
    if (ended) return
    ended = true
    onEnd()
    wake?.()
  }
  const push = (frame: Frame): void => {
    if (ended) return
    if (frame.type === 'text-delta' || frame.type === 'reasoning-delta') textChars += frame.text.length
    if (waiting.length >= FRAMES_MAX || textChars > TEXT_MAX) {
      waiting = [{ type: 'lagged', pos: nextPos }]
      end()
      return
    }
    waiting.push(frame)
    wake?.()
  }
  const read = async function* (): AsyncGenerator<Frame> {
    try {
      for (;;) {
        while (waiting.length > 0) {
          const batch = waiting
          waiting = []
          textChars = 0
          for (const frame of batch) {
            if (frame.type === 'fact') nextPos = frame.pos + 1
            yield frame
          }
        }
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        wake = undefined
      }
    } finally {
      end()
    }
  }
  return { push, end, [Symbol.asyncIterator]: read }
}
