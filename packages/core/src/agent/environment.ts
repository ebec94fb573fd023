// The only ways from Baton to the world. Hosts and fronts get them injected, so the simulator can stand in for all of them.

/** The part of the web's AbortSignal that Baton needs; core runs where no DOM types exist. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * The platform's own AbortSignal where its types are known, so that `fetch` takes it; elsewhere the part that Baton
 * needs.
 */
export type PlatformAbortSignal = typeof globalThis extends {
  readonly AbortSignal: { readonly prototype: infer Signal extends AbortSignalLike }
}
  ? Signal
  : AbortSignalLike

export interface Clock {
  /** The wall clock: milliseconds since 1970. People and time services set it, so it is data, and no wait is measured by it. */
  nowMs(): number
  /**
   * Milliseconds since any moment, at the pace of a second a second; nobody can set them. All waits are measured by them.
   * Absent: `nowMs` stands in for them, and must never be set back or forward while a host runs.
   */
  monotonicMs?(): number
}

/** Milliseconds on a clock that only goes forward. Waits are measured as the difference of two readings. */
export function readMonotonicMs(clock: Clock): number {
  return clock.monotonicMs?.() ?? clock.nowMs()
}

export interface TimerOptions {
  /** A process that has nothing else to wait for may end. */
  readonly isBackground?: boolean
}

export interface Timers {
  /** Runs `callback` once, `delayMs` from now (never earlier). Returns a function that cancels it. */
  start(delayMs: number, callback: () => void, options?: TimerOptions): () => void
}

export interface HttpRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds to the first byte of the answer. */
  readonly firstByteTimeoutMs: number
  /** Milliseconds between two bytes of the answer. */
  readonly betweenBytesTimeoutMs: number
}

export interface HttpHead {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/** One HTTP POST whose answer streams. It never retries and never follows a redirect. */
export interface Transport {
  /**
   * Calls `onBytes` for every piece of the body, whatever the status, and resolves when the body has ended.
   * @throws BatonError `model_timeout`, `model_network_failed`, `cancelled` (when `signal` aborts)
   */
  post(
    request: HttpRequest,
    signal: AbortSignalLike,
    onBytes: (bytes: Uint8Array, head: HttpHead) => void,
  ): Promise<HttpHead>
}

/** Everything that is not decided by the machine or the agent comes through here. */
export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  /** A new random id, safe in addresses and file names. */
  newId(): string
  readonly transport: Transport
}
