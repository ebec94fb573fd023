// Requests in both directions: those of a client are counted, so that one that sends more than it may is told so.
import { BatonError } from '@baton/core'

export class Requests {
  readonly #most: number
  #running = 0

  constructor(most: number) {
    this.#most = most
  }

  /** @throws BatonError `rate_limited`, and what `act` throws */
  async run<Value>(act: () => Promise<Value>): Promise<Value> {
    if (this.#running >= this.#most)
      throw new BatonError({
        code: 'rate_limited',
        message: `${this.#most} requests of this connection wait already`,
        retryable: true,
      })
    this.#running += 1
    try {
      return await act()
    } finally {
      this.#running -= 1
    }
  }
}

/** Why a turn ended that the client has cancelled. */
export const CANCELLED = 'the user cancelled it in the editor'

/** For a request of the client that is taken back when nobody waits for its answer any more. */
export function waitUntil(signal: AbortSignal) {
  return { cancellationSignal: signal, stopWaitingOnCancel: true }
}

export function toRecord(pairs: readonly { readonly name: string; readonly value: string }[]) {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]))
}
