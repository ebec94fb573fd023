// The front's needs of a connection. The server gives it one of `ws`; tests and simulations give their own.

export interface Socket {
  /** False: the connection is not open, and nothing was written. */
  send(text: string): boolean
  close(code: number, reason: string): void
  /** Bytes that were sent and not yet taken by the network. */
  bufferedBytes(): number
  /** `undefined` stands for a message that is not text; then `bytes` is its size. At most one listener. */
  onMessage(listener: (text: string | undefined, bytes?: number) => void): void
  /** Called once; at most one listener. */
  onClose(listener: () => void): void
}

/** Close codes (RFC 6455 §7.4.1 and the IANA registry) that the front uses. */
export const CLOSE_CODES = {
  goingAway: 1001,
  policy: 1008,
  tooLarge: 1009,
  failed: 1011,
  restarted: 1012,
  tooSlow: 1013,
} as const
