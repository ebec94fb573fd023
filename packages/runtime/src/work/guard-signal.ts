// Guards a signal for foreign code. If a listener throws, the platform rethrows where it cannot be caught, which would
// end the process.
import type { AbortSignalLike } from '@baton/core/internal'

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
