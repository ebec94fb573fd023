// A connection as fronts use it. The server provides one over `ws`; tests and simulations provide their own.
import type { Timers } from '@baton/core/internal'
import { pause } from '@baton/core/internal'

/** The part of a WebSocket that a front needs, so that any server library can carry it. */
export interface Socket {
  /** Returns false if the connection is not open; then nothing was written. */
  send(text: string): boolean
  close(code: number, reason: string): void
  /** Bytes that were sent but not yet accepted by the network. */
  bufferedBytes(): number
  /** Passes `undefined` for a message that is not text, with its size in `bytes`. At most one listener. */
  onMessage(listener: (text: string | undefined, bytes?: number) => void): void
  /** Called once; at most one listener. */
  onClose(listener: () => void): void
}

/** A connection of a client, whatever its protocol. */
export interface FrontConnection {
  /** Whether a turn is running, or the client has not received all of it. */
  isBusy(): boolean
  /** The session in which a turn is running. */
  busySession(): string | undefined
  close(code: number, reason: string): void
}

/** Close codes used by the fronts (RFC 6455 §7.4.1 and the IANA registry). */
export const CLOSE_CODES = {
  goingAway: 1001,
  policy: 1008,
  tooLarge: 1009,
  failed: 1011,
  restarted: 1012,
  tooSlow: 1013,
} as const

/** Milliseconds between checks for whether a slow reader has read. */
const LOOK_MS = 20
/** Milliseconds a reader may stall while too many bytes are unsent. */
const STALLED_MS = 60_000

interface ReaderWait {
  readonly timers: Timers
  readonly waitingBytes: number
  readonly isOver: () => boolean
}

/** Waits until few enough bytes are unsent. False if the reader stalls. */
export async function waitForReader(socket: Socket, { timers, waitingBytes, isOver }: ReaderWait): Promise<boolean> {
  let waiting = socket.bufferedBytes()
  for (let stalledMs = 0; !isOver() && waiting > waitingBytes;) {
    await pause(timers, LOOK_MS)
    const before = waiting
    waiting = socket.bufferedBytes()
    stalledMs = waiting < before ? 0 : stalledMs + LOOK_MS
    if (stalledMs >= STALLED_MS) return false
  }
  return true
}

export function closeSlow(socket: Socket): void {
  socket.close(CLOSE_CODES.tooSlow, 'the reader is too slow')
}
