// A connection as fronts use it. The server provides one over `ws`; tests and simulations provide their own.

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

/** Close codes used by the fronts (RFC 6455 §7.4.1 and the IANA registry). */
export const CLOSE_CODES = {
  goingAway: 1001,
  policy: 1008,
  tooLarge: 1009,
  failed: 1011,
  restarted: 1012,
  tooSlow: 1013,
} as const
