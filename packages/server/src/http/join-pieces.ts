// Joins pieces of an answer that arrive faster than a screen shows them: each piece costs the server a write and the
// page a render.
import type { SessionEvent } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { ServerWorld } from '../shared/server-world.ts'

/** Milliseconds of a screen frame. */
const JOIN_MS = 16
const PIECES: ReadonlySet<SessionEvent['type']> = new Set(['text', 'reasoning', 'call-writing'])
/** UTF-16 units up to which a piece counts as small. */
const PIECE_CHARS_MAX = 256

/**
 * Returns a function to call after each batch of events; await its result before the next batch. If small pieces arrive
 * less than two frames apart, it waits one frame, in which the session's reader joins the next pieces. It never delays
 * an answer's first two pieces, or anything after a pause, a long piece or another event.
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
