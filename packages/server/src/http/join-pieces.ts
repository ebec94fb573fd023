// Joins pieces of an answer that come faster than a screen shows them: each piece costs the server a write and the page a render.
import type { SessionEvent } from '@baton/core'
import { readMonotonicMs } from '@baton/core'
import type { ServerWorld } from '../shared/server-world.ts'

/** A frame of a screen. */
const JOIN_MS = 16
const PIECES: ReadonlySet<SessionEvent['type']> = new Set(['text', 'reasoning', 'call-writing'])
/** UTF-16 units of the longest piece that is small. */
const PIECE_CHARS_MAX = 256

/**
 * Call it after each batch of events, and await what it returns before the next one. If small pieces come less than two frames
 * apart, that takes one frame, in which the session's reader joins the next pieces. It never delays an answer's first two
 * pieces, nor what comes after a pause, a long piece or another event.
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
