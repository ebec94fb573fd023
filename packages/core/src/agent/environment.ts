// Baton's only access to the outside world. It is injected into hosts and fronts, so the simulator can replace all of
// it.

/** The part of the web's AbortSignal that Baton needs; core runs where no DOM types exist. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * The platform's AbortSignal if its types are known, so that `fetch` accepts it; otherwise the part that Baton needs.
 */
export type PlatformAbortSignal = typeof globalThis extends {
  readonly AbortSignal: { readonly prototype: infer Signal extends AbortSignalLike }
}
  ? Signal
  : AbortSignalLike

export interface Clock {
  /**
   * Wall clock in milliseconds since 1970. People and time services can change it, so it is data; no wait is measured
   * by it.
   */
  nowMs(): number
  /**
   * Monotonic clock in milliseconds; all waits are measured by it. If absent, `nowMs` is used instead and must never
   * jump while a host runs.
   */
  monotonicMs?(): number
}

/** Reads a clock that only moves forward. Waits are measured as the difference of two readings. */
export function readMonotonicMs(clock: Clock): number {
  return clock.monotonicMs?.() ?? clock.nowMs()
}

export interface TimerOptions {
  /** Does not keep the process alive. */
  readonly isBackground?: boolean
}

export interface Timers {
  /** Runs `callback` once, `delayMs` from now (never earlier). Returns a function that cancels it. */
  start(delayMs: number, callback: () => void, options?: TimerOptions): () => void
}

/** Waits. A signal that aborts ends it early. */
export function pause(timers: Timers, delayMs: number, signal?: AbortSignalLike): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      stop()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const stop = timers.start(delayMs, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}

export interface HttpRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Milliseconds to the first byte of the response. */
  readonly firstByteTimeoutMs: number
  /** Milliseconds between two bytes of the response. */
  readonly betweenBytesTimeoutMs: number
}

export interface HttpHead {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
}

/** One HTTP POST with a streamed response. It never retries and never follows a redirect. */
export interface Transport {
  /**
   * Calls `onBytes` for every piece of the body, whatever the status, and resolves at the end of the body.
   * @throws BatonError `model_timeout`, `model_network_failed`, `cancelled` (when `signal` aborts)
   */
  post(
    request: HttpRequest,
    signal: AbortSignalLike,
    onBytes: (bytes: Uint8Array, head: HttpHead) => void,
  ): Promise<HttpHead>
}

/** The outside world: everything that neither the machine nor the agent decides. */
export interface Environment {
  readonly clock: Clock
  readonly timers: Timers
  /** A new random id, safe in addresses and file names. */
  newId(): string
  readonly transport: Transport
}
