// Requests whose inputs a session has not accepted yet. A cancel finds no turn of such a request to end, so it is noted
// here, and the request takes its input back.

export interface BegunRequest {
  readonly isCancelled: () => boolean
  readonly end: () => void
}

export class BegunRequests {
  readonly #begun = new Map<string, Set<{ isCancelled: boolean }>>()

  /** Notes a request, which is cancelled by the signal too. End it when it is answered. */
  begin(session: string, signal?: AbortSignal): BegunRequest {
    const request = { isCancelled: false }
    const begun = this.#begun.get(session) ?? new Set()
    this.#begun.set(session, begun.add(request))
    return {
      isCancelled: () => request.isCancelled || signal?.aborted === true,
      end: () => {
        begun.delete(request)
        if (begun.size === 0 && this.#begun.get(session) === begun) this.#begun.delete(session)
      },
    }
  }

  /** Cancels the requests that the session has now. The returned function takes that back. */
  cancel(session: string): () => void {
    const cancelled = [...(this.#begun.get(session) ?? [])].filter(({ isCancelled }) => !isCancelled)
    for (const request of cancelled) request.isCancelled = true
    return () => {
      for (const request of cancelled) request.isCancelled = false
    }
  }
}
