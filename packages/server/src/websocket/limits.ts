// Limits of a connection for both protocol versions, with their defaults.

export interface ConnectionLimits {
  /** UTF-8 bytes of a frame other than `tool.result`. Default: 65,536. */
  readonly eventBytes: number
  /** UTF-8 bytes of a tool's result; a larger one settles its call as `result_too_large`. Default: 262,144. */
  readonly resultBytes: number
  /** UTF-8 bytes of any message; the socket refuses larger ones. Default: 1 MiB. */
  readonly socketBytes: number
  /** Bytes that may wait to be sent; a slower reader is disconnected. Default: 4 MiB. */
  readonly outgoingBytes: number
  /** Received frames that may wait to be processed. Default: 1,000. */
  readonly incomingFrames: number
  /** Their total size in UTF-16 units. Default: 16 Mi. */
  readonly incomingChars: number
  /** Milliseconds between two partials. Default: 50. */
  readonly partialMs: number
  /** Milliseconds for a new connection to start its session. Default: 30,000. */
  readonly startMs: number
  /** Milliseconds that a connection waits for a session held by a process that cannot be reached. Default: 15,000. */
  readonly heldMs: number
  /** Milliseconds between pings; a connection that did not answer the previous one is closed. Default: 30,000. */
  readonly heartbeatMs: number
  /**
   * Milliseconds without a frame from the app until its connection is closed, unless a turn is running. Default:
   * 600,000.
   */
  readonly idleMs: number
  /** Concurrent connections. Default: 1,000. */
  readonly connections: number
  /** The same per network address; further ones get 429. Default: 100. */
  readonly addressConnections: number
  /** The same per principal, if `authenticate` distinguishes principals; further ones get 429. Default: 100. */
  readonly principalConnections: number
  /** Sessions that connections of one network address may start per minute; more get `quota_exceeded`. Default: 120. */
  readonly addressSessionsPerMinute: number
  /** Bytes of frames per minute from one network address; frames beyond it are not even parsed. Default: 32 MiB. */
  readonly addressBytesPerMinute: number
  /**
   * Sessions of one network address with a running turn; an input that would start another turn gets `quota_exceeded`.
   * Default: 50.
   */
  readonly addressTurns: number
  /** The same per principal, if `authenticate` distinguishes principals. Default: 50. */
  readonly principalTurns: number
  /**
   * Frames per minute of a session, over all its connections; more get `rate_limited`. The result of a call that the
   * app was asked for never counts. Default: 300.
   */
  readonly sessionFramesPerMinute: number
  /** How many of these may be transcripts. Default: 30. */
  readonly sessionTranscriptsPerMinute: number
  /** Frames per minute of all sessions of a network address. Default: 300. */
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
