// A signal that is handed to code of others. What one of its listeners throws, the platform would throw where nobody can
// catch it, and the process would end.
import type { AbortSignalLike } from '@baton/core'

type Listener = ((...given: readonly unknown[]) => unknown) | { handleEvent(...given: readonly unknown[]): unknown }

/** The same signal; what its listeners throw or reject with goes to `report`. */
export function guardSignal<Signal extends AbortSignalLike>(signal: Signal, report: (cause: unknown) => void): Signal {
  const open: AbortSignalLike = signal
  const add = open.addEventListener.bind(signal)
  const remove = open.removeEventListener.bind(signal)
  // The platform tells a listener by its identity.
  let wrapped: WeakMap<object, () => void> | undefined
  const wrap = (listener: Listener): (() => void) => {
    const known = wrapped?.get(listener)
    if (known) return known
    const safe = (...given: readonly unknown[]): void => {
      try {
        const result =
          typeof listener === 'function' ? listener.apply(signal, given as []) : listener.handleEvent(...given)
        Promise.resolve(result).catch(report)
      } catch (cause) {
        report(cause)
      }
    }
    wrapped ??= new WeakMap()
    wrapped.set(listener, safe)
    return safe
  }
  let onAbort: unknown = null
  Object.defineProperties(signal, {
    addEventListener: {
      value: (type: 'abort', listener: Listener | null, options?: object) => {
        if (listener !== null) add(type, wrap(listener), options)
      },
    },
    removeEventListener: {
      value: (type: 'abort', listener: Listener | null) => {
        if (listener !== null) remove(type, wrapped?.get(listener) ?? wrap(listener))
      },
    },
    onabort: {
      get: () => onAbort,
      set: (listener: unknown) => {
        if (typeof onAbort === 'function') remove('abort', wrap(onAbort as Listener))
        onAbort = listener
        if (typeof listener === 'function') add('abort', wrap(listener as Listener))
      },
    },
  })
  return signal
}
