// Typed events for any number of listeners.

export interface Listeners<Events> {
  /** Returns a function that takes the listener away. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void
  tell<Name extends keyof Events>(name: Name, event: Events[Name]): void
}

export function createListeners<Events>(): Listeners<Events> {
  const listeners = new Set<{ readonly name: keyof Events; readonly listener: (event: never) => void }>()
  return {
    on: (name, listener) => {
      const entry = { name, listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    tell: (name, event) => {
      // A listener's name and its event's type were paired by `on`.
      for (const entry of listeners) if (entry.name === name) entry.listener(event as never)
    },
  }
}
