// Pieces of an answer that come faster than a screen shows them are joined: each one costs a write here and a render there.
import type { SessionEvent } from '@baton/core'
import { readMonotonicMs } from '@baton/core'
import type { ServerWorld } from '../shared/server-world.ts'

/** A frame of a screen. */
const JOIN_MS = 16
const PIECES: ReadonlySet<SessionEvent['type']> = new Set(['text', 'reasoning', 'call-writing'])
/** UTF-16 units of a piece that is worth waiting with. */
const PIECE_CHARS_MAX = 256

/**
 * Call it after each batch of events. Where small pieces come less than two frames apart, it waits for one frame, in which
 * the next pieces become one. It never delays an answer's first two pieces, nor anything after a pause, after a long
 * piece or after another event.
 */
export function createPieceJoiner({
  clock,
  timers,
}: Pick<ServerWorld, 'clock' | 'timers'>): (batch: readonly SessionEvent[]) => Promise<void> | undefined {
  let lastMs = -Infinity
  return ([event, ...more]) => {
    if (!event || more.length > 0 || !PIECES.has(event.type)) return undefined
    if ('text' in event && event.text.length > PIECE_CHARS_MAX) return undefined
    const nowMs = readMonotonicMs(clock)
    const isFast = nowMs - lastMs < 2 * JOIN_MS
    lastMs = nowMs
    return isFast ? new Promise((resolve) => void timers.start(JOIN_MS, resolve)) : undefined
  }
}
