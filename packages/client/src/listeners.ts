// Typed events for any number of listeners.
import { createUnknownError } from './client-error.ts'

export interface Listeners<Events> {
  /** Returns a function that removes the listener. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void
  tell<Name extends keyof Events>(name: Name, event: Events[Name]): void
}

/** A throwing listener does not stop the other listeners or the client; `report` gets the error. */
export function createListeners<Events>(report: (cause: unknown) => void): Listeners<Events> {
  const listeners = new Set<readonly [name: keyof Events, listener: (event: never) => void]>()
  return {
    on: (name, listener) => {
      const entry = [name, listener] as const
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    tell: (name, event) => {
      for (const [of, listener] of listeners) {
        if (of !== name) continue
        try {
          listener(event as never) // a listener's name and its event's type were paired by `on`
        } catch (cause) {
          report(cause)
        }
      }
    },
  }
}

/** The `on` of a client: a listener of an unknown event, which would never be called, throws `invalid_option`. */
export function listenOnly<Events>(
  { on }: Pick<Listeners<Events>, 'on'>,
  what: string,
  names: readonly string[],
): Listeners<Events>['on'] {
  return (name, listener) => {
    if (names.includes(String(name))) return on(name, listener)
    throw createUnknownError(`${what} has no event`, String(name), names)
  }
}
