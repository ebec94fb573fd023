// Sessions that apps have started and nobody has said anything in yet: they are no sessions of the host, and leave no record.
// Whoever speaks first makes the session; the others that started it follow it then.

export class SessionStarts {
  readonly #waiting = new Map<string, Set<() => void>>()

  /** `onOpened` is called once, when the session is opened, unless the returned function was called before. */
  wait(session: string, onOpened: () => void): () => void {
    const waiting = this.#waiting.get(session) ?? new Set()
    waiting.add(onOpened)
    this.#waiting.set(session, waiting)
    return () => {
      waiting.delete(onOpened)
      if (waiting.size === 0 && this.#waiting.get(session) === waiting) this.#waiting.delete(session)
    }
  }

  /** Somebody has opened the session. */
  noteOpened(session: string): void {
    const waiting = this.#waiting.get(session)
    this.#waiting.delete(session)
    for (const onOpened of waiting ?? []) onOpened()
  }
}
