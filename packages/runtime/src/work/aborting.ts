// Aborting foreign code: guarded signals, and the aborted model calls that have not settled, by session. A model may take
// time to notice its signal: until then its call runs, and the session's next call waits.
import type { Logger, Timers, AbortSignalLike } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'

export interface AbortedCallsOptions {
  readonly timers: Timers
  readonly log: Logger
  /** Milliseconds to wait for an aborted call; 0 to 60,000, 5,000 by default. */
  readonly abortMs?: number | undefined
}

const ABORT_MS = 5000
const ABORT_MAX_MS = 60_000

export class AbortedCalls {
  readonly #init: AbortedCallsOptions
  readonly #abortMs: number
  /** Calls by session. A session without such calls has no entry. */
  readonly #calls = new Map<string, Set<Promise<void>>>()
  /** Number of sessions with such calls; changed only by this class. */
  count = 0

  /** @throws BatonError `invalid_option` */
  constructor(init: AbortedCallsOptions) {
    const { abortMs = ABORT_MS } = init
    if (!(abortMs >= 0 && abortMs <= ABORT_MAX_MS))
      throw new BatonError({ code: 'invalid_option', message: `abortMs must be 0 to ${ABORT_MAX_MS}, not ${abortMs}` })
    this.#init = init
    this.#abortMs = abortMs
  }

  /** Notes an aborted call. `settled` never rejects. */
  note(session: string, settled: Promise<void>): void {
    const calls = this.#calls.get(session) ?? new Set()
    this.#calls.set(session, calls)
    const ended = this.#endInTime(session, settled).then(() => {
      calls.delete(ended)
      if (calls.size === 0) this.#calls.delete(session)
      this.count = this.#calls.size
    })
    calls.add(ended)
    this.count = this.#calls.size
  }

  /**
   * Resolves when all of the session's aborted calls have settled or timed out; undefined if it has none. Never
   * rejects.
   */
  settled(session: string): Promise<void> | undefined {
    const calls = this.#calls.get(session)
    return calls && Promise.all(calls).then(() => {})
  }

  #endInTime(session: string, settled: Promise<void>): Promise<void> {
    const { timers, log } = this.#init
    return new Promise((resolve) => {
      const abandon = (): void => {
        log.warn('an aborted model call did not settle and was abandoned', { session, waitedMs: this.#abortMs })
        resolve()
      }
      const stopTimer = timers.start(this.#abortMs, abandon, { isBackground: true })
      void settled.then(() => {
        stopTimer()
        resolve()
      })
    })
  }
}

type Listener = ((...given: readonly unknown[]) => unknown) | { handleEvent(...given: readonly unknown[]): unknown }

/** Returns the same signal; errors of its listeners go to `report`. Call it only once per signal. */
export function guardSignal<Signal extends AbortSignalLike>(signal: Signal, report: (cause: unknown) => void): Signal {
  const { addEventListener, removeEventListener } = signal as Platform // untyped arguments are passed on
  // Assigned one by one: each model call and tool call has its own signal.
  const guarded = signal as Signal & Writable<Guarded & typeof GUARDED>
  guarded[GUARD] = { report, addEventListener, removeEventListener, safe: undefined, onabort: null }
  guarded.addEventListener = GUARDED.addEventListener
  guarded.removeEventListener = GUARDED.removeEventListener
  return Object.defineProperty(signal, 'onabort', ON_ABORT)
}

const GUARD: unique symbol = Symbol('guard')

interface Guard extends Platform {
  readonly report: (cause: unknown) => void
  /** Wrapped listeners: the platform recognises a listener by identity. */
  safe: Map<Listener, () => void> | undefined
  onabort: unknown
}

interface Platform {
  readonly addEventListener: (type: 'abort', listener: () => void, options?: object) => void
  readonly removeEventListener: (type: 'abort', listener: () => void, options?: object) => void
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

interface Guarded {
  readonly [GUARD]: Guard
}

/**
 * Shared by all signals: own accessors would give each signal its own hidden class, which outlives the signal until the
 * next full garbage collection.
 */
const GUARDED = {
  addEventListener(this: Guarded, type: 'abort', listener: Listener | null, options?: object): void {
    if (listener !== null) this[GUARD].addEventListener.call(this, type, makeSafe(this, listener), options)
  },
  removeEventListener(this: Guarded, type: 'abort', listener: Listener | null, options?: object): void {
    const { safe, removeEventListener } = this[GUARD]
    const known = listener === null ? undefined : safe?.get(listener)
    if (listener === null || !known) return
    removeEventListener.call(this, type, known, options)
    // With options another registration of the same listener may remain.
    if (options === undefined) safe?.delete(listener)
  },
}

const ON_ABORT = {
  get(this: Guarded): unknown {
    return this[GUARD].onabort
  },
  set(this: Guarded, listener: unknown): void {
    const guard = this[GUARD]
    if (typeof guard.onabort === 'function')
      guard.removeEventListener.call(this, 'abort', makeSafe(this, guard.onabort as Listener))
    guard.onabort = listener
    if (typeof listener === 'function') guard.addEventListener.call(this, 'abort', makeSafe(this, listener as Listener))
  },
}

function makeSafe(signal: Guarded, listener: Listener): () => void {
  const guard = signal[GUARD]
  const known = guard.safe?.get(listener)
  if (known) return known
  const safe = (...given: readonly unknown[]): void => {
    try {
      const result =
        typeof listener === 'function' ? listener.apply(signal, given as []) : listener.handleEvent(...given)
      Promise.resolve(result).catch(guard.report)
    } catch (cause) {
      guard.report(cause)
    }
  }
  guard.safe ??= new Map()
  guard.safe.set(listener, safe)
  return safe
}
