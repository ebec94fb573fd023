// The bounds of a connection, whatever version it speaks, with their defaults.

export interface ConnectionLimits {
  /** UTF-8 bytes of a frame other than `tool.result`. 65,536. */
  readonly eventBytes: number
  /** UTF-8 bytes of a tool's result; a larger one settles its call as `result_too_large`. 262,144. */
  readonly resultBytes: number
  /** UTF-8 bytes of any message; the socket refuses more. 1 MiB. */
  readonly socketBytes: number
  /** Bytes that may wait to be sent; a slower reader is disconnected. 4 MiB. */
  readonly outgoingBytes: number
  /** Frames that may wait to be taken in. 1,000. */
  readonly incomingFrames: number
  /** UTF-16 units of them together. 16 Mi. */
  readonly incomingChars: number
  /** Milliseconds between two partials. 50. */
  readonly partialMs: number
  /** Milliseconds in which a new connection must start its session. 30,000. */
  readonly startMs: number
  /** Milliseconds that a connection waits for a session that another process holds and cannot be reached. 15,000. */
  readonly heldMs: number
  /** Milliseconds after which the server pings a connection, and ends one that did not answer the last ping. 30,000. */
  readonly heartbeatMs: number
  /** Milliseconds without a frame of the app after which its connection is ended, unless a turn runs. 600,000. */
  readonly idleMs: number
  /** Connections at once. 1,000. */
  readonly connections: number
  /** The same for one network address; further ones get 429. 100. */
  readonly addressConnections: number
  /** The same for one principal, if `authenticate` tells principals apart; further ones get 429. 100. */
  readonly principalConnections: number
  /** Sessions that connections of one network address may start a minute; more are answered by `quota_exceeded`. 120. */
  readonly addressSessionsPerMinute: number
  /** Bytes of frames a minute from one network address; frames over it are not even parsed. 32 MiB. */
  readonly addressBytesPerMinute: number
  /** Sessions of one network address with a running turn; an input that would begin another turn gets `quota_exceeded`. 50. */
  readonly addressTurns: number
  /** The same of one principal, where `authenticate` tells principals apart. 50. */
  readonly principalTurns: number
  /**
   * Frames a minute of a session, over all its connections; more are answered by `rate_limited`. The result of a call that
   * the app was asked for never counts. 300.
   */
  readonly sessionFramesPerMinute: number
  /** How many of them may be transcripts. 30. */
  readonly sessionTranscriptsPerMinute: number
  /** Frames a minute of all sessions of a network address. 300. */
  readonly addressFramesPerMinute: number
}

export const DEFAULT_CONNECTION_LIMITS: ConnectionLimits = {
  eventBytes: 64 * 1024,
  resultBytes: 256 * 1024,
  socketBytes: 1024 * 1024,
  outgoingBytes: 4 * 1024 * 1024,
  incomingFrames: 1000,
  incomingChars: 16 * 1024 * 1024,
  partialMs: 50,
  startMs: 30_000,
  heldMs: 15_000,
  heartbeatMs: 30_000,
  idleMs: 600_000,
  connections: 1000,
  addressConnections: 100,
  principalConnections: 100,
  addressSessionsPerMinute: 120,
  addressBytesPerMinute: 32 * 1024 * 1024,
  addressTurns: 50,
  principalTurns: 50,
  sessionFramesPerMinute: 300,
  sessionTranscriptsPerMinute: 30,
  addressFramesPerMinute: 300,
}
