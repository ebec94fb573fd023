// Leases of clients attached through this gateway, so that a dead gateway's clients expire. A lease is renewed while
// its client may be needed; a session at rest costs nothing.
import type { Environment, Logger } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { Input, InputOf } from '@baton/core/machine'
import type { Answers } from '../contract.ts'

export interface ClientLeasesOptions extends Pick<Environment, 'clock' | 'timers'> {
  readonly leaseMs: number
  readonly submit: (inputs: readonly Input[]) => Promise<Answers>
  /** Whether a turn is running or a call waits for a client. */
  readonly isNeeded: () => boolean
  readonly log: Logger
}

interface Attached {
  /** The report that attached it, including the lease to renew. */
  readonly input: InputOf<'client-attached'>
  /** When its lease was last requested. */
  readonly askedMs: number
}

export class ClientLeases {
  readonly #init: ClientLeasesOptions
  readonly #attached = new Map<string, Attached>()
  #stopTimer: (() => void) | undefined
  #isClosed = false

  constructor(init: ClientLeasesOptions) {
    this.#init = init
  }

  /**
   * Submits inputs. Leases due for renewal go into the same Update, so that the clients are attached for what follows.
   */
  async submit(inputs: readonly Input[]): Promise<Answers> {
    const before = new Map(this.#attached)
    const own = this.#addLeases(inputs)
    const renewals = this.#takeOld(new Set(own.flatMap((input) => ('connection' in input ? [input.connection] : []))))
    try {
      const answers = (await this.#init.submit([...renewals, ...own])).slice(renewals.length)
      this.#dropRefused(
        own.filter((_, index) => answers[index]?.type === 'refused'),
        before,
      )
      return answers
    } catch (cause) {
      this.#noteFailure(renewals)
      this.#dropRefused(own, before)
      throw cause
    }
  }

  /** Called after every record, because a turn may have been started elsewhere. */
  notice(): void {
    if (this.#stopTimer || this.#isClosed || this.#attached.size === 0 || !this.#init.isNeeded()) return
    this.#renew()
    this.#stopTimer = this.#init.timers.start(
      this.#init.leaseMs / 3,
      () => {
        this.#stopTimer = undefined
        this.notice()
      },
      { isBackground: true },
    )
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#attached.clear()
  }

  /** Adds a lease to clients without one; others renew their own. */
  #addLeases(inputs: readonly Input[]): readonly Input[] {
    return inputs.map((input) => {
      if (input.type === 'client-detached') this.#attached.delete(input.connection)
      if (input.type !== 'client-attached' || input.leaseMs !== undefined) return input
      const leased = { ...input, leaseMs: this.#init.leaseMs }
      this.#attached.set(input.connection, { input: leased, askedMs: this.#nowMs() })
      return leased
    })
  }

  /** A client that was not attached is not attached by a renewal. One that attached under its name since stays. */
  #dropRefused(refused: readonly Input[], before: ReadonlyMap<string, Attached>): void {
    for (const input of refused) {
      if (input.type !== 'client-attached' || this.#attached.get(input.connection)?.input !== input) continue
      const known = before.get(input.connection)
      if (known) this.#attached.set(input.connection, known)
      else this.#attached.delete(input.connection)
    }
  }

  /**
   * Returns attach reports that are due again. A client attached again under the same name keeps what it has; an
   * expired one is restored.
   */
  #takeOld(besides: ReadonlySet<string> = new Set()): readonly InputOf<'client-attached'>[] {
    const askedMs = this.#nowMs()
    // Less than the time between two renewals, so that each one includes all leases.
    const beforeMs = askedMs - this.#init.leaseMs / 4
    const old = [...this.#attached].filter(
      ([connection, known]) => known.askedMs < beforeMs && !besides.has(connection),
    )
    for (const [connection, { input }] of old) this.#attached.set(connection, { input, askedMs })
    return old.map(([, { input }]) => input)
  }

  #renew(): void {
    const old = this.#takeOld()
    if (old.length === 0) return
    this.#init.submit(old).catch((cause: unknown) => {
      this.#noteFailure(old)
      this.#init.log.warn('the leases of clients could not be renewed', { cause: String(cause) })
    })
  }

  /** Marks renewals as due, so that they are sent with the next Update. */
  #noteFailure(renewals: readonly InputOf<'client-attached'>[]): void {
    for (const input of renewals)
      if (this.#attached.has(input.connection)) this.#attached.set(input.connection, { input, askedMs: -Infinity })
  }

  #nowMs(): number {
    return readMonotonicMs(this.#init.clock)
  }
}
