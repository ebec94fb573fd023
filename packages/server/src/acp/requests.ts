// Counts the requests of a connection that wait for their answers: a client that sends more than it may is told so.
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
