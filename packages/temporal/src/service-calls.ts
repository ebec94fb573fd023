// Tracks a host's calls to the service. The connection may only close when no call is in progress: a retry on a closed
// connection throws in a timer, where nothing can catch it, and crashes the process.
import { BatonError } from '@baton/core'
import type { Client } from '@temporalio/client'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds for calls to end by themselves. */
const GRACE_MS = 2000

export class ServiceCalls {
  readonly #client: Pick<Client, 'withAbortSignal'>
  readonly #graceMs: number
  readonly #underWay = new Map<AbortController, Promise<void>>()
  #isEnding = false

  /** `graceMs`: how long calls may take after the host stops before they are abandoned. Default: 2,000. */
  constructor(client: Pick<Client, 'withAbortSignal'>, graceMs = GRACE_MS) {
    this.#client = client
    this.#graceMs = graceMs
  }

  /** Whether `end` was called: no further calls are made. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /**
   * @throws BatonError `session_closed` after `end` was called, `store_failed` if the call is abandoned, and the call's
   * own errors
   */
  async run<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#isEnding)
      throw new BatonError({ code: 'session_closed', message: 'the host was stopped before it called the service' })
    const giveUp = new AbortController()
    const running = this.#client.withAbortSignal(giveUp.signal, call)
    const ended = running.then(ignore, ignore).then(() => void this.#underWay.delete(giveUp))
    this.#underWay.set(giveUp, ended)
    const { promise: givenUp, reject } = Promise.withResolvers<never>()
    // A call cannot be cancelled between two tries, but the caller need not wait for the next one.
    giveUp.signal.addEventListener('abort', () =>
      reject(new BatonError({ code: 'store_failed', message: 'the host was stopped before the service answered' })),
    )
    return await Promise.race([running, givenUp])
  }

  /**
   * Resolves when no call is in progress. Abandons calls that take longer than `graceMs`; the service may or may not
   * have received their inputs.
   */
  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.race([this.#settle(), wait(this.#graceMs, undefined, { ref: false })])
    for (const giveUp of this.#underWay.keys()) giveUp.abort()
    await this.#settle()
  }

  async #settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }
}

const ignore = (): void => {}
