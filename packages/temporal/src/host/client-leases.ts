// Clients that are attached through this gateway hold their place by a lease, which it renews while it lives: a gateway that
// died takes its clients along.
import type { Logger } from '@baton/core'
import type { Input, InputOf } from '@baton/core/machine'
import type { Answers } from '../contract.ts'

export interface ClientLeasesInit {
  readonly leaseMs: number
  readonly submit: (inputs: readonly Input[]) => Promise<Answers>
  readonly log: Logger
}

export class ClientLeases {
  readonly #init: ClientLeasesInit
  /** What attached them, with the lease that is renewed. */
  readonly #attached = new Map<string, InputOf<'client-attached'>>()
  #timer: NodeJS.Timeout | undefined

  constructor(init: ClientLeasesInit) {
    this.#init = init
  }

  /** A client that has a lease of its own renews it itself. */
  addLeases(inputs: readonly Input[]): readonly Input[] {
    return inputs.map((input) => {
      if (input.type === 'client-detached') this.#attached.delete(input.connection)
      if (input.type !== 'client-attached' || input.leaseMs !== undefined) return input
      const leased = { ...input, leaseMs: this.#init.leaseMs }
      this.#attached.set(input.connection, leased)
      this.#timer ??= setInterval(() => this.#renew(), this.#init.leaseMs / 3)
      return leased
    })
  }

  close(): void {
    clearInterval(this.#timer)
    this.#attached.clear()
  }

  #renew(): void {
    if (this.#attached.size === 0) return
    // Attached again under the same name, a client keeps what it has; one that was given up meanwhile is there again.
    this.#init.submit([...this.#attached.values()]).catch((cause: unknown) => {
      this.#init.log.warn('the leases of clients could not be renewed', { cause: String(cause) })
    })
  }
}
